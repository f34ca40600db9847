"""From the pieces to one decision: several golds, rivals, doubts, answers that nobody stated.

The promise is that a decision is right or open. So one doubt is enough to leave a "yes" open, and
a list of accepted answers is only a "no" if every one of them is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from rewarden.contracts import Outcome
from services.math.compare import Decision, compare, is_usable
from services.math.memo import Memo
from services.math.parse import MAX_SHOWN_CHARS, Answer, parse

if TYPE_CHECKING:
    from services.math.extract import Found

MAX_ANSWER_CHARS: Final = 20_000
MEMO_CAPACITY: Final = 16_384
MAX_MEMO_CHARS: Final = 512
NO_ANSWER: Final = Decision(
    Outcome.NO_ANSWER, "No answer: nothing boxed or stated, and no number found."
)

_RANK: Final = {Outcome.CORRECT: 0, Outcome.UNDECIDED: 1}


class Grade(NamedTuple):
    """A decision, and the gold answer that it is about."""

    decision: Decision
    gold: str


class Grader:
    """Grades answers against golds, and remembers both."""

    def __init__(self) -> None:
        self._golds: Memo[str, Answer] = Memo(MEMO_CAPACITY)
        self._grades: Memo[tuple[object, ...], Grade] = Memo(MEMO_CAPACITY)

    def unusable(self, golds: tuple[str, ...]) -> str | None:
        """Return the first gold answer that nothing could be compared with."""
        for gold in golds:
            if not is_usable(self._gold(gold)):
                return gold
        return None

    def grade(self, golds: tuple[str, ...], text: str, found: Found) -> tuple[Grade, bool]:
        """Grade the answer `found` in `text`; also tells whether memory had it."""
        answer = text[found.start : found.end]
        if len(answer) > MAX_ANSWER_CHARS:
            reason = f"The answer has {len(answer):,} characters; {MAX_ANSWER_CHARS:,} are read."
            return Grade(Decision(Outcome.REJECTED, reason), golds[0]), False
        key = (golds, answer, found.rivals, found.doubts, found.stated)
        known = self._grades.get(key)
        if known:
            return known, True
        grade = self._with_doubts(golds, answer, found)
        if sum(map(len, (answer, *golds, *found.rivals, *found.doubts))) <= MAX_MEMO_CHARS:
            self._grades.put(key, grade)
        return grade, False

    def _with_doubts(self, golds: tuple[str, ...], answer: str, found: Found) -> Grade:
        decision, gold = self._against_all(golds, answer)
        if decision.outcome is Outcome.CORRECT:
            decision = self._among_rivals(golds, answer, found.rivals) or decision
        if found.doubts:
            decision = self._among_doubts(decision, golds, answer, found.doubts)
        return Grade(decision if found.stated else _unstated(decision, answer), gold)

    def _among_rivals(
        self, golds: tuple[str, ...], answer: str, rivals: tuple[str, ...]
    ) -> Decision | None:
        for rival in rivals:
            other = self._against_all(golds, rival[:MAX_ANSWER_CHARS]).decision
            if other.outcome is not Outcome.CORRECT:
                return _conflict(other, answer, rival)
        return None

    def _among_doubts(
        self, decision: Decision, golds: tuple[str, ...], answer: str, doubts: tuple[str, ...]
    ) -> Decision:
        """Leave open what would be decided otherwise if a doubt were the answer."""
        is_paid = decision.outcome is Outcome.CORRECT
        for doubt in doubts:
            value = doubt.rpartition("=")[2][:MAX_ANSWER_CHARS]  # `3 + 4 = 7` confirms a 7
            other = self._against_all(golds, value).decision.outcome
            if (other is Outcome.CORRECT) != is_paid and (is_paid or other in _RANK):
                reason = f"The answer may be {quoted(answer)} or {quoted(doubt) or 'blank'}."
                return Decision(Outcome.UNDECIDED, reason)
        return decision

    def _against_all(self, golds: tuple[str, ...], answer: str) -> Grade:
        """Return the best grade over the accepted answers: a yes, else an open one, else a no."""
        if answer in golds:
            reason = f"The answer is {quoted(answer)}, exactly as expected."
            return Grade(Decision(Outcome.CORRECT, reason, "exact"), answer)
        read = parse(answer)
        grades = [Grade(compare(self._gold(gold), read), gold) for gold in golds]
        return min(grades, key=lambda grade: _RANK.get(grade.decision.outcome, len(_RANK)))

    def _gold(self, gold: str) -> Answer:
        known = self._golds.get(gold)
        if known is None:
            known = parse(gold)
            self._golds.put(gold, known)
        return known


def _unstated(decision: Decision, answer: str) -> Decision:
    """Decide on an answer that is only mentioned: it is never paid."""
    if decision.outcome in {Outcome.CORRECT, Outcome.UNDECIDED}:
        reason = f"The text ends with {quoted(answer)} but does not state it as the answer."
        return Decision(Outcome.UNDECIDED, reason)
    reason = f"No answer: the text ends with {quoted(answer)} but does not state it as the answer."
    return Decision(Outcome.NO_ANSWER, reason)


def _conflict(other: Decision, answer: str, rival: str) -> Decision:
    outcome = Outcome.UNDECIDED if other.outcome is Outcome.UNDECIDED else Outcome.INCORRECT
    reason = f"Two different answers stand side by side: {quoted(rival)} and {quoted(answer)}."
    return Decision(outcome, reason)


def quoted(text: str) -> str:
    """Return a piece of the completion or of the spec, cut to what fits into a sentence."""
    text = text.strip()
    return text if len(text) <= MAX_SHOWN_CHARS else text[: MAX_SHOWN_CHARS - 1] + "…"
