from __future__ import annotations

from datetime import date, time as time_of_day

import pytest
from hypothesis import given, strategies as st

from services.math.language.moments import read_moment, same_moment
from services.math.tree import Moment


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("2024-01-05", (2024, 1, 5)),
        ("2024/01/05", (2024, 1, 5)),
        ("2024/1/5", (2024, 1, 5)),
        ("January 5, 2024", (2024, 1, 5)),
        ("January 5 2024", (2024, 1, 5)),
        ("january 5,2024", (2024, 1, 5)),
        ("5 January 2024", (2024, 1, 5)),
        ("5 Jan. 2024", (2024, 1, 5)),
        ("5th of March 2020", (2020, 3, 5)),
        ("the 5th of March, 2020", (2020, 3, 5)),
        ("Jan. 5", (None, 1, 5)),
        ("Jan.5", (None, 1, 5)),
        ("Dec 25th", (None, 12, 25)),
        ("May 5", (None, 5, 5)),
        ("may 5, 2020", (2020, 5, 5)),
        ("5th of may", (None, 5, 5)),
        ("Sept. 1", (None, 9, 1)),
        ("March 2020", (2020, 3, None)),
        ("March, 2020", (2020, 3, None)),
        ("3/14/2020", (2020, 3, 14)),
        ("14/3/2020", (2020, 3, 14)),
        ("14.03.2020", (2020, 3, 14)),
        ("3/3/2020", (2020, 3, 3)),
        ("2024年1月5日", (2024, 1, 5)),
        ("2024年3月", (2024, 3, None)),
        ("1月5日", (None, 1, 5)),
        ("2024년 1월 5일", (2024, 1, 5)),
        ("Feb 29", (None, 2, 29)),
        ("Feb 29, 2024", (2024, 2, 29)),
    ],
)
def test_dates_are_read(text: str, parts: tuple[int | None, ...]) -> None:
    assert read_moment(text) == Moment("date", parts)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("3:15", (3, 15, None, None)),
        ("15:15", (15, 15, None, None)),
        ("3:15:30", (3, 15, 30, None)),
        ("3:15 p.m.", (3, 15, None, "pm")),
        ("3:15 p.m", (3, 15, None, "pm")),
        ("3:15 PM", (3, 15, None, "pm")),
        ("3:15pm", (3, 15, None, "pm")),
        ("3.15 pm", (3, 15, None, "pm")),
        ("3 pm", (3, 0, None, "pm")),
        ("12 AM", (12, 0, None, "am")),
        ("3 o'clock", (3, 0, None, None)),
        ("3:15 in the afternoon", (3, 15, None, "pm")),
        ("9 in the morning", (9, 0, None, "am")),
        ("15:15 pm", (15, 15, None, None)),
        ("0:30 am", (0, 30, None, None)),
        ("noon", (12, 0, None, "pm")),
        ("12 noon", (12, 0, None, "pm")),
        ("Midnight", (12, 0, None, "am")),
        ("下午3点15分", (3, 15, None, "pm")),
        ("下午3点", (3, 0, None, "pm")),
        ("3点半", (3, 30, None, None)),
    ],
)
def test_times_are_read(text: str, parts: tuple[int | str | None, ...]) -> None:
    assert read_moment(text) == Moment("time", parts)


_NO_MOMENTS = """|5|12|2018|3.14|12.30|3:2|3:5|3:75|24:00|25:10|3:15:75|0:30 pm|15:15 am|13 o'clock|3 p|am|pm|I am|x am
    |3 or 4 pm|3:15 or 4:15|not 3 pm|about 3 pm|May|may|may 5|5 may|may 2020|March|March 5 or 6|x 5|Sec 5
    |Marchs 5|Feb 30|Feb 29, 2023|2024-02-30|2024-13-01|2024-00-10|2024-1-5|2024-01-05T10:00|3/4/2020
    |04.03.2020|32/1/2020|0/5/2020|13/13/2020|3/14|3/14/20|Monday|Friday, January 5, 2024|January 0, 2024
    |January 32|3点|5月|13月1日|2月30日|2 hours|two pm|5 apples|(3:15)|3:15?|3:15:30:10|1/2|5-6|Jan 5 -"""


@pytest.mark.parametrize("text", [each.strip() for each in _NO_MOMENTS.split("|")])
def test_what_is_no_moment(text: str) -> None:
    assert read_moment(text) is None


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ("3:15", "3:15 p.m.", True),
        ("3:15", "3:15 a.m.", True),
        ("3:15 pm", "3:15 am", False),
        ("15:15", "3:15 p.m.", True),
        ("15:15", "3:15 a.m.", False),
        ("15:15", "3:15", None),
        ("15:15", "3:16", False),
        ("noon", "12:00", True),
        ("noon", "12 pm", True),
        ("noon", "midnight", False),
        ("midnight", "0:00", True),
        ("12:30 am", "0:30", True),
        ("12:30 pm", "0:30", False),
        ("3:15:00", "3:15", True),
        ("3:15:30", "3:15", None),
        ("3:15:30", "3:15:20", False),
        ("3:15:30", "3:16", False),
        ("2024-01-05", "January 5, 2024", True),
        ("January 5", "5 Jan", True),
        ("January 5", "January 5, 2024", None),
        ("January 6", "January 5, 2024", False),
        ("March 2020", "March 5, 2020", None),
        ("March 2020", "March 2021", False),
        ("March 2020", "2020年3月", True),
        ("2024-01-05", "2023-01-05", False),
        ("3:15", "January 5", False),
    ],
)
def test_moments_are_the_same_or_not_or_nobody_knows(a: str, b: str, same: bool | None) -> None:
    first, second = read_moment(a), read_moment(b)
    assert first is not None
    assert second is not None
    assert same_moment(first, second) is same
    assert same_moment(second, first) is same


_PIECES = [
    "3",
    "15",
    "2024",
    ":",
    "/",
    "-",
    ".",
    " ",
    "pm",
    "a.m.",
    "Jan",
    "May",
    "th",
    "of ",
    "年",
    "月",
]


@given(st.one_of(st.text(max_size=70), st.lists(st.sampled_from(_PIECES), max_size=8).map("".join)))
def test_any_text_can_be_asked(text: str) -> None:
    moment = read_moment(text)
    assert moment is None or same_moment(moment, moment) is True


@given(st.dates(min_value=date(1000, 1, 1), max_value=date(2999, 12, 31)))
def test_every_day_of_the_calendar_is_read_in_every_style(day: date) -> None:
    expected = Moment("date", (day.year, day.month, day.day))
    for style in ("{0:%Y}-{0:%m}-{0:%d}", "{0.year}/{0.month}/{0.day}", "{0:%B} {0.day}, {0:%Y}"):
        assert read_moment(style.format(day)) == expected
    assert read_moment(f"{day.day} {day:%b} {day:%Y}") == expected
    assert read_moment(f"{day.year}年{day.month}月{day.day}日") == expected


@given(st.times())
def test_both_clocks_agree_on_every_minute(time: time_of_day) -> None:
    first = read_moment(f"{time:%H:%M}")
    second = read_moment(
        f"{time.hour % 12 or 12}:{time:%M} {'p.m.' if time.hour >= 12 else 'a.m.'}"
    )
    assert first is not None
    assert second is not None
    assert same_moment(first, second) is True
