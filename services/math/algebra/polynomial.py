"""Sparse polynomials over generators, with rational coefficients and rational exponents.

A polynomial is a dict from monomials to nonzero coefficients, never changed once built; a monomial
is a sorted tuple of `(generator, exponent)`. Negative exponents are allowed. A generator is a
string whose first letter says what it stands for:

    $x  the symbol x            #7   the integer 7, under a root: exponents between 0 and 1
    i   the imaginary unit      l.   the logarithm of a generator, or of a polynomial in braces
    p   pi                      E{.} e to the power of a monomial
    b   ln of the unstated base R{.} a polynomial under a root, or to a power too large to expand;
    o   infinity                     R'{.} for odd roots of constants, which are real
                                c.   any other function of its arguments

Covered: sums, products, whole powers, the reductions `i*i = -1`, `sqrt(7)**2 = 7` and
`sqrt(x+1)**2 = x+1`. Not covered: greatest common divisors and factors of polynomials; nobody
needs them, because quotients are compared by cross-multiplication.

Errors: `TooLargeError` (a bound would be passed) and `UndefinedError` (a division by zero, the
logarithm of zero), both `ValueError`. Work is counted in products of terms, never in seconds, so
that no verdict depends on the machine.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final, NamedTuple

Rational = int | Fraction
Monomial = tuple[tuple[str, Rational], ...]
Polynomial = dict[Monomial, Rational]

MAX_TERMS: Final = 2_000
MAX_BITS: Final = 20_000
MAX_STEPS: Final = 30_000

ONE: Final[Polynomial] = {(): 1}
"""The shared one; a quotient whose bottom is this very object has no bottom."""

ZERO: Final[Polynomial] = {}
IMAGINARY: Final[Polynomial] = {(("i", 1),): 1}
TURN: Final = "E{1*i*p}"
"""e^(i*pi), with exponents whose denominator has no radicals in this module's reach."""


class TooLargeError(ValueError):
    """The exact form would pass a bound on terms, bits or steps."""


class UndefinedError(ValueError):
    """There is no such value: a division by zero, or infinity in arithmetic."""


class Atom(NamedTuple):
    """What is known of a generator."""

    complete: bool = True
    """Algebraically independent of the other complete generators."""
    positive: bool = False
    real: bool = True
    symbols: frozenset[str] = frozenset()
    inside: Polynomial = ZERO
    """The polynomial under a root or a logarithm; the monomial that e is raised to."""


POSITIVE: Final = Atom(positive=True)
COMPLEX: Final = Atom(real=False)
OPAQUE_INTEGER: Final = Atom(complete=False, positive=True)


@dataclass(slots=True)
class Ring:
    """The generators met so far, what is assumed of symbols, and the work done."""

    positive: bool = False
    atoms: dict[str, Atom] = field(default_factory=dict)
    steps: int = 0
    unstated: Polynomial = field(default_factory=lambda: {(("b", 1),): 1})
    """The natural logarithm of the base of a bare `log`."""
    reducible: bool = False
    """Some generator has a relation of its own: products need `reduce`."""

    def spend(self, steps: int) -> None:
        """Count work; raise `TooLargeError` past the bound."""
        self.steps += steps
        if self.steps > MAX_STEPS:
            raise TooLargeError("too much work for an exact form")

    def atom(self, generator: str) -> Atom:
        """Return what is known of `generator`."""
        known = self.atoms.get(generator)
        if known is None:
            known = self.atoms[generator] = self._plain_atom(generator)
        return known

    def _plain_atom(self, generator: str) -> Atom:
        kind = generator[0]
        if kind == "$":
            # By custom z and w are complex, and a complex number has no sign and no real root.
            real = generator[1] not in "zw" or self.positive
            return Atom(real=real, positive=self.positive, symbols=frozenset((generator,)))
        if kind == "l":
            inner = self.atom(generator[1:])
            known = generator == "lp" or generator.startswith("l#")
            return Atom(inner.complete, known, inner.real, inner.symbols)
        return COMPLEX if kind == "i" else POSITIVE

    def wrap(
        self, kind: str, inside: Polynomial, *, positive: bool = False, complete: bool = False
    ) -> str:
        """Return the generator of `kind` that holds a polynomial.

        The square root or logarithm of a constant may be imaginary; where there are symbols, it is
        looked at where it is real.
        """
        generator = f"{kind}{{{spelled(inside)}}}"
        if generator not in self.atoms or complete:
            within = [self.atom(each) for each in generators(inside)]
            symbols = frozenset().union(*(each.symbols for each in within))
            real = all(each.real for each in within)
            real = real and (positive or bool(symbols) or kind in ("E", "R'"))
            self.atoms[generator] = Atom(complete, positive, real, symbols, inside)
        self.reducible = self.reducible or kind[0] == "R" or generator == TURN
        return generator

    def symbols(self, polynomial: Polynomial) -> frozenset[str]:
        """Return the symbols that `polynomial` depends on, at any depth."""
        return frozenset().union(*(self.atom(each).symbols for each in generators(polynomial)))


