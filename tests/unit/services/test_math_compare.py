from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import assume, given, strategies as st

from rewarden.contracts import Outcome
from services.math.compare import compare
from services.math.parse import parse

CORRECT, INCORRECT = Outcome.CORRECT, Outcome.INCORRECT
UNDECIDED, REJECTED = Outcome.UNDECIDED, Outcome.REJECTED


def outcome(gold: str, answer: str) -> Outcome:
    return compare(parse(gold), parse(answer)).outcome


@pytest.mark.parametrize(
    ("gold", "answer", "expected"),
    [
        ("1/2", "0.5", CORRECT),
        ("1/2", r"\frac{2}{4}", CORRECT),
        ("42", "41", INCORRECT),
        ("123456789012345678", "123456789012345679", INCORRECT),
        (r"\frac{2}{3}", r"2\frac{2}{3}", INCORRECT),
        ("10", "4 10/3", INCORRECT),
        ("123", "1,2,3", INCORRECT),
        ("1234", "1,234", CORRECT),
        (r"6.02\times 10^{23}", r"6.03\times 10^{23}", INCORRECT),
        # Rounded, or in another convention: too close for a "no".
        ("0.33", "1/3", UNDECIDED),
        ("1/3", "0.33", INCORRECT),
        ("1/3", "0.333333333333", UNDECIDED),
        ("2.5", "2,5", UNDECIDED),
        ("1.234", "1,234", UNDECIDED),
        ("5.7", "5,8", INCORRECT),
        # Grouped in another convention.
        ("1234567", "12,34,567", UNDECIDED),
        ("1234", "1.234", UNDECIDED),
        ("1.234", "1234", UNDECIDED),
        ("1234.5", "1.234,5", UNDECIDED),
        ("10000", "1 0000", UNDECIDED),
        ("10000", "1,0000", UNDECIDED),
        ("10000", "1 0001", INCORRECT),
        ("1235", "1.234", INCORRECT),
        ("125", "0.125", INCORRECT),
        ("15", "1.5", INCORRECT),
        ("5/2", "1 3/2", UNDECIDED),
        ("-5/2", "-1 3/2", UNDECIDED),
        ("3/2", "1 3/2", UNDECIDED),
        ("5/2", "1 4/2", INCORRECT),
        ("5/2", "1 3/0", INCORRECT),
        ("45", "4 5", UNDECIDED),
        ("20", "4 5", INCORRECT),
        # Percent, degrees and currency.
        (r"37\%", "37 percent", CORRECT),
        (r"37\%", r"63\%", INCORRECT),
        ("0.5", r"50\%", CORRECT),
        ("50", r"50\%", UNDECIDED),
        (r"50\%", "50", UNDECIDED),
        (r"33.3\%", "1/3", UNDECIDED),
        ("50", r"51\%", INCORRECT),
        ("90", r"90^\circ", CORRECT),
        ("20", "€20", CORRECT),
        ("$20", "€20", INCORRECT),
    ],
)
def test_numbers(gold: str, answer: str, expected: Outcome) -> None:
    assert outcome(gold, answer) is expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("", INCORRECT),
        ("1a", UNDECIDED),
        ("e", UNDECIDED),
        ("D", UNDECIDED),
        ("B", INCORRECT),
        ("4...", UNDECIDED),
        ("4!", UNDECIDED),
        ("4 5 +", INCORRECT),
        ("+-", INCORRECT),
        (r"\frac{4}{", INCORRECT),
        ("x", INCORRECT),
        ("5, 7", INCORRECT),
        ("4/0", INCORRECT),
        ("4x", UNDECIDED),
        ("4 m", UNDECIDED),
        (r"4\text{ cm}", UNDECIDED),
        ("3k", UNDECIDED),
        ("four", UNDECIDED),
        ("2+2", UNDECIDED),
        (r"\sqrt{16}", UNDECIDED),
        ("2^2", UNDECIDED),
        (r"3 \approx 4", UNDECIDED),
        ("5=4", UNDECIDED),
        ("2x+y=4", UNDECIDED),
        ("4 or 5", UNDECIDED),
        (r"\{4\}", UNDECIDED),
        ("1e999999999", REJECTED),
        ("__import__('os').system('id')", UNDECIDED),
        (r"7^{7^{7^{7^{7}}}}", UNDECIDED),
    ],
)
def test_what_stands_where_the_number_4_should(answer: str, expected: Outcome) -> None:
    assert outcome("4", answer) is expected


