"""The value of a tree at a point, with mpmath.

`Evaluator` computes one value at one precision. It refuses what is not defined or, unless told
otherwise, not real (`SkipError`), what it cannot compute (`UnknownError`), and sizes beyond
`MAX_MAGNITUDE` bits (`OutOfBoundsError`) before it computes them. Work is counted, not timed.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce
from typing import TYPE_CHECKING, Any, Final, Literal

from services.math.algebra.bounds import (
    MAX_MAGNITUDE,
    Approximation,
    OutOfBoundsError,
    SkipError,
    UnknownError,
    Work,
)
from services.math.algebra.functions import ARITY
from services.math.algebra.numeric_functions import FUNCTIONS, UNKNOWN
from services.math.tree import Call, Constant, Number, Power, Product, Sum, Symbol, Value, walk

if TYPE_CHECKING:
    from collections.abc import Callable

Base = Literal[10, "e"] | None
Point = dict[str, Fraction | tuple[Fraction, Fraction]]
"""A fraction for each symbol, or a pair of them: real and imaginary part."""

MAX_EXACT: Final = 1_000
"""Bits of a power that is computed exactly."""
MAX_TERMS: Final = 2_000


def exact_value(tree: Value, point: Point) -> Fraction | None:
    """Return a small rational number exactly, or None: for exponents and bounds."""
    if isinstance(tree, Number):
        return Fraction(tree.value)
    if isinstance(tree, Symbol):
        known = point.get(tree.name)
        return known if isinstance(known, Fraction) else None
    if isinstance(tree, Power):
        return _exact_power(exact_value(tree.base, point), exact_value(tree.exponent, point))
    return _exact_parts(tree, point) if isinstance(tree, Sum | Product) else None


def _exact_parts(tree: Sum | Product, point: Point) -> Fraction | None:
    total = Fraction(isinstance(tree, Product))
    for each in tree.terms if isinstance(tree, Sum) else tree.factors:
        part = exact_value(each, point)
        if part is None or bits(total) + bits(part) > MAX_MAGNITUDE:
            return None
        total = total + part if isinstance(tree, Sum) else total * part
    return total


def bits(number: Fraction) -> int:
    """Return the size of a rational number."""
    return number.numerator.bit_length() + number.denominator.bit_length()


def _exact_power(base: Fraction | None, exponent: Fraction | None) -> Fraction | None:
    if base is None or exponent is None or exponent.denominator > 1:
        return None
    if abs(exponent) * bits(base) > MAX_EXACT or (not base and exponent <= 0):
        return None
    return base**exponent.numerator


@dataclass(slots=True)
class Evaluator:
    """Computes a value at a point."""

    context: Approximation
    precision: int
    point: Point
    complex_too: bool
    log_base: Base
    work: Work
    size: Approximation = 0
    """The largest term of any sum so far: what cancellation can have eaten."""
    scope: Point = field(default_factory=dict)
    indices: Point = field(default_factory=dict)

    def run(self, tree: Value) -> Approximation:
        """Return the value, an mpf or mpc; raise `SkipError` where there is none."""
        self.context.prec = self.precision
        self.scope = dict(self.point)
        self.size = 0
        try:
            return self.read(tree)
        except OutOfBoundsError:
            raise
        except (ZeroDivisionError, ValueError, OverflowError) as error:
            # mpmath says so at a pole.
            raise SkipError from error

    def read(self, tree: Value) -> Approximation:
        """Return the value of a part of the tree."""
        self.work.spend(1)
        # What a part has lost to cancellation is its own: the rest cannot make it noise.
        outside, self.size = self.size, 0
        found = self._checked(_READERS[type(tree)](self, tree))
        self.size = max(self.size, outside)
        return found

    def _charge(self) -> None:
        """Pay for a function, whose time grows as the square of the digits."""
        self.work.spend(8 + (self.precision >> 8) ** 2 // 2)

    def _checked(self, found: Approximation) -> Approximation:
        """Drop rounding noise in the parts; refuse what is not a real number, or too large."""
        if isinstance(found, self.context.mpc):
            noise = self.context.ldexp(abs(found), -self.precision * 4 // 5)
            if abs(found.imag) <= noise:
                found = found.real
            elif abs(found.real) <= noise:
                found = self.context.mpc(0, found.imag)
        if isinstance(found, self.context.mpc) and not self.complex_too:
            raise SkipError
        if not self.context.isfinite(found):
            raise SkipError
        if found and abs(self.context.mag(found)) > MAX_MAGNITUDE:
            raise OutOfBoundsError("a number of astronomical size")
        return found

    def number(self, exact: Fraction | int) -> Approximation:
        """Return a rational number, rounded."""
        return self.context.mpf(exact.numerator) / exact.denominator

    def real(self, found: Approximation) -> Approximation:
        """Return a real number; `SkipError` for any other."""
        if isinstance(found, self.context.mpc):
            raise SkipError
        return found

    def whole(self, found: Approximation) -> int:
        """Return a whole number; `SkipError` for any other, noise allowed."""
        nearest = int(self.context.nint(self.real(found)))
        if abs(found - nearest) > self.noise():
            raise SkipError
        return nearest

    def noise(self) -> Approximation:
        """Return how far a number may be from the whole number that it is."""
        return self.context.ldexp(1, -self.precision // 2)

    def _read_number(self, tree: Number) -> Approximation:
        return self.number(tree.value)

    def _read_symbol(self, tree: Symbol) -> Approximation:
        found = self.scope[tree.name]
        if isinstance(found, tuple):
            return self.context.mpc(*(self.number(each) for each in found))
        return self.number(found)

    def _read_constant(self, tree: Constant) -> Approximation:
        if tree.name == "infinity":
            raise UnknownError
        if tree.name == "i":
            return self.context.mpc(0, 1)
        return +(self.context.pi if tree.name == "pi" else self.context.e)

    def _read_sum(self, tree: Sum) -> Approximation:
        total = self.context.mpf(0)
        for term in tree.terms:
            found = self.read(term)
            self.size = max(self.size, abs(found))
            total += found
        return total

    def _read_product(self, tree: Product) -> Approximation:
        return reduce(
            lambda total, each: self._checked(total * self.read(each)),
            tree.factors,
            self.context.mpf(1),
        )

    def _read_power(self, tree: Power) -> Approximation:
        self.work.spend(4)
        if tree.base == Constant("e"):
            return self.exponential(self.read(tree.exponent))
        exact = exact_value(tree.exponent, self.scope)
        if exact is not None and exact.denominator > 1:
            # The real root is meant where the tree says 1/3, not where a point happens to.
            exact = exact_value(tree.exponent, self.indices)
        if exact is None:
            base = self.read(tree.base)
            self._one_branch(tree.base, base)
            return self._power(base, self.read(tree.exponent))
        base = self.read(tree.base)
        if exact.denominator > 1:
            self._one_branch(tree.base, base)
        self._guard_power(
            base, self.number(exact) if bits(exact) < MAX_MAGNITUDE else self.context.inf
        )
        if exact.denominator == 1:
            return self._whole_power(base, exact.numerator)
        return self._root(base, exact)

    def _one_branch(self, tree: Value, base: Approximation) -> None:
        """Refuse negative bases with symbols among complex numbers: two readings meet there."""
        if not self.point or not self.complex_too or isinstance(base, self.context.mpc):
            return
        if base < 0 and any(isinstance(each, Symbol) for each in walk(tree)):
            raise SkipError

    def _power(self, base: Approximation, exponent: Approximation) -> Approximation:
        self._guard_power(base, exponent)
        imaginary = isinstance(exponent, self.context.mpc)
        if not base:
            if imaginary or exponent <= 0:
                raise SkipError
            return base
        if not isinstance(base, self.context.mpc) and base < 0 and not imaginary:
            # Whether the exponent has an odd denominator is not to be seen.
            return base ** self.whole(exponent)
        self._charge()
        return base**exponent

    def _whole_power(self, base: Approximation, exponent: int) -> Approximation:
        if exponent <= 0 and self.is_zero(base):
            raise SkipError
        return base**exponent

    def _root(self, base: Approximation, exponent: Fraction) -> Approximation:
        if exponent < 0 and self.is_zero(base):
            raise SkipError
        if not base:
            return base
        self._charge()
        odd = exponent.denominator % 2 and not isinstance(base, self.context.mpc)
        if odd and base < 0:
            return (-1) ** (exponent.numerator % 2) * (-base) ** self.number(exponent)
        return base ** self.number(exponent)

    def is_zero(self, found: Approximation) -> bool:
        """Say that a divisor is zero, or nothing but noise."""
        return bool(abs(found) <= self.context.ldexp(self.size, -self.precision * 4 // 5))

    def _guard_power(self, base: Approximation, exponent: Approximation) -> None:
        """Refuse a power of astronomical size before it is computed."""
        if not base:
            return
        context = self.context
        size = abs(context.mag(base))
        if size < 2:
            size = abs(context.ln(abs(base)))
        if isinstance(exponent, context.mpc):
            # |b^(x+iy)| = |b|^x * e^(-y*arg b)
            size += 4
        if abs(exponent) * size > MAX_MAGNITUDE:
            raise OutOfBoundsError("a power of astronomical size")

    def exponential(self, found: Approximation) -> Approximation:
        """Return e to a power."""
        if found and self.context.mag(found) > MAX_MAGNITUDE.bit_length() - 2:
            raise OutOfBoundsError("a power of astronomical size")
        self._charge()
        return self.context.exp(found)

    def angle(self, found: Approximation) -> Approximation:
        """Return an argument of a trigonometric function, if its digits reach below one."""
        if found and self.context.mag(found) > self.precision // 2:
            raise UnknownError
        if isinstance(found, self.context.mpc):
            self.exponential(found.imag)
        self.size = max(self.size, 1)
        return found

    def over(self, top: Approximation, bottom: Approximation) -> Approximation:
        """Return a quotient; `SkipError` where the bottom is zero."""
        if self.is_zero(bottom):
            raise SkipError
        return top / bottom

    def _read_call(self, tree: Call) -> Approximation:
        if tree.name in ("sum", "prod"):
            return self._series(tree)
        if tree.name in UNKNOWN:
            raise UnknownError
        arguments = [self.read(each) for each in tree.arguments]
        known = FUNCTIONS.get(tree.name)
        if known is None or len(arguments) not in ARITY.get(tree.name, (1,)):
            return self._unknown(tree.name, arguments)
        self._charge()
        return known(self, *arguments)

    def _series(self, tree: Call) -> Approximation:
        """Add or multiply term by term."""
        if len(tree.arguments) != 4 or not isinstance(tree.arguments[1], Symbol):
            raise UnknownError
        body, _, *ends = tree.arguments
        name = tree.arguments[1].name
        if Constant("infinity") in ends:
            raise UnknownError
        first, last = (self.whole(self.read(each)) for each in ends)
        if last < first - 1:
            raise SkipError
        if last - first >= MAX_TERMS:
            raise UnknownError
        outer = self.indices
        before, total = self.scope, self.context.mpf(tree.name == "prod")
        for place in range(first, last + 1):
            self.scope = {**before, name: Fraction(place)}
            self.indices = {**outer, name: Fraction(place)}
            part = self.read(body)
            total = self._checked(total + part if tree.name == "sum" else total * part)
            self.size = max(self.size, abs(part) if tree.name == "sum" else 0)
        self.scope, self.indices = before, outer
        return total

    def _unknown(self, name: str, arguments: list[Any]) -> Approximation:
        """Return a number that the name and the arguments determine."""
        text = ",".join(self.context.nstr(each, 25) for each in arguments)
        digest = hashlib.sha256(f"{name}({text})".encode()).digest()
        return self.context.mpf(int.from_bytes(digest[:8]) - (1 << 63)) / (1 << 61)


_READERS: Final[dict[type, Callable[[Evaluator, Any], Approximation]]] = {
    Number: Evaluator._read_number,
    Symbol: Evaluator._read_symbol,
    Constant: Evaluator._read_constant,
    Sum: Evaluator._read_sum,
    Product: Evaluator._read_product,
    Power: Evaluator._read_power,
    Call: Evaluator._read_call,
}
