"""The values that a column may get: those it has, the constants it meets, and their neighbours."""

from __future__ import annotations

import re
from datetime import date, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from rewarden.contracts import mended

if TYPE_CHECKING:
    from collections.abc import Iterable
    from random import Random

    from services.sql.engines.engine import Column
    from services.sql.instances.roles import Constant

_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d")
_MOMENT: Final = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d+)?)?([+-]\d\d(:\d\d)?)?")
_YEAR: Final = re.compile(r"(1[5-9]|2[0-3])\d\d")
_INTEGER: Final = re.compile(r"int|serial")
_REAL: Final = re.compile(r"real|floa|doub|num|dec|money")
_TEXT: Final = re.compile(r"char|clob|text|string")
_TRUE_TYPES: Final = re.compile(r"bool")
_TIME_TYPES: Final = re.compile(r"date|time")
_MAX_SHIPPED: Final = 12
_INT_RANGE: Final = 2**31 - 1


def family(column: Column, shipped: Iterable[Any]) -> str:
    """Return what kind of values the column holds: by what it has, else by its type."""
    values = [value for value in shipped if value is not None]
    if values and all(isinstance(v, str) for v in values):
        if all(_DATE.fullmatch(v) for v in values):
            return "date"
        if all(_MOMENT.fullmatch(v) for v in values):
            return "moment"
        return "text"
    for pattern, kind in _BY_TYPE:
        if pattern.search(column.type):
            return kind
    for kind, types in _BY_VALUE:
        if values and all(isinstance(v, types) for v in values):
            return kind
    return "other" if values or "blob" in column.type or "[" in column.type else "text"


_BY_TYPE: Final = (
    (_TRUE_TYPES, "truth"),
    (_TIME_TYPES, "date"),
    (_INTEGER, "integer"),
    (_REAL, "real"),
    (_TEXT, "text"),
)
_BY_VALUE: Final[tuple[tuple[str, Any], ...]] = (
    ("truth", bool),
    ("integer", int),
    ("real", int | float | Decimal),
    ("text", str),
)


def pool(column: Column, shipped: list[Any], constants: set[Constant], random: Random) -> list[Any]:
    """Return values for the column, none of them NULL; never empty."""
    known = list(dict.fromkeys(v for v in shipped if v is not None and _is_writable(v)))
    known = random.sample(known, min(len(known), _MAX_SHIPPED))
    kind = family(column, shipped)
    if kind == "other":
        return known or [b"\x00\x01", b"a"]
    made = _MAKERS[kind](known, sorted(constants, key=repr))
    return list(dict.fromkeys([*known, *made])) or [None]


def _is_writable(value: Any) -> bool:  # noqa: ANN401 - a cell
    return not isinstance(value, str) or mended(value) == value


def _integers(known: list[Any], constants: list[Constant]) -> list[Any]:
    numbers = [int(n) for n in (*known, *_numbers(constants)) if abs(n) < _INT_RANGE]
    around = [n + d for n in numbers for d in (-1, 0, 1)]
    low, high = min(numbers, default=1), max(numbers, default=9)
    spread = [low + (high - low) * part // 7 for part in range(1, 7)]
    # Nothing below what is known: a count or a price that is negative is in no one's mind.
    return [n for n in (*around, *spread, high + 7) if n >= min(low - 1, max(low, 0))]


def _reals(known: list[Any], constants: list[Constant]) -> list[Any]:
    numbers = [float(n) for n in (*known, *_numbers(constants)) if abs(n) < _INT_RANGE]
    around = [n + d for n in numbers for d in (-1, 0, 1, 0.5)]
    low, high = min(numbers, default=1.0), max(numbers, default=9.0)
    spread = [round(low + (high - low) * part / 7, 2) for part in range(1, 7)]
    return [n for n in (*around, *spread) if n >= min(low, 0)]


def _numbers(constants: list[Constant]) -> list[float]:
    found: list[float] = []
    for constant in constants:
        if isinstance(constant, str):
            if re.fullmatch(r"-?\d{1,9}(\.\d{1,6})?", constant.strip()):
                found.append(float(constant) if "." in constant else int(constant))
        else:
            found.append(constant)
    return found


def _texts(known: list[Any], constants: list[Constant]) -> list[Any]:
    made: list[str] = []
    for constant in constants:
        text = str(constant)
        bare = text.replace("%", "").replace("_", "a")
        made += [text.replace("%", "").replace("_", "a")]
        made += [bare.upper(), bare.lower(), bare + "x", "x" + bare, bare[:-1]]
        if "%" in text:
            made += [text.replace("%", "mid").replace("_", "b")]
    letters = [str(k).swapcase() for k in known[:2]]
    return [t for t in (*made, *letters, "Zoe", "Kai", "Uma") if t]


def _dates(known: list[Any], constants: list[Constant]) -> list[Any]:
    days = [d for d in map(_day, (*known, *constants)) if d]
    days = days or [date(2020, 1, 15), date(2021, 6, 30), date(2022, 12, 31)]
    made = [d + timedelta(days=n) for d in days for n in (-1, 0, 1, 31, 365)]
    for constant in constants:
        if _YEAR.fullmatch(str(constant).strip("%-")):
            year = int(str(constant).strip("%-"))
            made += [date(year, 1, 1), date(year, 7, 4), date(year, 12, 31), date(year - 1, 12, 31)]
    return [d.isoformat() for d in made]


def _moments(known: list[Any], constants: list[Constant]) -> list[Any]:
    first = next(iter(known), "2020-01-15 10:00:00")
    tail = str(first)[10:]
    return [
        f"{d}{t}" for d in _dates(known, constants) for t in (tail, tail[0] + "00:00" + tail[6:])
    ]


def _day(value: object) -> date | None:
    try:
        return date.fromisoformat(str(value)[:10])
    except ValueError:
        return None


_MAKERS: Final = {
    "truth": lambda known, _: [False, True] if all(isinstance(k, bool) for k in known) else [0, 1],
    "integer": _integers,
    "real": _reals,
    "text": _texts,
    "date": _dates,
    "moment": _moments,
}
