from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import prod
from typing import Any

import mpmath  # type: ignore[import-untyped]
import pytest
from hypothesis import given, settings, strategies as st

from services.math.algebra import realset
from services.math.algebra.inequality import NotASet, Solution, from_tree
from services.math.algebra.realset import EMPTY, INFINITY, MINUS_INFINITY, REALS, Interval, RealSet
from services.math.tree import (
    Builder,
    Call,
    Combination,
    Constant,
    Either,
    Matrix,
    NamedSet,
    Number,
    Power,
    Product,
    Quantity,
    Relation,
    Sequence,
    Sum,
    Symbol,
    Text,
    Tree,
    Value,
    children,
    negative,
    quotient as over,
    walk,
)

x, y, a = Symbol("x"), Symbol("y"), Symbol("a")
PI = Constant("pi")


class Digits:
    """Orders values without symbols by their first 60 digits."""

    def equal(self, a: Value, b: Value, /) -> bool | None:
        if a == b:
            return True
        return abs(value_of(a) - value_of(b)) < 1e-50 if is_plain(a, b) else None

    def less(self, a: Value, b: Value, /) -> bool | None:
        return bool(value_of(a) < value_of(b)) if is_plain(a, b) else None


def is_plain(*values: Value) -> bool:
    return not any(isinstance(node, Symbol) for value in values for node in walk(value))


def value_of(value: Value) -> mpmath.mpf:
    with mpmath.workdps(60):
        if isinstance(value, Number):
            return mpmath.mpf(value.value.numerator) / value.value.denominator
        if isinstance(value, Constant):
            return +{"pi": mpmath.pi, "e": mpmath.e}[value.name]
        parts = [value_of(part) for part in children(value)]
        if isinstance(value, Sum | Product):
            return mpmath.fsum(parts) if isinstance(value, Sum) else mpmath.fprod(parts)
        return parts[0] ** parts[1]


ORDER = Digits()


def number(value: float | Fraction) -> Number:
    exact = Fraction(value)
    return Number(exact.numerator if exact.denominator == 1 else exact)


def tree(item: Value | float | Fraction) -> Value:
    return number(item) if isinstance(item, int | float | Fraction) else item


def rel(*chain: object) -> Relation:
    """Return the chain of `1, "<", x, "<=", 4`."""
    operands = tuple(tree(item) for item in chain[::2])  # type: ignore[arg-type]
    return Relation(operands, tuple(str(item) for item in chain[1::2]))


def plus(*terms: Value | int) -> Value:
    return Sum(tuple(map(tree, terms)))


def times(*factors: Value | float | Fraction) -> Value:
    return Product(tuple(map(tree, factors)))


def root(value: int, degree: int = 2) -> Value:
    return Power(Number(value), Number(Fraction(1, degree)))


ROOT = root(2)
MINUS_ROOT = negative(ROOT)
IN_R = Relation((x, NamedSet("R")), ("in",))
SQUARE, CUBE = Power(x, Number(2)), Power(x, Number(3))


def abs_(value: Value) -> Value:
    return Call("abs", (value,))


def to(low: Tree | float, high: Tree | float, brackets: str = "()") -> Sequence:
    items = [number(item) if isinstance(item, int | float) else item for item in (low, high)]
    return Sequence(tuple(items), brackets[0], brackets[1])


def reals(*pieces: Sequence | Value | int) -> RealSet:
    found = []
    for piece in pieces:
        if isinstance(piece, Sequence):
            low, high = (item for item in piece.items if not isinstance(item, Sequence))
            found.append(Interval(low, high, piece.left == "[", piece.right == "]"))  # type: ignore[arg-type]
        else:
            found.append(realset.point(tree(piece)))
    return realset.of(found, ORDER)


def below(value: Value | float) -> Sequence:
    return to(MINUS_INFINITY, value)


def upto(value: Value | float) -> Sequence:
    return to(MINUS_INFINITY, value, "(]")


