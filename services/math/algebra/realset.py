"""Subsets of the real numbers: finite unions of intervals and points, with values as their ends.

How two ends compare is the caller's business, given as an `Order`. Where it can tell, a set has one
normal form: its intervals stand in order, are not empty and do not touch, so that `[1, 2)` and
`[2, 3]` are `[1, 3]`, and two sets are the same where their ends are, one by one.

Where it cannot, as for `(-a, a)`, a set is kept as it was written. Such a set is the same as
another whose intervals match its own in any order; nothing else is known about it, and whatever
would have to be decided by the order of two such ends is None.

Not covered: sets without a first number of pieces, such as the integers or the solutions of
`sin x > 0`; sets of points of a plane; complex numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, pairwise
from math import prod
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from services.math.tree import Constant, Number, Power, Product, Sum, Value, children, negative

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable

INFINITY: Final = Constant("infinity")
MINUS_INFINITY: Final = negative(INFINITY)

_MAX_BITS: Final = 4096
_HOLDS_FOR: Final = {
    "=": (False, False),
    "!=": (True, True),
    "<": (True, False),
    "<=": (True, False),
    ">": (False, True),
    ">=": (False, True),
}


class Order(Protocol):
    """What is known about the order of two values; None where nothing is."""

    def equal(self, a: Value, b: Value, /) -> bool | None:
        """Whether the two are the same number, or the same function of their symbols."""
        ...

    def less(self, a: Value, b: Value, /) -> bool | None:
        """Whether `a < b`; None too where that depends on the values of symbols."""
        ...


@dataclass(frozen=True, slots=True)
class Interval:
    """The numbers between two ends; a single point is `[a, a]`. An infinite end is open."""

    low: Value
    high: Value
    low_closed: bool
    high_closed: bool


@dataclass(frozen=True, slots=True)
class RealSet:
    """A union of intervals: in normal form where `is_ordered`, otherwise as it was written."""

    intervals: tuple[Interval, ...]
    is_ordered: bool = True


EMPTY: Final = RealSet(())
REALS: Final = RealSet((Interval(MINUS_INFINITY, INFINITY, low_closed=False, high_closed=False),))


class _Cut(NamedTuple):
    """A place that splits the line: just before `value`, or just after it."""

    value: Value
    is_after: bool


class _UnknownOrderError(Exception):
    """The order of two ends is needed and not known."""


def is_infinite(value: Value) -> bool:
    """Whether the value is infinity or its negative, in the spelling of this module."""
    return value in (INFINITY, MINUS_INFINITY)


def point(value: Value) -> Interval:
    """Return the interval that holds `value` alone."""
    return Interval(value, value, low_closed=True, high_closed=True)


def of(intervals: Iterable[Interval], order: Order) -> RealSet:
    """Return the union of intervals, which may overlap and stand in any order.

    An interval whose ends are known to be reversed is empty. Where an order that matters is
    unknown, the set is kept as it was written.
    """
    written = tuple(intervals)
    try:
        cuts: list[_Cut] = []
        for interval in written:
            cuts = _merge(cuts, _cuts_of(interval, order), lambda a, b: a or b, order)
    except _UnknownOrderError:
        return RealSet(written, is_ordered=False)
    return _from_cuts(cuts)


def by_signs(
    edges: list[Value], positive: list[bool], operator: str, poles: Container[Value] = ()
) -> RealSet:
    """Return where a function compares with 0 as the operator says.

    The function is positive or not before each of its finite, ascending edges and after the last
    one, as `positive` tells, and at an edge it is 0 or, for a pole, has no value.
    """
    between = [_HOLDS_FOR[operator][sign] for sign in positive]
    at = [operator in {"=", "<=", ">="} and edge not in poles for edge in edges]
    pieces = [*chain.from_iterable(zip(between, at, strict=False)), between[-1]]
    places = [_Cut(MINUS_INFINITY, is_after=True)]
    places += [_Cut(edge, is_after) for edge in edges for is_after in (False, True)]
    changes = zip(places, [False, *pieces], pieces, strict=False)
    cuts = [place for place, before, after in changes if before != after]
    return _from_cuts([*cuts, _Cut(INFINITY, is_after=False)] if pieces[-1] else cuts)


def rational(value: Value) -> Fraction | None:
    """Compute sums, products and powers of rational numbers; None for all other values."""
    if isinstance(value, Number):
        return Fraction(value.value)
    if not isinstance(value, Sum | Product | Power):
        return None
    parts = []
    for part in children(value):
        number = rational(part)
        if number is None or _bits(number) > _MAX_BITS:
            return None
        parts.append(number)
    if isinstance(value, Power):
        return _rational_power(parts[0], parts[1])
    return sum(parts, Fraction()) if isinstance(value, Sum) else prod(parts, start=Fraction(1))


def _rational_power(base: Fraction, exponent: Fraction) -> Fraction | None:
    if not base or exponent.denominator != 1 or abs(exponent) * _bits(base) > _MAX_BITS:
        return None
    return base ** int(exponent)


def _bits(value: Fraction) -> int:
    return value.numerator.bit_length() + value.denominator.bit_length()


def exact(value: Fraction) -> Number:
    """Return the node of a rational number."""
    return Number(value.numerator if value.denominator == 1 else value)


def union(a: RealSet, b: RealSet, order: Order) -> RealSet:
    """Return what is in `a` or in `b`; kept as written where the order of the ends is unknown."""
    if EMPTY in (a, b):
        return b if a == EMPTY else a
    return of(a.intervals + b.intervals, order)


def intersection(a: RealSet, b: RealSet, order: Order) -> RealSet | None:
    """Return what is in both sets; None where the order of their ends is unknown."""
    if EMPTY in (a, b):
        return EMPTY
    if REALS in (a, b):
        return b if a == REALS else a
    return _combined(a, b, lambda x, y: x and y, order)


def difference(a: RealSet, b: RealSet, order: Order) -> RealSet | None:
    """Return what is in `a` and not in `b`; None where the order of their ends is unknown."""
    if EMPTY in (a, b):
        return a
    return _combined(a, b, lambda x, y: x and not y, order)


def complement(a: RealSet, order: Order) -> RealSet | None:
    """Return the real numbers that are not in `a`; None where the order of its ends is unknown."""
    return difference(REALS, a, order)


def contains(a: RealSet, value: Value, order: Order) -> bool | None:
    """Return whether a finite real value is in the set; None where an order is unknown."""
    inside = intersection(RealSet((point(value),)), a, order)
    return None if inside is None else inside != EMPTY


def is_empty(a: RealSet) -> bool | None:
    """Return whether nothing is in the set; None for one whose ends have no known order."""
    return not a.intervals if a.is_ordered else None


def same(a: RealSet, b: RealSet, order: Order) -> bool | None:
    """Return whether two sets are equal; None where that hangs on an order that is unknown.

    Ends are compared by `order.equal`, so that an order with a tolerance for a rounded decimal
    is honoured; decimals that are equal as they stand, and exact numbers, never ask it.
    """
    if a == b:
        return True
    if a.is_ordered and b.is_ordered:
        return _same_ordered(a, b, order)
    if len(a.intervals) == len(b.intervals):
        return _same_as_written(a.intervals, b.intervals, order)
    return None


def _same_ordered(a: RealSet, b: RealSet, order: Order) -> bool | None:
    if len(a.intervals) != len(b.intervals):
        return False
    found: bool | None = True
    for left, right in zip(a.intervals, b.intervals, strict=True):
        ends = _same_ends(left, right, order)
        if ends is False or not _same_brackets(left, right):
            return False
        found = found and ends
    return found


def _same_as_written(
    left: tuple[Interval, ...], right: tuple[Interval, ...], order: Order
) -> bool | None:
    """Match interval by interval, in any order.

    One interval with the ends of the other and other brackets is a different set: whoever wrote
    `(-a, a)` claims that there is something between. Different ends say nothing: `(-a, a)` and
    `(-|a|, |a|)` are equal wherever the first is not empty.
    """
    if len(left) == 1 and _same_ends(left[0], right[0], order):
        return _same_brackets(left[0], right[0])
    rest = list(right)
    for interval in left:
        partner = next((other for other in rest if _is_same_interval(interval, other, order)), None)
        if partner is None:
            return None
        rest.remove(partner)
    return True


def _is_same_interval(a: Interval, b: Interval, order: Order) -> bool:
    return _same_brackets(a, b) and _same_ends(a, b, order) is True


def _same_brackets(a: Interval, b: Interval) -> bool:
    return (a.low_closed, a.high_closed) == (b.low_closed, b.high_closed)


def _same_ends(a: Interval, b: Interval, order: Order) -> bool | None:
    low = _equal(a.low, b.low, order)
    if low is False:
        return False
    high = _equal(a.high, b.high, order)
    return high if low or high is False else None


def _equal(a: Value, b: Value, order: Order) -> bool | None:
    """Compare two ends, without asking for what is plain."""
    if a == b:
        return True
    if is_infinite(a) or is_infinite(b):
        return False
    if isinstance(a, Number) and isinstance(b, Number):
        if a.value == b.value:
            return True
        if a.places is None and b.places is None:
            return False
    return order.equal(a, b)


def _precedes(a: Value, b: Value, order: Order) -> bool | None:
    """Return whether `a < b`, or None where they are equal."""
    if a == b:
        return None
    if is_infinite(a) or is_infinite(b):
        return a == MINUS_INFINITY or b == INFINITY
    if isinstance(a, Number) and isinstance(b, Number):
        return None if a.value == b.value else a.value < b.value
    if order.equal(a, b):
        return None
    if order.less(a, b):
        return True
    if order.less(b, a):
        return False
    raise _UnknownOrderError


def _is_before(a: _Cut, b: _Cut, order: Order) -> bool | None:
    """Return whether cut `a` is to the left of cut `b`, or None where they are one cut."""
    by_value = _precedes(a.value, b.value, order)
    if by_value is None and a.is_after != b.is_after:
        return b.is_after
    return by_value


def _cuts_of(interval: Interval, order: Order) -> list[_Cut]:
    low = _Cut(interval.low, not interval.low_closed or is_infinite(interval.low))
    high = _Cut(interval.high, interval.high_closed and not is_infinite(interval.high))
    return [low, high] if _is_before(low, high, order) else []


def _combined(
    a: RealSet, b: RealSet, rule: Callable[[bool, bool], bool], order: Order
) -> RealSet | None:
    if not (a.is_ordered and b.is_ordered):
        return None
    left = [cut for interval in a.intervals for cut in _written_cuts(interval)]
    right = [cut for interval in b.intervals for cut in _written_cuts(interval)]
    try:
        return _from_cuts(_merge(left, right, rule, order))
    except _UnknownOrderError:
        return None


def _written_cuts(interval: Interval) -> tuple[_Cut, _Cut]:
    return _Cut(interval.low, not interval.low_closed), _Cut(interval.high, interval.high_closed)


def _merge(
    left: list[_Cut], right: list[_Cut], rule: Callable[[bool, bool], bool], order: Order
) -> list[_Cut]:
    """Walk along the line over the cuts of two sets, and cut where the answer of `rule` changes."""
    merged: list[_Cut] = []
    i = j = 0
    while i < len(left) or j < len(right):
        is_left_first = _is_left_first(left[i : i + 1], right[j : j + 1], order)
        cut = right[j] if is_left_first is False else left[i]
        i += is_left_first is not False
        j += is_left_first is not True
        is_inside = rule(i % 2 == 1, j % 2 == 1)
        if is_inside != (len(merged) % 2 == 1):
            merged.append(cut)
    return merged


def _is_left_first(left: list[_Cut], right: list[_Cut], order: Order) -> bool | None:
    """Return which of two next cuts comes first, or None where they are one cut."""
    if left and right:
        return _is_before(left[0], right[0], order)
    return bool(left)


def _from_cuts(cuts: list[_Cut]) -> RealSet:
    pairs = list(pairwise(cuts))[::2]
    return RealSet(
        tuple(
            Interval(low.value, high.value, not low.is_after, high.is_after) for low, high in pairs
        )
    )