@pytest.mark.parametrize(
    ("gold", "answer", "expected"),
    [
        ("C", "(C)", CORRECT),
        ("C", "B", INCORRECT),
        ("C", "c", UNDECIDED),
        ("C", "5", INCORRECT),
        ("C", "1, 2", INCORRECT),
        ("A", r"A \text{ or } B", UNDECIDED),
        (r"\text{Even}", "even", CORRECT),
        ("No", "no", CORRECT),
        ("no", "yes", INCORRECT),
        ("True", "false", INCORRECT),
        ("even", "odd", INCORRECT),
        ("yes", "true", UNDECIDED),
        ("inf", "infinity", UNDECIDED),
        ("undefined", "DNE", UNDECIDED),
        ("even", "5", UNDECIDED),
        ("A", "x", INCORRECT),
        ("x", "y", UNDECIDED),
        ("x", "5", INCORRECT),
        ("e", "2.718", UNDECIDED),
        ("C", "3", UNDECIDED),
        ("C", "100", UNDECIDED),
        ("C", "4 5 +", INCORRECT),
        ("24", "x", INCORRECT),
        ("10", "X", UNDECIDED),
        ("10", "A", UNDECIDED),
        ("2,3", "x", INCORRECT),
        ("2,3", "e", UNDECIDED),
        ("1,2", "1 2", UNDECIDED),
        ("1 , 234", "1234", UNDECIDED),
        ("AB", "ab", UNDECIDED),
        (r"\text{silent}", "listen", UNDECIDED),
        ("五", "四", UNDECIDED),
        ("x=5", "5", CORRECT),
        ("5", "x=5", CORRECT),
        ("x=5", "y=5", UNDECIDED),
        (r"\frac{\pi}{2}", "π/2", UNDECIDED),
        (r"\{1,2,3\}", "1,2,3", UNDECIDED),
        ("3:2", "2:3", UNDECIDED),
        ("52_8", "52_9", UNDECIDED),
        (r"5\text{ km}", r"5\text{ m}", UNDECIDED),
        (r"5\text{ km}", "5 km", CORRECT),
        (r"\sqrt{2}", "√2", CORRECT),
        ("2,3", "3", UNDECIDED),
        ("1e9999", "5", UNDECIDED),
        ("1e9999", "1e9999", CORRECT),
        ("x+1", "y+1", UNDECIDED),
    ],
)
def test_other_golds(gold: str, answer: str, expected: Outcome) -> None:
    assert outcome(gold, answer) is expected


def test_the_tier_and_the_reason_say_how() -> None:
    assert compare(parse("1/2"), parse("0.5")) == (
        CORRECT,
        "0.5 equals 1/2 exactly.",
        "rational",
    )
    assert compare(parse("42"), parse("41")) == (
        INCORRECT,
        "The answer 41 is not 42.",
        "rational",
    )
    assert compare(parse("42"), parse("$42$")).tier == "normalised"
    assert compare(parse("42"), parse("6*7")).tier is None


_NUMERATORS = st.integers(-(10**9), 10**9)
_DENOMINATORS = st.integers(1, 10**6)


def spellings(value: Fraction) -> list[str]:
    top, bottom = value.numerator, value.denominator
    sign = "-" if top < 0 else ""
    whole, rest = divmod(abs(top), bottom)
    texts = [
        f"{top}/{bottom}",
        rf"\frac{{{top}}}{{{bottom}}}",
        rf"\left( \dfrac{{{7 * top}}}{{{7 * bottom}}} \right)",
        rf"$x = {sign}\tfrac{{{abs(top)}}}{{{bottom}}}$",
        f"{top * 100}/{bottom}%",
    ]
    if rest and whole:
        texts += [f"{sign}{whole} {rest}/{bottom}", rf"{sign}{whole}\frac{{{rest}}}{{{bottom}}}"]
    if bottom == 1:
        texts += [f"{top}", f"{top:,}", f"{top}.0", f"{top}e0", rf"{top}.00\times 10^{{0}}"]
    return texts


@given(_NUMERATORS, _DENOMINATORS)
def test_a_number_equals_itself_however_it_is_written(top: int, bottom: int) -> None:
    texts = spellings(Fraction(top, bottom))
    for gold in texts:
        for answer in texts:
            assert outcome(gold, answer) is CORRECT or "%" in gold + answer


@given(_NUMERATORS, _DENOMINATORS, _NUMERATORS)
def test_a_changed_number_is_never_right(top: int, bottom: int, other: int) -> None:
    assume(top != other)
    for gold in spellings(Fraction(top, bottom)):
        for answer in spellings(Fraction(other, bottom)):
            assert outcome(gold, answer) is not CORRECT


# With three places, `5.000` is five thousand to some.
@given(st.integers(0, 10**9), st.sampled_from([0, 1, 2, 4, 5, 6]), st.integers(1, 10**6))
def test_a_decimal_equals_its_fraction_and_no_other(digits: int, places: int, change: int) -> None:
    value = Fraction(digits, 10**places)
    text = f"{digits // 10**places}.{digits % 10**places:0{places}d}" if places else str(digits)
    assert outcome(f"{value}", text) is CORRECT
    assert outcome(text, f"{value}") is CORRECT
    assert outcome(text, f"{value + change}") is INCORRECT
