r"""Tell from the signs around a box that it holds a part of the answer only: `-\boxed{15}`, `2\cdot\boxed{15}`.

A name, an equals sign, a unit, a percent or degree sign and punctuation may stand next to a box.
What is found makes an answer `undecided`: nobody knows whether the rest was forgotten or meant.
"""

from __future__ import annotations

import re
from typing import Final

_NEAR_CHARS: Final = 60
_FUNCTIONS = r"(?:sqrt|[dt]?frac|binom|ln|log|sin|cos|tan)"
_OPERATORS = r"(?:cdot|times|div|pm|mp|l[et]q?|leqslant|g[et]q?|geqslant|neq?)"
_BEFORE = re.compile(
    r"(?<![-<>])(?<![A-Za-z]{2})[-+\u2212\u00b1\u2213]\$?\Z"
    r"|(?<![-=])[<>\u2264\u2265\u2260\u00d7\u00b7\u00f7/\u221a\u00b1]\s{0,2}\$?\Z"
    rf"|\\(?:{_OPERATORS}|{_FUNCTIONS})\s{{0,2}}(?:\[[^\]]{{0,9}}\])?\{{?\s?\Z"
    r"|\\[dt]?frac\s?\{[^{}]{0,30}\}\s?\{\s?\Z"
    r"|[\^_]\{?\Z|\d\Z|(?<![A-Za-z\\])[a-z]\Z"
    r"|\b(?:half of|twice|double|(?:less|greater|more|fewer) than|at least|at most"
    r"|(?:upper|lower) bound (?:is|of))\s{1,2}\$?\Z",
    re.IGNORECASE,
)
_NO_SIGN = re.compile(r"(?:\A|\n)[ \t]*>[ \t]*\$?\Z|<[^<>\n]{1,20}>\s{0,2}\Z")
"""A line that is quoted, and a tag."""
_BRACKET = re.compile(r"(?:(?<!\\)(?:\\left)?[(\[]|\\\{)\s?\Z")
_HARMLESS: Final = frozenset((*":=.,;*\n\u2248", ""))
_COMPARING: Final = frozenset(("of", "twice", "double", "than", "least", "most", "is"))
_CLOSED = re.compile(r"\s?(?:\\right)?[)\]]")
_AFTER = re.compile(
    r"\s?[\^_](?!\s?\{?\s?\\circ)|\s?(?:\^\s?\{?\s?\\circ\s?\}?|°)\s?\d"
    r"|\s?!\s?(?:\$|\\[)\]])"
    r"|[-+*/\u2212\u00d7\u00b7\u00f7\u00b1]\s?(?:\d|\\[a-z]|\()"
    r"|\s[-+*/\u2212\u00d7\u00b7\u00f7\u00b1]\s?(?:\d|\\[a-z]|\()[^$\n]{0,40}(?:\$|\\\)|\\\])"
    rf"|\s?\\(?:pi|{_OPERATORS}|{_FUNCTIONS})(?![A-Za-z])"
    r"|\d|[abiknpqrxyz](?![A-Za-z])"
    r"|\$?(?:\s{1,2}|\s?\\(?:text|mathrm)\s?\{\s?)(?:hundred|thousand|million|billion|trillion|dozen|(?:more|less|fewer) than"
    r"|times\s{1,2}(?:\d|\\|\$|as|the|more|larger))\b"
)


def is_part(text: str, start: int, box: tuple[int, int], end: int) -> bool:
    """Whether what stands around `text[box[0]:box[1]]` makes another value of it."""
    if _AFTER.match(text, box[1], end):
        return True
    near = max(start, box[0] - _NEAR_CHARS)
    if not _matters(text[near : box[0]].rstrip(" $")):
        return False
    if _BRACKET.search(text, near, box[0]):
        return _CLOSED.match(text, box[1], end) is None
    sign = _BEFORE.search(text, near, box[0])
    return sign is not None and _NO_SIGN.search(text, near, box[0]) is None


def _matters(before: str) -> bool:
    """Whether what ends so may belong to a value: most boxes come after a word or an equals sign."""
    last = before[-1:]
    if not last.isalpha():
        return last not in _HARMLESS
    word = before[before.rfind(" ") + 1 :]
    return len(word) == 1 or "\\" in word or word.lower() in _COMPARING