def above(value: Value | float) -> Sequence:
    return to(value, INFINITY)


def since(value: Value | float) -> Sequence:
    return to(value, INFINITY, "[)")


def is_solved_as(node: Tree, expected: RealSet, symbol: str | None = "x") -> bool:
    found = from_tree(node, ORDER)
    assert isinstance(found, Solution)
    assert found.symbol == symbol
    return realset.same(found.reals, expected, ORDER) is True


@pytest.mark.parametrize(
    ("relation", "expected"),
    [
        (rel(x, ">", 3), reals(above(3))),
        (rel(3, "<", x), reals(above(3))),
        (rel(times(2, x), ">", 6), reals(above(3))),
        (rel(times(-2, x), ">", 6), reals(below(-3))),
        (rel(x, ">=", 3), reals(since(3))),
        (rel(x, "<", over(Number(1), Number(2))), reals(below(0.5))),
        (rel(1, "<=", x, "<=", 4), reals(to(1, 4, "[]"))),
        (rel(4, ">=", x, ">=", 1), reals(to(1, 4, "[]"))),
        (rel(4, ">", x, ">=", 1), reals(to(1, 4, "[)"))),
        (rel(-3, "<", plus(times(2, x), 1), "<=", 5), reals(to(-2, 2, "(]"))),
        (rel(4, "<", x, "<", 1), EMPTY),
        (rel(x, "!=", 1), reals(below(1), above(1))),
        (rel(x, "=", 5), reals(5)),
        (rel(times(3, x), "=", 5), reals(number(Fraction(5, 3)))),
        (rel(times(2, plus(x, -1)), "<=", plus(x, 3)), reals(upto(5))),
        (rel(over(plus(x, 1), Number(2)), "<", 2), reals(below(3))),
        (rel(times(2, x), ">", PI), reals(above(times(0.5, PI)))),
        (rel(plus(x, ROOT), "<", 1), reals(below(plus(1, MINUS_ROOT)))),
        (rel(plus(x, negative(x)), "<", 1), REALS),
        (rel(plus(x, negative(x)), ">=", 1), EMPTY),
        (rel(MINUS_INFINITY, "<", x, "<=", 3), reals(upto(3))),
        (rel(INFINITY, ">", x), REALS),
        (rel(x, ">", INFINITY), EMPTY),
    ],
)
def test_linear_relations_are_solved(relation: Relation, expected: RealSet) -> None:
    assert is_solved_as(relation, expected)


@pytest.mark.parametrize(
    ("relation", "expected"),
    [
        (rel(abs_(x), "<", 2), reals(to(-2, 2))),
        (rel(2, ">", abs_(x)), reals(to(-2, 2))),
        (rel(abs_(plus(x, -3)), ">=", 1), reals(upto(2), since(4))),
        (rel(abs_(x), "=", 2), reals(-2, 2)),
        (rel(abs_(x), "!=", 2), reals(below(-2), to(-2, 2), above(2))),
        (rel(abs_(x), "<", -1), EMPTY),
        (rel(abs_(x), "<=", 0), reals(0)),
        (rel(abs_(x), ">", -1), REALS),
        (rel(abs_(x), "=", -1), EMPTY),
        (rel(negative(abs_(x)), "<", -2), reals(below(-2), above(2))),
        (rel(plus(times(2, abs_(x)), -1), "<", 3), reals(to(-2, 2))),
        (rel(1, "<", abs_(x), "<", 3), reals(to(-3, -1), to(1, 3))),
        (rel(abs_(plus(x, -1)), "<", abs_(plus(x, 2))), reals(above(-0.5))),
        (rel(plus(abs_(x), abs_(plus(x, -1))), "<=", 3), reals(to(-1, 2, "[]"))),
        (rel(abs_(plus(abs_(x), -1)), "<", 1), reals(to(-2, 0), to(0, 2))),
        (rel(abs_(x), "<", x), EMPTY),
        (rel(abs_(plus(Power(x, Number(2)), -1)), "<", 1), reals(to(MINUS_ROOT, 0), to(0, ROOT))),
    ],
)
def test_absolute_values_are_solved(relation: Relation, expected: RealSet) -> None:
    assert is_solved_as(relation, expected)


