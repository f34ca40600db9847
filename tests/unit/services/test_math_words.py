from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

from services.math.language.numerals import read_numeral
from services.math.language.words import (
    ALTERNATIVES,
    APPROXIMATIONS,
    BOUNDS,
    DOUBTS,
    HEDGES,
    NEGATIONS,
    counted,
    is_hedge,
    read_number_words,
    read_ordinal,
    without_preamble,
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("zero", 0),
        ("one", 1),
        ("Seven", 7),
        ("forty-two", 42),
        ("FORTY TWO", 42),
        ("one hundred and five", 105),
        ("one hundred five", 105),
        ("a hundred", 100),
        ("twelve hundred", 1200),
        ("two thousand", 2000),
        ("a thousand and one", 1001),
        ("two million five hundred and one thousand and six", 2501006),
        ("negative seven", -7),
        ("minus one half", Fraction(-1, 2)),
        ("half", Fraction(1, 2)),
        ("one half", Fraction(1, 2)),
        ("a third", Fraction(1, 3)),
        ("two thirds", Fraction(2, 3)),
        ("two-thirds", Fraction(2, 3)),
        ("three quarters", Fraction(3, 4)),
        ("five twelfths", Fraction(5, 12)),
        ("three hundredths", Fraction(3, 100)),
        ("one and a half", Fraction(3, 2)),
        ("twenty-one and three quarters", Fraction(87, 4)),
        ("one hundred and one half", Fraction(201, 2)),
        ("a dozen", 12),
        ("two dozen", 24),
        ("half a dozen", 6),
        ("3.5 million", 3500000),
        ("-2 thousand", -2000),
        ("1,200 million", 1200000000),
        ("3.5万", 35000),
        ("五", 5),
        ("十二", 12),
        ("三百二十一", 321),
        ("一百零五", 105),
        ("两百", 200),
        ("一万", 10000),
        ("一万零五", 10005),
        ("十万零五百", 100500),
        ("一亿零五千", 100005000),
        ("负七", -7),
        ("零", 0),
        ("二分之一", Fraction(1, 2)),
        ("一又二分之一", Fraction(3, 2)),
        ("百分之五十", Fraction(1, 2)),
    ],
)
def test_numbers_in_words_are_read(text: str, value: Fraction | int) -> None:
    assert read_number_words(text) == value


_NO_NUMBERS = """|a|an|and|no|none|nothing|A|x|5|-5|1/2|five - two|-five|five-|twenty - five|five, six|five six|one or two
|one and two|not five|at least 5|at least five|about five|five apples|five or so|maybe five|five?|twenty fifteen
|nineteen ninety|twenty hundred|hundred hundred|one thousand million|one thousand thousand|seven hundred and
|and five|five and|one zero|zero hundred|twenty-zero|second|one second|two seconds|a second|third|the third
|twenty-third|quarter|thirds|two third|one thirds|one hundredth|one hundred and five tenths|two hundred thousandths
|two thousand and two thirds|three and five halves|two and third|1 half|half of it|dozens|a couple|negative
|negative negative five|minus|one point five|12,34 million|1.2.3 million|million 5|5 millions of|5M|百|一百五|三四
|二〇二四|一零|一一十|一万五|一万亿亿|三点五|五分之|分之五|零分之一|又二分之一|二又二分之三|一二分之一|负|负负一|五个|大约五|第三"""


@pytest.mark.parametrize("text", [each.strip("\n") for each in _NO_NUMBERS.split("|")])
def test_what_is_no_number_in_words(text: str) -> None:
    assert read_number_words(text) is None


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("21st", 21),
        ("2nd", 2),
        ("3rd", 3),
        ("11th", 11),
        ("112th", 112),
        ("the 3rd", 3),
        ("first", 1),
        ("second", 2),
        ("the third", 3),
        ("twenty-first", 21),
        ("one hundred and fifth", 105),
        ("hundredth", 100),
        ("第三", 3),
        ("第3", 3),
        ("第十二", 12),
    ],
)
def test_ordinals_are_read(text: str, place: int) -> None:
    assert read_ordinal(text) == place


@pytest.mark.parametrize(
    "text",
    [
        "",
        "3",
        "21th",
        "3th",
        "12nd",
        "11st",
        "x",
        "one",
        "two thirds",
        "one third",
        "seconds",
        "one hundredth",
        "first or second",
        "first, second",
        "not first",
        "第",
        "第二分之一",
        "May 5th",
        "a third",
        "fifth of",
    ],
)
def test_what_is_no_ordinal(text: str) -> None:
    assert read_ordinal(text) is None


@pytest.mark.parametrize(
    "word",
    [
        "or",
        "Either",
        "not",
        "no",
        "maybe",
        "Perhaps",
        "approximately",
        "approx.",
        "least",
        "大约",
        "或",
    ],
)
def test_hedges_are_known(word: str) -> None:
    assert is_hedge(word)


@pytest.mark.parametrize(
    "word", ["", "is", "and", "five", "x", "answer", "orange", "nothing", "the"]
)
def test_other_words_are_no_hedges(word: str) -> None:
    assert not is_hedge(word)


def test_a_hedge_is_of_one_kind() -> None:
    kinds = (ALTERNATIVES, APPROXIMATIONS, NEGATIONS, DOUBTS, BOUNDS)
    assert len(HEDGES) == sum(map(len, kinds))


