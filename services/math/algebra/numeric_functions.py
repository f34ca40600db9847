"""The functions of the tree by name, computed with mpmath.

Not covered: `arccot` of a negative number, whose range is a matter of taste, and factorials of
numbers that are not whole, binomials of negative whole numbers; all count as not defined.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from services.math.algebra.bounds import Approximation, OutOfBoundsError, SkipError, UnknownError

if TYPE_CHECKING:
    from services.math.algebra.evaluation import Evaluator

Function = Callable[..., Approximation]

MAX_FACTORIAL: Final = 20_000
MAX_FALLING: Final = 2_000

UNKNOWN: Final = frozenset({"integral", "limit", "derivative", "pm", "mp"})
"""Functions that no number is computed for."""


def _circular(name: str) -> Function:
    def compute(ev: Evaluator, x: Approximation) -> Approximation:
        return _ratio(ev, name, *ev.context.cos_sin(ev.angle(x)))

    return compute


def _hyperbolic(name: str) -> Function:
    def compute(ev: Evaluator, x: Approximation) -> Approximation:
        up, down = ev.exponential(x), ev.exponential(-x)
        ev.size = max(ev.size, abs(up), abs(down))
        return _ratio(ev, name, (up + down) / 2, (up - down) / 2)

    return compute


def _ratio(ev: Evaluator, name: str, cosine: Approximation, sine: Approximation) -> Approximation:
    tops = {"sin": sine, "cos": cosine, "tan": sine, "cot": cosine}
    bottoms = {"tan": cosine, "cot": sine, "sec": cosine, "csc": sine}
    top = tops.get(name, ev.context.mpf(1))
    return ev.over(top, bottoms[name]) if name in bottoms else top


def _plain(name: str) -> Function:
    """Return a function of mpmath's."""

    def compute(ev: Evaluator, x: Approximation) -> Approximation:
        return getattr(ev.context, name)(x)

    return compute


def _of_inverse(name: str) -> Function:
    def compute(ev: Evaluator, x: Approximation) -> Approximation:
        return getattr(ev.context, name)(ev.over(ev.context.mpf(1), x))

    return compute


def _arccot(ev: Evaluator, x: Approximation) -> Approximation:
    if ev.real(x) <= 0:
        raise SkipError
    return ev.context.atan(1 / x)


def _ln(ev: Evaluator, x: Approximation) -> Approximation:
    negative = not isinstance(x, ev.context.mpc) and x < 0
    if ev.is_zero(x) or (negative and ev.point):
        raise SkipError
    return ev.context.ln(x)


def _log(ev: Evaluator, *arguments: Approximation) -> Approximation:
    if len(arguments) == 2:
        return ev.over(_ln(ev, arguments[1]), _ln(ev, arguments[0]))
    if ev.log_base is None:
        raise UnknownError
    top = _ln(ev, arguments[0])
    return top if ev.log_base == "e" else top / ev.context.ln(10)


def _sign(ev: Evaluator, x: Approximation) -> Approximation:
    return ev.context.sign(0 if ev.is_zero(x) else ev.real(x))


def _floor(ev: Evaluator, x: Approximation) -> Approximation:
    nearest = ev.context.nint(ev.real(x))
    # Noise must not turn the floor of log_2(8) into 2.
    return nearest if abs(x - nearest) <= ev.noise() else ev.context.floor(x)


def _mod(ev: Evaluator, x: Approximation, y: Approximation) -> Approximation:
    return x - y * _floor(ev, ev.over(ev.real(x), ev.real(y)))


def _of_wholes(compute: Callable[..., int]) -> Function:
    def computed(ev: Evaluator, *arguments: Approximation) -> Approximation:
        return ev.context.mpf(compute(*(ev.whole(each) for each in arguments)))

    return computed


def _of_reals(compute: Callable[..., Approximation]) -> Function:
    def computed(ev: Evaluator, *arguments: Approximation) -> Approximation:
        return compute(ev.real(each) for each in arguments)

    return computed


def _factorial(ev: Evaluator, x: Approximation, step: Approximation = 1) -> Approximation:
    n = ev.whole(x)
    if n < 0 or step not in (1, 2):
        raise SkipError
    if n > MAX_FACTORIAL:
        raise OutOfBoundsError("a factorial of astronomical size")
    return ev.context.fac(n) if step == 1 else ev.context.fac2(n)


def _binomial(ev: Evaluator, n: Approximation, k: Approximation) -> Approximation:
    lower, whole = _nearest(ev, k), _nearest(ev, n)
    rest = _nearest(ev, n - k)
    if whole is not None and whole < 0:
        raise SkipError
    if whole is not None and lower is not None:
        lower = min(lower, whole - lower)
    elif lower is None:
        lower = rest
    if lower is None or lower > MAX_FALLING:
        raise SkipError if lower is None else UnknownError
    if lower < 0:
        return ev.context.mpf(0)
    product = ev.context.mpf(1)
    for step in range(lower):
        product = product * (n - step) / (step + 1)
    return product


def _nearest(ev: Evaluator, x: Approximation) -> int | None:
    try:
        return ev.whole(x)
    except SkipError:
        return None


def _conj(ev: Evaluator, x: Approximation) -> Approximation:
    return ev.context.conj(x)


_CIRCULAR: Final = ("sin", "cos", "tan", "cot", "sec", "csc")

FUNCTIONS: Final[dict[str, Function]] = {
    **{name: _circular(name) for name in _CIRCULAR},
    **{f"{name}h": _hyperbolic(name) for name in _CIRCULAR},
    **{f"arc{name}": _plain(f"a{name}") for name in ("sin", "cos", "tan")},
    **{f"ar{name}": _plain(f"a{name}") for name in ("sinh", "cosh", "tanh")},
    "arccot": _arccot,
    "arcsec": _of_inverse("acos"),
    "arccsc": _of_inverse("asin"),
    "arsech": _of_inverse("acosh"),
    "arcsch": _of_inverse("asinh"),
    "arcoth": _of_inverse("atanh"),
    "exp": lambda ev, x: ev.exponential(x),
    "ln": _ln,
    "log": _log,
    "abs": lambda _, x: abs(x),
    "sign": _sign,
    "floor": _floor,
    "ceil": lambda ev, x: -_floor(ev, -x),
    "mod": _mod,
    "gcd": _of_wholes(math.gcd),
    "lcm": _of_wholes(math.lcm),
    "min": _of_reals(min),
    "max": _of_reals(max),
    "factorial": _factorial,
    "binom": _binomial,
    "conj": _conj,
    "re": lambda ev, x: ev.context.re(x),
    "im": lambda ev, x: ev.context.im(x),
    "degrees": lambda ev, x: x * ev.context.pi / 180,
    "percent": lambda _, x: x / 100,
}
