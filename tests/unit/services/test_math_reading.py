from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

from services.math.language.reading import letter_may_be, may_be_same, readings


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("7", {7}),
        ("1.234", {1234, Fraction("1.234")}),
        ("1,234", {1234, Fraction("1.234")}),
        ("1.234.567", {1234567}),
        ("12,34,567", {1234567}),
        ("1,0000", {1, 10000}),
        ("-1 0000", {-10000}),
        ("0.125", {Fraction("0.125")}),
        ("1,2,3", set()),
        ("4 10/3", {Fraction(22, 3), Fraction(40, 3)}),
        (r"-2\frac{5}{3}", {Fraction(-11, 3), Fraction(-10, 3)}),
        ("2 1/2", {Fraction(5, 2)}),
        ("2 1/0", set()),
        ("1/0", set()),
        ("x", set()),
        ("", set()),
    ],
)
def test_readings(text: str, values: set[Fraction]) -> None:
    assert readings(text) == values


@pytest.mark.parametrize(
    ("letter", "value", "expected"),
    [
        ("e", Fraction(2), True),
        ("e", None, True),
        ("V", Fraction(5), True),
        ("V", Fraction(6), False),
        ("b", Fraction(2), True),
        ("B", Fraction(11), True),
        ("x", Fraction(24), False),
        ("x", None, False),
    ],
)
def test_letters_that_stand_for_numbers(letter: str, value: Fraction, expected: bool) -> None:
    assert letter_may_be(letter, value) is expected


@given(st.integers(0, 10**12), st.sampled_from([",", ".", " "]))
def test_thousands_are_read_with_any_separator(number: int, separator: str) -> None:
    grouped = f"{number:,}".replace(",", separator)
    assert number in readings(grouped)
    assert may_be_same(str(number), grouped) is (not grouped.isdecimal())


@given(st.text(alphabet="0123456789 ,./-", max_size=30))
def test_any_text_is_read(text: str) -> None:
    readings(text)
