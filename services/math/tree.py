"""The expression tree: what an answer says, free of how it was written.

The parser builds it, every comparer reads it. Nodes are hashable, and equal where they are the same
tree; whether two different trees have the same value is the comparers' business. Nothing here
computes: `2 + 2` is a `Sum` of two numbers. Nothing changes a node: the type checker sees to it
(`Final`), because frozen dataclasses take more than twice as long to make.

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


@dataclass(slots=True, unsafe_hash=True)
class Number:
    """An exact rational number."""

    value: Final[int | Fraction]
    places: Final[int | None] = None
    """Digits after the point where it is written as a decimal; None where it is exact."""


@dataclass(slots=True, unsafe_hash=True)
class Symbol:
    r"""A variable or unknown: `x`, `alpha` for `\alpha`, `x_1`."""

    name: Final[str]


@dataclass(slots=True, unsafe_hash=True)
class Constant:
    """A number with a name of its own: `pi`, `e`, `i` or `infinity`."""

    name: Final[str]


@dataclass(slots=True, unsafe_hash=True)
class Sum:
    """The sum of at least two terms."""

    terms: Final[tuple[Value, ...]]


@dataclass(slots=True, unsafe_hash=True)
class Product:
    """The product of at least two factors."""

    factors: Final[tuple[Value, ...]]


@dataclass(slots=True, unsafe_hash=True)
class Power:
    """`base ** exponent`; where the exponent is 1/n with an odd n, the real root is meant."""

    base: Final[Value]
    exponent: Final[Value]


@dataclass(slots=True, unsafe_hash=True)
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

    name: Final[str]
    arguments: Final[tuple[Value, ...]]


Value = Number | Symbol | Constant | Sum | Product | Power | Call


@dataclass(slots=True, unsafe_hash=True)
class Quantity:
    """A value with a unit as it was written; `services.math.language.units` knows what it is worth."""

    value: Final[Value]
    unit: Final[str]


@dataclass(slots=True, unsafe_hash=True)
class Sequence:
    r"""Items with commas between, and the brackets around them.

    `left` and `right` are one of `( [ { <` and their partners, or both empty for a bare list:
    `(1, 2)` a point or an interval, `[2, 5)` an interval, `\{1, 2\}` a set.
    """

    items: Final[tuple[Tree, ...]]
    left: Final[str] = ""
    right: Final[str] = ""


@dataclass(slots=True, unsafe_hash=True)
class Relation:
    """A chain `a < b <= c`: one operator less than there are operands.

    Operators: `= != < > <= >= ~ in notin subset congruent`, where `~` is "about", and a congruence
    has its modulus as a third operand after the operator `mod`.
    """

    operands: Final[tuple[Tree, ...]]
    operators: Final[tuple[str, ...]]


@dataclass(slots=True, unsafe_hash=True)
class Either:
    """Alternatives: `x = 5 or x = 7`."""

    parts: Final[tuple[Tree, ...]]


@dataclass(slots=True, unsafe_hash=True)
class Combination:
    """Sets joined by `union`, `intersection` or `difference`, from left to right."""

    operator: Final[str]
    parts: Final[tuple[Tree, ...]]


@dataclass(slots=True, unsafe_hash=True)
class Builder:
    r"""A set given by conditions: `\{x \mid x > 3\}` is the head `x` and one condition."""

    head: Final[Tree]
    conditions: Final[tuple[Tree, ...]]


@dataclass(slots=True, unsafe_hash=True)
class NamedSet:
    r"""`R`, `Q`, `Z`, `N`, `C` for `\mathbb{R}` and so on, or `empty`."""

    name: Final[str]


@dataclass(slots=True, unsafe_hash=True)
class Matrix:
    """Rows of equal length."""

    rows: Final[tuple[tuple[Tree, ...], ...]]


@dataclass(slots=True, unsafe_hash=True)
class Ratio:
    """`3:2`, or more than two parts."""

    parts: Final[tuple[Value, ...]]


@dataclass(slots=True, unsafe_hash=True)
class Based:
    """Digits (with at most one point) in a stated base from 2 to 36: `52_8`."""

    digits: Final[str]
    base: Final[int]


@dataclass(slots=True, unsafe_hash=True)
class Moment:
    """A date or a time of day, its parts from the largest to the smallest.

    `kind` is `date` (year or None, month, day) or `time` (hour, minute, second or None, and
    "am", "pm" or None).
    """

    kind: Final[str]
    parts: Final[tuple[int | str | None, ...]]


@dataclass(slots=True, unsafe_hash=True)
class Text:
    """Words that mean no value, in one normal spelling: lower case, single blanks."""

    words: Final[str]


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


def has_calls(value: Value) -> bool:
    """Whether a function is anywhere in `value`: in most there is none."""
    waiting = [value]
    while waiting:
        node = waiting.pop()
        kind = type(node)
        if kind in _LEAVES:
            continue
        if kind is Call:
            return True
        waiting += children(node)
    return False


def calls(value: Value) -> Iterator[Call]:
    """Yield every function in `value` with its arguments."""
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
