from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import assume, given, strategies as st

from rewarden.contracts import Outcome
from services.math.compare import Decision, compare
from services.math.parse import parse
from services.math.spec import MathSpec

CORRECT, INCORRECT = Outcome.CORRECT, Outcome.INCORRECT
UNDECIDED, REJECTED = Outcome.UNDECIDED, Outcome.REJECTED


def decide(gold: str, answer: str, **options: object) -> Decision:
    spec = MathSpec.model_validate({"answer": gold, **options})
    units = spec.answer_type != "expression"
    return compare(parse(gold, units=units), parse(answer, units=units), spec)


def outcome(gold: str, answer: str, **options: object) -> Outcome:
    return decide(gold, answer, **options).outcome


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
        ("0.33", "1/3", CORRECT),
        ("1/3", "0.33", INCORRECT),
        ("1/3", "0.333333333333", CORRECT),
        ("2.5", "2,5", UNDECIDED),
        ("1.234", "1,234", UNDECIDED),
        ("5.7", "5,8", INCORRECT),
        # Grouped in another convention.
        ("1234567", "12,34,567", UNDECIDED),
        ("1234", "1.234", UNDECIDED),
        ("1.234", "1234", INCORRECT),
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
        ("50", r"50\%", CORRECT),
        (r"50\%", "50", CORRECT),
        (r"33.3\%", "1/3", CORRECT),
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
        ("1a", INCORRECT),
        ("e", UNDECIDED),
        ("D", UNDECIDED),
        ("B", INCORRECT),
        ("4...", UNDECIDED),
        ("4!", INCORRECT),
        ("4 5 +", INCORRECT),
        ("+-", INCORRECT),
        (r"\frac{4}{", INCORRECT),
        ("x", INCORRECT),
        ("5, 7", INCORRECT),
        ("4/0", INCORRECT),
        ("4x", INCORRECT),
        ("4 m", CORRECT),
        (r"4\text{ cm}", CORRECT),
        ("3k", INCORRECT),
        ("four", CORRECT),
        ("2+2", CORRECT),
        (r"\sqrt{16}", CORRECT),
        ("2^2", CORRECT),
        (r"3 \approx 4", INCORRECT),
        ("5=4", INCORRECT),
        ("2x+y=4", INCORRECT),
        ("4 or 5", INCORRECT),
        (r"\{4\}", CORRECT),
        ("1e999999999", REJECTED),
        ("__import__('os').system('id')", INCORRECT),
        (r"7^{7^{7^{7^{7}}}}", REJECTED),
    ],
)
def test_what_stands_where_the_number_4_should(answer: str, expected: Outcome) -> None:
    assert outcome("4", answer) is expected


@pytest.mark.parametrize(
    ("gold", "answer", "expected"),
    [
        ("C", "(C)", CORRECT),
        ("C", "B", INCORRECT),
        ("C", "c", CORRECT),
        ("C", "5", INCORRECT),
        ("C", "1, 2", INCORRECT),
        ("A", r"A \text{ or } B", INCORRECT),
        (r"\text{Even}", "even", CORRECT),
        ("No", "no", CORRECT),
        ("no", "yes", INCORRECT),
        ("True", "false", INCORRECT),
        ("even", "odd", INCORRECT),
        ("yes", "true", UNDECIDED),
        ("inf", "infinity", CORRECT),
        ("undefined", "DNE", UNDECIDED),
        ("even", "5", INCORRECT),
        ("A", "x", INCORRECT),
        ("x", "y", INCORRECT),
        ("x", "5", INCORRECT),
        ("e", "2.718", INCORRECT),
        ("C", "3", UNDECIDED),
        ("C", "100", UNDECIDED),
        ("C", "4 5 +", INCORRECT),
        ("24", "x", INCORRECT),
        ("10", "X", UNDECIDED),
        ("10", "A", UNDECIDED),
        ("2,3", "x", INCORRECT),
        ("2,3", "e", INCORRECT),
        ("1,2", "1 2", UNDECIDED),
        ("1 , 234", "1234", INCORRECT),
        ("AB", "ab", INCORRECT),
        (r"\text{silent}", "listen", INCORRECT),
        ("五", "四", INCORRECT),
        ("x=5", "5", CORRECT),
        ("5", "x=5", CORRECT),
        ("x=5", "y=5", UNDECIDED),
        (r"\frac{\pi}{2}", "π/2", CORRECT),
        (r"\{1,2,3\}", "1,2,3", CORRECT),
        ("3:2", "2:3", INCORRECT),
        ("52_8", "52_9", INCORRECT),
        (r"5\text{ km}", r"5\text{ m}", INCORRECT),
        (r"5\text{ km}", "5 km", CORRECT),
        (r"\sqrt{2}", "√2", CORRECT),
        ("2,3", "3", INCORRECT),
        ("1e9999", "5", INCORRECT),
        ("1e9999", "1e9999", CORRECT),
        ("x+1", "y+1", INCORRECT),
    ],
)
def test_other_golds(gold: str, answer: str, expected: Outcome) -> None:
    assert outcome(gold, answer) is expected


@pytest.mark.parametrize(
    ("gold", "answer", "tier", "reason"),
    [
        ("1/2", "0.5", "rational", "0.5 equals 1/2 exactly."),
        ("42", "41", "rational", "The answer 41 is not 42."),
        ("42", "$42$", "normalised", "The answer 42 is the gold answer in another spelling."),
        ("42", "6*7", "rational", "6*7 equals 42 exactly."),
        ("x^2-1", "(x-1)(x+1)", "symbolic", "(x-1)(x+1) equals x^2-1 exactly."),
        ("0.33", "1/3", "numeric", "1/3 agrees with 0.33."),
        ("x>3", "2x>6", "structural", "2x>6 says the same as x>3."),
        (
            r"5\text{ km}",
            r"5\text{ m}",
            "rational",
            "The answer 5 m is not 5 km; the units differ: km and m.",
        ),
        (
            "3",
            "x=1=2=3",
            "structural",
            "The answer x=1=2=3 is not 3; the answer contradicts itself.",
        ),
        ("7", "5, 7", "structural", "The answer 5,7 is not 7; the answer is several values."),
    ],
)
def test_the_tier_and_the_reason_say_how(gold: str, answer: str, tier: str, reason: str) -> None:
    decision = decide(gold, answer)
    assert (decision.tier, decision.reason) == (tier, reason)


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
    # A percent sign that one side leaves out is forgiven: 100 for a gold 100%.
    assume(other not in (top, 100 * top) and top != 100 * other)
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