def plain(value: Rational) -> Rational:
    """Return an integer wherever `value` is one: fractions are slow."""
    if type(value) is Fraction and value.denominator == 1:
        return value.numerator
    return value


def magnitude(value: Rational) -> Rational:
    """Return the absolute value."""
    return -value if value < 0 else value


def bits(value: Rational) -> int:
    """Return the size of a rational number."""
    return max(value.numerator.bit_length(), value.denominator.bit_length())


def generators(polynomial: Polynomial) -> set[str]:
    """Return the generators that occur."""
    return {generator for monomial in polynomial for generator, _ in monomial}


def spelled(polynomial: Polynomial) -> str:
    """Return a canonical text; a long one is a digest, equal where the polynomials are."""
    text = "+".join(f"{polynomial[each]}*{_spelled_monomial(each)}" for each in sorted(polynomial))
    if len(text) > 80:
        return hashlib.blake2b(text.encode(), digest_size=20).hexdigest()
    return text


def _spelled_monomial(monomial: Monomial) -> str:
    return "*".join(gen if exponent == 1 else f"{gen}^{exponent}" for gen, exponent in monomial)


def add(left: Polynomial, right: Polynomial, factor: Rational = 1) -> Polynomial:
    """Return `left + factor * right`."""
    total = dict(left)
    for monomial, coefficient in right.items():
        value = total.get(monomial, 0) + factor * coefficient
        if value:
            total[monomial] = plain(value)
        else:
            del total[monomial]
    return total


def scale(polynomial: Polynomial, factor: Rational) -> Polynomial:
    """Return `factor * polynomial`; the factor is not zero."""
    if factor == 1:
        return polynomial
    return {monomial: plain(value * factor) for monomial, value in polynomial.items()}


def times(left: Monomial, right: Monomial) -> tuple[Monomial, Rational]:
    """Return the product of two monomials, and the number that came out of it."""
    if not left or not right:
        return left or right, 1
    merged = dict(left)
    number: Rational = 1
    for generator, exponent in right:
        total = plain(merged.get(generator, 0) + exponent)
        if generator[0] == "#" and not 0 <= total < 1:
            whole = math.floor(total)
            number *= Fraction(int(generator[1:])) ** whole
            total = plain(total - whole)
        elif generator == "i" and not 0 <= total < 2:
            number = -number
            total %= 2
        if total:
            merged[generator] = total
        else:
            merged.pop(generator, None)
    return tuple(sorted(merged.items())), plain(number)


def multiply(ring: Ring, left: Polynomial, right: Polynomial) -> Polynomial:
    """Return the product, reduced."""
    if left is ONE or right is ONE:
        return right if left is ONE else left
    ring.spend(len(left) * len(right))
    total: Polynomial = {}
    for first, a in left.items():
        for second, b in right.items():
            monomial, number = times(first, second)
            total[monomial] = total.get(monomial, 0) + a * b * number
    product = checked(total)
    return reduce(ring, product) if ring.reducible else product


def checked(polynomial: Polynomial) -> Polynomial:
    """Return `polynomial` without zeros and with plain integers, if it is within the bounds."""
    if len(polynomial) > MAX_TERMS:
        raise TooLargeError("too many terms for an exact form")
    result = {}
    for monomial, value in polynomial.items():
        if not value:
            continue
        result[monomial] = value if type(value) is int else plain(value)
        if value.numerator.bit_length() + value.denominator.bit_length() > 2 * MAX_BITS:
            raise TooLargeError("too large a coefficient for an exact form")
    return result


def power(ring: Ring, base: Polynomial, exponent: int) -> Polynomial:
    """Return `base ** exponent` for a natural exponent that `affordable` allows."""
    result = ONE
    while exponent:
        if exponent & 1:
            result = multiply(ring, result, base)
        exponent >>= 1
        if exponent:
            base = multiply(ring, base, base)
    return result


