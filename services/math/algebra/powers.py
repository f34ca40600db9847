"""Rational powers of quotients.

Roots are real where they can be: an odd root of a negative number is negative, and an even root of
a square is an absolute value, kept as `R{x^2}^(1/2)`, so that `sqrt(x^2)` is `|x|` and not `x`.
A root of a product of symbols stays whole; a ring with `positive` set splits it, as it holds for
positive symbols and radicands only.
"""

from __future__ import annotations

import math
from fractions import Fraction

from services.math.algebra.integers import factors, is_prime
from services.math.algebra.polynomial import (
    MAX_BITS,
    ONE,
    OPAQUE_INTEGER,
    Monomial,
    Polynomial,
    Rational,
    Ring,
    UndefinedError,
    affordable,
    bits,
    generators,
    magnitude,
    multiply,
    plain,
    power,
    reduce,
    scale,
    unity,
)
from services.math.algebra.quotient import (
    UNIT,
    Quotient,
    common,
    divide,
    flatten,
    inverse,
    over,
)


def raised(ring: Ring, base: Quotient, exponent: Rational) -> Quotient:
    """Return `base ** exponent`, the real root where there is one."""
    if not base.top:
        if exponent <= 0:
            raise UndefinedError("zero to a power that is not positive")
        return base
    if not exponent:
        return UNIT
    if base.bottom is ONE and len(base.top) == 1:
        return divide(ring, _raised_term(ring, base.top, exponent), ONE)
    if exponent < 0:
        return over(ring, UNIT, raised(ring, base, -exponent))
    if base.bottom is ONE:
        return divide(ring, raised_polynomial(ring, base.top, exponent), ONE)
    return _raised_quotient(ring, base, exponent)


def _raised_quotient(ring: Ring, base: Quotient, exponent: Rational) -> Quotient:
    if exponent.denominator > 1 and not (_real(ring, base.bottom) and _real(ring, base.top)):
        return Quotient(_wrapped(ring, flatten(ring, base), exponent))
    over_positive = bool(ring.symbols(base.bottom)) and is_positive(ring, base.top)
    if exponent.denominator % 2 or ring.positive or over_positive:
        top = raised_polynomial(ring, base.top, exponent)
        return divide(ring, top, raised_polynomial(ring, base.bottom, exponent))
    # P/Q = P*Q / Q**2, and Q**2 is positive.
    top = raised_polynomial(ring, multiply(ring, base.top, base.bottom), exponent)
    square = multiply(ring, base.bottom, base.bottom)
    return divide(ring, top, raised_polynomial(ring, square, exponent))


def is_positive(ring: Ring, polynomial: Polynomial) -> bool:
    """Say that a polynomial is seen to be positive."""
    terms = polynomial.items()
    return all(c > 0 and not sort_factors(ring, monomial)[1] for monomial, c in terms)


def raised_polynomial(ring: Ring, base: Polynomial, exponent: Rational) -> Polynomial:
    """Return `base ** exponent` for a positive exponent."""
    if base is ONE:
        return ONE
    if len(base) == 1:
        return _raised_term(ring, base, exponent)
    if exponent.denominator == 1 and affordable(base, exponent.numerator):
        return power(ring, base, exponent.numerator)
    outside, inside = content(ring, base)
    whole = exponent.denominator == 1
    odd_root = exponent.denominator % 2 and _real(ring, inside)
    if inside[max(inside)] < 0 and (whole or odd_root):
        outside, inside = scale(outside, -1), scale(inside, -1)
    factor = _raised_term(ring, outside, exponent)
    return multiply(ring, factor, _wrapped(ring, inside, exponent))


def _wrapped(ring: Ring, inside: Polynomial, exponent: Rational) -> Polynomial:
    """Return a root that stays one.

    Even roots of a negative constant are imaginary and odd ones are real, so that they do not
    combine; one that is both stays apart.
    """
    degree, kind = exponent.denominator, "R"
    if degree & (degree - 1) and not ring.symbols(inside):
        if degree % 2 == 0:
            return {((ring.wrap(f"c'{exponent}", inside), 1),): 1}
        kind = "R'"
    return reduce(ring, {((ring.wrap(kind, inside), exponent),): 1})


def content(ring: Ring, polynomial: Polynomial) -> tuple[Polynomial, Polynomial]:
    """Split off the largest positive term that divides a polynomial."""
    top = math.gcd(*(value.numerator for value in polynomial.values()))
    bottom = math.lcm(*(value.denominator for value in polynomial.values()))
    shared = tuple(pair for pair in common(polynomial) if ring.atom(pair[0]).positive)
    outside: Polynomial = {shared: plain(Fraction(top, bottom))}
    return outside, multiply(ring, polynomial, inverse(outside))


def _real(ring: Ring, polynomial: Polynomial) -> bool:
    return all(ring.atom(each).real for each in generators(polynomial))


def _raised_term(ring: Ring, base: Polynomial, exponent: Rational) -> Polynomial:
    ((monomial, coefficient),) = base.items()
    if exponent.denominator == 1:
        result = raised_number(ring, coefficient, exponent)
        return multiply(ring, result, _exponents(ring, monomial, exponent))
    if is_hidden(ring, monomial, coefficient) and exponent.denominator % 2 == 0:
        return _wrapped(ring, base, exponent)
    sure, unsure = sort_factors(ring, monomial)
    positive = multiply(
        ring,
        raised_number(ring, magnitude(coefficient), exponent),
        _exponents(ring, sure, exponent),
    )
    sign = 1 if coefficient > 0 else -1
    return multiply(ring, positive, _root_of_unsure(ring, sign, unsure, Fraction(exponent)))