def nested(wrap: Callable[[Any], Tree], inner: Tree) -> Tree:
    for _ in range(3_000):
        inner = wrap(inner)
    return inner


@pytest.mark.parametrize(
    ("relation", "expected"),
    [
        (rel(SQUARE, "<", 4), reals(to(-2, 2))),
        (rel(SQUARE, ">=", 2), reals(upto(MINUS_ROOT), since(ROOT))),
        (rel(plus(SQUARE, 1), ">", 0), REALS),
        (rel(plus(SQUARE, 1), "<=", 0), EMPTY),
        (rel(SQUARE, "<=", 0), reals(0)),
        (rel(SQUARE, ">", 0), reals(below(0), above(0))),
        (rel(times(plus(x, -1), plus(x, 2)), "<", 0), reals(to(-2, 1))),
        (rel(CUBE, ">", 2), reals(above(root(2, 3)))),
        (rel(plus(CUBE, negative(x)), ">", 0), reals(to(-1, 0), above(1))),
        (rel(plus(Power(x, Number(4)), x, 1), ">", 0), REALS),
        (rel(over(plus(x, -1), plus(x, 2)), ">", 0), reals(below(-2), above(1))),
        (rel(over(plus(x, -1), plus(x, 2)), ">=", 0), reals(below(-2), since(1))),
        (rel(over(Number(1), x), "<", 2), reals(below(0), above(0.5))),
        (rel(over(Number(1), SQUARE), ">", 0), reals(below(0), above(0))),
        (rel(0, "<", plus(SQUARE, -1), "<", 3), reals(to(-2, -1), to(1, 2))),
        (rel(SQUARE, "!=", 4), reals(below(-2), to(-2, 2), above(2))),
        (rel(plus(times(0, Power(x, Number(-1))), x), ">", -1), reals(to(-1, 0), above(0))),
        # What cancels has no value where it was divided by 0.
        (rel(over(SQUARE, x), ">=", 0), reals(above(0))),
        (rel(over(Power(plus(x, -1), Number(2)), plus(x, -1)), "<", 5), reals(below(1), to(1, 6))),
        (rel(Power(Power(x, Number(-1)), Number(-1)), "<", 5), reals(below(0), to(0, 5))),
    ],
)
def test_polynomial_and_rational_relations_are_solved(
    relation: Relation, expected: RealSet
) -> None:
    assert is_solved_as(relation, expected)


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (Either((rel(x, "<", -1), rel(x, ">", 3))), reals(below(-1), above(3))),
        (Either((rel(x, "=", 5), rel(x, ">", 7))), reals(5, above(7))),
        (Sequence((rel(x, ">", 1), rel(x, "<", 5))), reals(to(1, 5))),
        (Sequence((rel(x, "<", 1), rel(x, ">", 5))), reals(below(1), above(5))),
        (Sequence((rel(x, "=", 1), rel(x, "=", 2))), reals(1, 2)),
        (Sequence((rel(x, "!=", 1), rel(x, "!=", 2))), reals(below(1), to(1, 2), above(2))),
        (Sequence((IN_R,)), REALS),
        (Sequence((IN_R, rel(x, "!=", 1))), reals(below(1), above(1))),
        (Sequence((rel(x, ">", 1),), "(", ")"), reals(above(1))),
        (Relation((x, to(0, 2)), ("in",)), reals(to(0, 2))),
        (Relation((x, to(0, 2)), ("notin",)), reals(upto(0), since(2))),
        (IN_R, REALS),
        (Relation((x, Sequence((Number(1), Number(2)), "{", "}")), ("in",)), reals(1, 2)),
        (
            Relation((x, Combination("union", (to(0, 1), to(2, 3)))), ("in",)),
            reals(to(0, 1), to(2, 3)),
        ),
    ],
)
def test_relations_are_joined(node: Tree, expected: RealSet) -> None:
    assert is_solved_as(node, expected)


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (to(1, 2, "[)"), reals(to(1, 2, "[)"))),
        (to(1, 2), reals(to(1, 2))),
        (to(MINUS_INFINITY, 2, "(]"), reals(upto(2))),
        (to(1, 1, "[]"), reals(1)),
        (to(1, 1, "[)"), EMPTY),
        (to(ROOT, root(3), "[]"), reals(to(ROOT, root(3), "[]"))),
        (to(over(Number(1), Number(2)), 1, "[]"), reals(to(0.5, 1, "[]"))),
        (to(negative(a), a, "[]"), reals(to(negative(a), a, "[]"))),
        (Sequence((Number(3), Number(1), Number(3)), "{", "}"), reals(1, 3)),
        (Sequence((), "{", "}"), EMPTY),
        (NamedSet("R"), REALS),
        (NamedSet("empty"), EMPTY),
        (Combination("union", (to(2, 3), to(0, 1))), reals(to(0, 1), to(2, 3))),
        (Combination("union", (to(0, 2), to(1, 3, "[]"))), reals(to(0, 3, "(]"))),
        (Combination("intersection", (to(0, 2), to(1, 3))), reals(to(1, 2))),
        (
            Combination("difference", (NamedSet("R"), Sequence((Number(0),), "{", "}"))),
            reals(below(0), above(0)),
        ),
        (Combination("union", (below(negative(a)), above(a))), reals(below(negative(a)), above(a))),
        (Builder(x, (rel(x, ">", 3),)), reals(above(3))),
        (Builder(y, (rel(y, ">", 3), rel(y, "<=", 4))), reals(to(3, 4, "(]"))),
        (Builder(IN_R, (rel(x, "!=", 3),)), reals(below(3), above(3))),
        (Builder(x, (Sequence((rel(x, ">", 1), rel(x, ">", 3))),)), reals(above(3))),
        (Builder(x, (Either((rel(x, "<", 1), rel(x, ">", 3))),)), reals(below(1), above(3))),
        (Either((to(0, 1), to(2, 3, "[]"))), reals(to(0, 1), to(2, 3, "[]"))),
    ],
)
def test_sets_without_an_unknown_are_read(node: Tree, expected: RealSet) -> None:
    assert is_solved_as(node, expected, symbol=None)


