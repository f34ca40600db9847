"""E to a power, logarithms and complex conjugates of quotients.

Powers of primes, `e^ln(x)` and whole turns `e^(i*pi*q)` are resolved; every other exponential is a
product of generators `E{monomial}`. Logarithms of numbers split into those of primes. A logarithm
of a product of symbols stays whole; a ring with `positive` set splits it.
"""

from __future__ import annotations

from fractions import Fraction

from services.math.algebra.integers import factors, is_prime
from services.math.algebra.polynomial import (
    IMAGINARY,
    ONE,
    OPAQUE_INTEGER,
    TURN,
    ZERO,
    Monomial,
    Polynomial,
    Rational,
    Ring,
    UndefinedError,
    add,
    generators,
    magnitude,
    multiply,
    reduce,
    scale,
    unity,
)
from services.math.algebra.powers import (
    content,
    is_hidden,
    is_positive,
    raised,
    raised_number,
    sort_factors,
    split_squares,
)
from services.math.algebra.quotient import (
    UNIT,
    Quotient,
    flatten,
    over,
    plus,
    product,
)


def exponential(ring: Ring, value: Quotient) -> Quotient:
    """Return e to the power of `value`."""
    result = UNIT
    for monomial, factor in flatten(ring, value).items():
        result = product(ring, result, _exponential_term(ring, monomial, factor))
    return result


def _exponential_term(ring: Ring, monomial: Monomial, factor: Rational) -> Quotient:
    if monomial == (("i", 1), ("p", 1)):
        return Quotient(unity(ring, Fraction(factor)))
    if factor.denominator == 1 and (arc := _arc(ring, monomial)):
        return raised(ring, arc, factor)
    if len(monomial) == 1 and monomial[0][1] == 1 and monomial[0][0][0] == "l":
        generator = monomial[0][0]
        if generator[1] == "#":
            return Quotient(raised_number(ring, int(generator[2:]), factor))
        inside = ring.atom(generator).inside or {((generator[1:], 1),): 1}
        # e^(ln(-8)/3) is not the real root of -8.
        plain_root = factor.denominator & (factor.denominator - 1) == 0
        if plain_root or ring.symbols(inside) or is_positive(ring, inside):
            return raised(ring, Quotient(inside), factor)
        return Quotient({((ring.wrap("E", {monomial: 1}), factor),): 1})
    return Quotient({((_exponential_generator(ring, monomial), factor),): 1})


def _exponential_generator(ring: Ring, monomial: Monomial) -> str:
    names = [each for each, _ in monomial]
    positive = all(ring.atom(each).real and _safe_exponent(ring, each) for each in names)
    # e^(i*pi*n) is meant for whole n, where it is algebraic.
    turns = {"i", "p"} <= set(names) and bool(ring.symbols({monomial: 1}))
    complete = not turns and all(ring.atom(each).complete for each in names)
    return ring.wrap("E", {monomial: 1}, positive=positive, complete=complete)


def _arc(ring: Ring, monomial: Monomial) -> Quotient | None:
    """Return e^(i*arcsin u) = sqrt(1 - u^2) + i*u, or e^(i*arctan u), if that is asked for."""
    if len(monomial) != 2 or (("i", 1)) not in monomial or monomial[0][1] != 1:
        return None
    name = monomial[0][0]
    if not name.startswith(("carcsin(", "carctan(")):
        return None
    inside = ring.atom(name).inside
    square = multiply(ring, inside, inside)
    turned = multiply(ring, inside, IMAGINARY)
    if name.startswith("carcsin("):
        cosine = raised(ring, Quotient(add(ONE, square, -1)), Fraction(1, 2))
        return plus(ring, cosine, Quotient(turned))
    length = raised(ring, Quotient(add(ONE, square)), Fraction(1, 2))
    return over(ring, Quotient(add(ONE, turned)), length)


def _safe_exponent(ring: Ring, generator: str) -> bool:
    """Say that `x^n` has a known sign: not where x may be negative."""
    return generator[0] != "l" or ring.atom(generator).positive or ring.positive


