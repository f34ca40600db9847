from __future__ import annotations

import re
from fractions import Fraction

import pytest
from hypothesis import given, settings, strategies as st

from services.math.algebra import realset
from services.math.algebra.realset import EMPTY, INFINITY, MINUS_INFINITY, REALS, Interval, RealSet
from services.math.tree import Number, Power, Product, Sum, Symbol, Value, negative


class Rationals:
    """Knows the order of numbers, and that a tree equals itself; counts what it is asked."""

    def __init__(self) -> None:
        self.asked = 0

    def equal(self, a: Value, b: Value, /) -> bool | None:
        self.asked += 1
        if isinstance(a, Number) and isinstance(b, Number):
            return a.value == b.value
        return True if a == b else None

    def less(self, a: Value, b: Value, /) -> bool | None:
        self.asked += 1
        if isinstance(a, Number) and isinstance(b, Number):
            return a.value < b.value
        return None


ORDER = Rationals()


def end(text: str) -> Value:
    if text.endswith("inf"):
        return MINUS_INFINITY if text.startswith("-") else INFINITY
    if text.lstrip("-").isalpha():
        return negative(Symbol(text[1:])) if text.startswith("-") else Symbol(text)
    value = Fraction(text)
    return Number(value.numerator if value.denominator == 1 else value)


def intervals(text: str) -> list[Interval]:
    """Read `[1,2) (3,inf)`, and `{5}` for a point."""
    found = []
    for left, low, _, high, right in re.findall(r"([\[({])([^,\])}]+)(,([^\])}]+))?([\])}])", text):
        found.append(Interval(end(low), end(high or low), left in "[{", right in "]}"))
    return found


def reals(text: str) -> RealSet:
    return realset.of(intervals(text), ORDER)


@pytest.mark.parametrize(
    ("written", "normal"),
    [
        ("[1,3] [2,5]", "[1,5]"),
        ("[1,2) [2,3]", "[1,3]"),
        ("[1,2] (2,3]", "[1,3]"),
        ("(2,3] [1,2]", "[1,3]"),
        ("[1,2) {2} (2,3]", "[1,3]"),
        ("[1,9] [2,3]", "[1,9]"),
        ("(1,2] [1,2)", "[1,2]"),
        ("(1,1]", ""),
        ("[1,1)", ""),
        ("(1,1)", ""),
        ("[3,1]", ""),
        ("(inf,-inf)", ""),
        ("[1,1]", "{1}"),
        ("(-inf,1) [1,inf)", "(-inf,inf)"),
        ("[-inf,inf]", "(-inf,inf)"),
        ("[-inf,2]", "(-inf,2]"),
        ("{3} {1} {2} {3}", "{1} {2} {3}"),
        ("[1/2,1/3] (1/3,1/2]", "(1/3,1/2]"),
    ],
)
def test_a_set_is_brought_to_its_normal_form(written: str, normal: str) -> None:
    assert reals(written) == RealSet(tuple(intervals(normal)))


def test_intervals_that_touch_at_open_ends_stay_apart() -> None:
    assert len(reals("[1,2) (2,3]").intervals) == 2


def test_the_named_sets_are_in_normal_form() -> None:
    assert reals("") == EMPTY
    assert reals("(-inf,inf)") == REALS


@pytest.mark.parametrize("left", ["[1,2]", "[1,2)", "(1,2]", "(1,2)"])
@pytest.mark.parametrize("right", ["[1,2]", "[1,2)", "(1,2]", "(1,2)"])
def test_brackets_tell_intervals_apart(left: str, right: str) -> None:
    assert realset.same(reals(left), reals(right), ORDER) is (left == right)