@pytest.mark.parametrize(
    "node",
    [
        Number(3),
        x,
        Text("all of them"),
        Matrix(((Number(1),),)),
        Sequence((Number(1), Number(2))),
        Sequence((Number(1), Number(2), Number(3)), "(", ")"),
        Sequence((Number(1), Number(2)), "<", ">"),
        Sequence((Text("a"), Text("b")), "(", ")"),
        Sequence((Quantity(Number(1), "m"), Number(1))),
        Sequence((to(1, 2, "()"), Number(2)), "{", "}"),
        to(2, 1),
        to(1, 1),
        Either((Number(1), Number(2))),
    ],
)
def test_other_trees_are_no_sets(node: Tree) -> None:
    assert isinstance(from_tree(node, ORDER), NotASet)


def test_a_pair_is_a_point_where_the_caller_says_so_but_not_in_a_union() -> None:
    assert isinstance(from_tree(to(1, 2), ORDER, pairs_are_intervals=False), NotASet)
    either = Either((to(1, 2), to(3, 4)))
    assert isinstance(from_tree(either, ORDER, pairs_are_intervals=False), NotASet)
    joined = Combination("union", (to(1, 2), to(3, 4)))
    found = from_tree(joined, ORDER, pairs_are_intervals=False)
    assert found == Solution(None, reals(to(1, 2), to(3, 4)))
    assert from_tree(to(1, 2, "[)"), ORDER, pairs_are_intervals=False) is not None


