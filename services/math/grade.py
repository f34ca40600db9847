"""From the pieces to one decision: several golds, rivals, doubts, answers that nobody stated.

The promise is that a decision is right or open. So one doubt is enough to leave a "yes" open, and
a list of accepted answers is only a "no" if every one of them is.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from rewarden.contracts import Outcome
from services.math.compare import Decision, compare, is_usable
from services.math.memo import Memo
from services.math.parse import MAX_SHOWN_CHARS, Answer, is_garbled, parse
from services.math.show import show

if TYPE_CHECKING:
    from services.math.extract import Found
    from services.math.spec import MathSpec

MAX_ANSWER_CHARS: Final = 20_000
MEMO_CAPACITY: Final = 16_384
MAX_MEMO_CHARS: Final = 512
NO_ANSWER: Final = Decision(
    Outcome.NO_ANSWER, "No answer: nothing boxed or stated, and no number found."
)
NO_TIME: Final = Decision(Outcome.UNDECIDED, "Not decided within the CPU time of a check.")

_PROSE: Final = frozenset(("final_answer", "bold", "number"))
_WORDS: Final = re.compile(r"[^\W\d_]{2,}\s|\s[^\W\d_]{2,}")
_RANK: Final = {Outcome.CORRECT: 0, Outcome.UNDECIDED: 1}


class Gold(NamedTuple):
    """A gold answer as it was read."""

    answer: Answer
    usable: bool
    shown: str | None


class Grade(NamedTuple):
    """A decision, the gold answer that it is about, and how both sides were read."""

    decision: Decision
    gold: str
    parsed_gold: str | None = None
    parsed_answer: str | None = None


class Grader:
    """Grades answers against golds, and remembers both."""

    def __init__(self) -> None:
        self._golds: Memo[tuple[str, str], Gold] = Memo(MEMO_CAPACITY)
        self._grades: Memo[tuple[object, ...], Grade] = Memo(MEMO_CAPACITY)

    def unusable(self, spec: MathSpec) -> str | None:
        """Return the first gold answer that nothing could be compared with."""
        for gold in spec.golds:
            if not self._gold(gold, spec).usable:
                return gold
        return None

    def grade(self, spec: MathSpec, text: str, found: Found) -> tuple[Grade, bool]:
        """Grade the answer `found` in `text`; also tells whether memory had it."""
        golds = spec.golds
        answer = text[found.start : found.end]
        if len(answer) > MAX_ANSWER_CHARS:
            reason = f"The answer has {len(answer):,} characters; {MAX_ANSWER_CHARS:,} are read."
            return Grade(Decision(Outcome.REJECTED, reason), golds[0]), False
        key = (golds, spec.options, answer, found.rivals, found.doubts, found.stated)
        known = self._grades.get(key)
        if known:
            return known, True
        grade = self._with_doubts(spec, answer, found)
        if sum(map(len, (answer, *golds, *found.rivals, *found.doubts))) <= MAX_MEMO_CHARS:
            self._grades.put(key, grade)
        return grade, False

    def _with_doubts(self, spec: MathSpec, answer: str, found: Found) -> Grade:
        grade = self._against_all(spec, answer)
        decision = grade.decision
        if decision.outcome is Outcome.CORRECT:
            decision = self._among_rivals(spec, answer, found.rivals) or decision
        if found.doubts:
            decision = self._among_doubts(decision, spec, answer, found.doubts)
        if decision.outcome is Outcome.INCORRECT and found.strategy in _PROSE:
            decision = _unreadable(answer) or decision
        return grade._replace(decision=decision if found.stated else _unstated(decision, answer))

    def _among_rivals(
        self, spec: MathSpec, answer: str, rivals: tuple[str, ...]
    ) -> Decision | None:
        for rival in rivals:
            other = self._against_all(spec, rival[:MAX_ANSWER_CHARS]).decision
            if other.outcome is not Outcome.CORRECT:
                return _conflict(other, answer, rival)
        return None

    def _among_doubts(
        self, decision: Decision, spec: MathSpec, answer: str, doubts: tuple[str, ...]
    ) -> Decision:
        """Leave open what would be decided otherwise if a doubt were the answer."""
        is_paid = decision.outcome is Outcome.CORRECT
        for doubt in doubts:
            value = doubt.rpartition("=")[2][:MAX_ANSWER_CHARS]  # `3 + 4 = 7` confirms a 7
            other = self._against_all(spec, value).decision.outcome
            if (other is Outcome.CORRECT) != is_paid and (is_paid or other in _RANK):
                reason = f"The answer may be {quoted(answer)} or {quoted(doubt) or 'blank'}."
                return Decision(Outcome.UNDECIDED, reason)
        return decision

    def _against_all(self, spec: MathSpec, answer: str) -> Grade:
        """Return the best grade over the accepted answers: a yes, else an open one, else a no."""
        golds = spec.golds
        if answer in golds:
            reason = f"The answer is {quoted(answer)}, exactly as expected."
            parsed = self._gold(answer, spec).shown
            return Grade(Decision(Outcome.CORRECT, reason, "exact"), answer, parsed, parsed)
        read = parse(answer, units=_has_units(spec))
        grades = [Grade(compare(self._gold(gold, spec).answer, read, spec), gold) for gold in golds]
        best = min(grades, key=lambda grade: _RANK.get(grade.decision.outcome, len(_RANK)))
        return best._replace(
            parsed_gold=self._gold(best.gold, spec).shown, parsed_answer=shown(read)
        )

    def _gold(self, gold: str, spec: MathSpec) -> Gold:
        key = (gold, spec.answer_type)
        known = self._golds.get(key)
        if known is None:
            answer = parse(gold, units=_has_units(spec))
            usable = is_usable(answer, spec)
            known = Gold(answer, usable, shown(answer) if usable else None)
            self._golds.put(key, known)
        return known


def shown(answer: Answer) -> str | None:
    """Return how the answer was understood, in plain text; None where it was not."""
    if answer.tree is None:
        return None
    text = show(answer.tree)
    return f"{answer.symbol} = {text}" if answer.symbol else text


def _has_units(spec: MathSpec) -> bool:
    return spec.answer_type != "expression"


def _unreadable(answer: str) -> Decision | None:
    """Leave open words out of a sentence that make no sense: they may have been cut out wrongly."""
    if not _WORDS.search(answer) or not is_garbled(answer):
        return None
    return Decision(
        Outcome.UNDECIDED, f"What is stated as the answer cannot be read: {quoted(answer)}."
    )


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
