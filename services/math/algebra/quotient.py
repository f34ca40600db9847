"""Quotients of polynomials: the field operations.

A quotient is not reduced to lowest terms. Its bottom has no common monomial, a leading coefficient
of one, and no square roots or `i` where it is constant.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final, NamedTuple

from services.math.algebra.polynomial import (
    ONE,
    ZERO,
    Monomial,
    Polynomial,
    Rational,
    Ring,
    UndefinedError,
    add,
    affordable,
    generators,
    multiply,
    plain,
    power,
    scale,
    times,
)

HALF: Final = Fraction(1, 2)


class Quotient(NamedTuple):
    """`top / bottom`."""

    top: Polynomial
    bottom: Polynomial = ONE


UNIT: Final = Quotient(ONE)
NOTHING: Final = Quotient(ZERO)


def number(value: Rational) -> Quotient:
    """Return a rational number."""
    return Quotient({(): value}) if value else NOTHING


def constant(value: Quotient) -> Rational | None:
    """Return the rational number that `value` is, or None."""
    if value.bottom is not ONE or len(value.top) > 1:
        return None
    return value.top.get(()) if value.top else 0


def plus(ring: Ring, left: Quotient, right: Quotient, factor: Rational = 1) -> Quotient:
    """Return `left + factor * right`."""
    if left.bottom is right.bottom or left.bottom == right.bottom:
        top = add(left.top, right.top, factor)
        return Quotient(top) if left.bottom is ONE else divide(ring, top, left.bottom)
    first = multiply(ring, left.top, right.bottom)
    second = multiply(ring, right.top, left.bottom)
    return divide(ring, add(first, second, factor), multiply(ring, left.bottom, right.bottom))


def product(ring: Ring, left: Quotient, right: Quotient) -> Quotient:
    """Return `left * right`."""
    top = multiply(ring, left.top, right.top)
    if left.bottom is ONE and right.bottom is ONE and not ring.reducible:
        return Quotient(top)
    return divide(ring, top, multiply(ring, left.bottom, right.bottom))


def over(ring: Ring, left: Quotient, right: Quotient) -> Quotient:
    """Return `left / right`."""
    top = multiply(ring, left.top, right.bottom)
    return divide(ring, top, multiply(ring, left.bottom, right.top))


def divide(ring: Ring, top: Polynomial, bottom: Polynomial) -> Quotient:
    """Return `top / bottom` in its normal form."""
    if not bottom:
        raise UndefinedError("division by zero")
    if not top:
        return NOTHING
    if bottom is not ONE and len(bottom) == 1:
        top, bottom = multiply(ring, top, inverse(bottom)), ONE
    if ring.reducible:
        top, bottom = _without_negative_roots(ring, top, bottom)
    if bottom is ONE:
        return Quotient(top)
    top, bottom = _rationalised(ring, top, bottom)
    if len(bottom) == 1:
        return divide(ring, top, bottom)
    content = common(bottom)
    if content:
        shift = inverse({content: 1})
        top, bottom = multiply(ring, top, shift), multiply(ring, bottom, shift)
    leading = bottom[max(bottom)]
    if leading != 1:
        top, bottom = scale(top, Fraction(1) / leading), scale(bottom, Fraction(1) / leading)
    ratio = top.get(max(bottom), 0)
    if ratio and len(top) == len(bottom) and top == scale(bottom, ratio):
        return number(ratio)
    return Quotient(top, bottom)


def inverse(term: Polynomial) -> Polynomial:
    """Return one over a polynomial of one term."""
    ((monomial, coefficient),) = term.items()
    turned, factor = times(((" ", 1),), tuple((each, -exponent) for each, exponent in monomial))
    return {turned[1:]: plain(Fraction(factor) / coefficient)}


def common(polynomial: Polynomial) -> Monomial:
    """Return the monomial that divides every term and leaves no negative exponents."""
    tables = [dict(monomial) for monomial in polynomial]
    lowest = ((each, min(t.get(each, 0) for t in tables)) for each in generators(polynomial))
    return tuple(sorted((each, low) for each, low in lowest if low and each[0] not in "Ri"))


def _without_negative_roots(
    ring: Ring, top: Polynomial, bottom: Polynomial
) -> tuple[Polynomial, Polynomial]:
    """Expand by what is under a root, where the root would stand in the bottom."""
    for generator in sorted(generators(top)):
        if generator[0] != "R":
            continue
        lowest = min(dict(monomial).get(generator, 0) for monomial in top)
        whole = math.ceil(-lowest)
        inside = ring.atom(generator).inside
        if lowest < 0 and affordable(inside, whole):
            top = multiply(ring, top, {((generator, whole),): 1})
            bottom = multiply(ring, bottom, power(ring, inside, whole))
    return top, bottom


def _rationalised(ring: Ring, top: Polynomial, bottom: Polynomial) -> tuple[Polynomial, Polynomial]:
    """Clear square roots and `i` out of a constant bottom, by conjugates."""
    for _ in range(6):
        inside = generators(bottom)
        if not inside or any(not _quadratic(ring, each) for each in inside):
            break
        # Roots first: squaring them brings the radicals under them back.
        generator = max(inside)
        degree = max(e.denominator for m in bottom for each, e in m if each == generator)
        if generator != "i" and (degree & (degree - 1) or degree == 1):
            break
        unit = Fraction(1, degree)
        odd = {m: c for m, c in bottom.items() if dict(m).get(generator, 0) / unit % 2}
        conjugate = add(bottom, odd, -2)
        top, bottom = multiply(ring, top, conjugate), multiply(ring, bottom, conjugate)
        if not bottom:
            raise UndefinedError("division by zero")
    return top, bottom


def _quadratic(ring: Ring, generator: str) -> bool:
    return generator[0] in "i#" or (generator[0] == "R" and ring.atom(generator).complete)


def flatten(ring: Ring, value: Quotient) -> Polynomial:
    """Return a polynomial that stands for `value`, its bottom wrapped up as a generator."""
    if value.bottom is ONE:
        return value.top
    generator = ring.wrap("R", value.bottom)
    return multiply(ring, value.top, {((generator, -1),): 1})
