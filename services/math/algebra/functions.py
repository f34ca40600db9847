"""The functions of the tree by name, as far as they are known exactly.

Trigonometric functions are written through e^(i*x) and hyperbolic ones through e^x, so that their
identities hold by expansion. Functions of whole numbers are computed within bounds. What is not
known becomes a generator that is keyed by the function and its arguments.

Not covered: signs of irrational numbers (`|1 - sqrt 2|`, `floor(pi)`), and sums, which are in
`services.math.algebra.series`.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Final

from services.math.algebra.elementary import conjugate, exponential, logarithm
from services.math.algebra.polynomial import (
    IMAGINARY,
    ONE,
    Polynomial,
    Ring,
    magnitude,
    multiply,
    scale,
    unity,
)
from services.math.algebra.powers import raised
from services.math.algebra.quotient import (
    UNIT,
    Quotient,
    constant,
    divide,
    flatten,
    number,
    over,
    plus,
    product,
)
from services.math.algebra.unknown import Function, opaque
from services.math.algebra.whole_functions import WHOLE_FUNCTIONS

PI: Final = Quotient({(("p", 1),): 1})
HALF_PI: Final = Quotient({(("p", 1),): Fraction(1, 2)})


def apply(ring: Ring, name: str, arguments: list[Quotient]) -> Quotient:
    """Return the function `name` of its arguments."""
    known = FUNCTIONS.get(name)
    value = known(ring, arguments) if known and len(arguments) in ARITY.get(name, (1,)) else None
    return opaque(ring, name, arguments) if value is None else value


def _waves(ring: Ring, value: Quotient, unit: Polynomial) -> tuple[Quotient, Quotient]:
    turned = Quotient(multiply(ring, flatten(ring, value), unit))
    back = Quotient(scale(turned.top, -1))
    return exponential(ring, turned), exponential(ring, back)


def _cosine_and_sine(ring: Ring, value: Quotient, unit: Polynomial) -> tuple[Quotient, Quotient]:
    """Return (e^ux + e^-ux) / 2 and (e^ux - e^-ux) / 2u."""
    up, down = _waves(ring, value, unit)
    half = Fraction(1, 2)
    cosine = product(ring, plus(ring, up, down), number(half))
    below = scale(unit, half) if unit is ONE else scale(unit, -half)
    return cosine, product(ring, plus(ring, up, down, -1), Quotient(below))


def _ratio(ring: Ring, name: str, cosine: Quotient, sine: Quotient) -> Quotient:
    tops = {"sin": sine, "cos": cosine, "tan": sine, "cot": cosine}
    bottoms = {"tan": cosine, "cot": sine, "sec": cosine, "csc": sine}
    top = tops.get(name, UNIT)
    return over(ring, top, bottoms[name]) if name in bottoms else top


def _circular(name: str) -> Function:
    def apply_(ring: Ring, arguments: list[Quotient]) -> Quotient:
        return _ratio(ring, name, *_cosine_and_sine(ring, arguments[0], IMAGINARY))

    return apply_


def _hyperbolic(name: str) -> Function:
    def apply_(ring: Ring, arguments: list[Quotient]) -> Quotient:
        return _ratio(ring, name, *_cosine_and_sine(ring, arguments[0], ONE))

    return apply_


@lru_cache(maxsize=4)
def _known_angles(name: str) -> dict[frozenset[object], Fraction]:
    """Return the angles, in turns of pi, by the exact values of their sine or tangent."""
    found = {}
    for parts in (*range(-60, 61, 10), *range(-48, 49, 12), *range(-45, 46, 15)):
        ring, turn = Ring(), Fraction(parts, 120)
        up, down = Quotient(unity(ring, turn)), Quotient(unity(ring, -turn))
        sine = product(ring, plus(ring, up, down, -1), number(Fraction(1, 2)))
        value = product(ring, sine, Quotient(scale(IMAGINARY, -1)))
        if name == "arctan":
            if abs(parts) == 60:
                continue
            value = over(ring, value, product(ring, plus(ring, up, down), number(Fraction(1, 2))))
        found[frozenset(value.top.items())] = turn
    return found  # type: ignore[return-value]


def _odd_inverse(name: str) -> Function:
    def apply_(ring: Ring, arguments: list[Quotient]) -> Quotient:
        value = arguments[0]
        if value.bottom is ONE:
            turn = _known_angles(name).get(frozenset(value.top.items()))
            if turn is not None:
                return product(ring, PI, number(turn))
        return _odd(ring, name, value)

    return apply_


def _odd(ring: Ring, name: str, value: Quotient) -> Quotient:
    """Return an odd function as a generator, its argument with a positive leading term."""
    if value.top and value.top[max(value.top)] < 0:
        negative = Quotient(scale(value.top, -1), value.bottom)
        return product(ring, number(-1), opaque(ring, name, [negative]))
    return opaque(ring, name, [value])


def _arccos(ring: Ring, arguments: list[Quotient]) -> Quotient:
    return plus(ring, HALF_PI, apply(ring, "arcsin", arguments), -1)


def _of_inverse(name: str) -> Function:
    def apply_(ring: Ring, arguments: list[Quotient]) -> Quotient:
        return apply(ring, name, [over(ring, UNIT, arguments[0])])

    return apply_


def _area(sign: int) -> Function:
    """Return arsinh (sign 1) or arcosh (sign -1): ln(x + sqrt(x^2 + sign))."""

    def apply_(ring: Ring, arguments: list[Quotient]) -> Quotient:
        square = product(ring, arguments[0], arguments[0])
        root = raised(ring, plus(ring, square, number(sign)), Fraction(1, 2))
        return logarithm(ring, plus(ring, arguments[0], root))

    return apply_


def _artanh(ring: Ring, arguments: list[Quotient]) -> Quotient:
    top, bottom = plus(ring, UNIT, arguments[0]), plus(ring, UNIT, arguments[0], -1)
    return product(ring, number(Fraction(1, 2)), logarithm(ring, over(ring, top, bottom)))


def _log(ring: Ring, arguments: list[Quotient]) -> Quotient:
    base = logarithm(ring, arguments[0]) if len(arguments) == 2 else Quotient(ring.unstated)
    return over(ring, logarithm(ring, arguments[-1]), base)


def _abs(ring: Ring, arguments: list[Quotient]) -> Quotient | None:
    known = constant(arguments[0])
    if known is not None:
        return number(magnitude(known))
    conjugated = _conjugate(ring, arguments)
    if conjugated is None:
        return None
    return raised(ring, product(ring, arguments[0], conjugated), Fraction(1, 2))


def _conjugate(ring: Ring, arguments: list[Quotient]) -> Quotient | None:
    top, bottom = (conjugate(ring, each) for each in arguments[0])
    return None if top is None or bottom is None else divide(ring, top, bottom)


def _real_part(ring: Ring, arguments: list[Quotient]) -> Quotient | None:
    other = _conjugate(ring, arguments)
    half = number(Fraction(1, 2))
    return None if other is None else product(ring, half, plus(ring, arguments[0], other))


def _imaginary_part(ring: Ring, arguments: list[Quotient]) -> Quotient | None:
    other = _conjugate(ring, arguments)
    half = Quotient(scale(IMAGINARY, Fraction(-1, 2)))
    return None if other is None else product(ring, half, plus(ring, arguments[0], other, -1))


def _sign(ring: Ring, arguments: list[Quotient]) -> Quotient:
    top, bottom = arguments[0]
    if not top:
        return arguments[0]
    if len(top) == 1 and bottom is ONE:
        ((monomial, factor),) = top.items()
        if all(ring.atom(each).positive for each, _ in monomial):
            return number(1 if factor > 0 else -1)
    return _odd(ring, "sign", arguments[0])


def _scaled(factor: Quotient) -> Function:
    return lambda ring, arguments: product(ring, arguments[0], factor)


_CIRCULAR: Final = ("sin", "cos", "tan", "cot", "sec", "csc")

FUNCTIONS: Final[dict[str, Function]] = {
    **WHOLE_FUNCTIONS,
    **{name: _circular(name) for name in _CIRCULAR},
    **{f"{name}h": _hyperbolic(name) for name in _CIRCULAR},
    "arcsin": _odd_inverse("arcsin"),
    "arctan": _odd_inverse("arctan"),
    "arccos": _arccos,
    "arcsec": _of_inverse("arccos"),
    "arccsc": _of_inverse("arcsin"),
    "arsinh": _area(1),
    "arcosh": _area(-1),
    "artanh": _artanh,
    "arcoth": _of_inverse("artanh"),
    "arsech": _of_inverse("arcosh"),
    "arcsch": _of_inverse("arsinh"),
    "exp": lambda ring, arguments: exponential(ring, arguments[0]),
    "ln": lambda ring, arguments: logarithm(ring, arguments[0]),
    "log": _log,
    "abs": _abs,
    "sign": _sign,
    "conj": _conjugate,
    "re": _real_part,
    "im": _imaginary_part,
    "degrees": _scaled(Quotient({(("p", 1),): Fraction(1, 180)})),
    "percent": _scaled(number(Fraction(1, 100))),
}

_ANY: Final = range(1, 1_000)
ARITY: Final = {
    "log": (1, 2),
    "mod": (2,),
    "binom": (2,),
    "factorial": (1, 2),
    "gcd": _ANY,
    "lcm": _ANY,
    "min": _ANY,
    "max": _ANY,
}
"""How many arguments a function takes; one, where it is not here."""
