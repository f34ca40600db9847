"""Read numbers in words: cardinals, simple fractions, dozens, ordinals.

What is covered: English up to the trillions (`two thirds`, `three and a half`, `twenty-first`),
digits before a scale (`3.5 million`, `5万`), and the Chinese of `services.math.language.numerals`.

What is not: `third` alone as a number (1/3, or the 3rd), `one hundredth`, `one hundred and five
tenths` (two readings each), years ("twenty twenty"), digits one by one, "point". A hedge is never
read over: `at least five` is no number.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final

from services.math.language.numerals import read_numeral

MAX_CHARS: Final = 200

_UP_TO_NINETEEN: Final = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
seventeen eighteen nineteen
"""
_ONES: Final = {word: value for value, word in enumerate(_UP_TO_NINETEEN.split())}
_UP_TO_NINETY: Final = "twenty thirty forty fifty sixty seventy eighty ninety"
_TENS: Final = {word: value * 10 for value, word in enumerate(_UP_TO_NINETY.split(" "), 2)}
_SCALES: Final = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_SIGNS: Final = frozenset(("negative", "minus"))
_ORDINALS: Final = {
    "first": "one",
    "second": "two",
    "third": "three",
    "fourth": "four",
    "fifth": "five",
    "eighth": "eight",
    "ninth": "nine",
    "twelfth": "twelve",
    **{word + "th": word for word in ("six", "seven", "ten", "eleven", "hundred", *_SCALES)},
    **{word + "th": word for word in _ONES if word.endswith("teen")},
    **{word[:-1] + "ieth": word for word in _TENS},
}
_PARTS: Final = {
    "half": 2,
    "quarter": 4,
    **{
        ordinal: _ONES.get(word) or _TENS.get(word) or _SCALES.get(word, 100)
        for ordinal, word in _ORDINALS.items()
        if ordinal not in ("first", "second")
    },
}
_PLURAL_PARTS: Final = {"halves": 2, **{word + "s": size for word, size in _PARTS.items()}}
_ALSO_ORDINAL: Final = frozenset(("hundredth", *(word + "th" for word in _SCALES)))
_FIRST: Final = frozenset((*_ONES, *_TENS, *_SCALES, *_SIGNS, "a", "half", "hundred", "dozen"))
_NUMBER_WORDS: Final = {*_FIRST, *_ORDINALS, *_PARTS, *_PLURAL_PARTS, "dozens", "and", "an"} - {"a"}
_HYPHEN = re.compile(r"(?<=[a-z])-(?=[a-z])")
_MULTIPLE = re.compile(
    r"(-?)([0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(\.[0-9]+)? ?"
    r"(hundred|thousand|million|billion|trillion|dozen|万|萬|亿|億)",
    re.IGNORECASE,
)
_MULTIPLES: Final = {
    **_SCALES,
    "hundred": 100,
    "dozen": 12,
    "万": 10**4,
    "萬": 10**4,
    "亿": 10**8,
    "億": 10**8,
}
_NUMBERED = re.compile(r"(?:第 ?)?([0-9]{1,9})(st|nd|rd|th)?", re.IGNORECASE)


def is_number_word(word: str) -> bool:
    """Whether a word in small letters is a part of a number or an ordinal: `seven`, `third`."""
    return word in _NUMBER_WORDS


def read_number_words(text: str) -> Fraction | None:
    """Return the number that `text` is in words, and is nothing but."""
    if not text or len(text) > MAX_CHARS:
        return None
    if text[0] in "-0123456789":
        return _multiple(text)
    if not text.isascii():
        return read_numeral(text)
    words = _HYPHEN.sub(" ", text.lower()).split() if text[0].isalpha() else []
    if not words or words[0] not in _FIRST:
        return None
    if words[0] not in _SIGNS:
        return _number(words)
    value = _number(words[1:])
    return None if value is None else -value


def read_ordinal(text: str) -> int | None:
    """Return the place that `21st`, `twenty-first`, `the third` or `第三` is."""
    if not text or len(text) > MAX_CHARS:
        return None
    text = text.lower().removeprefix("the ")
    numbered = _NUMBERED.fullmatch(text)
    if numbered:
        return _numbered(text, int(numbered[1]), numbered[2])
    if text[:1] == "第":
        value = read_numeral(text[1:])
        return int(value) if value and value.denominator == 1 else None
    *words, last = _HYPHEN.sub(" ", text).split() or [""]
    if last not in _ORDINALS or (words == ["one"] and last in _ALSO_ORDINAL):
        return None  # "one hundredth" may be 1/100
    return _cardinal([*words, _ORDINALS[last]])


