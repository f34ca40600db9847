"""Closed forms of sums: polynomials by Faulhaber's formula, and geometric series.

The body is a polynomial in the index whose coefficients do not depend on it, or a sum of terms
`c * r^index`. Not covered: anything else, and products with symbolic bounds.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Final

from services.math.algebra.elementary import exponential
from services.math.algebra.polynomial import ONE, Monomial, Polynomial, Rational, Ring, plain
from services.math.algebra.quotient import (
    NOTHING,
    UNIT,
    Quotient,
    constant,
    divide,
    number,
    over,
    plus,
    product,
)

MAX_DEGREE: Final = 20
ENDLESS: Final = Quotient({(("o", 1),): 1})


def closed_sum(
    ring: Ring, body: Quotient, index: str, first: Quotient, last: Quotient
) -> Quotient | None:
    """Return the sum of `body` for the generator `index` from `first` to `last`, or None."""
    if index in ring.symbols(body.bottom):
        return None
    total = NOTHING
    for monomial, coefficient in body.top.items():
        free: Monomial = tuple(p for p in monomial if index not in ring.atom(p[0]).symbols)
        bound: Monomial = tuple(p for p in monomial if p not in free)
        part = _bound_sum(ring, bound, index, first, last)
        if part is None:
            return None
        total = plus(ring, total, product(ring, Quotient({free: coefficient}), part))
    return total if body.bottom is ONE else product(ring, total, divide(ring, ONE, body.bottom))


def _bound_sum(
    ring: Ring, bound: Monomial, index: str, first: Quotient, last: Quotient
) -> Quotient | None:
    degree: Rational = dict(bound).get(index, 0)
    if all(each == index for each, _ in bound):
        if degree.denominator > 1 or not 0 <= degree <= MAX_DEGREE or last == ENDLESS:
            return None
        below = plus(ring, first, UNIT, -1)
        powers = _power_sum(int(degree))
        return plus(ring, _evaluate(ring, powers, last), _evaluate(ring, powers, below), -1)
    return None if degree else _geometric(ring, bound, index, first, last)


@lru_cache(maxsize=MAX_DEGREE + 1)
def _power_sum(degree: int) -> tuple[Rational, ...]:
    """Return the coefficients, from the constant one up, of 1^d + 2^d + ... + n^d."""
    bernoulli = [Fraction(1)]
    for n in range(1, degree + 1):
        rest = sum((math.comb(n + 1, k) * bernoulli[k] for k in range(n)), Fraction(0))
        bernoulli.append(-rest / (n + 1))
    coefficients: list[Rational] = [0] * (degree + 2)
    for k in range(degree + 1):
        value = math.comb(degree + 1, k) * bernoulli[k] * (-1) ** k / (degree + 1)
        coefficients[degree + 1 - k] = plain(value)
    return tuple(coefficients)


def _evaluate(ring: Ring, coefficients: tuple[Rational, ...], value: Quotient) -> Quotient:
    result = NOTHING
    for coefficient in reversed(coefficients):
        result = plus(ring, product(ring, result, value), number(coefficient))
    return result


def _geometric(
    ring: Ring, bound: Monomial, index: str, first: Quotient, last: Quotient
) -> Quotient | None:
    """Return the sum of e^(step * index)."""
    step: Polynomial = {}
    for generator, exponent in bound:
        inside = ring.atom(generator).inside
        if generator[0] != "E" or not inside:
            return None
        ((monomial, _),) = inside.items()
        rest = tuple(pair for pair in monomial if pair != (index, 1))
        if len(rest) + 1 != len(monomial) or index in ring.symbols({rest: 1}):
            return None
        step[rest] = exponent
    ratio = exponential(ring, Quotient(step))
    if constant(ratio) == 1:
        return plus(ring, plus(ring, last, first, -1), UNIT)
    start = exponential(ring, product(ring, Quotient(step), first))
    if last == ENDLESS:
        return over(ring, start, plus(ring, UNIT, ratio, -1)) if _shrinks(ring, ratio) else None
    end = exponential(ring, product(ring, Quotient(step), plus(ring, last, UNIT)))
    return over(ring, plus(ring, end, start, -1), plus(ring, ratio, UNIT, -1))


def _shrinks(ring: Ring, ratio: Quotient) -> bool:
    """Say whether the series converges; one with symbols is compared where it does."""
    known = constant(ratio)
    return -1 < known < 1 if known is not None else bool(ring.symbols(ratio.top))
