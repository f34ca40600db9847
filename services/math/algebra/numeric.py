"""High-precision numerics: whether two values agree, as numbers.

Constants are computed with a precision that the sizes of all literals call for, so that `10^30` and
`10^30 + 1` differ. Values with symbols are computed at fixed pseudo-random rational points,
positive, negative and whole, and only where everything inside is defined and real; where there is
no such point, or `i` occurs, in the complex numbers. A difference is confirmed at twice the
precision. DIFFERENT is reliable; AGREE is evidence, not a proof.

Covered: everything but integrals, limits, derivatives, infinity, sums and products of more than
2,000 terms, more work than `services.math.algebra.bounds` allows, and a bare `log` whose base is not
stated; these are UNKNOWN. A symbol is not known to be whole: `sin(pi*n)` and 0 are DIFFERENT. An unknown function `f(x)` gets a pseudo-random value that depends on its
name and arguments alone. Odd roots are real. Symbols that begin with `z` or `w` are complex where
`i`, `abs`, `conj`, `re` or `im` occur.

Errors: `OutOfBoundsError`, for a value of more than a million bits; it is raised before anything of
that size is computed.
"""

from __future__ import annotations

import math
import random
import threading
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import mpmath  # type: ignore[import-untyped]

from services.math.algebra.bounds import (
    Approximation,
    OutOfBoundsError,
    SkipError,
    UnknownError,
    Work,
)
from services.math.algebra.evaluation import Base, Evaluator, Point, bits, exact_value
from services.math.algebra.polynomial import magnitude
from services.math.tree import Call, Constant, Number, Power, Product, Sum, Symbol, Value, walk

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Finding", "OutOfBoundsError", "compare", "value"]

_LOCAL: Final = threading.local()

MAX_PRECISION: Final = 1 << 16
GUARD: Final = 160
"""Bits beyond those of the literals."""
MIN_POINTS: Final = 3


class Finding(StrEnum):
    """What the numbers say."""

    DIFFERENT = "different"
    """The values differ at a point where both are defined."""
    AGREE = "agree"
    """The values agree, to 30 digits or more, wherever they were computed."""
    UNKNOWN = "unknown"
    """Nothing could be computed, or cancellation left too few digits."""


def compare(left: Value, right: Value, *, log_base: Base = None) -> Finding:
    """Say whether two values differ."""
    pair = (left, right)
    precision = _precision(*pair)
    is_short = precision == MAX_PRECISION  # of digits that may matter
    context, work = _context(), Work()
    symbols = sorted(_symbols(pair[0]) | _symbols(pair[1]))
    too_large = False
    for complex_too in (True,) if _is_complex(pair) else (False, True):
        seen: list[Finding] = []
        for point in _points(symbols, complex_too=complex_too):
            trial = _Trial(context, pair, point, complex_too, log_base, work)
            try:
                finding = trial.settle(precision)
            except OutOfBoundsError:
                too_large = True
                continue
            except UnknownError:
                break
            if finding is Finding.DIFFERENT:
                return finding
            seen += [finding] if finding else []
        if seen:
            enough = MIN_POINTS if symbols else 1
            agree = seen.count(Finding.AGREE) >= enough and not is_short
            return Finding.AGREE if agree else Finding.UNKNOWN
    if too_large:
        raise OutOfBoundsError("a number of astronomical size")
    return Finding.UNKNOWN


def value(tree: Value, digits: int = 30, *, log_base: Base = None) -> Approximation | None:
    """Return a constant as an mpmath number with `digits` right digits, or None.

    None for a value with symbols, one that is not defined, and one that is not known. Zero, as far
    as can be seen, is zero.
    """
    if _symbols(tree):
        return None
    trial = _Trial(_context(), (tree, Number(0)), {}, True, log_base, Work())
    try:
        return trial.value(_precision(tree) + 4 * digits)
    except (SkipError, UnknownError):
        return None


def _context() -> Approximation:
    """Return this thread's own context: a context has one precision, and is slow to make."""
    if not hasattr(_LOCAL, "context"):
        _LOCAL.context = mpmath.mp.clone()
    return _LOCAL.context


def _symbols(tree: Value) -> frozenset[str]:
    """Return the free symbols."""
    if isinstance(tree, Symbol):
        return frozenset((tree.name,))
    found: set[str] = set()
    waiting: list[tuple[Value, frozenset[str]]] = [(tree, frozenset())]
    while waiting:
        node, bound = waiting.pop()
        if isinstance(node, Symbol):
            found |= {node.name} - bound
        elif isinstance(node, Call) and node.name in ("sum", "prod") and len(node.arguments) == 4:
            body, index, *ends = node.arguments
            inner = bound | {index.name} if isinstance(index, Symbol) else bound
            waiting += [(body, inner), *((end, bound) for end in ends)]
        elif isinstance(node, Sum):
            waiting += [(each, bound) for each in node.terms]
        elif isinstance(node, Product):
            waiting += [(each, bound) for each in node.factors]
        elif isinstance(node, Power):
            waiting += [(node.base, bound), (node.exponent, bound)]
        elif isinstance(node, Call):
            waiting += [(each, bound) for each in node.arguments]
    return frozenset(found)


def _is_complex(pair: tuple[Value, Value]) -> bool:
    """Say that complex numbers are meant."""
    calls = {"conj", "re", "im"}
    for node in (each for tree in pair for each in walk(tree)):
        if node == Constant("i") or (isinstance(node, Call) and node.name in calls):
            return True
        if isinstance(node, Call) and node.name == "abs":
            names = {each.name[:1] for each in walk(node) if isinstance(each, Symbol)}
            if names & {"z", "w"}:
                return True
    return False