def _numbered(text: str, place: int, suffix: str | None) -> int | None:
    if suffix is None or text[0] == "第":
        return place if suffix is None and text[0] == "第" else None
    teen = place // 10 % 10 == 1
    wanted = "th" if teen else {1: "st", 2: "nd", 3: "rd"}.get(place % 10, "th")
    return place if suffix == wanted else None


def _multiple(text: str) -> Fraction | None:
    """Read digits before a scale: `3.5 million`, `2万`."""
    match = _MULTIPLE.fullmatch(text)
    if match is None:
        return None
    sign, whole, part, scale = match.groups()
    value = Fraction(whole.replace(",", "") + (part or "")) * _MULTIPLES[scale.lower()]
    return -value if sign else value


def _number(words: list[str]) -> Fraction | None:
    """Read a cardinal, a fraction, a mixed number or dozens, without a sign."""
    if not words:
        return None
    if words[-1] == "dozen":
        return _dozens(words[:-1])
    if words[-1] in _PARTS or words[-1] in _PLURAL_PARTS:
        return _fraction(words) or _mixed(words)
    value = _cardinal(words)
    return None if value is None else Fraction(value)


def _dozens(words: list[str]) -> Fraction | None:
    if words in ([], ["a"], ["half", "a"]):
        return Fraction(6 if len(words) > 1 else 12)
    count = _below_hundred(words)
    return None if count is None else Fraction(12 * count)


def _fraction(words: list[str]) -> Fraction | None:
    """Read `half`, `a third`, `one half` or `three quarters`; its top is below a hundred."""
    *top, part = words
    if part in _PARTS:
        single = top == ["a"] or (top == ["one"] and part not in _ALSO_ORDINAL)
        return Fraction(1, _PARTS[part]) if single or words == ["half"] else None
    count = _below_hundred(top)
    return Fraction(count, _PLURAL_PARTS[part]) if count is not None and count > 1 else None


def _mixed(words: list[str]) -> Fraction | None:
    """Read `two and a half`, but not `one hundred and five tenths`, which may also be 105/10."""
    if "and" not in words or (words[-1] in _PLURAL_PARTS and _cardinal(words[:-1]) is not None):
        return None
    joint = len(words) - 1 - words[::-1].index("and")
    whole, part = _cardinal(words[:joint]), _fraction(words[joint + 1 :])
    return whole + part if whole is not None and part is not None and part < 1 else None


def _cardinal(words: list[str]) -> int | None:
    """Read groups before falling scales: `two million five hundred and one thousand and six`."""
    total, limit, group = 0, 10**15, list[str]()
    for word in words:
        scale = _SCALES.get(word)
        if scale is None:
            group.append(word)
            continue
        count = 1 if group in ([], ["a"]) and not total else _below_thousand(group)
        if not count or scale >= limit:
            return None
        total, limit, group = total + count * scale, scale, []
    if total and not group:
        return total
    rest = _below_thousand(group[1:] if total and group[0] == "and" else group)
    return None if rest is None or (total and not rest) else total + rest


def _below_thousand(words: list[str]) -> int | None:
    """Read up to `nine hundred and ninety-nine`, and `twelve hundred`."""
    if "hundred" not in words:
        return _below_hundred(words)
    place = words.index("hundred")
    before, after = words[:place], words[place + 1 :]
    count = 1 if before in ([], ["a"]) else _below_hundred(before)
    if not count or count % 10 == 0:
        return None
    rest = _below_hundred(after[1:] if after[:1] == ["and"] else after) if after else None
    return count * 100 + (rest or 0) if rest or not after else None


def _below_hundred(words: list[str]) -> int | None:
    if len(words) == 1:
        return _ONES.get(words[0], _TENS.get(words[0]))
    if len(words) != 2:
        return None
    ten, one = _TENS.get(words[0]), _ONES.get(words[1], 0)
    return ten + one if ten and 0 < one < 10 else None
