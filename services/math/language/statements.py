r"""What stands between commas: relations, sets, quantities with units, words; and the commas.

`Parser` completes `services.math.language.grammar`: `items` reads lists and alternatives ("x = 5 or x = 7"),
`statement` reads chains of relations and ratios, `member` reads what is joined by unions, `quantity`
reads a value with its unit. A unit written as letters is one if it is separated by a blank and ends
its item (`5 m`); without the blank it is a product (`5m`), unless no variables are called so (`5km`).
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from services.math.language import names
from services.math.language.cursor import AmbiguousError, OutsizeError, ParseError, as_value
from services.math.language.grammar import Grammar
from services.math.language.units import unit
from services.math.language.words import counted, read_number_words
from services.math.tree import (
    VALUES,
    Builder,
    Call,
    Combination,
    Either,
    NamedSet,
    Number,
    Quantity,
    Ratio,
    Relation,
    Sequence,
    Symbol,
    Text,
    Value,
    negative,
    quotient,
)

if TYPE_CHECKING:
    from services.math.language.lex import Token
    from services.math.tree import Tree

_ITEM_ENDS: Final = frozenset(
    (
        "end",
        "sep",
        "joint",
        "relation",
        "setop",
        ")",
        "]",
        "}",
        "\\}",
        ">>",
        "mid",
        "&",
        "row",
        "pmod",
    )
)
_UNIT_STARTS: Final = frozenset(("word", "letter", "function", "degree", "currency", "%"))
_SUCH_THAT: Final = frozenset(("mid", "|", ":"))
_MULTIPLIERS: Final = {
    "dozen": 12,
    "hundred": 10**2,
    "thousand": 10**3,
    "million": 10**6,
    "billion": 10**9,
    "trillion": 10**12,
    "万": 10**4,
    "亿": 10**8,
}
_DEGREES: Final = "°"
_RUNS: Final = frozenset(("letter", "function"))
"""Kinds that a word may have been cut into: the letters of "many"."""


class Parser(Grammar):
    """Parses a whole answer."""

    def __init__(self, tokens: list[Token], *, tight: bool = False) -> None:
        super().__init__(tokens, tight=tight)
        self._braces = 0

    def answer(self) -> Tree:
        """Parse everything there is."""
        if len(self.tokens) == names.SPELLED and (spelled := names.two_numbers(self.tokens)):
            return spelled
        try:
            return self._whole()
        except OutsizeError:
            raise
        except ParseError:
            shown = names.respelled(self.tokens[:-2])
            if shown is None:
                raise
        again = Parser(shown, tight=self.tight)
        tree = again._whole()
        self.ambiguous = again.ambiguous
        return tree

    def _whole(self) -> Tree:
        tree = self.items()
        if self.next.kind == "over":
            tree = self._over(tree)
        if self.next.kind != "end":
            msg = f"{self.next.text} is not expected"
            raise ParseError(msg)
        return tree

    def items(self) -> Tree:
        """Parse a statement, or several with commas or "or" between them."""
        parts, joints = [self.statement()], []
        while self.next.kind in ("sep", "joint"):
            joints.append(self._joint())
            if self.next.kind in _ITEM_ENDS:
                break
            parts.append(self.statement())
        if set(joints) == {"and"} and all(map(_is_inequality, parts)):
            return Combination("intersection", tuple(parts))
        if "or" not in joints:
            return Sequence(tuple(parts)) if len(parts) > 1 else parts[0]
        if len(set(joints)) > 1 and any(isinstance(part, Relation) for part in parts):
            return _grouped(parts, joints)
        return Either(tuple(parts))

    def _joint(self) -> str:
        """Take what stands between two statements: a comma, "and", "or", or a comma and a word."""
        first = self.take()
        if first.kind == "sep" and self.next.kind == "joint":
            return self.take().text
        return first.text if first.kind == "joint" else ","

    def statement(self) -> Tree:
        """Parse a chain of relations, a ratio, or what is neither."""
        first: Tree | None = None
        if self.next.kind == "letter" and self.tokens[self.place + 1].kind in names.OPENINGS:
            first = names.name(self)
        first = first or self.member()
        if self._is_ratio_ahead() and isinstance(first, Text):
            self.take()  # a label: "Area: 5"
            return self.statement()
        if self._is_ratio_ahead():
            return self._ratio(first)
        if self._is_modulus_ahead() and isinstance(first, VALUES):
            self.take()
            return Relation((Symbol(""), first, self._modulus()), ("congruent", "mod"))
        if self.next.kind != "relation":
            return first
        operands, operators = [first], []
        while self.next.kind == "relation":
            operators.append(self.take().text)
            operands.append(_set_by_letter(self.member(), operators[-1]))
        last = operands[-1]
        if operators[-1] == "congruent" and isinstance(last, Call) and last.name == "mod":
            operands[-1:] = last.arguments
            operators.append("mod")
        elif self._is_modulus_ahead():
            self.take()
            operators.append("mod")
            operands.append(self._modulus())
        return Relation(tuple(operands), tuple(operators))

    def _is_modulus_ahead(self) -> bool:
        kind = self.next.kind
        return kind == "pmod" or (kind == "(" and self.after_next().kind == "mod")

    def _modulus(self) -> Value:
        if self.accept("mod"):
            modulus = self.value()
            self.take(")")
            return modulus
        return self.argument()

    def _is_ratio_ahead(self) -> bool:
        if self.next.kind == "word":
            return self.next.text == "to"
        return self.next.kind == ":" and not self._braces

    def _ratio(self, first: Tree) -> Ratio:
        parts = [as_value(first)]
        while self._is_ratio_ahead():
            self.take()
            parts.append(self.value())
        return Ratio(tuple(parts))

    def member(self) -> Tree:
        """Parse sets with signs between them, or a quantity."""
        result = self.quantity()
        while operator := self._set_operator():
            operand = self.quantity()
            if isinstance(result, Combination) and result.operator == operator:
                result = Combination(operator, (*result.parts, operand))
            else:
                result = Combination(operator, (result, operand))
        return result

    def _set_operator(self) -> str | None:
        if self.next.kind == "setop":
            return self.take().text
        if self.accept("-"):  # the sum has left it alone, so what stands before it is a set
            return "difference"
        if self._is_plain_union():
            self.take()
            return "union"
        return None

    def _is_plain_union(self) -> bool:
        """Whether the next token is the U of `(0, 1) U (2, 3)`."""
        return (
            self.next.text == "U"
            and self.tokens[self.place - 1].kind in (")", "]")
            and self.after_next().kind in ("(", "[")
        )

    # -- values with units, and words

    def quantity(self) -> Tree:
        """Parse a value with the unit or currency that may stand before or after it."""
        if self.next.kind == "word" or self._is_article():
            return self._words()
        if self.next.kind == "begin":
            return self.sum()
        negated = self.next.kind == "-" and self.after_next().kind == "currency"
        if negated:
            self.take()
        if self.next.kind == "currency":
            sign = self.take().text
            value = self._multiplied(self.value())
            return Quantity(negative(value) if negated else value, sign)
        tree = self.sum()
        if self.next.text == "to":
            return tree
        if self.next.kind in _UNIT_STARTS and isinstance(tree, VALUES):
            return self._with_unit(tree)
        return tree

    def _is_article(self) -> bool:
        return self.next.text in ("a", "A") and self.after_next().kind == "word"

    def _words(self) -> Tree:
        """Parse words: a number in words, or a text."""
        phrase = kind = ""
        while self.next.kind in ("word", "letter", "-", "function", "'"):
            token = self.take()
            is_run = not token.blank and kind in _RUNS and token.kind in _RUNS
            phrase += token.text if is_run else f" {token.text}"
            kind = token.kind
        if self.next.kind not in _ITEM_ENDS and self.next.kind != ":":
            msg = f"words before {self.next.text}"
            raise ParseError(msg)
        phrase = phrase[1:]
        number = read_number_words(phrase.replace(" - ", "-"))
        if number is not None:
            return Number(int(number) if number.denominator == 1 else number)
        return Text(phrase.casefold().removeprefix("a ").removeprefix("an ").removeprefix("the "))

    def _with_unit(self, value: Value) -> Tree:
        if self.next.text in _MULTIPLIERS:
            value = self._multiplied(value)
            if self.next.kind in _ITEM_ENDS:
                return value
        phrase = self._phrase()
        known = unit(phrase)
        name = known.name if known else counted(phrase)
        if name is None:
            msg = f"{phrase} is no unit"
            raise ParseError(msg)
        self.go_to(self.place + len(self._rest()))
        if name == "%":
            return Call("percent", (value,))
        return Call("degrees", (value,)) if name == _DEGREES else Quantity(value, name)

    def _multiplied(self, value: Value) -> Value:
        """Read the word behind a number that says how many: `3.5 million`, `2 dozen`."""
        if self.next.text in _MULTIPLIERS and isinstance(value, Number):
            return Number(Fraction(value.value) * _MULTIPLIERS[self.take().text])
        return value

    def _rest(self) -> list[Token]:
        """Return the tokens up to the end of the item."""
        for place in range(self.place, len(self.tokens)):
            if self.tokens[place].kind in _ITEM_ENDS and not _is_in_exponent(self.tokens, place):
                return self.tokens[self.place : place]
        return []

    def _phrase(self) -> str:
        """Return the rest of the item as plain text."""
        pieces = []
        for token in self._rest():
            if token.kind not in ("{", "}"):
                pieces.append(" " + token.text if token.blank else token.text)
        return "".join(pieces).strip()

    def is_unit_ahead(self) -> bool:
        """Whether the next token begins a unit and not a factor."""
        token = self.next
        if token.kind == "function":
            return super().is_unit_ahead() and self._is_unit()
        if token.kind != "letter" or self.place == 0:
            return False
        if self._is_plain_union():
            return True
        last = self.tokens[self.place - 1]
        if not token.blank or last.kind not in ("number", "}", ")", "constant"):
            return False
        rest = self._rest()
        if any(one.kind == other.kind == "letter" for one, other in pairwise(rest)):
            return False  # `2 g h` is a product
        ending = self.tokens[self.place + len(rest)].kind
        return ending not in ("}", ")", "]") and self._is_unit()

    def _is_unit(self) -> bool:
        return unit(self._phrase()) is not None

    # -- brackets

    def group(self) -> Tree:
        """Parse what stands in plain braces: a group, or a set as plain text writes it."""
        self._braces += 1
        self._bars += 1
        inside = self.items()
        if self.next.kind == "over":
            inside = self._over(inside)
        self._braces -= 1
        self._bars -= 1
        if self.next.kind in _SUCH_THAT:
            self.take()
            return Builder(inside, _listed(self.items()))
        return inside

    def _over(self, top: Tree) -> Tree:
        r"""Read on where what was read is above a line: `3 \over 7`."""
        self.take()
        return quotient(as_value(top), self.value())

    def braces(self) -> Tree:
        r"""Parse a set, whose `\{` is taken: its members, or the conditions on them."""
        if self.accept("\\}"):
            return NamedSet("empty")
        self._braces += 1
        self._bars += 1
        inside = self.items()
        if self.next.kind in _SUCH_THAT:
            self.take()
            result: Tree = Builder(inside, _listed(self.items()))
        else:
            result = Sequence(_listed(inside), "{", "}")
        self._braces -= 1
        self._bars -= 1
        self.take("\\}")
        return result


def _is_inequality(tree: Tree) -> bool:
    return isinstance(tree, Relation) and not {"<", ">", "<=", ">="}.isdisjoint(tree.operators)


def _set_by_letter(tree: Tree, operator: str) -> Tree:
    """Read the Z of `k in Z`."""
    is_set = isinstance(tree, Symbol) and operator == "in" and tree.name in "RQZNC"
    return NamedSet(tree.name) if is_set and isinstance(tree, Symbol) else tree


def _grouped(parts: list[Tree], joints: list[str]) -> Either:
    """Read "a and b or c": what "and" joins belongs together."""
    if "," in joints:
        msg = "commas beside and, or"
        raise AmbiguousError(msg)
    groups = [[parts[0]]]
    for part, joint in zip(parts[1:], joints, strict=False):
        if joint == "or":
            groups.append([part])
        else:
            groups[-1].append(part)
    return Either(tuple(g[0] if len(g) == 1 else Sequence(tuple(g)) for g in groups))


def _listed(tree: Tree) -> tuple[Tree, ...]:
    return tree.items if isinstance(tree, Sequence) and not tree.left else (tree,)


def _is_in_exponent(tokens: list[Token], place: int) -> bool:
    """Whether the closing brace at `place` ends the exponent of a unit: `cm^{2}`."""
    return tokens[place].kind == "}" and place >= 3 and tokens[place - 2].kind == "{"
