"""Read dates and times of day.

What is covered: ISO dates, dates with the name of a month in English, `3/14/2020` where only one
reading is a date, `2024年1月5日`; times on both clocks, `noon`, `midnight`, `3:15 in the afternoon`,
`下午3点15分`. A month with a year is a date without a day.

What is not: weekdays, durations, time zones, years before 1000, two-digit years, a date with a
time. `3/4/2020` is a day in March or in April, so it is neither. `3:15` is read as a time: whether it
is a ratio, the caller must know.
"""

from __future__ import annotations

import calendar
import re
from typing import Final

from services.math.tree import Moment

MAX_CHARS: Final = 60
_NAMES: Final = (
    *("january", "february", "march", "april", "may", "june", "july", "august", "september"),
    *("october", "november", "december"),
)
_MONTHS: Final = {
    **{name: place for place, name in enumerate(_NAMES, 1)},
    **{name[:3]: place for place, name in enumerate(_NAMES, 1)},
    "sept": 9,
}
_DAYS: Final = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)

_MONTH = r"(?P<month>[A-Za-z]{3,9})"
_DAY = r"(?P<day>[0-3]?[0-9])(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>[12][0-9]{3})"
_DATES: Final = (
    re.compile(rf"{_MONTH}(?: |\. ?){_DAY}(?:(?:, ?| ){_YEAR})?"),
    re.compile(rf"(?:the )?{_DAY} (?P<of>of )?{_MONTH}(?:[.,]{{0,2}} ?{_YEAR})?"),
    re.compile(rf"{_MONTH}(?:, ?|\. ?| ){_YEAR}"),
)
_ISO = re.compile(r"([12][0-9]{3})(?:-([01][0-9])-([0-3][0-9])|/([01]?[0-9])/([0-3]?[0-9]))")
_SLASHES = re.compile(r"([0-3]?[0-9])([/.])([0-3]?[0-9])\2([12][0-9]{3})")
_CHARACTERS = re.compile(
    r"(?:([12][0-9]{3}) ?[年년] ?)?([01]?[0-9]) ?[月월](?: ?([0-3]?[0-9]) ?[日号號일])?"
)
_TIME = re.compile(
    r"([0-2]?[0-9])(?:([:.])([0-5][0-9])(?::([0-5][0-9]))?)?"
    r"(?: ?([ap])\.? ?m\.?| ?(o'clock)| (in the morning|in the afternoon|in the evening))?",
    re.IGNORECASE,
)
_CLOCK = re.compile(
    r"(凌晨|早上|上午|下午|晚上)? ?([0-2]?[0-9]) ?(?::|[点點时時] ?)([0-5]?[0-9]|半)? ?分?"
)
_IS_FORMULA: Final = re.compile(r"[\\^=+*({\[<>]").search  # quicker than to look for a date
_HALVES: Final = {
    "a": "am",
    "p": "pm",
    "in the morning": "am",
    "in the afternoon": "pm",
    "in the evening": "pm",
    "凌晨": "am",
    "早上": "am",
    "上午": "am",
    "下午": "pm",
    "晚上": "pm",
}
_NOON = Moment("time", (12, 0, None, "pm"))
_MIDNIGHT = Moment("time", (12, 0, None, "am"))
_NAMED: Final = {
    "noon": _NOON,
    "12 noon": _NOON,
    "12:00 noon": _NOON,
    "midday": _NOON,
    "中午": _NOON,
    "midnight": _MIDNIGHT,
    "12 midnight": _MIDNIGHT,
    "12:00 midnight": _MIDNIGHT,
}


def read_moment(text: str) -> Moment | None:
    """Return the date or time that `text` is, and is nothing but."""
    if not 3 <= len(text) <= MAX_CHARS and text not in _NAMED:
        return None
    if _IS_FORMULA(text):
        return None
    text = text.strip()
    return _NAMED.get(text.lower()) or _time(text) or _date(text)


