"""Functions with a name: what their argument is, with and without parentheses."""

from __future__ import annotations

from math import perm
from typing import TYPE_CHECKING, Final

from services.math.language.cursor import ParseError, as_product, as_value
from services.math.tree import (
    MINUS_ONE,
    Call,
    Constant,
    Number,
    Power,
    Product,
    Sequence,
    Sum,
    Symbol,
    Value,
    negative,
    walk,
)

if TYPE_CHECKING:
    from services.math.language.grammar import Grammar
    from services.math.language.lex import Token

CHOOSING: Final = frozenset("CAP")
"""Letters with two numbers: so many out of so many, in order for A and P."""
_COUNTING: Final = frozenset(
    ("letter", "number", "_", "^", "{", "}", "(", ")", "+", "-", "*", "/", "frac", "!", "end")
)
MAX_TOTAL: Final = 500
_MAX_FACTORS: Final = 6
_MAX_SCRIPT: Final = 10
_PLAIN: Final = frozenset(("number", "letter"))
_SIGNS: Final = frozenset(("+", "-"))
_AFTER: Final = {"number": _SIGNS | {"letter"}, "letter": _SIGNS}
_FUNCTION_NAMES: Final = frozenset(("f", "g"))
_SPECIAL: Final = frozenset(("Gamma", "zeta"))
_FACTORS: Final = frozenset(("x", "e", "i", "pi"))
"""Names that are multiplied with a number in brackets."""
_SIMPLE: Final = frozenset(("number", "letter", "constant", "frac", "sqrt", "binom"))
"""Kinds that belong to the argument of a function without parentheses."""
_INVERSES: Final = {name: f"arc{name}" for name in ("sin", "cos", "tan", "cot", "sec", "csc")} | {
    f"{name}h": f"ar{name}h" for name in ("sin", "cos", "tan", "cot", "sec", "csc")
}


def function(grammar: Grammar) -> Value:
    """Parse a function: its name, perhaps a base and an exponent, and its argument."""
    name = grammar.take().text
    base: Value | None = None
    exponent: Value | None = None
    if name == "log" and _has_plain_base(grammar):
        base = Number(int(grammar.take().text))
    for _ in range(2):
        if grammar.next.kind == "_" and base is None:
            grammar.take()
            base = grammar.argument()
        elif grammar.next.kind == "^" and exponent is None:
            grammar.take()
            exponent = grammar.argument(grammar.exponent)
    arguments = _operands(grammar)
    if exponent == MINUS_ONE and name in _INVERSES:
        name, exponent = _INVERSES[name], None
    call = _call(name, base, arguments)
    return call if exponent is None else Power(call, exponent)


def _has_plain_base(grammar: Grammar) -> bool:
    """Whether the 2 of `log2(8)` comes next."""
    token = grammar.next
    is_number = token.kind == "number" and token.text.isdecimal() and not token.blank
    return is_number and grammar.after_next().kind == "("


def _operands(grammar: Grammar) -> tuple[Value, ...]:
    if grammar.next.kind in ("(", "{", "[", "\\{"):
        return grammar.arguments()
    if grammar.next.kind in ("function", "|"):
        return (as_value(grammar.power()),)
    negated = grammar.accept("-")
    factors = [as_value(grammar.power())]
    while grammar.next.kind in _SIMPLE and grammar.is_factor(grammar.next.kind):
        factors.append(as_value(grammar.power()))
    operand = as_value(as_product(list(factors)))
    return (negative(operand) if negated else operand,)


def _call(name: str, base: Value | None, arguments: tuple[Value, ...]) -> Value:
    if name == "cis" and base is None:
        return Call("exp", (Product((Constant("i"), *arguments)),))
    if name == "lg":
        name, base = "log", Number(10)
    if base is not None:
        if name not in ("log", "ln"):
            msg = f"{name} has no base"
            raise ParseError(msg)
        return Call("log", (base, *arguments))
    return Call(name, arguments)


def applied(grammar: Grammar, name: str) -> Value | None:
    """Parse on where a name is a function and not a factor; None where it is a factor.

    `f` and `g` are functions, and any name is one of a number alone: `P(0)`. `C` chooses.
    """
    if grammar.next.kind == "^":
        return _inverse(grammar, name) or _chosen(grammar, name)
    if grammar.next.blank:
        return None
    if name in _SPECIAL and grammar.next.kind == "(":
        return _special(name, grammar.arguments())
    is_function = name in _FUNCTION_NAMES or "'" in name
    if is_function or (name not in _FACTORS and _is_number_in_brackets(grammar)):
        return Call(name, grammar.arguments())
    return _combinations(grammar) if name == "C" else None


def _special(name: str, arguments: tuple[Value, ...]) -> Value:
    """Make the call of a function with a name of its own; gamma is a factorial."""
    if name == "Gamma" and len(arguments) == 1:
        return Call("factorial", (Sum((arguments[0], MINUS_ONE)),))
    return Call(name, arguments)


