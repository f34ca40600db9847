"""Slots that are being replaced, and what becomes of the line when none can be had."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING, Final

from sandbox.boundary import ask_driver
from sandbox.driver import CellBrokenError

if TYPE_CHECKING:
    from sandbox.driver import Driver
    from sandbox.line import Line, Slot
    from sandbox.metrics import Metrics

logger = logging.getLogger(__name__)

RENEW_SECONDS: Final = 30.0
RETRY_SECONDS: Final = (0.1, 0.2, 0.5, 1.0, 2.0)
"""Between attempts to renew a slot; the last one is repeated."""
PATIENCE_SECONDS: Final = 30.0
"""How long jobs wait while not a single slot works."""


class Renewals:
    """Replaces slots, in the background or at once."""

    def __init__(
        self, driver: Driver, line: Line, slots: int, metrics: Metrics, patience_seconds: float
    ) -> None:
        self._driver = driver
        self._line = line
        self._slots = slots
        self._metrics = metrics
        self._patience_seconds = patience_seconds
        self._tasks: set[asyncio.Task[None]] = set()
        self._broken_since: float | None = None
        self._broken_why = ""

    @property
    def running(self) -> int:
        """How many slots are out of service."""
        return len(self._tasks)

    @property
    def outage(self) -> str:
        """Why nothing works, once that has lasted for too long to wait; else empty."""
        if self._broken_since is None:
            return ""
        seconds = time.monotonic() - self._broken_since
        return f"no slot works: {self._broken_why}" if seconds >= self._patience_seconds else ""

    async def renew(self, slot: Slot) -> None:
        """Replace a slot that the caller holds; `CellBrokenError` if that cannot be done now."""
        self._metrics.count_renewal("suspect" if slot.is_suspect else "worn")
        await ask_driver(self._driver.renew(slot.number), RENEW_SECONDS)
        slot.jobs, slot.is_suspect = 0, False
        self._broken_since = None

    def renew_later(self, slot: Slot) -> None:
        """Replace a slot in the background, however long it takes, and give it to the line."""
        task = asyncio.create_task(self._renew_until_done(slot))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def cancel(self) -> None:
        """Give up on the slots that are not back yet."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _renew_until_done(self, slot: Slot) -> None:
        attempt = 0
        while not await self._is_renewed(slot):
            await asyncio.sleep(RETRY_SECONDS[min(attempt, len(RETRY_SECONDS) - 1)])
            attempt += 1
        self._line.give(slot)

    async def _is_renewed(self, slot: Slot) -> bool:
        try:
            await self.renew(slot)
        except CellBrokenError as error:
            logger.warning("slot %d cannot be renewed: %s", slot.number, error)
            self._note_outage(str(error))
            return False
        return True

    def _note_outage(self, why: str) -> None:
        """Let nobody wait for ever where nothing works."""
        self._broken_why = why
        if self._broken_since is None and len(self._tasks) == self._slots:
            self._broken_since = time.monotonic()
        if self.outage:
            self._line.disappoint(CellBrokenError(self.outage))
