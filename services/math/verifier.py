"""The math verifier: extract -> parse -> compare, and a verdict that explains itself.

What is covered, and what is not, is in `docs/math.md`. The check itself is `services.math.judge`.
It runs in worker processes (`services.math.workers.pool`), each sample with a budget of CPU time and of
memory; one that needs more is `undecided`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from rewarden.contracts import Sample, Verdict
from services.math.spec import MathSpec
from services.math.workers.pool import BUDGET_SECONDS, JUDGE, MEMORY_BYTES, Pool

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import BaseModel

    from services.math.workers.questions import Answer

MAX_SENT_CHARS: Final = 2_000_000
"""More than the judge reads, so that it refuses a text cut to this. Its own limit is not imported:
the judge needs sympy, which takes a second and only the workers have to have."""


class MathVerifier:
    """Checks a final answer against the gold one. `start` takes processes, `close` ends them."""

    name: ClassVar[str] = "math"
    version: ClassVar[str] = "4"
    spec_model: ClassVar[type[BaseModel]] = MathSpec
    chunk_size: ClassVar[int] = 64

    def __init__(
        self,
        *,
        workers: int | None = None,
        budget_seconds: float = BUDGET_SECONDS,
        memory_bytes: int = MEMORY_BYTES,
        judge: str = JUDGE,
    ) -> None:
        """See `Pool`; `judge` is the class that checks, as "module:attribute"."""
        self._pool = Pool(
            judge, workers=workers, budget_seconds=budget_seconds, memory_bytes=memory_bytes
        )

    async def start(self) -> None:
        """Start the workers; returns when all of them are ready."""
        await self._pool.start()

    async def verify(self, samples: Sequence[Sample]) -> list[Verdict]:
        """Have the samples judged by the workers, together with those of other callers."""
        asked = [(sample.spec, sample.text[:MAX_SENT_CHARS]) for sample in samples]
        answers = await self._pool.judge(asked)
        return [self._verdict(s, answer) for s, answer in zip(samples, answers, strict=True)]

    async def close(self) -> None:
        """End the workers, and wait until they are gone."""
        await self._pool.close()

    def _verdict(self, sample: Sample, answer: Answer) -> Verdict:
        return Verdict.of(
            sample,
            answer.outcome,
            answer.reason,
            verifier=self.name,
            details=answer.details,
            elapsed_seconds=answer.seconds,
            cached=answer.cached,
        )
