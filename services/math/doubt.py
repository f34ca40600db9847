"""Tell from the words around an answer that it is not given: denied, supposed, hidden, taken back.

English only, and only what stands in the same sentence or close by. What is found makes an answer
`undecided`, so these rules may be wide; what they miss is what other tests of an answer are for.
"""

from __future__ import annotations

import re
from typing import Final

NEAR_CHARS: Final = 200
_BREAKS: Final = (". ", "! ", "? ", "\n", "\u3002")
_DENIAL = re.compile(
    r"(?:\bnot|\bnever|\bcannot|n't)\b(?:(?!\b(?:but|rather|instead|only)\b)[^.:;,]){0,40}\Z",
    re.IGNORECASE,
)
_ABOUT_AN_ANSWER = re.compile(
    r"\b(?:suppose|assume|assuming|imagine|unless|whether|maybe|perhaps|probably|guess|no way|unsure"
    r"|not true|isn't true|not sure|(?:wrong|incorrect|false)\s+(?:final\s+)?answer"
    r"|if\s+(?:the|my|this|that)\s+(?:final\s+)?answer)\b",
    re.IGNORECASE,
)
"""A sentence about an answer that it does not give."""
_TASK = re.compile(
    r"\b(?:put|write|give|place|enclose|box)\s+(?:the|your|my|his|her|its)?\s*(?:final\s+)?answer\s+"
    r"(?:in|inside|within|as|like|with)\s*[^.!?\n]{0,20}\Z",
    re.IGNORECASE,
)
_HIDERS: Final = ("phantom", "iffalse", "command", "\\def", "\\verb", "comment", "display", "%")
_HIDING = re.compile(
    r"(?:\\(?:[vh]?phantom|iffalse|newcommand|renewcommand|def|verb)(?![A-Za-z])|\\begin\{comment\}"
    r"|display\s*:\s*none|(?:\A|\n)[ \t]*%)(?:(?!\\fi\b|\\end\{comment\}|\n\n).){0,80}\Z",
    re.DOTALL,
)
_TAKING_BACK = re.compile(
    r"[\s$`*).\]\\}]{0,12}(?:\?|(?:is|was|would be|seems|looks)\s+"
    r"(?:wrong|incorrect|not\b|false|a mistake)|(?:but|however|though)[^.!?\n]{0,60}"
    r"\b(?:do not know|don't know|not sure|wrong|incorrect|unsure))",
    re.IGNORECASE,
)


def is_denied(text: str, start: int, end: int) -> bool:
    """Whether what comes at `end` is denied, supposed, or part of what was asked for."""
    sentence = _sentence_before(text, start, end)
    return any(pattern.search(sentence) for pattern in (_DENIAL, _ABOUT_AN_ANSWER, _TASK))


def is_supposed(text: str, start: int, end: int) -> bool:
    """Whether the sentence that `text[:end]` breaks off in only supposes what it says."""
    return _ABOUT_AN_ANSWER.search(_sentence_before(text, start, end)) is not None


def is_hidden(text: str, start: int, end: int) -> bool:
    """Whether what comes at `end` is not shown: a comment, a phantom, a definition."""
    before = text[max(start, end - NEAR_CHARS) : end]
    return any(word in before for word in _HIDERS) and _HIDING.search(before) is not None


def is_taken_back(text: str, start: int, end: int) -> bool:
    """Whether what stands right after an answer says that it is none."""
    return _TAKING_BACK.match(text, start, end) is not None


def _sentence_before(text: str, start: int, end: int) -> str:
    near = max(start, end - NEAR_CHARS)
    begin = max(near, *(text.rfind(mark, near, end) + 1 for mark in _BREAKS))
    return text[begin:end].rstrip("$\\([ *`")