_OPENINGS = """The answer is 5|The answer is: 5|the answer is **5**|Answer: 5|**Answer:** 5|**Final Answer:** **5**
|**Answer: 5**|Final answer: 5|ANSWER: 5|my final answer is 5|The correct answer is 5|The value is 5|Answer = 5
|Therefore, 5|Therefore the answer is 5|So, x is 5|So 5|So the answer is 5|Hence, the result is 5|x is 5|N is 5
|Thus we have 5|we get 5|It is 5|It's 5|The answer is x is 5|Ans: 5|Ans. 5|答案是5|答案是 5|答案:5|答案为5
|最终答案是:5|所以,答案是5|因此答案为 5|所以5|답은 5|5"""


@pytest.mark.parametrize("text", _OPENINGS.replace("\n", "").split("|"))
def test_what_only_introduces_is_dropped(text: str) -> None:
    assert without_preamble(text).strip("*") == "5"


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("The answer is not 5", "not 5"),
        ("Therefore, not 5", "not 5"),
        ("The answer is approximately 5", "approximately 5"),
        ("Answer: at least 5", "at least 5"),
        ("x is more than 5", "more than 5"),
        ("x is less than 5", "less than 5"),
        ("The answer is probably 5", "probably 5"),
        ("Answer: 5 or 7", "5 or 7"),
        ("so x = 5", "x = 5"),
        ("答案不是5", "答案不是5"),
        ("答案是不存在", "不存在"),
    ],
)
def test_what_changes_the_meaning_stays(text: str, rest: str) -> None:
    assert without_preamble(text) == rest


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "x is",
        "The answer is",
        "Answer:",
        "So",
        "so.",
        "So not 5",
        "So far 5",
        "Soon 5",
        "A is 5",
        "I is 5",
        "a is 5",
        "The answer isn't 5",
        "It isn't 5",
        "the answer 5 is wrong",
        "x is y is 5",
        "values: 5",
        "not the answer is 5",
        "5 is the answer",
        "5. The answer is 7",
        "At least 5",
        "if x is 5",
    ],
)
def test_other_text_stays_whole(text: str) -> None:
    assert without_preamble(text) == text


@pytest.mark.parametrize(
    ("text", "noun"),
    [
        ("apples", "apple"),
        ("apple", "apple"),
        ("students", "student"),
        ("ways", "way"),
        ("cookies", "cookie"),
        ("cookie", "cookie"),
        ("pages", "page"),
        ("people", "person"),
        ("children", "child"),
        ("boxes", "box"),
        ("glasses", "glass"),
        ("glass", "glass"),
        ("buses", "bus"),
        ("bus", "bus"),
        ("houses", "house"),
        ("babies", "baby"),
        ("red balls", "red ball"),
        ("pieces of cake", "piece of cake"),
        ("pages per hour", "page per h"),
        ("apples per student", "apple per student"),
        ("points", "point"),
    ],
)
def test_nouns_are_counted_in_the_singular(text: str, noun: str) -> None:
    assert counted(text) == noun


_NO_NOUNS = """|x|xy|abc|xyz|mgh|sin|secant|sqrt|or|and|not|no|none|maybe|about|approximately|left|times|squared|over
|minus|plus|total|more|remaining|exactly|meters|seconds|dollars|units|percent|miles per hour|kg|two apples|dozen eggs
|maybe apples|no apples|more apples|apples or pears|apples and pears|apples left|is even|even|odd|true|undefined
|infinity|holds|works|Apples|Alice|apples.|5 apples|apples!|a b c d|one two three four|of|cups of|of cake|per hour
|cups of tea|apples per|third|halves|prime|integer|east|the apples|x apples|\\alpha|苹果"""


@pytest.mark.parametrize("text", _NO_NOUNS.replace("\n", "").split("|"))
def test_what_is_no_counted_noun(text: str) -> None:
    assert counted(text) is None


_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
)
_ONES = (_SMALL + " sixteen seventeen eighteen nineteen").split()
_TENS = ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]


def spoken(value: int) -> str:
    for scale, name in (
        (10**9, "billion"),
        (10**6, "million"),
        (1000, "thousand"),
        (100, "hundred"),
    ):
        if value >= scale:
            rest = f" {spoken(value % scale)}" if value % scale else ""
            return f"{spoken(value // scale)} {name}{rest}"
    if value < 20:
        return _ONES[value]
    return _TENS[value // 10] + (f"-{_ONES[value % 10]}" if value % 10 else "")


@given(st.one_of(st.integers(0, 2000), st.integers(0, 10**12 - 1)))
def test_every_number_is_read_as_it_is_spoken(value: int) -> None:
    assert read_number_words(spoken(value)) == value
    assert read_number_words(f"minus {spoken(value)}") == -value


@given(
    st.text("零一二三四五六七八九十百千万亿两", min_size=1, max_size=7),
    st.sampled_from("零一二五十百万"),
)
def test_a_numeral_has_one_value_and_no_spare_sign(text: str, sign: str) -> None:
    value = read_numeral(text)
    assert value is None or read_numeral(text + sign) != value


_PIECES = [
    "one",
    "two",
    "hundred",
    "thousand",
    "and",
    "a",
    "half",
    "thirds",
    "minus",
    "or",
    "not",
    "dozen",
]


@given(
    st.one_of(
        st.text(max_size=220),
        st.lists(
            st.sampled_from([*_PIECES, "the", "answer", "is", "x", "5", "of", "per"]), max_size=8
        ).map(" ".join),
        st.text("负一二十百千万亿又分之零", max_size=45),
    )
)
def test_any_text_can_be_asked(text: str) -> None:
    value = read_number_words(text)
    assert value is None or not any(is_hedge(word) for word in text.split())
    assert without_preamble(text).strip() in text
    read_ordinal(text)
    counted(text)
    is_hedge(text)
