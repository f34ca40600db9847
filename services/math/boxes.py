r"""Find `\boxed{…}` and `\fbox{…}`: which are closed, and which stand side by side.

One pass over the braces from the first box on, with a stack of its own, so that neither depth nor
a million unclosed boxes cost more than linear time. An escaped brace (`\{`) closes nothing.
"""

from __future__ import annotations

import re
from enum import StrEnum
from itertools import pairwise
from typing import Final, NamedTuple

_OPENING = re.compile(r"\\(?:boxed|fbox)")
_TOKEN = re.compile(r"\\(?:boxed|fbox)\s*\{|\\.|[{}]", re.DOTALL)
MAX_RIVALS: Final = 16
_MAX_STRANGERS: Final = 6
_FEW_STRANGERS: Final = 2
_WORD = re.compile(r"[^\W\d_]+")
_OPERATOR = re.compile("[=+<>→⇒]")
_ALTERNATIVES = re.compile(
    "or|either|else|otherwise|alternatively|maybe|perhaps|possibly|probably|vs|versus|lor|vee"
    "|ou|soit|oder|entweder|bzw|o|ó|oppure|или|либо|或|或者|또는|または",
    re.IGNORECASE,
)
_OTHER_LINKS = re.compile(
    "and|also|as|well|both|text|textbf|textit|mathrm|mbox|quad|qquad|boxed|fbox"
    "|et|und|y|e|и|和|그리고",
    re.IGNORECASE,
)


class Box(NamedTuple):
    """A closed box `text[start:end]`; its content is `text[inner : end - 1]`."""

    start: int
    inner: int
    end: int


class Link(StrEnum):
    """How what stands between two boxes joins them."""

    RIVALS = "rivals"
    """Nothing but punctuation and "or": two answers at once."""
    UNCLEAR = "unclear"
    """A few words, or an operator: an alternative, a correction or a step."""
    NONE = "none"
    """A sentence: the later box corrects or follows the earlier one."""


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


def content(text: str, box: Box) -> str:
    """Return what the box holds, without blanks around it."""
    return text[box.inner : box.end - 1].strip()


def side_by_side(text: str, boxes: list[Box]) -> tuple[list[str], list[str]]:
    r"""Return what the last box disagrees with: surely (`\boxed{5} or \boxed{7}`), and perhaps."""
    last = content(text, boxes[-1])
    surely: dict[str, None] = {}
    perhaps: dict[str, None] = {}
    others = surely
    for later, earlier in pairwise(reversed(boxes)):
        link = _link(text, earlier.end, later.start)
        if link is Link.NONE or len(others) == MAX_RIVALS:
            break
        if link is Link.UNCLEAR:
            others = perhaps
        if (other := content(text, earlier)) != last:
            others[other] = None
    return list(surely), list(perhaps)


def _link(text: str, start: int, end: int) -> Link:
    strangers, is_alternative = 0, False
    for match in _WORD.finditer(text, start, end):
        word = match.group()
        if _ALTERNATIVES.fullmatch(word):
            is_alternative = True
        elif not _OTHER_LINKS.fullmatch(word):
            strangers += 1
        if strangers > _MAX_STRANGERS:
            return Link.NONE
    if strangers == 0:
        return Link.UNCLEAR if _OPERATOR.search(text, start, end) else Link.RIVALS
    return Link.UNCLEAR if is_alternative or strangers <= _FEW_STRANGERS else Link.NONE