@pytest.mark.parametrize(
    ("a", "b", "is_same"),
    [
        ("(0,1) (2,3)", "(2,3) (0,1)", True),
        ("(0,1) (2,3)", "(0,1) (2,4)", False),
        ("(0,1) (2,3)", "(0,3)", False),
        ("(-inf,3)", "(-inf,3]", False),
        ("(-inf,3)", "(-3,inf)", False),
        ("(3,inf)", "(3,4)", False),
        ("", "{1}", False),
        ("[0,1] [1/2,2]", "[0,2]", True),
        ("(-inf,0) (0,inf)", "(-inf,inf)", False),
        # Symbols: item by item, or nothing.
        ("(-a,a)", "(-a,a)", True),
        ("(-a,a)", "[-a,a)", False),
        ("(-a,a)", "(-b,b)", None),
        ("(-inf,-a) (a,inf)", "(a,inf) (-inf,-a)", True),
        ("(-inf,-a) (a,inf)", "(a,inf) (-inf,-a]", None),
        ("(-inf,-a) (a,inf)", "(-inf,inf)", None),
        ("(a,inf)", "(a,inf)", True),
        ("(a,inf)", "[a,inf)", False),
        ("(a,inf)", "(-inf,a)", False),
        ("(a,inf)", "(b,inf)", None),
        ("(a,inf)", "(0,inf)", None),
        ("(1,a) (1,a)", "(1,a) (2,a)", None),
        ("{a} {b}", "{b} {a}", True),
        ("{a} {b}", "{a} {c}", None),
    ],
)
def test_two_sets_are_compared(a: str, b: str, is_same: bool | None) -> None:
    assert realset.same(reals(a), reals(b), ORDER) is is_same
    assert realset.same(reals(b), reals(a), ORDER) is is_same


def test_plain_numbers_are_ordered_without_asking() -> None:
    order = Rationals()
    a = realset.of(intervals("(0,1) [3,5] {7}"), order)
    assert realset.same(a, realset.of(intervals("{7} (0,1) [3,5]"), order), order) is True
    assert order.asked == 0


def test_a_written_decimal_may_be_equal_by_the_word_of_the_order() -> None:
    class Rounding(Rationals):
        def equal(self, a: Value, b: Value, /) -> bool | None:
            return True

    decimal = realset.of([realset.point(Number(Fraction(33, 100), places=2))], ORDER)
    assert realset.same(decimal, reals("{1/3}"), Rounding()) is True
    assert realset.same(decimal, reals("{1/3}"), ORDER) is False
    assert realset.same(reals("{1/4}"), reals("{1/3}"), Rounding()) is False


def test_half_an_order_decides_only_what_it_knows() -> None:
    """A "not less" alone leaves open whether two ends are equal."""

    class Half(Rationals):
        def less(self, a: Value, b: Value, /) -> bool | None:
            return False

    root = Power(Number(2), Number(Fraction(1, 2)))
    assert not realset.of([Interval(root, Number(1), True, True)], Half()).is_ordered


@pytest.mark.parametrize(
    ("a", "b", "both", "only_a"),
    [
        ("[0,5]", "(3,9)", "(3,5]", "[0,3]"),
        ("(-inf,inf)", "{0}", "{0}", "(-inf,0) (0,inf)"),
        ("[0,5]", "[5,6]", "{5}", "[0,5)"),
        ("[0,5)", "[5,6]", "", "[0,5)"),
        ("[0,9]", "[1,2) (2,3]", "[1,2) (2,3]", "[0,1) {2} (3,9]"),
        ("", "[1,2]", "", ""),
        ("[1,2]", "", "", "[1,2]"),
        ("(a,inf)", "(-inf,inf)", "(a,inf)", ""),
        ("(a,inf)", "(0,inf)", None, None),
        ("(a,inf)", "", "", "(a,inf)"),
    ],
)
def test_sets_are_intersected_and_subtracted(
    a: str, b: str, both: str | None, only_a: str | None
) -> None:
    left, right = reals(a), reals(b)
    expected = None if both is None else reals(both)
    assert realset.intersection(left, right, ORDER) == expected
    assert realset.intersection(right, left, ORDER) == expected
    rest = realset.difference(left, right, ORDER)
    assert rest == (None if only_a is None else reals(only_a))


def test_the_rest_of_a_set_that_has_no_order_is_unknown() -> None:
    assert realset.complement(reals("(-a,a)"), ORDER) is None
    assert realset.is_empty(reals("(-a,a)")) is None
    assert realset.contains(reals("(-a,a)"), Number(0), ORDER) is None


@pytest.mark.parametrize(
    ("operator", "expected"),
    [
        ("<", "(-inf,1) (2,3)"),
        ("<=", "(-inf,1] (2,3]"),
        (">", "(1,2) (3,inf)"),
        (">=", "[1,2) [3,inf)"),
        ("=", "{1} {3}"),
        ("!=", "(-inf,1) (1,2) (2,3) (3,inf)"),
    ],
)
def test_signs_between_edges_become_a_set(operator: str, expected: str) -> None:
    edges: list[Value] = [Number(1), Number(2), Number(3)]
    signs = [False, True, False, True]
    assert realset.by_signs(edges, signs, operator, {Number(2)}) == reals(expected)


