r"""Find the final answer in a completion: where it stands, and which strategy found it.

Strategies, in order: the last closed `\boxed{}` or `\fbox{}`; `<answer>…</answer>`; "(final)
answer is …" or "Answer: …"; a last line `#### …`; bold type in the last line; LaTeX that ends the
text; a number in the last sentence. What is said after a think block comes first; a box inside a
*closed* one counts only where nothing is said after it, and nothing inside an unclosed one counts.

Each strategy reads the text a bounded number of times from end to end, without recursion: the
time is linear in its length. What is not covered: an answer in words ("forty-two"), a statement
in a language other than English or Chinese, and a statement that is taken back later in prose.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from services.math import tail
from services.math.boxes import closed_boxes, side_by_side

if TYPE_CHECKING:
    from collections.abc import Callable

    from services.math.spec import Strategy

_CUES = ("nswer", "NSWER", "答案")
_CUE_TRIES: Final = 8
_STATEMENT = re.compile(
    r"(?:nswer|答案)[*_]{0,3}\s{0,9}(?:is\b\s{0,9}:?|are\b|[:=\uff1a]|是|为)[*_\s]{0,20}",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"\n|。|[.?](?=\s|\Z)")


class Found(NamedTuple):
    """An answer, as a piece `text[start:end]` of the completion."""

    strategy: Strategy
    start: int
    end: int
    stated: bool = True
    """False where the text merely ends with a value and nothing says that it is the answer."""
    rivals: tuple[str, ...] = ()
    r"""Other final answers side by side with this one, as in `\boxed{5} or \boxed{7}`."""


def extract(text: str, strategy: Literal["auto"] | Strategy = "auto") -> Found | None:
    """Return the final answer of `text`, or None if it holds none."""
    start, end = _said(text)
    chosen = list(_FINDERS.values()) if strategy == "auto" else [_FINDERS[strategy]]
    unstated = None
    for find in chosen:
        found = find(text, start, end)
        if found and (found.stated or found.strategy == "boxed"):
            return found
        unstated = unstated or found
    if start and _boxed in chosen:
        return _boxed(text, 0, start) or unstated
    return unstated


def _said(text: str) -> tuple[int, int]:
    """Return the part of `text` after its last closed think block and before an unclosed one."""
    if "think" not in text:
        return 0, len(text)
    short, long = text.rfind("</think>"), text.rfind("</thinking>")
    start = 0
    if short != long:  # at most one of them is missing
        start = short + len("</think>") if short > long else long + len("</thinking>")
    return start, min(_place(text, "<think>", start), _place(text, "<thinking>", start))


def _place(text: str, mark: str, start: int) -> int:
    """Return where `mark` stands; the end of the text if it does not."""
    place = text.find(mark, start)
    return place if place >= 0 else len(text)


def _boxed(text: str, start: int, end: int) -> Found | None:
    boxes = closed_boxes(text, start, end)
    if not boxes:
        unclosed = max(text.rfind(r"\boxed{", start, end), text.rfind(r"\fbox{", start, end))
        if unclosed < 0:
            return None
        return Found("boxed", text.index("{", unclosed) + 1, end, stated=False)
    last = boxes[-1]
    if len(boxes) == 1:
        return Found("boxed", last.inner, last.end - 1)
    rivals = [text[box.inner : box.end - 1] for box in side_by_side(text, boxes)]
    return Found("boxed", last.inner, last.end - 1, rivals=tuple(rivals))


def _answer_tag(text: str, start: int, end: int) -> Found | None:
    close = text.rfind("</answer>", start, end)
    opening = text.rfind("<answer>", start, close) if close >= 0 else -1
    return _trimmed("answer_tag", text, opening + len("<answer>"), close) if opening >= 0 else None


def _final_answer(text: str, start: int, end: int) -> Found | None:
    matches = [match for cue in _CUES if (match := _last_statement(text, cue, start, end))]
    if not matches:
        return None
    begin = max(match.end() for match in matches)
    stop = _SENTENCE_END.search(text, begin, end)
    if stop and stop.group() == "?":
        return None
    return _trimmed("final_answer", text, begin, stop.start() if stop else end)


def _last_statement(text: str, cue: str, start: int, end: int) -> re.Match[str] | None:
    place = end
    for _ in range(_CUE_TRIES):
        place = text.rfind(cue, start, place)
        if place < 0:
            break
        if match := _STATEMENT.match(text, place, end):
            return match
    return None


def _hashes(text: str, start: int, end: int) -> Found | None:
    begin, stop = tail.last_line(text, start, end)
    mark = text.rfind("####", begin, stop)
    return _trimmed("hashes", text, mark + 4, stop) if mark >= 0 else None


def _bold(text: str, start: int, end: int) -> Found | None:
    begin, stop = tail.last_line(text, start, end)
    close = text.rfind("**", begin, stop)
    opening = text.rfind("**", begin, close) if close >= 0 else -1
    if opening < 0 or tail.trim(text, close + 2, stop)[1] > close + 2:
        return None
    span = tail.trim(text, opening + 2, close)
    if span[0] == span[1]:
        return None
    is_whole_line = opening == begin
    return Found("bold", *span, stated=is_whole_line or tail.is_stated(text, start, span))


def _latex(text: str, start: int, end: int) -> Found | None:
    span = tail.last_latex(text, start, end)
    return span and Found("latex", *span, stated=tail.is_stated(text, start, span))


def _number(text: str, start: int, end: int) -> Found | None:
    sentence = tail.last_sentence(text, start, end)
    if span := tail.last_expression(text, *sentence):
        return Found("number", *span, stated=tail.is_stated(text, start, span))
    mentioned = tail.last_number(text, *sentence)
    return mentioned and Found("number", *mentioned, stated=False)


def _trimmed(strategy: Strategy, text: str, start: int, end: int) -> Found | None:
    """Return the piece without blanks and asterisks around it; None if nothing is left."""
    start, end = tail.trim(text, start, end, " \t\r\n*")
    return Found(strategy, start, end) if start < end else None


_FINDERS: Final[dict[Strategy, Callable[[str, int, int], Found | None]]] = {
    "boxed": _boxed,
    "answer_tag": _answer_tag,
    "final_answer": _final_answer,
    "hashes": _hashes,
    "bold": _bold,
    "latex": _latex,
    "number": _number,
}