@pytest.mark.parametrize(
    "node",
    [
        rel(x, "<", y),
        rel(1, "<", x, "<", y),
        rel(3, ">", 2),
        rel(x, "~", 2),
        rel(x, "<", Call("pm", (Number(2),))),
        rel(x, "<", Constant("i")),
        rel(times(x, INFINITY), "<", 2),
        rel(Call("sin", (x,)), ">", 0),
        rel(Power(x, Number(Fraction(1, 2))), "<", 2),
        rel(Power(Power(x, Number(Fraction(1, 2))), Number(2)), "<", 2),
        rel(Power(Number(2), x), ">", 8),
        rel(times(a, x), ">", 8),
        rel(times(ROOT, x), ">", 8),
        rel(SQUARE, "<", PI),
        rel(plus(Power(x, Number(3)), times(-3, x), 1), ">", 0),
        rel(Power(x, Number(7)), ">", 0),
        rel(Power(plus(x, 1), Number(10**6)), ">", 0),
        rel(x, ">", Power(Number(0), Number(-1)), "<", x),
        # The solutions of an equation need not be real.
        rel(plus(SQUARE, 1), "=", 0),
        rel(SQUARE, "=", 4),
        rel(abs_(plus(SQUARE, 1)), "=", 0),
        Relation((x, NamedSet("Z")), ("in",)),
        Relation((x, Number(3)), ("in",)),
        Relation((plus(x, 1), to(0, 2)), ("in",)),
        Relation((x, to(0, 2)), ("=",)),
        Relation((x, to(0, 2)), ("subset",)),
        NamedSet("Z"),
        to(2, 1, "[]"),
        to(2, 1, "(]"),
        to(1, Constant("i"), "[]"),
        Sequence((Number(1), INFINITY), "{", "}"),
        Sequence((rel(x, ">", 1), rel(y, "<", 5))),
        Sequence((rel(x, ">", 1), rel(x, ">", 5))),
        Sequence((rel(x, ">", 1), to(1, 2, "[]"))),
        Sequence((rel(x, ">", 1), Number(2))),
        Sequence((to(1, 2, "[]"), to(1, 2, "[]"))),
        Either((rel(x, ">", 1), rel(y, ">", 1))),
        Either((rel(x, ">", 1), Number(2))),
        Builder(x, (rel(y, ">", 1),)),
        Builder(times(2, x), (rel(x, ">", 1),)),
        Builder(x, (Relation((x, NamedSet("Z")), ("in",)),)),
        Builder(x, (Number(2),)),
        Combination("union", (to(0, 1), Number(2))),
        Combination("union", (to(0, 1), rel(x, ">", 1))),
        Combination("intersection", (to(negative(a), a), to(0, 1))),
    ],
)
def test_what_cannot_be_read_is_undecided(node: Tree) -> None:
    assert from_tree(node, ORDER) is None


@pytest.mark.parametrize(
    "node",
    [
        nested(lambda inner: Either((inner, inner)), rel(x, ">", 1)),
        nested(lambda inner: Sequence((inner,), "(", ")"), rel(x, ">", 1)),
        rel(x, ">", nested(lambda inner: plus(inner, 1), Number(1))),
        rel(x, ">", *([1, ">"] * 3_000), 1),
        Combination("union", tuple(to(n, n + 1) for n in range(3_000))),
        rel(x, ">", Power(Number(10), Power(Number(10), Number(10)))),
        rel(Power(x, Power(Number(10), Number(10))), ">", 1),
        rel(times(Power(Number(7), Number(10**9)), x), ">", 1),
        rel(plus(*[abs_(plus(x, n)) for n in range(20)]), "<", 1),
        rel(Power(SQUARE, SQUARE), ">", 1),
        rel(SQUARE, "<", plus(Power(Number(10), Number(1000)), 7)),
        rel(plus(Power(x, Number(6)), times(10**600, x), 3), ">", 0),
    ],
    ids=range(12),
)
def test_hostile_trees_are_refused(node: Tree) -> None:
    found = from_tree(node, ORDER)
    assert found is None or (isinstance(found, Solution) and len(found.reals.intervals) == 1)


