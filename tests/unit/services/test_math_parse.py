from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

from services.math.normalise import canonical
from services.math.number import MAX_DIGITS, OutOfBoundsError, read_number
from services.math.parse import Shape, parse


@pytest.mark.parametrize(
    ("text", "spelling"),
    [
        ("  5 ", "5"),
        ("12.", "12"),
        ("5\u200b", "5"),
        ("5\0", "5"),
        ("\uff15", "5"),
        ("\u22125", "-5"),
        ("½", r"\frac{1}{2}"),
        ("x²", "x^2"),
        ("x¹⁰", "x^{10}"),
        ("x₁", "x_1"),
        ("√2", r"\sqrt{2}"),
        ("2π r", r"2\pi r"),
        ("$5$", "5"),
        (r"\$5", "$5"),
        (r"\(5\)", "5"),
        (r"\[5\]", "5"),
        ("$4$$2$", "4 2"),
        ("{5}", "5"),
        ("**5**", "5"),
        (r"\boxed{7}", "7"),
        (r"\boxed{\boxed{\frac{1}{2}}}", r"\frac{1}{2}"),
        (r"\text{\fbox{7}}", "7"),
        ("{" * 8 + "5" + "}" * 8, "5"),
        (r"{1}{2}", "{1}{2}"),
        ("12 ,", "12"),
        ("0.3...", "0.3..."),
        ("0.3…", "0.3..."),
        ("1, 2, . . .", "1,2,..."),
        ("1\uff0c2\u30013", "1,2,3"),
        (r"\text{west}", "west"),
        (r"5\text{ km}", "5 km"),
        (r"\left[2, 5\right)", "[2,5)"),
        (r"\dfrac12", r"\frac{1}{2}"),
        (r"\frac 1 {2}", r"\frac{1}{2}"),
        (r"\sqrt2", r"\sqrt{2}"),
        (r"x^{2}", "x^2"),
        (r"x\leq 2", r"x\le 2"),
        (r"90^\circ", "90°"),
        (r"90^{\circ}", "90°"),
        (r"2{,}125", "2,125"),
        (r"2\,125", "2,125"),
        (r"2,\!125", "2,125"),
        (r"50\%", "50%"),
        (r"\sin\quad x", r"\sin x"),
        ("11 5/6", "11 5/6"),
        ("x + 1", "x+1"),
        ("$$", ""),
    ],
)
def test_canonical_spelling(text: str, spelling: str) -> None:
    assert canonical(text) == spelling


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1, 234", "1,234"),
        ("1 , 234", "1,234"),
        ("1 ,234", "1234"),
        ("1\uff0c234", "1,234"),
        ("12, 345 , 678", "12,345,678"),
        ("0.333...", "0.333"),
        (r"\boxed{7}\boxed{5}", "75"),
        (r"1\boxed{1/2}", "1 1/2"),
        ("11 5/6", "115/6"),
        ("x", "X"),
        (r"\{5\}", "5"),
        ("(1,2)", "[1,2]"),
        (r"\vec a\times\vec b", r"\vec a\cdot\vec b"),
        ("evil", "vile"),
        ("x²", "x2"),
    ],
)
def test_what_differs_stays_different(one: str, other: str) -> None:
    assert canonical(one) != canonical(other)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("42", 42),
        ("-42", -42),
        ("+42", 42),
        ("004", 4),
        (".5", Fraction(1, 2)),
        ("5.", 5),
        ("1,234,567", 1_234_567),
        ("1,234.5", Fraction(2469, 2)),
        ("7/12", Fraction(7, 12)),
        ("-7/-12", Fraction(7, 12)),
        (r"\frac{14}{24}", Fraction(7, 12)),
        (r"-\frac{-1}{2}", Fraction(1, 2)),
        (r"\frac{1.5}{2}", Fraction(3, 4)),
        (r"2\frac{2}{3}", Fraction(8, 3)),
        ("-1 1/2", Fraction(-3, 2)),
        ("3.2e5", 320_000),
        ("3.2E+5", 320_000),
        (r"3.2\times 10^5", 320_000),
        (r"1.5\cdot 10^{-4}", Fraction(15, 100_000)),
        ("10^{30}", 10**30),
        ("37%", 37),
        ("37 percent", 37),
        ("90°", 90),
        ("$1,250", 1250),
        ("-$5", -5),
        ("20€", 20),
        ("20$", 20),
    ],
)
def test_numbers_are_read_exactly(text: str, value: Fraction | int) -> None:
    number = read_number(text)
    assert number is not None
    assert number.value == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "2x",
        "1,2,3",
        "12,34",
        "4 10/3",
        r"2\frac{5}{3}",
        "1/2/3",
        "2^3",
        "1e",
        "e5",
        "0x1F",
    ],
)
def test_what_is_no_plain_number(text: str) -> None:
    assert read_number(text) is None