def same_moment(a: Moment, b: Moment) -> bool | None:
    """Whether two moments are the same; None if one leaves out what would tell.

    A missing half of the day is forgiven: `3:15` is `3:15 p.m.`; whether it is `15:15`, nobody
    knows. A missing year, day or second is not forgiven.
    """
    if a.kind != b.kind:
        return False
    return _same_time(a, b) if a.kind == "time" else _same_date(a, b)


def _date(text: str) -> Moment | None:
    if match := _ISO.fullmatch(text):
        year, *parts = match.groups()
        month, day = (part for part in parts if part)
        return _valid(year, month, day)
    if match := _SLASHES.fullmatch(text):
        first, _, second, year = match.groups()
        dates = {_valid(year, first, second), _valid(year, second, first)} - {None}
        return dates.pop() if len(dates) == 1 else None
    if match := _CHARACTERS.fullmatch(text):
        year, month, day = match.groups()
        return _valid(year, month, day) if year or day else None
    return _named_month(text) if text[-1:].isalnum() else None


def _named_month(text: str) -> Moment | None:
    match = next((found for pattern in _DATES if (found := pattern.fullmatch(text))), None)
    if match is None:
        return None
    parts = match.groupdict()
    month, day, year = parts["month"], parts.get("day"), parts["year"]
    place = _MONTHS.get(month.lower())
    if place is None or (month == "may" and not (day and (year or parts.get("of")))):
        return None  # "may 5" is rather the verb
    return _valid(year, str(place), day)


def _valid(year: str | None, month: str, day: str | None) -> Moment | None:
    """Return the date if the calendar has it."""
    numbers = (int(year) if year else None, int(month), int(day) if day else None)
    if (
        not 1 <= numbers[1] <= 12
        or not 1 <= (numbers[2] or 0 if day else 1) <= _DAYS[numbers[1] - 1]
    ):
        return None
    leap = numbers[0] is None or calendar.isleap(numbers[0])
    return None if numbers[1:] == (2, 29) and not leap else Moment("date", numbers)


def _time(text: str) -> Moment | None:
    if match := _TIME.fullmatch(text):
        hour, mark, minute, second, letter, clock, phrase = match.groups()
        half = _HALVES.get((letter or phrase or "").lower())
        if not (half or mark == ":" or (clock and 0 < int(hour) <= 12)):
            return None
        return _on_clock(int(hour), int(minute or 0), int(second) if second else None, half)
    if match := _CLOCK.fullmatch(text):
        half, hour, minute = match.groups()
        if half or (minute and text.endswith(("分", "半"))):
            return _on_clock(
                int(hour), 30 if minute == "半" else int(minute or 0), None, _HALVES.get(half)
            )
    return None


def _on_clock(hour: int, minute: int, second: int | None, half: str | None) -> Moment | None:
    """Return the time with a half of the day only where the hour needs one: not at 0 or 15."""
    if hour > 23 or (hour == 0 and half == "pm") or (hour > 12 and half == "am"):
        return None
    return Moment("time", (hour, minute, second, half if 0 < hour <= 12 else None))


def _same_time(a: Moment, b: Moment) -> bool | None:
    if _minutes(a).isdisjoint(_minutes(b)):
        return False
    if a.parts[0] != b.parts[0] and a.parts[3] is None and b.parts[3] is None:
        return None  # on a clock that has a 15:15, 3:15 is at night
    first, second = a.parts[2], b.parts[2]
    if (first or 0) == (second or 0):
        return True
    return None if first is None or second is None else False


def _minutes(time: Moment) -> set[int]:
    """Return the minutes of the day that a time may be: two without a half of the day."""
    hour, minute, _, half = time.parts
    if not isinstance(hour, int) or not isinstance(minute, int):
        return set()
    if not 0 < hour <= 12:
        return {hour * 60 + minute}
    hours = {"am": (hour % 12,), "pm": (hour % 12 + 12,)}.get(
        str(half), (hour % 12, hour % 12 + 12)
    )
    return {each * 60 + minute for each in hours}


def _same_date(a: Moment, b: Moment) -> bool | None:
    pairs = list(zip(a.parts, b.parts, strict=True))
    if any(None not in pair and pair[0] != pair[1] for pair in pairs):
        return False
    return True if a.parts == b.parts else None
