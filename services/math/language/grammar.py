r"""The grammar of values: a Pratt parser over tokens, for LaTeX and plain text alike.

From loose to tight: sums, products (`*`, `/`, and things side by side), signs, powers, what stands
alone. Conventions, where usage differs: `1/2x` is `(1/2)x`; `\sin 2x` takes the whole `2x` and
`\sin(x)^2` is the square of the sine; `2\frac{1}{3}` and `2 1/3` are mixed numbers; `e` and `i` are
the constants, `f(x)` is the only function without a name of its own.

`Parser.statement` and what builds on it (lists, relations, units) is in `services.math.parse`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from services.math.language import application, commands, digits, figures
from services.math.language.cursor import (
    AmbiguousError,
    Cursor,
    OutsizeError,
    ParseError,
    as_product,
    as_value,
)
from services.math.language.lex import Token
from services.math.tree import (
    MINUS_ONE,
    VALUES,
    Call,
    Constant,
    Matrix,
    NamedSet,
    Number,
    Power,
    Sequence,
    Sum,
    Symbol,
    Value,
    negative,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from services.math.tree import Tree

MAX_DEPTH: Final = 100
MAX_POSTFIXES: Final = 8
_STARTS: Final = frozenset(
    [
        "letter",
        "constant",
        "function",
        "frac",
        "sqrt",
        "binom",
        "big",
        "accent",
        "figure",
        "(",
        "{",
        "[",
        "lfloor",
        "lceil",
    ]
)
"""Kinds that make a product when they follow a value directly."""
_CLOSERS: Final = {"(": ")]", "[": "])", "]": "[]", "\\{": ("\\}",), "<<": (">>",), "{": "}"}
_PLAIN: Final = frozenset(("number", "letter"))
"""Kinds that are mostly all of an operand; then the rules below a product have nothing to do."""
_LOOSE_UNITS: Final = frozenset(("min", "sec"))


class Grammar(Cursor):
    """Parses values; a subclass says what a statement is, for what stands in brackets."""

    def __init__(self, tokens: list[Token], *, tight: bool = False) -> None:
        super().__init__(tokens)
        self.tight = tight
        self.ambiguous = False
        """Whether `1/2x` was met, which `tight` reads as `1/(2x)`."""
        self._depth = 0
        self._reversed = 0  # within `]0, 1[` the next bracket closes
        self._bars = 0  # within `|…|` the next bar closes, and within `{…}` it says "such that"
        self.bound = 0  # sums that are being read, in which i is an index
        self.integrals = 0

    def _enter(self) -> None:
        """Go one level deeper; whoever leaves it counts down again."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            msg = "nested too deeply"
            raise OutsizeError(msg)

    def statement(self) -> Tree:
        """Parse what may stand between two commas."""
        raise NotImplementedError

    def items(self) -> Tree:
        """Parse statements with commas between."""
        raise NotImplementedError

    # -- arithmetic

    def value(self) -> Value:
        """Parse a sum, and insist on a value."""
        return as_value(self.sum())

    def sum(self) -> Tree:
        """Parse terms and what adds them."""
        self._enter()
        first = self.product()
        if self.next.kind in _ADDING and isinstance(first, VALUES):
            terms = [first]
            while self.next.kind in _ADDING:
                kind = self.take().kind
                terms.append(_ADDING[kind](as_value(self.product())))
            first = Sum(tuple(terms))
        self._depth -= 1
        return first

    def product(self) -> Tree:
        """Parse factors, with or without a sign between them."""
        first = self.unary()
        factors = [first]
        while True:
            kind = self.next.kind
            if kind == "*":
                self.take()
                factors.append(as_value(self.unary()))
            elif kind == "/":
                self.take()
                factors.append(Power(self._divisor(), MINUS_ONE))
            elif kind in {"mod", "choose"}:
                self.take()
                if isinstance(factors[0], Call) and factors[0].name in ("mod", "binom"):
                    msg = "nothing says what belongs together"
                    raise AmbiguousError(msg)
                name = "mod" if kind == "mod" else "binom"
                factors = [Call(name, (as_value(as_product(factors)), as_value(self.unary())))]
            elif self.is_factor(kind):
                factors.append(as_value(self.power()))
            elif kind == "begin":
                return commands.scaled(commands.matrix(self), as_value(as_product(factors)))
            else:
                break
        return as_product(factors)

    def is_factor(self, kind: str) -> bool:
        """Whether the next token makes a product with what stands before it."""
        if kind == "number":
            return self.place > 0 and self.tokens[self.place - 1].kind in (")", "]", "}", "!")
        if kind in ("|", "["):
            return not (self._bars if kind == "|" else self._reversed)
        if kind not in _STARTS or self.is_unit_ahead():
            return False
        if kind == "(":
            return self.tokens[self.place + 1].kind != "mod"
        return not (self.integrals and kind == "letter" and self.is_differential())

    def is_unit_ahead(self) -> bool:
        """Whether the next token begins a unit and not a factor."""
        return self.next.text in _LOOSE_UNITS and self.after_next().kind != "("

    def is_differential(self) -> bool:
        """Whether `dx` comes next."""
        return self.next.text == "d" and self.after_next().kind == "letter"

    def _divisor(self) -> Value:
        divisor = as_value(self.unary())
        if not self.is_factor(self.next.kind) or self.next.kind == "(":
            return divisor
        self.ambiguous = True
        factors = [divisor]
        while self.tight and self.is_factor(self.next.kind):
            factors.append(as_value(self.power()))
        return as_value(as_product(list(factors)))

    def unary(self) -> Tree:
        """Parse a sign and what it stands before."""
        kind = self.next.kind
        if kind in _PLAIN and self.tokens[self.place + 1].kind in digits.SEPARATED:
            return digits.number(self) if kind == "number" else self.letter()
        if kind not in _ADDING:
            return self.power()
        self._enter()
        self.take()
        inside = self.unary()
        if kind == "-" and isinstance(inside, Matrix):
            inside = commands.scaled(inside, MINUS_ONE)
        signed = inside if isinstance(inside, Matrix) else _ADDING[kind](as_value(inside))
        self._depth -= 1
        return signed

    def power(self) -> Tree:
        """Parse a value with its exponent, factorials, percent and degree signs."""
        base = self.primary()
        postfixes = 0
        if self.next.kind == "^" and isinstance(base, Matrix | Sequence):
            base = commands.transposed(self, base)
        while (kind := self.next.kind) in _POSTFIXES:
            postfixes += 1
            if postfixes > MAX_POSTFIXES:
                msg = "too many signs behind a value"
                raise OutsizeError(msg)
            if kind == "degree" and self.after_next().text in ("C", "F"):
                break
            self.take()
            if kind == "^":
                base = Power(as_value(base), self.exponent())
            else:
                base = self._postfix(kind, as_value(base))
        return base

    def _postfix(self, kind: str, base: Value) -> Value:
        if kind == "!" and self.next.kind == "!" and not self.next.blank:
            self.take()
            return Call("factorial", (base, Number(2)))
        return Call(_POSTFIXES[kind], (base,))

    def exponent(self) -> Value:
        """Parse what stands after `^`."""
        exponent = self.signed_primary()
        if self.next.kind != "^":
            return exponent
        self.take()
        self._enter()
        tower = Power(exponent, self.exponent())
        self._depth -= 1
        return tower

    def signed_primary(self) -> Value:
        """Parse what stands alone, and perhaps a sign before it."""
        negated = self.next.kind == "-"
        if self.next.kind in ("-", "+"):
            self.take()
        value = as_value(self.primary())
        return negative(value) if negated else value

    # -- what stands alone

    def primary(self) -> Tree:
        """Parse a number, a name, a function with its argument, or something in brackets."""
        parse = _PRIMARIES.get(self.next.kind)
        if parse is None:
            msg = f"{self.next.text or 'the end'} is not expected"
            raise ParseError(msg)
        self._enter()
        tree = parse(self)
        self._depth -= 1
        return tree

    def letter(self) -> Value:
        """Parse a variable with its subscript and primes; e and i are constants."""
        name = self.take().text
        if self.next.kind == "_":
            if name in application.CHOOSING and (number := application.out_of(self, name)):
                return number
            self.take()
            name = f"{name}_{self.subscript()}"
        elif self.next.kind == "number" and not self.next.blank and self.next.text.isdecimal():
            name = f"{name}_{self.take().text}"  # x1, as plain text writes it
        while self.accept("'"):
            name += "'"
        if self.next.kind in ("(", "^") and (applied := application.applied(self, name)):
            return applied
        return self._named(name)

    def lone_letter(self) -> Value:
        """Parse a letter without anything that may belong to it."""
        return self._named(self.take().text)

    def _named(self, name: str) -> Value:
        if name == "e" or (name == "i" and not self.bound):
            return Constant(name)
        return Symbol(name)

    def subscript(self) -> str:
        """Take what stands after `_`, as text."""
        return "".join(self.raw_group().split())

    def constant(self) -> Value:
        """Parse pi or infinity."""
        return Constant(self.take().text)

    def named_set(self) -> NamedSet:
        """Parse a set with a name of its own."""
        return NamedSet(self.take().text)

    def arguments(self) -> tuple[Value, ...]:
        """Parse the values in the brackets that come next."""
        inside = self.bracketed()
        if isinstance(inside, Sequence):
            return tuple(as_value(item) for item in inside.items)
        return (as_value(inside),)

    def bracketed(self) -> Tree:
        """Parse what stands in brackets: a group, or several items."""
        opening = self.take().kind
        closers = _CLOSERS[opening]
        if opening == "\\{":
            return self.braces()
        self._reversed += opening == "]"
        inside = self.group() if opening == "{" else self.items()
        self._reversed -= opening == "]"
        closing = self.take().kind
        if closing not in closers:
            msg = f"{closing} does not close {opening}"
            raise ParseError(msg)
        if isinstance(inside, Sequence) and not inside.left:
            return _enclosed(inside.items, opening, closing)
        if closing != closers[0] and opening != "]":
            msg = "brackets that do not fit"
            raise ParseError(msg)
        return inside

    def group(self) -> Tree:
        """Parse what stands in `{…}`, whose opening is taken."""
        raise NotImplementedError

    def braces(self) -> Tree:
        r"""Parse what stands in `\{…\}`, whose opening is taken."""
        raise NotImplementedError

    def absolute(self) -> Value:
        """Parse `|x|`."""
        self.take()
        self._bars += 1
        inside = self.value()
        self._bars -= 1
        self.take("|")
        return Call("abs", (inside,))

    def rounded(self) -> Value:
        """Parse a floor or a ceiling."""
        name = self.take().text.removeprefix("l")
        inside = self.value()
        self.take(f"r{name}")
        return Call(name, (inside,))

    def argument(self, bare: Callable[[], Value] | None = None) -> Value:
        r"""Parse the argument of a LaTeX command: a braced group, one digit, or one name."""
        token = self.next
        if token.kind == "number" and bare is None:
            first = token.text[0]
            if len(token.text) > 1:
                rest = Token("number", token.text[1:])
                self.tokens[self.place : self.place + 1] = [Token("number", first), rest]
                self.go_to(self.place)
            self.take()
            if not first.isdecimal():
                msg = "a digit is expected"
                raise ParseError(msg)
            return Number(int(first))
        if token.kind == "{":
            return as_value(self.bracketed())
        if token.kind == "letter" and bare is None and self.after_next().kind == "number":
            return self.lone_letter()  # `\frac n2`
        return bare() if bare else as_value(self.primary())