def affordable(base: Polynomial, exponent: int) -> bool:
    """Say whether `base ** exponent` is within the bounds, before computing it."""
    if exponent <= 1:
        return True
    if sum(bits(value) for value in base.values()) * exponent > MAX_BITS:
        return base in (ONE, {(): -1})
    terms = math.comb(exponent + min(len(base), 99) - 1, min(exponent, len(base) - 1, 99))
    return min(terms, _grid(base, exponent)) ** 2 < MAX_STEPS


def _grid(base: Polynomial, exponent: int) -> int:
    """Return how many monomials lie between the lowest and the highest of a power."""
    size = 1
    tables = [dict(monomial) for monomial in base]
    for generator in generators(base):
        found = [table.get(generator, 0) for table in tables]
        step = math.lcm(*(each.denominator for each in found))
        size *= int((max(found) - min(found)) * step) * exponent + 1
    return size


def reduce(ring: Ring, polynomial: Polynomial) -> Polynomial:
    """Replace whole powers of roots by what is under them, and whole turns by their value."""
    parts: dict[tuple[str, Rational], Polynomial] = {}
    rest: Polynomial = {}
    for monomial, coefficient in polynomial.items():
        found = next((pair for pair in monomial if _is_reducible(ring, *pair)), None)
        if found is None:
            rest[monomial] = coefficient
            continue
        generator, exponent = found
        left = exponent - math.floor(exponent) if generator[0] == "R" else 0
        others = tuple((each, left) if each == generator else (each, e) for each, e in monomial)
        group = parts.setdefault((generator, exponent - left), {})
        group[tuple(pair for pair in others if pair[1])] = coefficient
    for (generator, whole), group in parts.items():
        rest = add(rest, multiply(ring, group, _relation(ring, generator, whole)))
    return rest


def _is_reducible(ring: Ring, generator: str, exponent: Rational) -> bool:
    if generator[0] == "R":
        return exponent >= 1 and affordable(ring.atoms[generator].inside, math.floor(exponent))
    return generator == TURN and (not 0 <= exponent < 1 or 120 % exponent.denominator == 0)


def _relation(ring: Ring, generator: str, exponent: Rational) -> Polynomial:
    if generator == TURN:
        return unity(ring, Fraction(exponent))
    return power(ring, ring.atoms[generator].inside, int(exponent))


def unity(ring: Ring, turn: Fraction) -> Polynomial:
    """Return e^(i*pi*turn), in radicals where the denominator divides 120."""
    whole = math.floor(turn)
    sign, part = (-1) ** (whole % 2), turn - whole
    if not part:
        return scale(ONE, sign)
    if 120 % part.denominator:
        inside: Polynomial = {(("i", 1), ("p", 1)): 1}
        return {((ring.wrap("E", inside), plain(part)),): sign}
    eighths, thirds, fifths = _split_turn(int(part * 120))
    rest = part - Fraction(eighths, 8) - Fraction(thirds, 3) - Fraction(fifths, 5)
    result = scale(ONE, sign * (-1) ** (int(rest) % 2))
    if eighths:
        result = multiply(ring, result, power(ring, _eighth(ring), eighths))
    if thirds:
        half = Fraction(1, 2)
        third: Polynomial = {(): half, (("#3", half), ("i", 1)): half}
        result = multiply(ring, result, power(ring, third, thirds))
    return multiply(ring, result, power(ring, _fifth(ring), fifths)) if fifths else result


def _split_turn(parts: int) -> tuple[int, int, int]:
    return -parts % 8, parts % 3, -parts % 5


def _root_of(ring: Ring, inside: Polynomial) -> Monomial:
    return ((ring.wrap("R", inside, positive=True, complete=True), Fraction(1, 2)),)


def _eighth(ring: Ring) -> Polynomial:
    """Return e^(i*pi/8): the cosine is sqrt(2 + sqrt 2) / 2, the sine (sqrt 2 - 1) times that."""
    half = Fraction(1, 2)
    root: Polynomial = {_root_of(ring, {(): 2, (("#2", half),): 1}): half}
    unit: Polynomial = {(): 1, (("i", 1),): -1, (("#2", half), ("i", 1)): 1}
    return multiply(ring, root, unit)


def _fifth(ring: Ring) -> Polynomial:
    """Return e^(i*pi/5): the cosine is (1 + sqrt 5) / 4, the sine sqrt(10 - 2 sqrt 5) / 4."""
    half, quarter = Fraction(1, 2), Fraction(1, 4)
    root = _root_of(ring, {(): 5, (("#5", half),): -1})
    sine = tuple(sorted((*root, ("#2", half), ("i", 1))))
    return {(): quarter, (("#5", half),): quarter, sine: quarter}
