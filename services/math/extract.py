r"""Find the final answer in a completion: where it stands, and which strategy found it.

A box goes first: the last closed `\boxed{}` or `\fbox{}` that is not blank. Without one, the answer
that is stated *later* in the text wins: `<answer>…</answer>`; "(final) answer is …" or "Answer: …";
a last line `#### …`. Without those: bold type in the last line; LaTeX that ends the text; a number
in the last sentence. Another value that follows an explicit answer, or a box which may not be the
only one, makes a doubt.

What is said after a think block comes first; a box inside a *closed* one counts only where nothing
at all follows, and nothing inside an unclosed one counts. HTML comments are not read.

Each strategy reads the text a bounded number of times from end to end, without recursion: the
time is linear in its length. What is not covered: an answer in words ("forty-two"), a statement
in a language that none of the cues is of, and a statement that is taken back later in prose.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from services.math import doubt, tail
from services.math.boxes import closed_boxes, content, side_by_side
from services.math.cues import CHEER, CONCLUSION, COPULA, CUES, STATEMENT
from services.math.said import (
    COMMENT_OPENING,
    THOUGHT_OPENINGS,
    before_special_tokens,
    last_answer_block,
    said,
    without_comments,
)
from services.math.surroundings import is_part

if TYPE_CHECKING:
    from collections.abc import Callable

    from services.math.spec import Strategy

_CUE_TRIES: Final = 8
_SENTENCE_END = re.compile(r"\n|。|[.?](?!\s{0,3}\.)(?=\s|\Z)|</?answer", re.IGNORECASE)
_CLOSING: Final = " .$\n\\)]*`"
_BARE = re.compile(r"[$\s]*-?\d[\d.,]*[$\s]*")
_CHOICE = re.compile(r"[\s*(]*([A-J])[\s*).]*")
_WEAKER = frozenset(("bold", "latex", "number"))
_VALUE = re.compile(r"\d|\\|\A\W*\w\W*\Z")


class Found(NamedTuple):
    """An answer, as a piece `text[start:end]` of the completion."""

    strategy: Strategy
    start: int
    end: int
    stated: bool = True
    """False where the text merely ends with a value and nothing says that it is the answer."""
    rivals: tuple[str, ...] = ()
    r"""Other final answers side by side with this one, as in `\boxed{5} or \boxed{7}`."""
    doubts: tuple[str, ...] = ()
    """Other answers that may be meant instead: only where all agree is anything known."""


def extract(text: str, strategy: Literal["auto"] | Strategy = "auto") -> Found | None:
    """Return the final answer of `text`, or None if it holds none."""
    find = _any if strategy == "auto" else _FINDERS[strategy]
    if not any(opening in text for opening in THOUGHT_OPENINGS):
        return find(text, 0, len(text))
    text = without_comments(text)
    start, end = said(text)
    end = before_special_tokens(text, start, end)
    found = find(text, start, end)
    if start and find in (_any, _boxed):
        found = _with_thought(text, start, found)
    hidden = text.rfind(COMMENT_OPENING)
    if found and 0 <= hidden < found.start:
        return found._replace(stated=False)
    return found


def _any(text: str, start: int, end: int) -> Found | None:
    box = _boxed(text, start, end)
    if box and not _is_blank(text, box):
        return _unless_taken_back(text, box, end)
    stated = [hit for find in _EXPLICIT if (hit := find(text, start, end))]
    unstated = None
    for find in _IMPLICIT:
        hit = find(text, start, end)
        if hit and hit.stated:
            stated.append(hit)
            break
        unstated = unstated or hit
    if stated:
        return _latest(text, stated, _last_line(text, start, end))
    return unstated or box or _letter(text, start, end)


def _last_line(text: str, start: int, end: int) -> Found | None:
    """Return the last line where it is a number and nothing else: a doubt about what was said."""
    begin, stop = tail.last_line(text, start, end)
    is_bare = _BARE.fullmatch(text, begin, stop) is not None
    return Found("number", begin, stop) if is_bare else None


def _letter(text: str, start: int, end: int) -> Found | None:
    """Return the letter that is all there is: the choice of a model that says no more."""
    match = _CHOICE.fullmatch(text, start, end)
    return Found("whole", *match.span(1)) if match else None


def _unless_taken_back(text: str, box: Found, end: int) -> Found:
    """Doubt a box that another answer follows, in so many words."""
    if not text[box.end + 1 : end].strip(_CLOSING):
        return box
    later = [hit for find in _EXPLICIT if (hit := find(text, box.end + 1, end))]
    doubts = [text[hit.start : hit.end] for hit in later if _VALUE.search(text, hit.start, hit.end)]
    return box._replace(doubts=(*box.doubts, *doubts)) if doubts else box


def _latest(text: str, stated: list[Found], last_line: Found | None) -> Found:
    """Choose the explicit answer that stands last, and doubt it if another one comes after."""
    explicit = [hit for hit in stated if hit.strategy not in _WEAKER]
    last = max(explicit or stated, key=lambda hit: hit.start)
    others = [*stated, last_line] if last_line else stated
    doubts = [text[hit.start : hit.end] for hit in others if _contradicts(text, hit, last)]
    return last._replace(doubts=tuple(doubts)) if doubts else last


def _contradicts(text: str, hit: Found, last: Found) -> bool:
    """Whether `hit` is another value and its claim to be the answer is not clearly weaker."""
    if hit.start < last.end and last.start < hit.end:
        return False
    if text[hit.start : hit.end] == text[last.start : last.end]:
        return False
    if hit.start < last.start:
        return hit.strategy == "answer_tag" and last.strategy == "final_answer"
    return _VALUE.search(text, hit.start, hit.end) is not None


def _with_thought(text: str, start: int, found: Found | None) -> Found | None:
    """Weigh a box inside a think block, which ends at `start`, against what follows the block."""
    is_blank = found is not None and _is_blank(text, found)
    if found and found.stated and not is_blank:
        return found
    thought = _boxed(text, 0, start)
    if thought is None or _is_blank(text, thought):
        return found
    if found and not is_blank:
        return found._replace(doubts=(*found.doubts, text[thought.start : thought.end]))
    return thought._replace(stated=False) if text[start:].strip() else thought


def _is_blank(text: str, found: Found) -> bool:
    return not text[found.start : found.end].strip()


def _boxed(text: str, start: int, end: int) -> Found | None:
    boxes = closed_boxes(text, start, end)
    if not boxes:
        unclosed = max(text.rfind(r"\boxed{", start, end), text.rfind(r"\fbox{", start, end))
        if unclosed < 0:
            return None
        return Found("boxed", text.index("{", unclosed) + 1, end, stated=False)
    full = [box for box in boxes if content(text, box)] if len(boxes) > 1 else boxes
    last = (full or boxes)[-1]
    stated = not (
        doubt.is_denied(text, start, last.start)
        or doubt.is_hidden(text, start, last.start)
        or doubt.is_taken_back(text, last.end, end)
        or is_part(text, start, (last.start, last.end), end)
    )
    others = doubt.alternatives(text, start, (last.start, last.end), end)
    if len(full) < 2 and last is boxes[-1]:
        return Found("boxed", last.inner, last.end - 1, stated, doubts=others)
    rivals, doubts = side_by_side(text, full or boxes)
    doubts.extend(others)
    if last is not boxes[-1]:
        doubts.append("")
    return Found("boxed", last.inner, last.end - 1, stated, tuple(rivals), tuple(doubts))


def _answer_tag(text: str, start: int, end: int) -> Found | None:
    block = last_answer_block(text, start, end)
    return block and _trimmed("answer_tag", text, *block)


def _final_answer(text: str, start: int, end: int) -> Found | None:
    matches = [match for cue in CUES if (match := _last_statement(text, cue, start, end))]
    if not matches:
        return None
    match = max(matches, key=lambda found: found.end())
    begin = match.end()
    stop = _SENTENCE_END.search(text, begin, end)
    if stop and stop.group() == "?":
        return None
    ending = stop.start() if stop else end
    if (copula := COPULA.search(text, max(begin, ending - 4), ending)) is not None:
        ending = copula.start()
    if (cheer := CHEER.search(text, max(begin, ending - 8), ending)) is not None:
        ending = cheer.start()
    found = _trimmed("final_answer", text, begin, tail.before_remark(text, begin, ending))
    if found and text[found.end - 1] == "!" and text[found.end - 2].isalnum():
        found = found._replace(doubts=(text[found.start : found.end].rstrip("!"),))  # good news?
    if found and (
        doubt.is_denied(text, start, match.end()) or doubt.is_taken_back(text, found.end, end)
    ):
        return found._replace(stated=False)
    return found


def _last_statement(text: str, cue: str, start: int, end: int) -> re.Match[str] | None:
    place = end
    for _ in range(_CUE_TRIES):
        place = text.rfind(cue, start, place)
        if place < 0:
            break
        if match := STATEMENT.match(text, place, end):
            return match
    return None


def _concluded(text: str, start: int, end: int) -> Found | None:
    """Return the only number of the sentence that a Chinese solution ends with: `答: 有7个苹果。`."""
    begin, stop = tail.last_line(text, start, end)
    match = CONCLUSION.fullmatch(text, max(text.rfind("答", begin, stop), begin), stop)
    return Found("final_answer", *match.span(1)) if match else None


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
        stated = tail.is_stated(text, start, span)
        shout = (text[span[0] : span[1]].rstrip("!"),) if text[span[1] - 1] == "!" else ()
        return Found("number", *span, stated=stated, doubts=shout)  # 5! may be 5, and good news
    count = tail.last_count(text, *sentence)
    if count and tail.is_stated(text, start, count):
        return Found("number", *count)
    mentioned = tail.last_number(text, *sentence)
    return mentioned and Found("number", *mentioned, stated=False)


def _whole(text: str, start: int, end: int) -> Found | None:
    return _trimmed("whole", text, start, end)


def _trimmed(strategy: Strategy, text: str, start: int, end: int) -> Found | None:
    """Return the piece without blanks, asterisks and backticks around it; None if nothing is left."""
    start, end = tail.trim(text, start, end, " \t\r\n*`")
    if text.endswith("__", start, end):
        end -= 2
    return Found(strategy, start, end) if start < end else None


_FINDERS: Final[dict[Strategy, Callable[[str, int, int], Found | None]]] = {
    "boxed": _boxed,
    "answer_tag": _answer_tag,
    "final_answer": _final_answer,
    "hashes": _hashes,
    "bold": _bold,
    "latex": _latex,
    "number": _number,
    "whole": _whole,
}
_EXPLICIT: Final = (_answer_tag, _final_answer, _concluded, _hashes)
_IMPLICIT: Final = (_bold, _latex, _number)
