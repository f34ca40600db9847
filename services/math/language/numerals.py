"""Read Chinese numerals: whole numbers below 10^12, negative ones, and fractions.

What is covered: `三百二十一`, `一万零五`, `负七`, `五分之三`, `一又二分之一`, `百分之五十`.

What is not: numbers that leave a zero or a unit out (`一百五`, which is 150), digits one by one
(`二〇二四`; `三四` is "three or four"), a decimal `点` (also o'clock), financial characters.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final

_NUMERAL = re.compile("[负負]?[零〇一二两兩三四五六七八九十百千万萬亿億又分之]{1,40}")
_DIGITS: Final = "零一二三四五六七八九"
_UNITS: Final = {"千": 1000, "百": 100, "十": 10, "": 1}
_SIZES: Final = {"亿": 10**8, "万": 10**4, "": 1}
_WHOLES: Final = {"百": 100, "千": 1000, "万": 10000}
_ONE_WAY = str.maketrans("萬億負〇两兩", "万亿负零二二")


def read_numeral(text: str) -> Fraction | None:
    """Return the number that `text` is, and is nothing but."""
    if not _NUMERAL.fullmatch(text):
        return None
    text = text.translate(_ONE_WAY)
    if text[0] == "负":
        value = _positive(text[1:])
        return None if value is None else -value
    return _positive(text)


def _positive(text: str) -> Fraction | None:
    whole, mixed, part = text.rpartition("又")
    if "分之" not in part:
        value = None if mixed else _integer(part)
        return None if value is None else Fraction(value)
    bottom, _, top = part.partition("分之")
    below, above, before = _WHOLES.get(bottom) or _integer(bottom), _integer(top), _integer(whole)
    if not below or above is None or (mixed and (before is None or above >= below)):
        return None
    return Fraction(above, below) + (before or 0)


def _integer(text: str) -> int | None:
    """Read a number loosely, and accept it if that is how it is spoken."""
    text = "一" + text if text[:1] == "十" else text
    total = section = digit = 0
    for mark in text:
        if mark in _UNITS:
            section, digit = section + digit * _UNITS[mark], 0
        elif mark in _SIZES:
            total, section, digit = total + (section + digit) * _SIZES[mark], 0, 0
        else:
            digit = _DIGITS.find(mark)
    value = total + section + digit
    return value if 0 <= value < 10**12 and _spoken(value) == text else None


def _spoken(value: int) -> str:
    spoken, gap = "", False
    for mark, size in _SIZES.items():
        section = value // size % 10000
        if section:
            zero = "零" if spoken and (gap or section < 1000) else ""
            spoken += zero + _spoken_section(section) + mark
        gap = not section
    return spoken or "零"


def _spoken_section(value: int) -> str:
    """Speak a number below 10000: one zero for all the units that are left out before another."""
    spoken, gap = "", False
    for mark, unit in _UNITS.items():
        digit = value // unit % 10
        if digit:
            spoken += ("零" if spoken and gap else "") + _DIGITS[digit] + mark
        gap = not digit
    return spoken
