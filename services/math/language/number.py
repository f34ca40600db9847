"""Read a plain number exactly: integer, decimal, fraction, mixed number, scientific notation.

A sign, a currency sign, a percent or a degree sign may stand with it. Values are `Fraction`s and
never pass through a float. Digits and exponents are counted before anything is computed, so that
`1e999999999` costs nothing. Not read: roots, powers other than of ten, words, other units.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final, NamedTuple

MAX_DIGITS: Final = 4_000
MAX_EXPONENT: Final = 1_000

_DECIMAL = r"(?:(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d*)?|\.\d+)"
_NUMBER = re.compile(
    rf"""
    (?P<sign>[+-]?) (?P<money>[$€£¥₩]?) (?P<inner>[+-]?)
    (?:
        (?P<whole>\d+)?\\frac\{{(?P<top>-?{_DECIMAL})\}}\{{(?P<bottom>-?{_DECIMAL})\}}
      | (?:(?P<count>\d+)\ )?(?P<over>{_DECIMAL})/(?P<under>-?{_DECIMAL})
      | (?P<decimal>{_DECIMAL})
        (?: [eE](?P<e>[+-]?\d+) | (?:\\times|\\cdot|[*])\ ?10\^(?:\{{(?P<ten>[+-]?\d+)\}}|(?P<one>\d)) )?
      | 10\^(?:\{{(?P<power>[+-]?\d+)\}}|(?P<digit>\d))
    )
    \ ?(?P<unit>%|percent|pct|per\ cent|°|degrees?|[$€£¥₩]?)
    """,
    re.VERBOSE,
)
_UNITS: Final = {"percent": "%", "pct": "%", "per cent": "%", "degree": "°", "degrees": "°"}


class OutOfBoundsError(ValueError):
    """A number too long or with too large an exponent to be computed."""


class Number(NamedTuple):
    """A value as it is written: `37%` is 37 with the unit `%`."""

    value: Fraction
    unit: str = ""
    """`%`, `°`, a currency sign, or nothing."""
    places: int | None = None
    """Digits after the point where it is written as a decimal; None where it is exact."""


def read_number(text: str) -> Number | None:
    """Read a canonical text; None if it is no number, ZeroDivisionError for `1/0`.

    Raises OutOfBoundsError where it is one that is too large to handle.
    """
    if text.isdecimal():  # by far the most frequent kind
        return Number(Fraction(_integer(text)))
    match = _NUMBER.fullmatch(text)
    if match is None:
        return None
    part = match.groupdict()
    unit = part["money"] or _UNITS.get(part["unit"], part["unit"])
    negative = (part["sign"] + part["inner"]).count("-") == 1
    if part["decimal"] or part["power"] or part["digit"]:
        value, places = _scientific(part)
        return Number(-value if negative else value, unit, places)
    fraction = _fraction(part)
    return fraction if fraction is None else Number(-fraction if negative else fraction, unit)


def _scientific(part: dict[str, str | None]) -> tuple[Fraction, int | None]:
    whole, point, digits = (part["decimal"] or "1").replace(",", "").partition(".")
    exponent = _exponent(part)
    value = Fraction(_integer(whole + digits))
    shift = exponent - len(digits)
    value = value * 10**shift if shift >= 0 else value / 10**-shift
    return value, -shift if point else None


def _exponent(part: dict[str, str | None]) -> int:
    names = ("e", "ten", "one", "power", "digit")
    text = next((found for name in names if (found := part[name])), "0")
    exponent = _integer(text)
    if abs(exponent) > MAX_EXPONENT:
        raise OutOfBoundsError
    return exponent


def _fraction(part: dict[str, str | None]) -> Fraction | None:
    r"""Read a fraction or mixed number; None for `2\frac{5}{3}`, which is neither or a product."""
    whole = part["whole"] or part["count"]
    top = _decimal(part["top"] or part["over"] or "")
    bottom = _decimal(part["bottom"] or part["under"] or "")
    if whole is None:
        return top / bottom
    is_mixed = 0 < top < bottom and top.denominator == bottom.denominator == 1
    return _integer(whole) + top / bottom if is_mixed else None


def _decimal(text: str) -> Fraction:
    whole, _, digits = text.replace(",", "").partition(".")
    return Fraction(_integer(whole + digits), 10 ** len(digits))


def _integer(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise OutOfBoundsError
    return int(digits)
