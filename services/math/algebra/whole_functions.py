"""Functions of whole numbers: computed within bounds, and simplified for symbols.

`floor(x+1)` is `floor(x) + 1`, `(n+1)!` is `(n+1) n!`, a binomial is a polynomial where one of its
lower numbers is known, and otherwise a quotient of factorials.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from services.math.algebra.polynomial import (
    MAX_BITS,
    ONE,
    Rational,
    Ring,
    UndefinedError,
    plain,
    spelled,
)
from services.math.algebra.quotient import (
    Quotient,
    constant,
    flatten,
    number,
    over,
    plus,
    product,
)
from services.math.algebra.unknown import Function, opaque

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_FACTORIAL: Final = 2_000
MAX_SHIFT: Final = 30
"""`(n+k)!` is written through `n!`, and `binom(n, k)` as a product, up to this k."""


def _floor(ring: Ring, arguments: list[Quotient]) -> Quotient:
    """Return the floor; whole numbers added inside come out."""
    value = arguments[0]
    known = constant(value)
    if known is not None:
        return number(math.floor(known))
    whole = math.floor(value.top.get((), 0)) if value.bottom is ONE else 0
    rest = plus(ring, value, number(whole), -1)
    return plus(ring, opaque(ring, "floor", [rest]), number(whole))


def _ceil(ring: Ring, arguments: list[Quotient]) -> Quotient:
    down = _floor(ring, [product(ring, number(-1), arguments[0])])
    return product(ring, number(-1), down)


def _mod(_: Ring, arguments: list[Quotient]) -> Quotient | None:
    left, right = (constant(each) for each in arguments)
    if right == 0:
        raise UndefinedError("a remainder modulo zero")
    return None if left is None or right is None else number(plain(left % right))


def _of_numbers(name: str, compute: Callable[..., Rational], *, whole: bool) -> Function:
    """Return a function of any number of rational numbers, in any order."""

    def apply_(ring: Ring, arguments: list[Quotient]) -> Quotient:
        known = [constant(each) for each in arguments]
        values = [each for each in known if each is not None]
        if len(values) == len(known) and not (whole and any(v.denominator > 1 for v in values)):
            return number(compute(*values))
        return opaque(ring, name, sorted(arguments, key=lambda each: spelled(flatten(ring, each))))

    return apply_


def _least(*values: Rational) -> Rational:
    return min(values)


def _greatest(*values: Rational) -> Rational:
    return max(values)


def _factorial(ring: Ring, arguments: list[Quotient]) -> Quotient | None:
    known = constant(arguments[0])
    if len(arguments) == 2:
        step = constant(arguments[1])
        if known is None or step != 2 or not _small(known):
            return None
        return number(math.prod(range(int(known), 0, -2)))
    if known is None:
        return _shifted_factorial(ring, arguments[0])
    if known.denominator == 1 and known < 0:
        raise UndefinedError("the factorial of a negative whole number")
    return number(math.factorial(int(known))) if _small(known) else None


def _factorial_of(ring: Ring, value: Quotient) -> Quotient:
    return _factorial(ring, [value]) or opaque(ring, "factorial", [value])


def _small(value: Rational) -> bool:
    return value.denominator == 1 and 0 <= value <= MAX_FACTORIAL


def _shifted_factorial(ring: Ring, value: Quotient) -> Quotient | None:
    """Write (n+k)! as n! times a product."""
    whole = math.floor(value.top.get((), 0)) if value.bottom is ONE else 0
    if not 0 < abs(whole) <= MAX_SHIFT:
        return None
    base = plus(ring, value, number(whole), -1)
    result = opaque(ring, "factorial", [base])
    for step in range(1, whole + 1):
        result = product(ring, result, plus(ring, base, number(step)))
    for step in range(whole + 1, 1):
        result = over(ring, result, plus(ring, base, number(step)))
    return result


def _binomial(ring: Ring, arguments: list[Quotient]) -> Quotient | None:
    n, k = (constant(each) for each in arguments)
    other = plus(ring, arguments[0], arguments[1], -1)
    rest = constant(other)
    if n is not None and k is not None and rest is not None:
        return _whole_binomial(n, k, rest)
    for lower in (k, rest):
        if lower is not None and lower.denominator == 1 and lower <= MAX_SHIFT:
            return _falling(ring, arguments[0], int(lower))
    bottom = product(ring, *(_factorial_of(ring, each) for each in (arguments[1], other)))
    return over(ring, _factorial_of(ring, arguments[0]), bottom)


def _whole_binomial(n: Rational, k: Rational, rest: Rational) -> Quotient | None:
    if n.denominator > 1 or k.denominator > 1 or n < 0:
        return None
    lower = min(k, rest)
    if lower < 0:
        return number(0)
    fits = lower * n.numerator.bit_length() <= MAX_BITS
    return number(math.comb(int(n), int(k))) if fits else None


def _falling(ring: Ring, value: Quotient, count: int) -> Quotient:
    """Return value * (value - 1) * ... / count!, zero for a negative count."""
    if count < 0:
        return number(0)
    result = number(Fraction(1, math.factorial(count)))
    for step in range(count):
        result = product(ring, result, plus(ring, value, number(step), -1))
    return result


WHOLE_FUNCTIONS: Final[dict[str, Function]] = {
    "floor": _floor,
    "ceil": _ceil,
    "mod": _mod,
    "gcd": _of_numbers("gcd", math.gcd, whole=True),
    "lcm": _of_numbers("lcm", math.lcm, whole=True),
    "min": _of_numbers("min", _least, whole=False),
    "max": _of_numbers("max", _greatest, whole=False),
    "factorial": _factorial,
    "binom": _binomial,
}
