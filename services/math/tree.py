"""The expression tree: what an answer says, free of how it was written.

The parser builds it, every comparer reads it. Nodes are immutable and hashable, and equal where
they are the same tree; whether two different trees have the same value is the comparers' business.
Nothing here computes: `2 + 2` is a `Sum` of two numbers.

Values (`Value`): `Number`, `Symbol`, `Constant`, `Sum`, `Product`, `Power`, `Call`. A difference is
a sum with a product by -1, a quotient a product with a power of -1, a square root a power of 1/2.
Everything else is built of values: quantities, lists, intervals, relations, matrices, text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Number:
    """An exact rational number."""

    value: int | Fraction
    places: int | None = None
    """Digits after the point where it is written as a decimal; None where it is exact."""


@dataclass(frozen=True, slots=True)
class Symbol:
    r"""A variable or unknown: `x`, `alpha` for `\alpha`, `x_1`."""

    name: str


@dataclass(frozen=True, slots=True)
class Constant:
    """A number with a name of its own: `pi`, `e`, `i` or `infinity`."""

    name: str


@dataclass(frozen=True, slots=True)
class Sum:
    """The sum of at least two terms."""

    terms: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Product:
    """The product of at least two factors."""

    factors: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Power:
    """`base ** exponent`; where the exponent is 1/n with an odd n, the real root is meant."""

    base: Value
    exponent: Value


@dataclass(frozen=True, slots=True)
class Call:
    """A function of values.

    `name` is one of: sin cos tan cot sec csc, their inverses (arcsin …) and hyperbolic forms
    (sinh … arsinh …); exp; ln; log (two arguments: the base, the argument; one argument: a base
    that nobody stated); abs; sign; floor; ceil; factorial (a second argument 2: double factorial);
    binom; gcd; lcm; min; max; mod; re; im; conj; degrees (a number of degrees, as an angle);
    percent (a number of hundredths); pm and mp (plus or minus, minus or plus their argument); sum
    and prod (body, symbol, first, last); integral (body, symbol[, low, high]); limit (body,
    symbol, point); derivative (body, symbol). Any other name is a function nobody knows, `f`.
    """

    name: str
    arguments: tuple[Value, ...]


Value = Number | Symbol | Constant | Sum | Product | Power | Call


@dataclass(frozen=True, slots=True)
class Quantity:
    """A value with a unit as it was written; `services.math.language.units` knows what it is worth."""

    value: Value
    unit: str


@dataclass(frozen=True, slots=True)
class Sequence:
    r"""Items with commas between, and the brackets around them.

    `left` and `right` are one of `( [ { <` and their partners, or both empty for a bare list:
    `(1, 2)` a point or an interval, `[2, 5)` an interval, `\{1, 2\}` a set.
    """

    items: tuple[Tree, ...]
    left: str = ""
    right: str = ""


@dataclass(frozen=True, slots=True)
class Relation:
    """A chain `a < b <= c`: one operator less than there are operands.

    Operators: `= != < > <= >= ~ in notin subset congruent`, where `~` is "about", and a congruence
    has its modulus as a third operand after the operator `mod`.
    """

    operands: tuple[Tree, ...]
    operators: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Either:
    """Alternatives: `x = 5 or x = 7`."""

    parts: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Combination:
    """Sets joined by `union`, `intersection` or `difference`, from left to right."""

    operator: str
    parts: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Builder:
    r"""A set given by conditions: `\{x \mid x > 3\}` is the head `x` and one condition."""

    head: Tree
    conditions: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class NamedSet:
    r"""`R`, `Q`, `Z`, `N`, `C` for `\mathbb{R}` and so on, or `empty`."""

    name: str


@dataclass(frozen=True, slots=True)
class Matrix:
    """Rows of equal length."""

    rows: tuple[tuple[Tree, ...], ...]


@dataclass(frozen=True, slots=True)
class Ratio:
    """`3:2`, or more than two parts."""

    parts: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Based:
    """Digits (with at most one point) in a stated base from 2 to 36: `52_8`."""

    digits: str
    base: int


@dataclass(frozen=True, slots=True)
class Moment:
    """A date or a time of day, its parts from the largest to the smallest.

    `kind` is `date` (year or None, month, day) or `time` (hour, minute, second or None, and
    "am", "pm" or None).
    """

    kind: str
    parts: tuple[int | str | None, ...]


@dataclass(frozen=True, slots=True)
class Text:
    """Words that mean no value, in one normal spelling: lower case, single blanks."""

    words: str


Tree = (
    Value
    | Quantity
    | Sequence
    | Relation
    | Either
    | Combination
    | Builder
    | NamedSet
    | Matrix
    | Ratio
    | Based
    | Moment
    | Text
)

VALUES: Final = (Number, Symbol, Constant, Sum, Product, Power, Call)
"""The classes of `Value`, for `isinstance`."""
_LEAVES: Final = frozenset((Number, Symbol, Constant))

MINUS_ONE: Final = Number(-1)


def negative(value: Value) -> Value:
    """Return minus `value`; a number stays a number."""
    if isinstance(value, Number):
        return Number(-value.value, value.places)
    return Product((MINUS_ONE, value))


def quotient(top: Value, bottom: Value) -> Value:
    """Return `top / bottom`, not computed."""
    return Product((top, Power(bottom, MINUS_ONE)))


def children(value: Value) -> tuple[Value, ...]:
    """Return the values that `value` is directly made of."""
    if isinstance(value, Sum):
        return value.terms
    if isinstance(value, Product):
        return value.factors
    if isinstance(value, Power):
        return (value.base, value.exponent)
    return value.arguments if isinstance(value, Call) else ()


def substituted(value: Value, by: Mapping[Value, Value]) -> Value:
    """Return the value with its symbols replaced; a bound one is replaced like any other."""
    if isinstance(value, Sum):
        return Sum(tuple(substituted(term, by) for term in value.terms))
    if isinstance(value, Product):
        return Product(tuple(substituted(factor, by) for factor in value.factors))
    if isinstance(value, Power):
        return Power(substituted(value.base, by), substituted(value.exponent, by))
    if isinstance(value, Call):
        return Call(value.name, tuple(substituted(argument, by) for argument in value.arguments))
    return by.get(value, value)


def walk(value: Value) -> Iterator[Value]:
    """Yield `value` and everything in it; without recursion, for any depth."""
    waiting = [value]
    while waiting:
        node = waiting.pop()
        yield node
        if type(node) not in _LEAVES:
            waiting.extend(children(node))


def calls(value: Value) -> Iterator[Call]:
    """Yield every function in `value` with its arguments; most values have none."""
    waiting = [value]
    while waiting:
        node = waiting.pop()
        if type(node) in _LEAVES:  # most nodes are, and every answer is walked some times
            continue
        if isinstance(node, Product):
            waiting += node.factors
        elif isinstance(node, Sum):
            waiting += node.terms
        elif isinstance(node, Power):
            waiting += (node.base, node.exponent)
        elif isinstance(node, Call):
            yield node
            waiting += node.arguments
