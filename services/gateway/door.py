"""The gateway's way to the verifiers: the queue, for those verifiers that exist."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rewarden.batches import unknown
from rewarden.queue import AsyncRedisQueue

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rewarden.contracts import Sample, Verdict


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
            next(verdicts)
            if sample.verifier is None or sample.verifier in self._verifiers
            else unknown(sample, sample.verifier, self._verifiers)
            for sample in samples
        ]

    async def ping(self) -> None:
        """Raise `TransportError` unless Redis answers."""
        await self._queue.ping()

    async def aclose(self) -> None:
        """Close the connections to Redis."""
        await self._queue.aclose()