def is_hidden(ring: Ring, monomial: Monomial, coefficient: Rational) -> bool:
    """Say that a term is negative wherever symbols are positive, so that nothing is to be seen."""
    return ring.positive and coefficient < 0 and bool(ring.symbols({monomial: 1}))


def sort_factors(ring: Ring, monomial: Monomial) -> tuple[Monomial, Monomial]:
    """Split a monomial into factors that are positive where they are real, and the others."""
    sure: list[tuple[str, Rational]] = []
    unsure: list[tuple[str, Rational]] = []
    for generator, exponent in monomial:
        atom = ring.atom(generator)
        known = atom.positive or (atom.real and exponent.denominator % 2 == 0)
        (sure if known else unsure).append((generator, exponent))
    return tuple(sure), tuple(unsure)


def _root_of_unsure(ring: Ring, sign: int, monomial: Monomial, exponent: Fraction) -> Polynomial:
    """Return `(sign * monomial) ** exponent`, where the factors have no known sign."""
    if monomial == (("i", 1),):
        return unity(ring, exponent * sign / 2)
    if not all(ring.atom(each).real for each, _ in monomial):
        return _wrapped(ring, {monomial: sign}, exponent)
    if exponent.denominator % 2:
        return scale(_exponents(ring, monomial, exponent), sign ** (exponent.numerator % 2))
    if monomial and not ring.symbols({monomial: 1}):
        return _wrapped(ring, {monomial: sign}, exponent)
    return _even_root(ring, sign, monomial, exponent)


def _even_root(ring: Ring, sign: int, monomial: Monomial, exponent: Fraction) -> Polynomial:
    squares, rest = split_squares(monomial, sign)
    result = ONE
    for generator, half in squares:
        square = ring.wrap("R", {((generator, 2),): 1}, positive=True)
        result = multiply(ring, result, reduce(ring, {((square, plain(half * exponent)),): 1}))
    if len(rest) == 1 and sign > 0:
        return multiply(ring, result, _exponents(ring, rest, exponent))
    if not rest:
        return result if sign > 0 else multiply(ring, result, unity(ring, exponent))
    return multiply(ring, result, _wrapped(ring, {rest: sign}, exponent))


def split_squares(monomial: Monomial, sign: int) -> tuple[list[tuple[str, Rational]], Monomial]:
    """Write a monomial as powers of squares, and what else may be negative.

    A single factor that is no square must be positive where the whole is: it stays as it is.
    """
    squares: list[tuple[str, Rational]] = []
    odd = [pair for pair in monomial if pair[1].numerator % 2]
    lonely = len(odd) == 1 and sign > 0
    rest = []
    for generator, exponent in monomial:
        kept: Rational = Fraction(exponent.numerator % 2, exponent.denominator)
        if lonely and kept:
            kept = exponent
        if exponent != kept:
            squares.append((generator, (exponent - kept) / Fraction(2)))
        if kept:
            rest.append((generator, plain(kept)))
    return squares, tuple(rest)


def _exponents(ring: Ring, monomial: Monomial, factor: Rational) -> Polynomial:
    """Return the monomial with every exponent multiplied by `factor`."""
    result = ONE
    for generator, exponent in monomial:
        total: Rational = plain(exponent * factor)
        part: Polynomial
        if generator[0] == "#":
            part = raised_number(ring, int(generator[1:]), total)
        elif generator == "i":
            part = unity(ring, Fraction(total, 2))
        else:
            part = {((generator, total),): 1}
        result = multiply(ring, result, part)
    return reduce(ring, result) if ring.reducible else result


def raised_number(ring: Ring, base: Rational, exponent: Rational) -> Polynomial:
    """Return a power of a rational number; only whole powers of negative ones."""
    if base in (1, -1):
        return ONE if base == 1 or exponent.numerator % 2 == 0 else {(): -1}
    size = bits(base)
    if exponent.denominator == 1 and size * magnitude(exponent) <= MAX_BITS:
        return {(): plain(Fraction(base) ** exponent.numerator)}
    result: Polynomial = ONE if base > 0 or exponent.numerator % 2 == 0 else {(): -1}
    for part, sign in ((abs(base.numerator), 1), (base.denominator, -1)):
        for prime, count in factors(part):
            result = multiply(ring, result, _raised_prime(ring, prime, exponent * count * sign))
    return result


def _raised_prime(ring: Ring, prime: int, exponent: Rational) -> Polynomial:
    name = f"#{prime}"
    if not is_prime(prime):
        ring.atoms[name] = OPAQUE_INTEGER
    if magnitude(exponent) * prime.bit_length() > MAX_BITS:
        inside: Polynomial = {((f"l{name}", 1),): 1}
        return {((ring.wrap("E", inside, positive=True), plain(exponent)),): 1}
    whole = math.floor(exponent)
    left = plain(exponent - whole)
    return {(((name, left),) if left else ()): plain(Fraction(prime) ** whole)}
