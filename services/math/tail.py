"""Read the end of a text: its last line, its last sentence, and the value it ends with.

Every function takes and returns offsets into the whole text. A value at the end is only the
answer if the text says so ("the total is 42", "x = 5"): a problem that is repeated, or a number in
passing, is not. `is_stated` draws that line, and draws it narrowly.
"""

from __future__ import annotations

import re
from typing import Final

from services.math.doubt import is_denied

Span = tuple[int, int]

MAX_SENTENCE_CHARS: Final = 400
_PUNCTUATION: Final = " \t\r\n.。!,;:*"
_KEPT = re.compile(r"!+|[\s,]{0,3}\.(?:\s?\.)+")
_BREAKS = (". ", "! ", "? ", "\n", "。", "\uff01", "\uff1f")
_WORD = re.compile(r"[^\W\d_]{2}|[^\W\d_a-zA-Z]")
_LETTER = re.compile(r"[^\W\d_]")
_NUMBER = re.compile(r"-?(?:\d[\d,]*(?:\.\d+)?|\.\d+)(?:/\d+)?%?!*")
_COUNT = re.compile(
    r"(?<![\w.,/^*+=-])(-?\d[\d,]*(?:\.\d+)?(?: (?!(?:is|are|was|were|in|of|to|and|or|by|for|at|as|on"
    r"|if|not|than|with|more|less|wrong)\b)[A-Za-z]+){1,2})\Z"
)
_SAYS = re.compile(
    r"(?:\b(?:is|are|be|equals?|answer|result|total)|[=:\uff1a是为])[\s$*]{0,6}\Z", re.IGNORECASE
)
_HEDGE = re.compile(r"\b(?:or|and|not|maybe|perhaps)\W{0,6}\Z", re.IGNORECASE)
_TASK = re.compile(
    r"\W*(?:find|solve|compute|calculate|evaluate|simplify|determine|what|prove|show|let|if|suppose"
    r"|consider|given|assume)\b(?![^.]*\b(?:get|gives|so|then|we|answer|result)\b)",
    re.IGNORECASE,
)
"""A sentence that sets a task or a condition, and draws no conclusion."""
_SYMBOL_EQUALS = re.compile(r"\s*[^\W\d_]\s*=[^=]*\Z")
_REMARK = re.compile(
    r"[$*)]{0,4}(?:[,;]\s{0,4}|\s{1,4}\(?|\()(?:(?:(as|since|because|obtained|not|done|which|where|when|so|and (?:we|this)"
    r"|rounded|approximately|see|according|i\.e|e\.g|that is)\b)|→|⇒)",
    re.IGNORECASE,
)
_REASONS: Final = frozenset(("as", "since", "because", "obtained", "not"))
_OBJECTION = re.compile(
    r"\b(?:not|wrong|incorrect|mistake|but|however|otherwise|else|actually|or)\b|n't\b",
    re.IGNORECASE,
)
_DELIMITERS = (("$$", "$$"), ("$", "$"), (r"\(", r"\)"), (r"\[", r"\]"))


def trim(text: str, start: int, end: int, marks: str = _PUNCTUATION) -> Span:
    """Leave out `marks` at both ends, but not a factorial or an ellipsis: `5!`, `1, 2, ...`."""
    piece = text[start:end].rstrip(marks)
    stop = start + len(piece)
    kept = _KEPT.match(text, stop, end) if stop < end else None
    if kept and piece and (piece[-1].isalnum() or text[stop] != "!"):
        stop = kept.end()
    return start + len(piece) - len(piece.lstrip(marks)), stop


def last_line(text: str, start: int, end: int) -> Span:
    """Return the last line that is not blank."""
    start, end = trim(text, start, end, " \t\r\n")
    return max(text.rfind("\n", start, end) + 1, start), end


def last_sentence(text: str, start: int, end: int) -> Span:
    """Return the last sentence without its full stop, cut to its last 400 characters."""
    start, end = trim(text, start, end)
    start = max(start, end - MAX_SENTENCE_CHARS)
    return trim(text, max(start, *(_last_break(text, mark, start, end) for mark in _BREAKS)), end)


def _last_break(text: str, mark: str, start: int, end: int) -> int:
    """Return where a sentence begins after `mark`; `4! + 6` is not two of them."""
    place = text.rfind(mark, start, end)
    while mark == "! " and place > start and text[place - 1].isdigit():
        place = text.rfind(mark, start, place)
    return place + 1


def before_remark(text: str, start: int, end: int) -> int:
    """Return where the answer ends that a remark follows: the 5 of `5, as expected`.

    A reason may hold values ("since 2 + 3 = 5"), any other remark none, and nothing that objects.
    """
    remark = _REMARK.search(text, start + 1, end)
    if remark is None or _OBJECTION.search(text, remark.end(), end):
        return end
    is_reason = (remark[1] or "").lower() in _REASONS
    if not is_reason and any(c.isdigit() or c == "\\" for c in text[remark.end() : end]):
        return end
    return remark.start()


def last_latex(text: str, start: int, end: int) -> Span | None:
    """Return what stands between the LaTeX delimiters that end the text."""
    start, end = trim(text, start, end)
    for opening, closing in _DELIMITERS:
        if text.endswith(closing, start, end):
            inner_end = end - len(closing)
            inner = text.rfind(opening, start, inner_end)
            if inner >= 0 and inner + len(opening) < inner_end:
                return inner + len(opening), inner_end
    return None


def last_expression(text: str, start: int, end: int) -> Span | None:
    """Return the run of numbers and signs that ends the sentence; of `2 * 3 = 6` only the 6.

    An equation with letters comes back whole, for its right side alone is not what it says.
    """
    begin = end
    following = ""
    for word in reversed(text[start:end].split()):
        if _WORD.search(word) or (_LETTER.search(word) and not _joins(word, following)):
            break
        begin, following = text.rfind(word, start, begin), word
    begin, end = trim(text, begin, end)
    equals = text.rfind("=", begin, end)
    if equals >= 0 and not _LETTER.search(text, begin, equals):
        begin = trim(text, equals + 1, end)[0]
    return (begin, end) if any(c.isdigit() for c in text[begin:end]) else None


def _joins(word: str, following: str) -> bool:
    """Whether `word` is a part of an equation: it holds an equals sign, or an operator follows."""
    return "=" in word or following.startswith(("=", "+", "-", "*", "/", "^"))


def last_count(text: str, start: int, end: int) -> Span | None:
    """Return the number with the one or two words that end the sentence: `42 red apples`."""
    match = _COUNT.search(text, max(start, end - 60), end)
    return match.span(1) if match else None


def last_number(text: str, start: int, end: int) -> Span | None:
    """Return the last number in the sentence, wherever it stands."""
    spans = [match.span() for match in _NUMBER.finditer(text, start, end)]
    return spans[-1] if spans else None


def is_stated(text: str, start: int, span: Span) -> bool:
    """Whether the text says that the value is the answer, or is nothing but the value."""
    begin, end = span
    before = text[max(start, begin - 40) : begin]
    if (
        text[end - 1] == "?"
        or _HEDGE.search(before)
        or is_denied(text, start, begin)
        or _TASK.match(text, start, begin)
    ):
        return False
    if _SYMBOL_EQUALS.match(text, begin, end):
        return True
    if not before.strip(_PUNCTUATION + "$\\([") and begin - start <= 40:
        return True
    before = before.rstrip("\\([$ ")
    arithmetic = re.search(r"\d\s*=\s*\Z", before)
    return not arithmetic and _SAYS.search(before) is not None
