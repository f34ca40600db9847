"""One job under way, as seen by whoever asked for it.

It is read like any asynchronous iterator and may be abandoned at any moment. Steps that must not be
cut in half (opening a cell, closing it, renewing a slot) are simply not marked as interruptible:
being abandoned is noticed at the next step that is.
"""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from sandbox.events import Compiled, Ended, Event, Observed, result_of
from sandbox.jobs import Observation, Status

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from sandbox.jobs import Job, JobResult

UNREAD_EVENTS: Final = 4
"""Observations are large, so few are kept for a slow reader: the job waits for it."""
STALL_SECONDS: Final = 60.0
"""A reader that takes nothing for so long is taken for gone, as it keeps a slot from others."""


class Progress:
    """The events of one job, in order; the last one is `Ended`."""

    def __init__(self, job: Job, driver: str) -> None:
        self.job = job
        self.stopped_why = ""
        """Why the service ended the job, if it did."""
        self._driver = driver
        self._events: asyncio.Queue[Event] = asyncio.Queue(UNREAD_EVENTS)
        self._task: asyncio.Task[None] | None = None
        self._is_abandoned = False
        self._is_cancelled = False
        self._is_interruptible = False
        self._told = 0
        self._has_compiled = False
        self._is_over = False

    async def __aiter__(self) -> AsyncIterator[Event]:
        while not self._is_over:
            event = await self._events.get()
            self._is_over = isinstance(event, Ended)
            yield event

    async def result(self) -> JobResult:
        """Wait for the end, and return everything at once."""
        try:
            return result_of([event async for event in self])
        finally:
            self.abandon()

    @property
    def is_untold(self) -> bool:
        """Whether nothing has been told yet, so that the job can be begun anew."""
        return not (self._has_compiled or self._told)

    @property
    def is_abandoned(self) -> bool:
        """Whether nobody reads this any more."""
        return self._is_abandoned

    def begin(self, task: asyncio.Task[None]) -> None:
        """Learn the task that runs the job."""
        self._task = task

    def abandon(self) -> None:
        """Stop: nobody wants the rest. Harmless when the job is over."""
        self._is_abandoned = True
        self._interrupt()

    def stop(self, why: str) -> None:
        """Stop for a reason of ours; what was not observed is told as `sandbox_error`."""
        self.stopped_why = self.stopped_why or why
        self._interrupt()

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """Mark a step that abandoning or stopping the job may cut short."""
        if self._is_abandoned or self.stopped_why:
            raise asyncio.CancelledError
        self._is_interruptible = True
        try:
            yield
        finally:
            self._is_interruptible = False

    async def tell_compiled(self, observation: Observation) -> None:
        """Pass on what became of compiling."""
        self._has_compiled = True
        await self._put(Compiled(compiled=observation))

    async def tell(self, observation: Observation) -> None:
        """Pass on the observation of the next run."""
        self._told += 1
        await self._put(Observed(run=self._told - 1, observation=observation))

    async def tell_rest(self, status: Status, detail: str) -> None:
        """Say the same of every run that nothing was said of yet."""
        while self._told < len(self.job.runs):
            await self.tell(Observation(status=status, detail=detail))

    async def end(self) -> None:
        """Say that the job is over."""
        await self._put(Ended(end=self._told, driver=self._driver))

    async def _put(self, event: Event) -> None:
        if self._is_abandoned:
            return
        try:
            self._events.put_nowait(event)
        except asyncio.QueueFull:
            await self._put_slowly(event)

    async def _put_slowly(self, event: Event) -> None:
        """Wait for the reader, but not for ever; one that leaves meanwhile makes room itself."""
        try:
            async with asyncio.timeout(STALL_SECONDS):
                await self._events.put(event)
        except TimeoutError:
            self._is_abandoned = True
            self._forget()
            # Its count tells a reader who wakes up that something is missing.
            self._events.put_nowait(Ended(end=self._told, driver=self._driver))

    def _forget(self) -> None:
        while not self._events.empty():
            self._events.get_nowait()

    def _interrupt(self) -> None:
        if self._is_abandoned:
            self._forget()  # whoever waits to tell more is let go
        if self._is_interruptible and self._task is not None and not self._is_cancelled:
            self._is_cancelled = True
            self._task.cancel()