def test_roots_that_an_order_takes_for_one_are_undecided() -> None:
    class Coarse(Digits):
        def equal(self, a: Value, b: Value, /) -> bool | None:
            return True

    found = from_tree(rel(SQUARE, "<", 2), Coarse())
    assert found is None
    assert from_tree(rel(SQUARE, "<", 4), Coarse()) == Solution("x", reals(to(-2, 2)))


def test_the_symbol_tells_unknowns_apart() -> None:
    by_x, by_y = from_tree(rel(x, ">", 3), ORDER), from_tree(rel(y, ">", 3), ORDER)
    assert isinstance(by_x, Solution)
    assert isinstance(by_y, Solution)
    assert (by_x.symbol, by_y.symbol) == ("x", "y")
    assert by_x.reals == by_y.reals


SMALL = st.integers(-5, 5)
OPERATORS = st.sampled_from(["<", "<=", ">", ">=", "!="])
PLACES = [Fraction(n, 6) for n in range(-40, 41)]


def at(value: Value, place: Fraction) -> Fraction:
    """Return the exact value where the symbol is `place`."""
    if isinstance(value, Number | Symbol):
        return Fraction(value.value) if isinstance(value, Number) else place
    parts = [at(part, place) for part in children(value)]
    if isinstance(value, Sum):
        return sum(parts, Fraction())
    if isinstance(value, Product):
        return prod(parts, start=Fraction(1))
    return 1 / parts[0] if isinstance(value, Power) else abs(parts[0])


def is_true(left: Value, operator: str, right: Value, place: Fraction) -> bool:
    a, b = at(left, place), at(right, place)
    return {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b, "!=": a != b}[operator]


def holds_as_solved(relation: Relation, place: Fraction) -> bool | None:
    found = from_tree(relation, ORDER)
    assert isinstance(found, Solution)
    return realset.contains(found.reals, number(place), ORDER)


def slope_and_constant() -> st.SearchStrategy[Value]:
    return st.tuples(SMALL, SMALL).map(lambda ab: plus(times(ab[0], x), ab[1]))


@settings(max_examples=150)
@given(slope_and_constant(), OPERATORS, slope_and_constant(), st.sampled_from(PLACES))
def test_a_linear_relation_holds_where_it_is_solved(
    left: Value, operator: str, right: Value, place: Fraction
) -> None:
    expected = is_true(left, operator, right, place)
    if x in walk(left):
        assert holds_as_solved(rel(left, operator, right), place) is expected


@settings(max_examples=100)
@given(
    st.lists(st.tuples(SMALL, slope_and_constant()), min_size=1, max_size=2),
    OPERATORS,
    slope_and_constant(),
    st.sampled_from([Fraction(n, 2) for n in range(-20, 20)]),
)
def test_absolute_values_hold_where_they_are_solved(
    moduli: list[tuple[int, Value]], operator: str, right: Value, place: Fraction
) -> None:
    left = Sum((*(times(k, abs_(inner)) for k, inner in moduli), Number(0)))
    expected = is_true(left, operator, right, place)
    assert holds_as_solved(rel(left, operator, right), place) is expected


@settings(max_examples=60, deadline=None)
@given(st.lists(SMALL, min_size=1, max_size=3), st.lists(SMALL, max_size=2), OPERATORS, SMALL)
def test_quotients_of_linear_factors_hold_where_they_are_solved(
    zeros: list[int], poles: list[int], operator: str, place: int
) -> None:
    bottom = [Power(plus(x, -p), Number(-1)) for p in poles]
    left = Product((Number(2), *(plus(x, -z) for z in zeros), *bottom))
    expected = False
    if place not in poles:
        expected = is_true(left, operator, Number(0), Fraction(place))
    assert holds_as_solved(rel(left, operator, 0), Fraction(place)) is expected
