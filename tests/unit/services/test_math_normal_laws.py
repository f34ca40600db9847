from __future__ import annotations

import operator
import random
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given, settings, strategies as st

from services.math.algebra import normal
from services.math.tree import (
    MINUS_ONE,
    Constant,
    Number,
    Power,
    Product,
    Sum,
    Symbol,
    Value,
    negative,
    quotient,
)

COEFFICIENTS = st.fractions(-30, 30, max_denominator=12).filter(bool)
MONOMIALS = st.tuples(*[st.integers(0, 3)] * 3)
POLYNOMIALS = st.dictionaries(MONOMIALS, COEFFICIENTS, min_size=1, max_size=6)


def spell(coefficients: dict[tuple[int, ...], Fraction], chance: random.Random) -> Value:
    """Write a polynomial in one of its many ways."""
    terms = [_spell_term(*item, chance) for item in coefficients.items()]
    chance.shuffle(terms)
    whole: Value = Sum((*terms, Number(0)))
    shift = Product((Symbol("x"), Number(chance.randint(1, 9))))
    if chance.random() < 0.4:
        whole = Sum((Sum((whole, shift)), negative(shift)))
    if chance.random() < 0.4:
        below = Sum((Symbol("y"), Number(chance.randint(1, 9))))
        whole = quotient(Product((whole, below)), below)
    return whole


def _spell_term(exponents: tuple[int, ...], coefficient: Fraction, chance: random.Random) -> Value:
    parts: list[Value] = [quotient(Number(coefficient * 6), Number(6))]
    for name, exponent in zip("xyn", exponents, strict=True):
        if chance.random() < 0.5:
            parts += [Symbol(name)] * exponent
        else:
            parts.append(Power(Power(Symbol(name), MINUS_ONE), Number(-exponent)))
    if chance.random() < 0.3:
        share = Fraction(chance.randint(1, 9), 10)
        shares = Sum((Number(share), Number(1 - share)))
        parts.append(shares)
    chance.shuffle(parts)
    return Product((*parts, Number(1)))


@settings(max_examples=100, deadline=None)
@given(POLYNOMIALS, st.randoms(use_true_random=False))
def test_a_polynomial_equals_itself_in_any_spelling(
    coefficients: dict[tuple[int, ...], Fraction], chance: random.Random
) -> None:
    assert normal.compare(spell(coefficients, chance), spell(coefficients, chance)) is True


@settings(max_examples=100, deadline=None)
@given(POLYNOMIALS, MONOMIALS, COEFFICIENTS, st.randoms(use_true_random=False))
def test_a_polynomial_with_another_coefficient_is_different(
    coefficients: dict[tuple[int, ...], Fraction],
    place: tuple[int, ...],
    change: Fraction,
    chance: random.Random,
) -> None:
    other = {**coefficients, place: coefficients.get(place, Fraction(0)) + change}
    assert normal.compare(spell(coefficients, chance), spell(other, chance)) is False


RATIONALS = st.fractions(max_denominator=10**6)
ARITHMETIC: list[tuple[Callable[..., Value], Callable[[Fraction, Fraction], Fraction]]] = [
    (lambda a, b: Sum((a, b)), operator.add),
    (lambda a, b: Sum((a, negative(b))), operator.sub),
    (lambda a, b: Product((a, b)), operator.mul),
    (quotient, operator.truediv),
]


@given(RATIONALS, RATIONALS, st.sampled_from(ARITHMETIC))
def test_rational_arithmetic_is_that_of_fractions(
    left: Fraction,
    right: Fraction,
    operation: tuple[Callable[..., Value], Callable[[Fraction, Fraction], Fraction]],
) -> None:
    build, compute = operation
    value = build(Number(left), Number(right))
    if build is quotient and not right:
        with pytest.raises(normal.UndefinedError):
            normal.form(value)
        return
    assert normal.rational(normal.form(value)) == compute(left, right)


WHOLES = st.integers(-12, 12)
SURDS = st.builds(
    lambda a, b, c, d: Sum(
        (
            Number(a),
            Product((Number(b), Power(Number(c), Number(Fraction(1, d))))),
        )
    ),
    WHOLES,
    WHOLES,
    st.integers(0, 40),
    st.sampled_from([2, 3, 4]),
)
RING_LEAVES: st.SearchStrategy[Value] = st.one_of(
    WHOLES.map(Number),
    SURDS,
    st.sampled_from([Symbol("x"), Symbol("y"), Constant("pi"), Constant("e"), Constant("i")]),
)


def _grown(inner: st.SearchStrategy[Value]) -> st.SearchStrategy[Value]:
    return st.one_of(
        st.tuples(inner, inner).map(Sum),
        st.tuples(inner, inner).map(Product),
        st.tuples(inner, st.sampled_from([2, 3])).map(lambda p: Power(p[0], Number(p[1]))),
    )


RING: st.SearchStrategy[Value] = st.recursive(RING_LEAVES, _grown, max_leaves=5)


@settings(max_examples=100, deadline=None)
@given(RING, RING, RING)
def test_the_laws_of_rings_hold(a: Value, b: Value, c: Value) -> None:
    laws: list[tuple[Value, Value]] = [
        (Sum((a, b)), Sum((b, a))),
        (Product((a, b)), Product((b, a))),
        (Sum((Sum((a, b)), c)), Sum((a, Sum((b, c))))),
        (Product((Product((a, b)), c)), Product((a, Product((b, c))))),
        (Product((a, Sum((b, c)))), Sum((Product((a, b)), Product((a, c))))),
        (Sum((a, negative(a))), Number(0)),
    ]
    for left, right in laws:
        assert normal.compare(left, right) is not False
        try:
            forms = normal.form(left), normal.form(right)
        except normal.TooLargeError:
            continue
        assert normal.same(*forms) is True


@settings(max_examples=60, deadline=None)
@given(RING, RING)
def test_division_undoes_multiplication(a: Value, b: Value) -> None:
    try:
        if normal.rational(normal.form(b)) == 0:
            return
        assert normal.compare(quotient(Product((a, b)), b), a) is not False
        assert normal.same(normal.form(quotient(Product((a, b)), b)), normal.form(a)) is True
    except normal.TooLargeError:
        pass
