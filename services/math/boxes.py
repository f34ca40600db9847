r"""Find `\boxed{…}` and `\fbox{…}`: which are closed, and which stand side by side.

One pass over the braces from the first box on, with a stack of its own, so that neither depth nor
a million unclosed boxes cost more than linear time. An escaped brace (`\{`) closes nothing.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final, NamedTuple

_OPENING = re.compile(r"\\(?:boxed|fbox)")
_TOKEN = re.compile(r"\\(?:boxed|fbox)\s*\{|\\.|[{}]", re.DOTALL)
_MAX_GAP_CHARS: Final = 40
MAX_RIVALS: Final = 16
_BETWEEN_RIVALS = re.compile(r"or|and|maybe|perhaps|possibly|also|either|else|text|quad|或|和|또는")


class Box(NamedTuple):
    """A closed box `text[start:end]`; its content is `text[inner : end - 1]`."""

    start: int
    inner: int
    end: int


def closed_boxes(text: str, start: int, end: int) -> list[Box]:
    """Return the closed boxes that lie in no other closed box, in order."""
    opening = _OPENING.search(text, start, end)
    if opening is None:
        return []
    boxes: list[Box] = []
    depth = 0
    pending: list[tuple[int, int, int]] = []  # depth inside, start, inner
    for token in _TOKEN.finditer(text, opening.start(), end):
        mark = token.group()
        if mark == "}":
            if pending and pending[-1][0] == depth:
                _, opened, inner = pending.pop()
                while boxes and boxes[-1].start > opened:
                    boxes.pop()
                boxes.append(Box(opened, inner, token.end()))
            depth = max(depth - 1, 0)
        elif mark[-1] == "{" and mark != r"\{":
            depth += 1
            if len(mark) > 1:
                pending.append((depth, token.start(), token.end()))
    return boxes


def side_by_side(text: str, boxes: list[Box]) -> list[Box]:
    r"""Return the boxes that share one statement with the last: `\boxed{5} or \boxed{7}`."""
    rivals: list[Box] = []
    for later, earlier in pairwise(reversed(boxes)):
        if len(rivals) == MAX_RIVALS or not _is_connective(text, earlier.end, later.start):
            break
        rivals.append(earlier)
    return rivals


def _is_connective(text: str, start: int, end: int) -> bool:
    """Whether nothing but punctuation and "or" stands between; a sentence would correct itself."""
    if end - start > _MAX_GAP_CHARS:
        return False
    words = re.findall(r"[^\W\d_]+", text[start:end])
    return all(_BETWEEN_RIVALS.fullmatch(word) for word in words)
