"""Jobs on slots: each waits its turn, gets a cell of its own, and leaves nothing behind.

What is covered: first come, first served; a driver that fails, hangs or raises anything (its cell
is broken: the job is tried once more on a renewed slot if nothing of it has been told, and else
told as `sandbox_error`; the slot comes back renewed); jobs that are abandoned at any moment; an end
of the service in the middle of jobs. What is not: how programs are kept apart, which is a driver's
business, and a driver whose `run` or `close` lies.

Waiting in line never counts against a job. The time limits here are far beyond those of a run: they
only catch a driver that hangs.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rewarden.errors import ServiceBusyError
from sandbox.boundary import ask_driver
from sandbox.driver import CellBrokenError
from sandbox.jobs import Observation, Status
from sandbox.line import Line, Slot
from sandbox.metrics import Metrics
from sandbox.progress import Progress
from sandbox.renewal import PATIENCE_SECONDS, Renewals

if TYPE_CHECKING:
    from sandbox.driver import Cell, Driver
    from sandbox.jobs import Job, JobResult, Run
    from sandbox.line import Ticket

logger = logging.getLogger(__name__)

MAX_WAITING: Final = 1_024
MAX_HELD_BYTES: Final = 512 * 1024 * 1024
"""Of programs and their input, so that long lines of large jobs do not use up the memory."""
JOBS_PER_SLOT: Final = 5_000
OPEN_SECONDS: Final = 30.0
CLOSE_SECONDS: Final = 15.0
LATE_SECONDS: Final = 20.0
"""How much later than its limits a run may be answered: the machine may be very busy."""


@dataclass(frozen=True, slots=True)
class PoolState:
    """What the slots of a pool are doing."""

    total: int
    free: int
    busy: int
    renewing: int
    waiting: int
    problem: str
    """Why no job can be served now; empty if they can."""


class Pool:
    """A fixed number of slots of one driver, which is started already."""

    def __init__(
        self,
        driver: Driver,
        *,
        slots: int | None = None,
        max_waiting: int = MAX_WAITING,
        jobs_per_slot: int = JOBS_PER_SLOT,
        patience_seconds: float = PATIENCE_SECONDS,
    ) -> None:
        """`slots` is one a core unless given; a slot is renewed after `jobs_per_slot` jobs."""
        self.driver = driver
        self.metrics = Metrics()
        self._total = slots or len(os.sched_getaffinity(0))
        self._jobs_per_slot = jobs_per_slot
        # They start at different ages, so that they are not all worn at the same time.
        ages = (number * jobs_per_slot // self._total for number in range(self._total))
        self._line = Line([Slot(n, jobs=age) for n, age in enumerate(ages)], max_waiting)
        self._jobs: dict[Progress, asyncio.Task[None]] = {}
        self._renewals = Renewals(driver, self._line, self._total, self.metrics, patience_seconds)
        self._held_bytes = 0
        self._refusing_why = ""
        self._is_closed = False
        self.metrics.gauge("slots_free", "Slots that nobody uses.", lambda: self.state().free)
        self.metrics.gauge("slots_busy", "Slots with a job.", lambda: self.state().busy)
        self.metrics.gauge("waiting", "Jobs without a slot yet.", lambda: self.state().waiting)

    def state(self) -> PoolState:
        """Count the slots."""
        free, renewing = self._line.free, self._renewals.running
        return PoolState(
            total=self._total,
            free=free,
            busy=self._total - free - renewing,
            renewing=renewing,
            waiting=self._line.waiting,
            problem=self._refusing_why or self._renewals.outage,
        )

    def submit(self, job: Job) -> Progress:
        """Put a job in the line; `ServiceBusyError` if that is full, or nothing works."""
        why = self._refusing_why or self._renewals.outage
        if why:
            raise ServiceBusyError(why)
        size = _size_of(job)
        try:
            self._check_room(size)
            ticket = self._line.join()
        except ServiceBusyError:
            self.metrics.count_refused()
            raise
        self._held_bytes += size
        progress = Progress(job, self.driver.name)
        task = asyncio.create_task(self._live(progress, ticket))
        progress.begin(task)
        self._jobs[progress] = task
        task.add_done_callback(lambda task: self._is_over(progress, task))
        return progress

    async def run(self, job: Job) -> JobResult:
        """Have a job done, and return every observation; cancelling this ends the job."""
        return await self.submit(job).result()

    async def drain(self, grace_seconds: float) -> None:
        """Take no new jobs; after the grace, end those that are left as `sandbox_error`."""
        self._refusing_why = "the sandbox is shutting down"
        tasks = list(self._jobs.values())
        if tasks:
            await asyncio.wait(tasks, timeout=grace_seconds)
        for progress in list(self._jobs):
            progress.stop(self._refusing_why)

    async def close(self) -> None:
        """End every job at once, and the driver; again is harmless."""
        if self._is_closed:
            return
        self._is_closed = True
        await self.drain(0)
        if self._jobs:
            await asyncio.wait(list(self._jobs.values()), timeout=CLOSE_SECONDS)
        rest = list(self._jobs.values())
        for task in rest:
            task.cancel()
        await asyncio.gather(self._renewals.cancel(), *rest, return_exceptions=True)
        await self.driver.close()

    def _check_room(self, size: int) -> None:
        if self._held_bytes and self._held_bytes + size > MAX_HELD_BYTES:
            msg = f"the jobs under way hold {self._held_bytes >> 20} MiB already"
            raise ServiceBusyError(msg)

    def _is_over(self, progress: Progress, task: asyncio.Task[None]) -> None:
        del self._jobs[progress]
        self._held_bytes -= _size_of(progress.job)
        if not task.cancelled() and task.exception() is not None:
            logger.error("a job was lost to a fault of the pool", exc_info=task.exception())

    async def _live(self, progress: Progress, ticket: Ticket) -> None:
        """Do one job from its place in the line to its end."""
        joined = time.perf_counter()
        try:
            slot = await self._turn(progress, ticket)
            began = time.perf_counter()
            self.metrics.time_wait(began - joined)
            try:
                end = await self._attempts(progress, slot)
            finally:
                self._give_back(slot)
            self.metrics.count_job(end, time.perf_counter() - began)
        except (asyncio.CancelledError, CellBrokenError) as error:  # it never got a slot
            why = progress.stopped_why or str(error)
            await progress.tell_rest(Status.SANDBOX_ERROR, why)
        finally:
            await progress.end()

    async def _turn(self, progress: Progress, ticket: Ticket) -> Slot:
        try:
            with progress.interruptible():
                return await ticket
        except asyncio.CancelledError:
            self._line.leave(ticket)
            raise

    async def _attempts(self, progress: Progress, slot: Slot) -> str:
        """Do the job, a second time if its first cell breaks at once; return how it ended."""
        try:
            try:
                await self._attempt(progress, slot)
            except CellBrokenError as error:
                slot.is_suspect = True
                if not progress.is_untold:
                    raise
                logger.warning("slot %d broke, its job is tried again: %s", slot.number, error)
                await self._renewals.renew(slot)
                await self._attempt(progress, slot)
        except CellBrokenError as error:
            slot.is_suspect = True
            logger.warning("slot %d broke: %s", slot.number, error)
            await progress.tell_rest(Status.SANDBOX_ERROR, f"the sandbox broke: {error}")
            return "broken"
        except asyncio.CancelledError:
            if not progress.stopped_why:
                return "abandoned"
            await progress.tell_rest(Status.SANDBOX_ERROR, progress.stopped_why)
            return "stopped"
        return "abandoned" if progress.is_abandoned else "finished"

    async def _attempt(self, progress: Progress, slot: Slot) -> None:
        cell = await ask_driver(self.driver.open(slot.number), OPEN_SECONDS)
        try:
            if await self._prepare(progress, cell):
                await self._run_all(progress, cell)
        finally:
            await self._close(cell, slot)

    async def _prepare(self, progress: Progress, cell: Cell) -> bool:
        """Say whether there is anything to run."""
        job = progress.job
        with progress.interruptible():
            limit = 2 * job.limits.compile_cpu_seconds + 1 + LATE_SECONDS
            compiled = await ask_driver(cell.prepare(job), limit)
            if compiled is None:
                return True
            _raise_if_ours(compiled)
            await progress.tell_compiled(compiled)
        if _succeeded(compiled):
            return True
        await progress.tell_rest(Status.NOT_RUN, "The program did not compile.")
        return False

    async def _run_all(self, progress: Progress, cell: Cell) -> None:
        job = progress.job
        for run in job.runs:
            with progress.interruptible():
                observation = await self._run(job, run, cell)
                await progress.tell(observation)
            self.metrics.count_observation(observation)
            if job.stop_on_failure and not _succeeded(observation):
                break
        await progress.tell_rest(Status.NOT_RUN, "An earlier run failed.")

    async def _run(self, job: Job, run: Run, cell: Cell) -> Observation:
        limit = 2 * job.limits.cpu_seconds + 1 + LATE_SECONDS
        observation = await ask_driver(cell.run(run), limit)
        _raise_if_ours(observation)
        return observation

    async def _close(self, cell: Cell, slot: Slot) -> None:
        try:
            await ask_driver(cell.close(), CLOSE_SECONDS)
        except CellBrokenError as error:
            slot.is_suspect = True
            logger.warning("a cell of slot %d was not closed: %s", slot.number, error)

    def _give_back(self, slot: Slot) -> None:
        slot.jobs += 1
        if slot.is_suspect or slot.jobs >= self._jobs_per_slot:
            self._renewals.renew_later(slot)
        else:
            self._line.give(slot)


def _size_of(job: Job) -> int:
    files = sum(len(content) for content in job.files.values())
    return len(job.source) + files + sum(len(run.stdin) for run in job.runs)


def _raise_if_ours(observation: Observation) -> None:
    if observation.status is Status.SANDBOX_ERROR:
        raise CellBrokenError(observation.detail or "the driver could not observe a run")


def _succeeded(observation: Observation) -> bool:
    return observation.status is Status.EXITED and observation.exit_code == 0
