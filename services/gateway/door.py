"""The gateway's way to the verifiers: the queue, for those verifiers that exist."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rewarden.contracts import Outcome, Verdict
from rewarden.queue import AsyncRedisQueue

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rewarden.contracts import Sample


class GatewayDoor:
    """Hands batches to the queue.

    A verifier that nobody knows is told so at once: on the queue it would only expire.
    """

    def __init__(self, queue_url: str, verifiers: Iterable[str]) -> None:
        self._queue = AsyncRedisQueue(queue_url)
        self._verifiers = sorted(verifiers)

    async def verify(self, samples: Sequence[Sample], timeout_seconds: float) -> list[Verdict]:
        """Return one verdict a sample, in order."""
        known = [s for s in samples if s.verifier is None or s.verifier in self._verifiers]
        verdicts = iter(await self._queue.verify(known, timeout_seconds))
        return [
            next(verdicts) if sample.verifier in {None, *self._verifiers} else self._unknown(sample)
            for sample in samples
        ]

    async def ping(self) -> None:
        """Raise `TransportError` unless Redis answers."""
        await self._queue.ping()

    async def aclose(self) -> None:
        """Close the connections to Redis."""
        await self._queue.aclose()

    def _unknown(self, sample: Sample) -> Verdict:
        there = self._verifiers
        reason = f"There is no verifier '{sample.verifier}' here; there is {', '.join(there)}."
        details = {"available": there}
        return Verdict.of(sample, Outcome.BAD_SPEC, reason, details=details)
