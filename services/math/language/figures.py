r"""Figures that are called by their corners: `\angle ABC`, `\triangle ABC`, the segment `\overline{AB}`.

One figure has one name, whichever way its corners are listed. What is not covered: which corners of
two triangles go together; in a relation the corners of a triangle stay as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from services.math.language.cursor import ParseError
from services.math.tree import Symbol

if TYPE_CHECKING:
    from services.math.language.grammar import Grammar

_ALONE_BEFORE: Final = frozenset(("sep", "relation", "joint", "word", ":"))
_ALONE_BEHIND: Final = frozenset(("end", "sep", "relation", "joint"))
_CORNERS: Final = 3


def figure(grammar: Grammar) -> Symbol:
    r"""Parse `\angle ABC`, `\triangle ABC`, `\angle 1`; the corners in one order."""
    start = grammar.place
    kind = grammar.take().text
    corners = _corners(grammar)
    if not corners.isalnum():
        msg = "a figure is called by its corners"
        raise ParseError(msg)
    if len(corners) == _CORNERS and corners.isupper():
        if kind == "angle" and corners[0] > corners[2]:
            corners = corners[::-1]
        elif kind == "triangle" and is_alone(grammar, start) and not _is_related(grammar):
            corners = "".join(sorted(corners))
    return Symbol(f"{kind} {corners}")


def _corners(grammar: Grammar) -> str:
    if grammar.next.kind == "{":
        return "".join(grammar.raw_group().split())
    if grammar.next.kind in ("number", "word"):
        return grammar.take().text
    corners = ""
    while grammar.next.kind == "letter" and len(corners) < _CORNERS:
        corners += grammar.take().text
    return corners


def is_alone(grammar: Grammar, start: int) -> bool:
    """Whether what was read from `start` on is a whole side of a relation, or a whole item."""
    before = start == 0 or grammar.tokens[start - 1].kind in _ALONE_BEFORE
    return before and grammar.next.kind in _ALONE_BEHIND


def _is_related(grammar: Grammar) -> bool:
    """Whether triangles are compared, where the order of the corners says which goes with which."""
    return any(token.kind in ("relation", "other") for token in grammar.tokens)


def segment(grammar: Grammar, start: int, corners: str) -> str:
    """Return `AB` for `BA`, where it is no number with digits that are called A and B."""
    is_name = len(corners) == 2 and corners.isalpha() and corners.isupper()
    return min(corners, corners[::-1]) if is_name and is_alone(grammar, start) else corners
