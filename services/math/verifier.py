"""The math verifier: extract -> parse -> compare, and a verdict that explains itself.

What is covered: plain numbers in every usual notation, compared exactly; choices, words and any
other text that is the same but for its spelling. What is not: roots, powers, variables, sets,
intervals, units other than percent, degrees and currency. Those are `undecided` (score null)
unless the texts agree, never `incorrect`. Nothing is evaluated as code.
"""

from __future__ import annotations

import asyncio
from time import perf_counter
from typing import TYPE_CHECKING, Any, ClassVar, Final

from rewarden.contracts import Outcome, Sample, Verdict
from services.math.compare import Decision
from services.math.extract import Found, extract
from services.math.grade import NO_ANSWER, Grade, Grader, quoted
from services.math.spec import MathSpec
from services.verifier import read_spec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import BaseModel

MAX_COMPLETION_CHARS: Final = 1_000_000
_SHOWN_CHARS: Final = 2_000


class MathVerifier:
    """Checks a final answer against the gold one. Holds no resources but its memory."""

    name: ClassVar[str] = "math"
    version: ClassVar[str] = "1"
    spec_model: ClassVar[type[BaseModel]] = MathSpec
    chunk_size: ClassVar[int] = 64

    def __init__(self) -> None:
        self._grader = Grader()

    async def start(self) -> None:
        """Nothing to prepare."""

    async def verify(self, samples: Sequence[Sample]) -> list[Verdict]:
        """Judge the samples in a thread, one after the other."""
        return await asyncio.to_thread(lambda: [self._judge(sample) for sample in samples])

    async def close(self) -> None:
        """Nothing to give back."""

    def _judge(self, sample: Sample) -> Verdict:
        began = perf_counter()
        decision, details, cached = self._decide(sample)
        return Verdict.of(
            sample,
            decision.outcome,
            decision.reason,
            verifier=self.name,
            details=details,
            elapsed_seconds=perf_counter() - began,
            cached=cached,
        )

    def _decide(self, sample: Sample) -> tuple[Decision, dict[str, Any], bool]:
        """Return the decision, its details, and whether it was remembered."""
        spec = read_spec(MathSpec, sample)
        if isinstance(spec, str):
            return Decision(Outcome.BAD_SPEC, spec), {}, False
        golds, text = spec.golds, sample.text
        unusable = self._grader.unusable(golds)
        if unusable is not None:
            reason = f"The gold answer {quoted(unusable)} cannot be read."
            return Decision(Outcome.BAD_SPEC, reason), {}, False
        if len(text) > MAX_COMPLETION_CHARS:
            reason = f"The completion is longer than {MAX_COMPLETION_CHARS:,} characters."
            return Decision(Outcome.REJECTED, reason), {}, False
        found = extract(text, spec.extract)
        if found is None:
            return NO_ANSWER, {}, False
        grade, cached = self._grader.grade(golds, text, found)
        return grade.decision, _details(text, found, grade), cached


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
        "tier": grade.decision.tier,
        "flags": flags,
    }
