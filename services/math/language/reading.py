"""Read the digits of a number in other conventions than ours, to know when a "no" would be a guess.

`12,34,567` (Indian), `1.234` (European), `1 0000` (blanks) and `1 3/2` (a sum, or a product) are
not what `services.math.language.number` reads, or not only that. Where such a reading makes an answer equal
to the gold one, nobody can tell what was meant. A reading is never a reason for a "yes".
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final

from services.math.language.number import OutOfBoundsError, read_number

_GROUPED = re.compile(
    r"""(?<![\d.,])(?:
        [1-9]\d?(?:[, ]\d\d){1,9}[, ]\d{3}
      | [1-9]\d{0,3}(?:[, ]\d{4}){1,9}
      | [1-9]\d{0,2}(?P<mark>[,. ])\d{3}(?:(?P=mark)\d{3}){0,8}
    )(?!\d|[,. ]\d{3})""",
    re.VERBOSE,
)
_SEPARATOR = re.compile("[,. ]")
_LOOSE_MIXED = re.compile(
    r"(-?)(\d{1,50})(?: (\d{1,50})/(\d{1,50})| ?\\frac\{(\d{1,50})\}\{(\d{1,50})\})"
)
_CONSTANTS: Final = frozenset("ecgGi")
_CHOICES: Final = "ABCDEFGHIJ"
_NUMERALS: Final = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}


def may_be_same(gold: str, answer: str) -> bool:
    """Whether the answer has the value of the gold one in some convention.

    A gold answer is written in the usual one: of all that `1.234` may be, it is not 1234.
    """
    if gold.isdecimal() and answer.isdecimal():
        return False
    value = _value(gold)
    return value is not None and value in readings(answer)


def readings(text: str) -> set[Fraction]:
    """Return every value that the canonical text may have."""
    spellings = {text, text.replace(",", ".")}
    ungrouped = _GROUPED.sub(lambda match: _SEPARATOR.sub("", match.group()), text)
    spellings |= {ungrouped, ungrouped.replace(",", ".")}
    if " " in text and "/" not in text and "frac" not in text:
        spellings.add(text.replace(" ", ""))
    values = {value for spelling in spellings if (value := _value(spelling)) is not None}
    mixed = _LOOSE_MIXED.fullmatch(text)
    return values | _sum_and_product(mixed) if mixed else values


def letter_may_be(letter: str, value: Fraction | None) -> bool:
    """Whether a letter may stand for the number: a constant, a numeral, a digit, the nth choice."""
    if letter in _CONSTANTS:
        return True
    place = _CHOICES.find(letter.upper())
    values = {_NUMERALS.get(letter), *([place + 1, place + 10] if place >= 0 else [])}
    return value is not None and value in values


def _value(spelling: str) -> Fraction | None:
    try:
        number = read_number(spelling)
    except (OutOfBoundsError, ZeroDivisionError):
        return None
    return number.value if number else None


def _sum_and_product(mixed: re.Match[str]) -> set[Fraction]:
    sign, whole, *parts = mixed.groups()
    top, bottom = (int(part) for part in parts if part)
    if bottom == 0 or top < bottom:
        return set()  # a proper mixed number is read as one, and never as a product
    factor = -int(whole) if sign else int(whole)
    part = Fraction(top, bottom)
    return {factor * part, factor - part if sign else factor + part}