def _precision(*trees: Value) -> int:
    """Return the bits that tell apart what literals of these sizes, and their powers, can make."""
    return min(max(_size(each) for each in trees) * 2 + GUARD, MAX_PRECISION)


def _size(tree: Value) -> int:
    total = 0
    for node in walk(tree):
        if isinstance(node, Number):
            total += bits(Fraction(node.value))
        if isinstance(node, Call) and node.name in ("factorial", "binom"):
            total += _size_of_factorial(node)
        if isinstance(node, Power):
            exponent, base = exact_value(node.exponent, {}), exact_value(node.base, {})
            base = Fraction(3) if node.base == Constant("e") else base
            if exponent is None or base is None:
                continue
            size = math.ceil(magnitude(exponent) * bits(base))
            total += size
    return total


def _size_of_factorial(call: Call) -> int:
    number = exact_value(call.arguments[0], {})
    if number is None or number < 2:
        return 0
    size = min(int(number), MAX_PRECISION)
    return size * size.bit_length()


_SHAPES: Final = (
    # (low, high, denominator, signs): whole points let factorials and alternating powers be.
    (0, 1, 97, "+"),
    (1, 5, 89, "+"),
    (0, 1, 83, "-"),
    (1, 4, 101, "-"),
    (0, 3, 103, "+-"),
    (0, 3, 107, "-+"),
    (2, 9, 1, "+"),
    (1, 30, 1, "+"),
    (1, 6, 1, "+-"),
    (3, 20, 79, "+"),
    (0, 2, 1_009, "+"),
    (5, 12, 1, "+"),
    (2, 12, 1, "+"),
    (3, 7, 1, "+"),
)


def _points(symbols: list[str], *, complex_too: bool) -> Iterator[Point]:
    if not symbols:
        yield {}
        return
    # The seed is fixed: a verdict must not change from one run to the next.
    chance = random.Random(20_261)  # noqa: S311
    for low, high, denominator, signs in _SHAPES:
        point: Point = {}
        for place, name in enumerate(symbols):
            sign = -1 if signs[place % len(signs)] == "-" else 1
            first, last = low * denominator + 1, high * denominator - (denominator > 1)
            whole = sign * Fraction(chance.randint(first, last), denominator)
            point[name] = whole
            if complex_too and name[:1] in "zw":
                part = Fraction(chance.randint(first, last), denominator)
                point[name] = (whole, part)
        yield point


@dataclass(frozen=True, slots=True)
class _Trial:
    """Two values at one point."""

    context: Approximation
    pair: tuple[Value, Value]
    point: Point
    complex_too: bool
    log_base: Base
    work: Work

    def settle(self, precision: int) -> Finding | None:
        """Compare at growing precision; None where a value is not defined."""
        try:
            # Most values that differ do so in the first digits.
            first = self._settle(GUARD, 2 * GUARD) if precision > 4 * GUARD else None
            if first is Finding.DIFFERENT:
                return first
            return self._settle(precision, 16 * precision)
        except SkipError:
            return None

    def _settle(self, precision: int, limit: int) -> Finding:
        before, finding = self._values(precision), None
        above = 0 if self.point else min(2 * self._magnitude(before), MAX_PRECISION)
        if above > precision:
            # Digits before the point push those behind it out of sight.
            precision, limit = above, 4 * above
            before = self._values(precision)
        while precision < limit and finding is None:
            precision *= 2
            now = self._values(precision)
            finding = self._judge(before, now, precision)
            before = now
        return finding or Finding.UNKNOWN

    def _magnitude(self, values: tuple[Approximation, Approximation, Approximation]) -> int:
        """Return the bits before the point of the largest number met."""
        largest = max(abs(each) for each in values)
        return int(self.context.mag(largest)) if largest else 0

    def value(self, precision: int) -> Approximation | None:
        """Return the first value, checked at twice the precision, or None."""
        before = self._values(precision)
        now = self._values(precision * 2)
        error = abs(now[0] - before[0])
        if error <= self.context.ldexp(abs(now[0]), -precision // 2):
            return now[0]
        small = abs(now[0]) <= self.context.ldexp(now[2], -precision * 3 // 2)
        return self.context.mpf(0) if small else None

    def _values(self, precision: int) -> tuple[Approximation, Approximation, Approximation]:
        found, size = [], self.context.mpf(0)
        for tree in self.pair:
            evaluator = Evaluator(
                self.context, precision, self.point, self.complex_too, self.log_base, self.work
            )
            found.append(evaluator.run(tree))
            size = max(size, evaluator.size)
        return found[0], found[1], size

    def _judge(self, before: Approximation, now: Approximation, precision: int) -> Finding | None:
        """Compare values of `precision` bits with those of half as many.

        What changed from one to the other is the error of the first.
        """
        gap = abs(now[0] - now[1])
        error = abs(now[0] - before[0]) + abs(now[1] - before[1])
        largest = max(abs(now[0]), abs(now[1]))
        scale = max(largest, now[2])
        ldexp = self.context.ldexp
        if gap > ldexp(error, 20) and gap > ldexp(scale, -precision * 9 // 10):
            return Finding.DIFFERENT
        if self._magnitude(now) > precision // 2:
            return None  # a difference may be below the last digit of a large number
        if gap <= ldexp(largest, -precision * 3 // 4):
            return Finding.AGREE
        # Nothing but noise on both sides: zero, as far as can be seen.
        is_noise = largest <= ldexp(scale, -precision * 3 // 4) and largest < ldexp(error, 20)
        return Finding.AGREE if is_noise else None
