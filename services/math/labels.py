r"""Answers in numbered parts, and choices among numbered statements.

`(1) 5 (2) 7` are two answers, and not a product. `(1)(3)` and the circled numbers name the statements that are true.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

_CIRCLES: Final = "".join(map(chr, range(0x2460, 0x2474)))
_WRAPPED = re.compile(r"\\(?:text[a-z]*|mathrm|mbox)\s*\{([^{}]*)\}")
_LABEL = re.compile(r"[(\uff08]\s?(\d|[a-h])\s?[)\uff09]")
_STATEMENTS = re.compile(
    rf"[\s$]*(?:[{_CIRCLES}][\s,;\u3001\uff0c]*(?:and|\u548c)?\s*)+[\s$.]*"
    r"|[\s$]*(?:[(\uff08]\d[)\uff09][\s,;\u3001\uff0c]*(?:and|\u548c)?\s*){2,}[\s$.]*"
)
_NONE: Final[frozenset[int]] = frozenset()
_BEGINS = re.compile(r"[\s$]*(?:\\text[a-z]*\s?\{\s*)?[(\uff08]\s?[1-9a]\s?[)\uff09]")
_STATEMENT = re.compile(rf"[{_CIRCLES}]|\d")


def statements(raw: str) -> frozenset[int]:
    """Return the numbers of the statements that an answer names and is nothing but."""
    if raw.isascii() and ("(" not in raw or not _BEGINS.match(raw)):
        return _NONE
    text = _WRAPPED.sub(r"\1", raw)
    if not _STATEMENTS.fullmatch(text):
        return _NONE
    return frozenset(_number(mark) for mark in _STATEMENT.findall(text))


def _number(mark: str) -> int:
    return _CIRCLES.index(mark) + 1 if mark in _CIRCLES else int(mark)


def parts(raw: str) -> list[str]:
    """Return the answers behind `(1)`, `(2)` and so on; an empty list where there are no such."""
    if raw[:1].isalnum() or not _BEGINS.match(raw):
        return []
    text = _WRAPPED.sub(r"\1", raw).strip(" $")
    labels = list(_LABEL.finditer(text))
    if len(labels) < 2 or labels[0].start() or labels[0][1] not in "1a":
        return []
    if any(ord(later[1]) - ord(sooner[1]) != 1 for sooner, later in pairwise(labels)):
        return []
    ends = [*(label.start() for label in labels[1:]), len(text)]
    found = [
        text[label.end() : end].strip(" ,;$.\\") for label, end in zip(labels, ends, strict=True)
    ]
    return found if all(found) else []
