"""The whole check of one answer, in one thread: read the spec, extract, parse, compare.

Nothing here knows of processes, HTTP or queues; `services.math.verifier` runs many of these side
by side, in processes that can be killed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from rewarden.contracts import Outcome
from services.math.extract import Found, extract
from services.math.grade import NO_ANSWER, NO_TIME, Grade, Grader, quoted
from services.math.spec import MathSpec
from services.math.workers.budget import BudgetSpentError
from services.verifier import read_spec

if TYPE_CHECKING:
    from services.math.compare import Decision

MAX_COMPLETION_CHARS: Final = 1_000_000
_SHOWN_CHARS: Final = 2_000


class Judgement(NamedTuple):
    """What a verdict says, before it is one; every member can be written as JSON."""

    outcome: Outcome
    reason: str
    details: dict[str, Any]
    cached: bool


class Judge:
    """Checks answers one after the other, and remembers what it has seen."""

    def __init__(self) -> None:
        self._grader = Grader()

    def judge(self, spec: object, text: str) -> Judgement:
        """Check the final answer of the completion `text` against the (unread) `spec`."""
        read = read_spec(MathSpec, spec)
        if isinstance(read, str):
            return Judgement(Outcome.BAD_SPEC, read, {}, cached=False)
        unusable = self._grader.unusable(read)
        if unusable is not None:
            reason = f"The gold answer {quoted(unusable)} cannot be read."
            return Judgement(Outcome.BAD_SPEC, reason, {}, cached=False)
        if len(text) > MAX_COMPLETION_CHARS:
            reason = f"The completion is longer than {MAX_COMPLETION_CHARS:,} characters."
            return Judgement(Outcome.REJECTED, reason, {}, cached=False)
        found = extract(text, read.extract)
        if found is None:
            return _judgement(NO_ANSWER, {})
        try:
            grade, cached = self._grader.grade(read, text, found)
        except BudgetSpentError:  # for the sake of the details; the worker knows all the same
            return _judgement(NO_TIME, _details(text, found, Grade(NO_TIME, read.golds[0])))
        return _judgement(grade.decision, _details(text, found, grade), cached=cached)


def _judgement(decision: Decision, details: dict[str, Any], *, cached: bool = False) -> Judgement:
    return Judgement(decision.outcome, decision.reason, details, cached)


def _details(text: str, found: Found, grade: Grade) -> dict[str, Any]:
    flags = [] if found.stated else ["unstated"]
    if found.rivals:
        flags.append("rivals")
    if found.doubts:
        flags.append("doubts")
    return {
        "strategy": found.strategy,
        "span": [found.start, found.end],
        "extracted": text[found.start : min(found.end, found.start + _SHOWN_CHARS)],
        "gold": grade.gold,
        "parsed_gold": grade.parsed_gold,
        "parsed_answer": grade.parsed_answer,
        "tier": grade.decision.tier,
        "flags": flags,
    }