def logarithm(ring: Ring, value: Quotient) -> Quotient:
    """Return the natural logarithm."""
    if not value.top:
        raise UndefinedError("logarithm of zero")
    if value.bottom is ONE:
        return Quotient(_logarithm(ring, value.top))
    if ring.positive:
        return Quotient(add(_logarithm(ring, value.top), _logarithm(ring, value.bottom), -1))
    # P/Q = P*Q / Q**2, and Q**2 is positive.
    square = multiply(ring, value.bottom, value.bottom)
    whole = _logarithm(ring, multiply(ring, value.top, value.bottom))
    return Quotient(add(whole, _logarithm(ring, square), -1))


def _logarithm(ring: Ring, value: Polynomial) -> Polynomial:
    if value is ONE:
        return ZERO
    if len(value) > 1:
        outside, inside = content(ring, value)
        return add(_logarithm(ring, outside), _wrapped_logarithm(ring, inside))
    ((monomial, coefficient),) = value.items()
    if is_hidden(ring, monomial, coefficient):
        return _wrapped_logarithm(ring, value)
    result = _logarithm_of_number(ring, magnitude(coefficient))
    sure, unsure = sort_factors(ring, monomial)
    for generator, exponent in sure:
        result = add(result, _logarithm_of_generator(ring, generator), exponent)
    sign = 1 if coefficient > 0 else -1
    return add(result, _logarithm_of_unsure(ring, sign, unsure)) if unsure or sign < 0 else result


def _wrapped_logarithm(ring: Ring, inside: Polynomial) -> Polynomial:
    generator = ring.wrap("l", inside)
    return {((generator, 1),): 1}


def _logarithm_of_number(ring: Ring, value: Rational) -> Polynomial:
    result: Polynomial = {}
    for part, sign in ((value.numerator, 1), (value.denominator, -1)):
        for prime, count in factors(part):
            if not is_prime(prime):
                ring.atoms[f"#{prime}"] = OPAQUE_INTEGER
            result = add(result, {((f"l#{prime}", 1),): 1}, sign * count)
    return result


def _logarithm_of_generator(ring: Ring, generator: str) -> Polynomial:
    if generator[0] == "E":
        return ring.atom(generator).inside
    if generator[0] == "R":
        return _wrapped_logarithm(ring, ring.atom(generator).inside)
    return {((f"l{generator}", 1),): 1}


def _logarithm_of_unsure(ring: Ring, sign: int, monomial: Monomial) -> Polynomial:
    """Return the logarithm of a product whose factors have no known sign."""
    turn: Polynomial = {(("i", 1), ("p", 1)): Fraction(sign, 2)}
    if monomial == (("i", 1),):
        return turn
    if not monomial:
        return scale(turn, -2)
    if not all(ring.atom(each).real for each, _ in monomial):
        return _wrapped_logarithm(ring, {monomial: sign})
    squares, rest = split_squares(monomial, sign)
    result: Polynomial = {}
    for generator, half in squares:
        result = add(result, _wrapped_logarithm(ring, {((generator, 2),): 1}), half)
    if not rest:
        return result if sign > 0 else add(result, turn, -2)
    if len(rest) == 1 and sign > 0:
        return add(result, _logarithm_of_generator(ring, rest[0][0]), rest[0][1])
    return add(result, _wrapped_logarithm(ring, {rest: sign}))


def conjugate(ring: Ring, polynomial: Polynomial) -> Polynomial | None:
    """Return the complex conjugate, or None where a generator hides what it is."""
    result: Polynomial = {}
    for monomial, coefficient in polynomial.items():
        exponents: list[tuple[str, Rational]] = []
        for generator, exponent in monomial:
            sign = _conjugate_sign(ring, generator)
            if sign is None:
                return None
            if generator == "i":
                coefficient = -coefficient
            exponents.append((generator, exponent * (1 if generator == "i" else sign)))
        result = add(result, {tuple(exponents): coefficient})
    return reduce(ring, result) if TURN in generators(result) else result


def _conjugate_sign(ring: Ring, generator: str) -> int | None:
    """Say whether conjugation keeps a generator (1), inverts it (-1), or neither (None)."""
    atom = ring.atom(generator)
    if atom.real or generator == "i":
        return 1
    if generator[0] != "E":
        return None
    ((monomial, _),) = atom.inside.items()
    others = (each for each, _ in monomial if each != "i")
    return -1 if all(ring.atom(each).real for each in others) else None
