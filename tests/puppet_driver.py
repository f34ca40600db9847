"""A sandbox driver that does as it is told, and notices what a pool may not do.

The source says what becomes of compiling and of the cell, the standard input what becomes of a run:
one word each, and an argument for some. Everything else is echoed.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING, Any

from sandbox.driver import CellBrokenError, DriverUnavailableError
from sandbox.jobs import Job, Observation, Run, Status

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable


class PuppetDriver:
    name = "puppet"

    def __init__(self, *, slots: int = 2) -> None:
        self.slots = slots
        self.open_cells: dict[int, PuppetCell] = {}
        self.renewing: set[int] = set()
        self.renewals: Counter[int] = Counter()
        self.begun: list[bytes] = []
        """The sources of jobs, in the order in which they got a cell."""
        self.events: list[str] = []
        self.broken_opens = 0
        """How many of the next cells do not open."""
        self.broken_renewals: float = 0
        """How many of the next renewals fail."""
        self.broken_closes = 0
        self.open_seconds = 0.0
        self.unavailable = ""
        self.is_closed = False

    async def start(self) -> None:
        if self.unavailable:
            raise DriverUnavailableError(self.unavailable)

    async def open(self, slot: int) -> PuppetCell:
        assert 0 <= slot < self.slots
        assert slot not in self.open_cells, "two jobs at a time in one slot"
        assert slot not in self.renewing, "a job in a slot that is being replaced"
        cell = self.open_cells[slot] = PuppetCell(self, slot)
        try:
            await self.pause("open", self.open_seconds)
            self._count_opens()
        except BaseException:
            del self.open_cells[slot]
            raise
        return cell

    def _count_opens(self) -> None:
        if self.broken_opens:
            self.broken_opens -= 1
            raise CellBrokenError("it did not open")

    async def renew(self, slot: int) -> None:
        assert slot not in self.open_cells, "a slot is replaced under its job"
        assert slot not in self.renewing, "a slot is replaced twice at a time"
        self.renewing.add(slot)
        try:
            await self.pause("renew", 0)
            if self.broken_renewals:
                self.broken_renewals -= 1
                raise CellBrokenError("no new one can be had")
            self.renewals[slot] += 1
        finally:
            self.renewing.remove(slot)

    async def languages(self) -> dict[str, str]:
        return {"python": "3.11.2", "cpp": "12.2.0", "bash": "5.2"}

    async def close(self) -> None:
        self.is_closed = True

    async def pause(self, step: str, seconds: float) -> None:
        """Take that long for a step."""
        self.events.append(step)
        await asyncio.sleep(seconds)


class PuppetCell:
    def __init__(self, driver: PuppetDriver, slot: int) -> None:
        self._driver = driver
        self._slot = slot
        self._source = b""
        self._is_open = True

    async def prepare(self, job: Job) -> Observation | None:
        assert self._is_open
        self._source = job.source
        self._driver.begun.append(job.source)
        await self._driver.pause("prepare", 0)
        word, _, argument = job.source.partition(b" ")
        if word == b"compile":
            return Observation(status=Status.EXITED, exit_code=int(argument), stderr=b"said")
        return await self._act(word, argument, None)

    async def run(self, run: Run) -> Observation:
        assert self._is_open, "a run in a cell that is closed"
        await self._driver.pause("run", 0)
        word, _, argument = run.stdin.partition(b" ")
        acted = await self._act(word, argument, run)
        assert self._is_open
        return acted or Observation(status=Status.EXITED, exit_code=0, stdout=run.stdin)

    async def close(self) -> None:
        assert self._is_open, "a cell is closed twice"
        self._is_open = False
        del self._driver.open_cells[self._slot]
        await self._driver.pause("close", 0)
        if self._driver.broken_closes:
            self._driver.broken_closes -= 1
            raise CellBrokenError("it did not close")

    async def _act(self, word: bytes, argument: bytes, run: Run | None) -> Observation | None:
        act = _ACTS.get(word)
        return None if act is None else await act(argument)


async def _break(argument: bytes) -> Observation:
    raise CellBrokenError("told to")


async def _raise(argument: bytes) -> Observation:
    raise ZeroDivisionError


async def _sleep(argument: bytes) -> None:
    await asyncio.sleep(float(argument))


async def _exit(argument: bytes) -> Observation:
    return Observation(status=Status.EXITED, exit_code=int(argument))


async def _status(argument: bytes) -> Observation:
    return Observation(status=Status(argument.decode()), detail="told to")


_ACTS: dict[bytes, Callable[[bytes], Awaitable[Observation | None]]] = {
    b"break": _break,
    b"raise": _raise,
    b"sleep": _sleep,
    b"exit": _exit,
    b"status": _status,
}


def job(*stdins: bytes | str, source: bytes | str = b"", **more: Any) -> Job:
    """Make a job of one run for each of the inputs."""
    given = [s.encode() if isinstance(s, str) else s for s in stdins or (b"",)]
    return Job(
        language=more.pop("language", "python"),
        source=source.encode() if isinstance(source, str) else source,
        runs=tuple(Run(stdin=stdin) for stdin in given),
        **more,
    )
