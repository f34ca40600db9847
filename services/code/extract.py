"""Finds the program in a completion, in one pass over its lines.

What is covered: the last fenced block of the language (```` ``` ```` or `~~~`, indented or not), or
else the last one that names no language; a fence that is never closed; a completion without fences,
which is a program as a whole. Text within `<think>…</think>` is passed over, and so is all that
follows a `<think>` that is never closed. What is not: choosing between blocks by what they say. Of
several different ones the last counts, and `is_contested` tells.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

ALIASES: Final[dict[str, frozenset[str]]] = {
    "python": frozenset({"python", "py", "python3", "py3"}),
    "javascript": frozenset({"javascript", "js", "node", "nodejs"}),
    "typescript": frozenset({"typescript", "ts"}),
    "c": frozenset({"c"}),
    "cpp": frozenset({"cpp", "c++", "cc", "cxx", "c++17", "c++20"}),
    "java": frozenset({"java"}),
    "go": frozenset({"go", "golang"}),
    "rust": frozenset({"rust", "rs"}),
    "bash": frozenset({"bash", "sh", "shell"}),
}
"""How each language is named after a fence, in lower case."""

_FENCE: Final = re.compile(r"([ \t]*)(`{3,}|~{3,})[ \t]*([^\s`]*)([^`\n]*)")
_OPEN: Final = "<think>"
_CLOSE: Final = "</think>"


class Extracted(NamedTuple):
    """The program, and how it was found."""

    code: str
    is_contested: bool = False
    """Whether there was another block, with another program."""
    is_unclosed: bool = False
    """Whether its fence was never closed: the completion may have been cut off."""


class _Block(NamedTuple):
    tag: str
    code: str
    is_closed: bool


def extract(completion: str, language: str) -> Extracted | None:
    """Return the program in `completion`, or None if there is none."""
    text = outside_thought(completion)
    blocks = _blocks(text)
    names = ALIASES[language]
    candidates = [block for block in blocks if block.tag in names]
    candidates = candidates or [block for block in blocks if not block.tag]
    candidates = [block for block in candidates if block.code.strip()]
    if not candidates:
        return None if blocks or not text.strip() else Extracted(text)
    last = candidates[-1]
    others = {block.code.strip() for block in candidates}
    return Extracted(last.code, is_contested=len(others) > 1, is_unclosed=not last.is_closed)


def outside_thought(text: str) -> str:
    """Return what follows the last thought; nothing of one that is never closed."""
    answer = text[text.rfind(_CLOSE) + len(_CLOSE) :] if _CLOSE in text else text
    opened = answer.find(_OPEN)
    return answer if opened < 0 else answer[:opened]


def _blocks(text: str) -> list[_Block]:
    blocks: list[_Block] = []
    lines: list[str] = []
    fence = tag = indent = ""
    for line in text.split("\n"):
        found = _FENCE.fullmatch(line.rstrip("\r"))
        if not fence:
            if found:
                indent, fence, tag = found[1], found[2], found[3].lower()
                lines = []
        elif found and _closes(found, fence):
            blocks.append(_Block(tag, _joined(lines), is_closed=True))
            fence = ""
        else:
            lines.append(line.removeprefix(indent))
    if fence:
        blocks.append(_Block(tag, _joined(lines), is_closed=False))
    return blocks


def _closes(found: re.Match[str], fence: str) -> bool:
    is_bare = not (found[3] or found[4].strip())
    return is_bare and found[2][0] == fence[0] and len(found[2]) >= len(fence)


def _joined(lines: list[str]) -> str:
    return "".join(line + "\n" for line in lines)
