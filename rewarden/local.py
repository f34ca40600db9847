"""The queue's interface without a queue: verifiers in the same process, on the same event loop.

Chunks wait in line for their verifier, first come first served; one whose deadline passes while
it waits is `expired`, as on Redis.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rewarden.batches import Batch, expired, unknown

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from rewarden.batches import Chunk
    from rewarden.contracts import Sample, Verdict

LANES: Final = 2
"""Chunks of one verifier under way at once: one computes while the other is being (un)packed."""


@dataclass(frozen=True, slots=True)
class Handler:
    """What answers one verifier's chunks: as many verdicts as samples, and never an exception."""

    verify: Callable[[Sequence[Sample]], Awaitable[list[Verdict]]]
    chunk_size: int


class LocalQueue:
    """Verifiers behind the interface of `AsyncRedisQueue`."""

    def __init__(self, handlers: Mapping[str, Handler]) -> None:
        self._handlers = handlers
        self._sizes = {name: handler.chunk_size for name, handler in handlers.items()}
        self._lanes = {name: asyncio.Semaphore(LANES) for name in handlers}
        self._only = next(iter(handlers)) if len(handlers) == 1 else None

    async def verify(self, samples: Sequence[Sample], timeout_seconds: float) -> list[Verdict]:
        """Have `samples` checked; one verdict each, in order."""
        batch = Batch(samples, self._sizes, timeout_seconds, default_verifier=self._only)
        await asyncio.gather(*(self._run(batch, chunk) for chunk in batch.open))
        return batch.verdicts()

    async def ping(self) -> None:
        """There is nothing between the caller and the verifiers that could fail."""

    async def aclose(self) -> None:
        """There is nothing to close: whoever built the handlers closes them."""

    async def _run(self, batch: Batch, chunk: Chunk) -> None:
        handler = self._handlers.get(chunk.verifier)
        if handler is None:
            there = list(self._handlers)
            verdicts = [unknown(sample, chunk.verifier, there) for sample in chunk.samples]
            batch.answer(chunk.number, verdicts)
            return
        try:
            async with asyncio.timeout(batch.seconds_left):
                await self._lanes[chunk.verifier].acquire()
        except TimeoutError:
            batch.answer(chunk.number, expired(chunk.samples, chunk.verifier))
            return
        try:
            batch.answer(chunk.number, await handler.verify(chunk.samples))
        finally:
            self._lanes[chunk.verifier].release()