@pytest.mark.parametrize(
    "text", ["1e999999999", "1e-999999999", "1" * (MAX_DIGITS + 1), "10^{9999999}", "9" * 1_000_000]
)
def test_what_is_too_large_is_not_computed(text: str) -> None:
    with pytest.raises(OutOfBoundsError):
        read_number(text)


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("", Shape.BLANK),
        (r"\text{}", Shape.BLANK),
        ("42", Shape.NUMBER),
        ("(42)", Shape.NUMBER),
        ("x = 42", Shape.NUMBER),
        ("= 42", Shape.NUMBER),
        ("5, 7", Shape.NUMBERS),
        ("(5, -7)", Shape.NUMBERS),
        ("(1,234)", Shape.NUMBERS),
        ("C", Shape.LETTER),
        ("(C)", Shape.LETTER),
        ("五", Shape.WORD),
        ("west", Shape.WORD),
        ("1a", Shape.EXPRESSION),
        ("2.5x", Shape.EXPRESSION),
        ("0.333...", Shape.EXPRESSION),
        ("1, 2, 3, ...", Shape.EXPRESSION),
        ("1, ..., 9", Shape.EXPRESSION),
        ("5!", Shape.EXPRESSION),
        ("1 , 234", Shape.EXPRESSION),
        (r"\boxed{7}\boxed{5}", Shape.EXPRESSION),
        (r"\boxed{x = \boxed{7}}", Shape.NUMBER),
        ("5k", Shape.EXPRESSION),
        ("1e999999999", Shape.OUTSIZE),
        ("4 5 +", Shape.GARBLED),
        ("4 5", Shape.GARBLED),
        ("+", Shape.GARBLED),
        ("3..5", Shape.GARBLED),
        ("(5", Shape.GARBLED),
        ("5)(", Shape.GARBLED),
        ("2*/3", Shape.GARBLED),
        ("4 10/3", Shape.GARBLED),
        ("1/0", Shape.GARBLED),
        (r"\frac{1}{", Shape.GARBLED),
        ("}{", Shape.GARBLED),
        ("2+2", Shape.EXPRESSION),
        ("2(5)", Shape.EXPRESSION),
        ("5=7", Shape.EXPRESSION),
        ("3:2", Shape.EXPRESSION),
        ("2024-01-05", Shape.EXPRESSION),
        ("1 234 567", Shape.EXPRESSION),
        ("1.234,56", Shape.EXPRESSION),
        ("[2,5)", Shape.EXPRESSION),
        (r"\sqrt{4}", Shape.EXPRESSION),
        ("2^{10}", Shape.EXPRESSION),
        ("2x=5", Shape.EXPRESSION),
        ("x=1=2", Shape.EXPRESSION),
        (r"\not=5", Shape.EXPRESSION),
    ],
)
def test_shapes(text: str, shape: Shape) -> None:
    assert parse(text).shape is shape


def test_the_symbol_of_an_equation_is_kept_apart() -> None:
    assert parse("x = 5").symbol == "x"
    assert parse(r"\theta_1 = 5").symbol == r"\theta_1"
    assert parse("x = 5").shown == "x=5"
    assert len(parse("x" * 500).shown) == 60


@pytest.mark.parametrize("name", ["ne", "ge", "le", "equiv", "approx", "not", "sin", "pi", "sqrt"])
def test_other_commands_are_no_symbols(name: str) -> None:
    assert parse(rf"\{name}=5").shape is Shape.EXPRESSION
    assert parse(rf"\{name} = 5").symbol == ""


@given(st.text(max_size=60))
def test_any_text_is_read(text: str) -> None:
    answer = parse(text)
    assert (answer.number is not None) == (answer.shape is Shape.NUMBER)


@given(st.text(alphabet="0123456789.,/eE^{}()+-* %$\\frac x=", max_size=30))
def test_anything_like_a_number_is_read(text: str) -> None:
    parse(text)


@given(st.integers(-(10**12), 10**12), st.integers(0, 8))
def test_decimals_are_exact(digits: int, places: int) -> None:
    whole, rest = divmod(abs(digits), 10**places)
    text = f"{'-' if digits < 0 else ''}{whole}.{rest:0{places}d}" if places else str(digits)
    number = read_number(text)
    assert number is not None
    assert number.value == Fraction(digits, 10**places)