def test_a_sign_that_does_not_change_leaves_out_the_edge_or_not() -> None:
    assert realset.by_signs([Number(1)], [True, True], ">=") == REALS
    assert realset.by_signs([Number(1)], [True, True], ">") == reals("(-inf,1) (1,inf)")
    assert realset.by_signs([Number(1)], [True, True], "<=") == reals("{1}")
    assert realset.by_signs([], [False], ">") == EMPTY


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Sum((Number(1), Product((Number(2), Power(Number(3), Number(-1)))))), Fraction(5, 3)),
        (Power(Number(2), Number(-3)), Fraction(1, 8)),
        (Product((Number(2), Number(3), Number(4))), Fraction(24)),
        (Power(Number(0), Number(-1)), None),
        (Power(Number(2), Number(Fraction(1, 2))), None),
        (Power(Number(2), Number(10**9)), None),
        (Power(Power(Number(9), Number(999)), Number(999)), None),
        (Sum((Number(1), Symbol("x"))), None),
    ],
)
def test_only_rational_numbers_of_some_size_are_computed(
    value: Value, expected: Fraction | None
) -> None:
    assert realset.rational(value) == expected


def a_set() -> st.SearchStrategy[list[Interval]]:
    """Intervals with ends among few numbers, so that they meet often, and some infinite ones."""
    finite = st.integers(-4, 4).map(lambda n: Number(Fraction(n, 2)) if n % 2 else Number(n // 2))
    ends = st.one_of(finite, finite, st.sampled_from([INFINITY, MINUS_INFINITY]))
    return st.lists(st.builds(Interval, ends, ends, st.booleans(), st.booleans()), max_size=5)


PLACES = [Fraction(n, 4) for n in range(-12, 13)]


def holds(interval: Interval, place: Fraction) -> bool:
    def number(value: Value) -> float | Fraction:
        if isinstance(value, Number):
            return Fraction(value.value)
        return float("inf") if value == INFINITY else float("-inf")

    low, high = number(interval.low), number(interval.high)
    above = low < place or (interval.low_closed and low == place)
    below = place < high or (interval.high_closed and place == high)
    return above and below


def points(written: list[Interval]) -> list[bool]:
    return [any(holds(interval, place) for interval in written) for place in PLACES]


def points_of(found: RealSet | None) -> list[bool]:
    assert found is not None
    assert found.is_ordered
    return points(list(found.intervals))


@given(a_set())
def test_the_normal_form_holds_the_same_points(written: list[Interval]) -> None:
    found = realset.of(written, ORDER)
    assert points_of(found) == points(written)
    assert realset.of(found.intervals, ORDER) == found
    inside = [realset.contains(found, realset.exact(place), ORDER) for place in PLACES]
    assert inside == points(written)


@settings(max_examples=200)
@given(a_set(), a_set())
def test_sets_are_the_same_if_and_only_if_their_points_are(
    a: list[Interval], b: list[Interval]
) -> None:
    """The places lie on and between all ends that can be drawn, and beyond them."""
    found = realset.same(realset.of(a, ORDER), realset.of(b, ORDER), ORDER)
    assert found is (points(a) == points(b))


@given(a_set(), st.randoms(use_true_random=False))
def test_a_set_is_the_same_in_any_order(written: list[Interval], random: object) -> None:
    shuffled = list(written)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert realset.of(shuffled, ORDER) == realset.of(written, ORDER)


@settings(max_examples=200)
@given(a_set(), a_set())
def test_the_operations_are_those_on_points(a: list[Interval], b: list[Interval]) -> None:
    left, right = realset.of(a, ORDER), realset.of(b, ORDER)
    pairs = list(zip(points(a), points(b), strict=True))
    assert points_of(realset.union(left, right, ORDER)) == [x or y for x, y in pairs]
    assert points_of(realset.intersection(left, right, ORDER)) == [x and y for x, y in pairs]
    assert points_of(realset.difference(left, right, ORDER)) == [x and not y for x, y in pairs]
    assert points_of(realset.complement(left, ORDER)) == [not x for x in points(a)]


@given(a_set(), a_set())
def test_the_laws_of_de_morgan_hold(a: list[Interval], b: list[Interval]) -> None:
    left, right = realset.of(a, ORDER), realset.of(b, ORDER)
    outside = realset.complement(realset.union(left, right, ORDER), ORDER)
    not_left, not_right = realset.complement(left, ORDER), realset.complement(right, ORDER)
    assert not_left is not None
    assert not_right is not None
    assert outside == realset.intersection(not_left, not_right, ORDER)
    assert realset.complement(not_left, ORDER) == left