def _enclosed(items: tuple[Tree, ...], opening: str, closing: str) -> Sequence:
    if opening == "{":
        return Sequence(items, "{", "}")
    if opening == "<<":
        return Sequence(items, "<", ">")
    if opening == "]":  # ]0, 1[ is how some countries write (0, 1)
        return Sequence(items, "(", ")" if closing == "[" else "]")
    return Sequence(items, opening, closing)


def _plus_minus(name: str) -> Callable[[Value], Value]:
    return lambda value: Call(name, (value,))


_ADDING: Final[dict[str, Callable[[Value], Value]]] = {
    "+": lambda value: value,
    "-": negative,
    "pm": _plus_minus("pm"),
    "mp": _plus_minus("mp"),
}
_POSTFIXES: Final = {"^": "power", "!": "factorial", "%": "percent", "degree": "degrees"}
_PRIMARIES: Final[dict[str, Callable[[Grammar], Tree]]] = {
    "number": digits.number,
    "letter": Grammar.letter,
    "constant": Grammar.constant,
    "named": Grammar.named_set,
    "function": application.function,
    "frac": commands.fraction,
    "sqrt": commands.root,
    "binom": commands.binomial,
    "accent": commands.accented,
    "big": commands.big,
    "figure": figures.figure,
    "begin": commands.environment,
    "|": Grammar.absolute,
    "lfloor": Grammar.rounded,
    "lceil": Grammar.rounded,
    **dict.fromkeys(("(", "[", "]", "{", "\\{", "<<"), Grammar.bracketed),
}
