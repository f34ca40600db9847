"""The math verifier: extract -> parse -> compare, and a verdict that explains itself.

What is covered: plain numbers in every usual notation, compared exactly; choices, words and any
other text that is the same but for its spelling. What is not: roots, powers, variables, sets,
intervals, units other than percent, degrees and currency. Those are `undecided` (score null)
unless the texts agree, never `incorrect`. Nothing is evaluated as code.
"""

from __future__ import annotations

import asyncio
from time import perf_counter
from typing import TYPE_CHECKING, ClassVar

from rewarden.contracts import Sample, Verdict
from services.math.judge import Judge
from services.math.spec import MathSpec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import BaseModel


class MathVerifier:
    """Checks a final answer against the gold one. Holds no resources but its memory."""

    name: ClassVar[str] = "math"
    version: ClassVar[str] = "1"
    spec_model: ClassVar[type[BaseModel]] = MathSpec
    chunk_size: ClassVar[int] = 64

    def __init__(self) -> None:
        self._judge = Judge()

    async def start(self) -> None:
        """Nothing to prepare."""

    async def verify(self, samples: Sequence[Sample]) -> list[Verdict]:
        """Judge the samples in a thread, one after the other."""
        return await asyncio.to_thread(lambda: [self._verdict(sample) for sample in samples])

    async def close(self) -> None:
        """Nothing to give back."""

    def _verdict(self, sample: Sample) -> Verdict:
        began = perf_counter()
        outcome, reason, details, cached = self._judge.judge(sample.spec, sample.text)
        return Verdict.of(
            sample,
            outcome,
            reason,
            verifier=self.name,
            details=details,
            elapsed_seconds=perf_counter() - began,
            cached=cached,
        )