def _is_number_in_brackets(grammar: Grammar) -> bool:
    kinds = [token.kind for token in grammar.tokens[grammar.place : grammar.place + 3]]
    return kinds == ["(", "number", ")"]


def _inverse(grammar: Grammar, name: str) -> Value | None:
    """Parse the `^{-1}(2)` of `f^{-1}(2)`."""
    tokens = grammar.tokens[grammar.place + 1 : grammar.place + 6]
    if name not in _FUNCTION_NAMES or [t.text for t in tokens] != ["{", "-", "1", "}", "("]:
        return None
    grammar.go_to(grammar.place + 5)
    return Call(f"{name}^-1", grammar.arguments())


def _chosen(grammar: Grammar, name: str) -> Value | None:
    """Parse the `^2` of `C_n^2`: so many out of n."""
    head, _, subscript = name.partition("_")
    if head != "C" or not subscript:
        return None
    place = grammar.place
    grammar.take("^")
    chosen = grammar.argument(grammar.signed_primary)
    if not subscript.isdecimal():
        return Call("binom", (Symbol(subscript), chosen))
    if isinstance(chosen, Number) and 0 <= chosen.value <= int(subscript) > 1:
        return Call("binom", (Number(int(subscript)), chosen))
    grammar.go_to(place)  # a constant with a number, squared
    return None


def out_of(grammar: Grammar, name: str) -> Value | None:
    """Parse `C_{n+1}^{2}`, `A_5^3`: so many out of n, without or with their order; None for a name.

    `C` chooses out of a sum or a multiple (of numbers and letters, `applied` knows). `A` and `P` may be
    names with an exponent: they are read so but where nothing else is written than such numbers, and
    in the other reading (`Grammar.tight`).
    """
    place = grammar.place
    behind = _behind_script(grammar.tokens, place + 1)
    if not behind or grammar.tokens[behind].kind != "^":
        return None
    if name != "C" and not _is_number_script(grammar.tokens, behind + 1):
        return None
    grammar.take("_")
    total = grammar.argument()
    count: Value | None = None
    if name != "C":
        grammar.take("^")
        count = in_order(total, grammar.argument())
    elif _is_count(total):
        grammar.take("^")
        return Call("binom", (total, grammar.argument()))
    if count is not None and (grammar.tight or _are_counts(grammar)):
        return count
    grammar.ambiguous |= count is not None
    grammar.go_to(place)
    return None


def _behind_script(tokens: list[Token], place: int) -> int:
    """Return the place behind a script that is a sum of numbers and letters; 0 behind any other.

    Such a script can be parsed, and no error must be undone.
    """
    if tokens[place].kind != "{":
        return place + 1 if tokens[place].kind in _PLAIN else 0
    last = "+"
    for behind in range(place + 1, min(place + _MAX_SCRIPT, len(tokens))):
        kind = tokens[behind].kind
        if kind == "}":
            return 0 if last in _SIGNS else behind + 1
        if kind not in (_PLAIN if last in _SIGNS else _AFTER[last]):
            return 0
        last = kind
    return 0


def _is_number_script(tokens: list[Token], place: int) -> bool:
    place += tokens[place].kind == "{"
    return tokens[place].kind == "number" and tokens[place].text.isdecimal()


def _is_count(total: Value) -> bool:
    """Whether it is `n + 1` or `2n`, and no name of several letters."""
    letters = all(node.name.islower() for node in walk(total) if isinstance(node, Symbol))
    has_number = any(isinstance(node, Number) for node in walk(total))
    return isinstance(total, Sum | Product) and letters and has_number


def _are_counts(grammar: Grammar) -> bool:
    """Whether no other letters are written than those of combinations and permutations."""
    kinds = {token.kind for token in grammar.tokens}
    letters = {token.text for token in grammar.tokens if token.kind == "letter"}
    return letters <= CHOOSING and kinds <= _COUNTING


def in_order(total: Value, chosen: Value | None) -> Value | None:
    """Return how many ways there are to choose some in order; None where none are meant."""
    if not isinstance(chosen, Number) or not isinstance(chosen.value, int) or chosen.value < 1:
        return None
    if isinstance(total, Number):
        is_whole = isinstance(total.value, int) and 2 <= total.value <= MAX_TOTAL
        may_be = is_whole and chosen.value <= total.value
        return Number(perm(int(total.value), chosen.value)) if may_be else None
    if not (isinstance(total, Symbol) and total.name.islower()) and not _is_count(total):
        return None
    if not 2 <= chosen.value <= _MAX_FACTORS:
        return None
    steps = (Sum((total, Number(-step))) for step in range(1, chosen.value))
    return Product((total, *steps))


def _combinations(grammar: Grammar) -> Value | None:
    """Parse `C(n, 2)`."""
    place = grammar.place
    inside = grammar.bracketed()
    if isinstance(inside, Sequence) and len(inside.items) == 2:
        return Call("binom", (as_value(inside.items[0]), as_value(inside.items[1])))
    grammar.go_to(place)
    return None
