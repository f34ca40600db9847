from __future__ import annotations

import asyncio
import random
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings, strategies as st

import sandbox.pool
import sandbox.progress
import sandbox.renewal
from rewarden.errors import ServiceBusyError
from sandbox.driver import CellBrokenError
from sandbox.events import Compiled, Ended, Observed
from sandbox.jobs import JobResult, Limits, Status
from sandbox.pool import Pool
from tests.puppet_driver import PuppetCell, PuppetDriver, job

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from sandbox.progress import Progress


@asynccontextmanager
async def opened(
    driver: PuppetDriver | None = None, **options: Any
) -> AsyncIterator[tuple[Pool, PuppetDriver]]:
    """A pool whose slots are all back, with nothing open, when the test is over."""
    driver = driver or PuppetDriver(slots=options.get("slots", 2))
    pool = Pool(driver, slots=driver.slots, **{k: v for k, v in options.items() if k != "slots"})
    try:
        yield pool, driver
        await until(lambda: pool.state().free == driver.slots)
        assert not driver.open_cells
        assert not driver.renewing
    finally:
        await pool.close()
    assert driver.is_closed


async def until(condition: Callable[[], bool]) -> None:
    for _ in range(5_000):
        if condition():
            return
        await asyncio.sleep(0.001)
    pytest.fail("it did not come about")


def statuses(result: JobResult) -> list[Status]:
    return [observation.status for observation in result.runs]


async def test_every_run_is_observed_in_order() -> None:
    async with opened() as (pool, driver):
        result = await pool.run(job("a", "exit 3", "c"))
    assert [o.stdout for o in result.runs] == [b"a", b"", b"c"]
    assert [o.exit_code for o in result.runs] == [0, 3, 0]
    assert result.driver == "puppet"
    assert result.compiled is None
    assert driver.events == ["open", "prepare", "run", "run", "run", "close"]


async def test_observations_are_told_as_they_come() -> None:
    async with opened() as (pool, driver):
        progress = pool.submit(job("a", "sleep 9"))
        async for event in progress:
            assert isinstance(event, Observed)
            assert (event.run, event.observation.stdout) == (0, b"a")
            break
        progress.abandon()
        await until(lambda: not driver.open_cells)


async def test_the_end_comes_after_the_cell_is_closed() -> None:
    async with opened() as (pool, driver):
        events = [event async for event in pool.submit(job())]
        assert isinstance(events[-1], Ended)
        assert driver.events[-1] == "close"


async def test_a_program_that_does_not_compile_is_not_run() -> None:
    async with opened() as (pool, driver):
        result = await pool.run(job("a", "b", source="compile 1"))
    assert result.compiled is not None
    assert result.compiled.stderr == b"said"
    assert statuses(result) == [Status.NOT_RUN] * 2
    assert "run" not in driver.events


async def test_compiling_is_told_before_the_first_run() -> None:
    async with opened() as (pool, _):
        kinds = [type(event) async for event in pool.submit(job("a", source="compile 0"))]
    assert kinds == [Compiled, Observed, Ended]


@pytest.mark.parametrize("failure", ["exit 1", "status timeout", "status signalled"])
async def test_a_failure_is_the_last_run_where_asked(failure: str) -> None:
    asked = job("a", failure, "b", "c", stop_on_failure=True)
    async with opened() as (pool, _):
        result = await pool.run(asked)
        all_of_them = await pool.run(asked.model_copy(update={"stop_on_failure": False}))
    assert statuses(result)[2:] == [Status.NOT_RUN] * 2
    assert statuses(result)[0] is Status.EXITED
    assert Status.NOT_RUN not in statuses(all_of_them)


async def test_512_at_once_are_served_first_come_first_served() -> None:
    async with opened(slots=3) as (pool, driver):
        jobs = [job(str(i), source=str(i)) for i in range(512)]
        results = await asyncio.gather(*(pool.run(j) for j in jobs))
    assert driver.begun == [str(i).encode() for i in range(512)]
    assert [r.runs[0].stdout for r in results] == driver.begun


async def test_a_latecomer_does_not_overtake_those_who_wait() -> None:
    async with opened(slots=1) as (pool, driver):
        first = asyncio.create_task(pool.run(job("sleep 0.02", source="0")))
        waiting = [asyncio.create_task(pool.run(job(source=str(i)))) for i in (1, 2, 3)]
        await first  # the slot is free, and given away, in this very moment
        await asyncio.gather(pool.run(job(source="4")), *waiting)
    assert driver.begun == [b"0", b"1", b"2", b"3", b"4"]


async def test_a_full_line_is_busy_and_recovers() -> None:
    async with opened(slots=1, max_waiting=2) as (pool, _):
        tasks = [pool.submit(job("sleep 0.02")) for _ in range(3)]
        with pytest.raises(ServiceBusyError, match="2 jobs are waiting"):
            pool.submit(job())
        assert pool.state().waiting == 2
        await asyncio.gather(*(t.result() for t in tasks))
        assert statuses(await pool.run(job())) == [Status.EXITED]


async def test_large_jobs_are_busy_before_they_use_up_the_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sandbox.pool, "MAX_HELD_BYTES", 10_000)
    async with opened(slots=1) as (pool, _):
        large = job("x" * 20_000)  # alone, any job is taken
        first = pool.submit(large)
        with pytest.raises(ServiceBusyError, match="hold 0 MiB already"):
            pool.submit(job("a"))
        await first.result()
        await asyncio.sleep(0.001)
        kept = [pool.submit(job("sleep 0.01", source="x" * 4_000)) for _ in range(2)]
        with pytest.raises(ServiceBusyError):
            pool.submit(job(files={"a": b"x" * 4_000}))
        kept.append(pool.submit(job("a")))
        await asyncio.gather(*(progress.result() for progress in kept))
        await asyncio.sleep(0.001)
        assert statuses(await pool.run(large)) == [Status.EXITED]


async def test_who_leaves_the_line_makes_room() -> None:
    async with opened(slots=1, max_waiting=1) as (pool, driver):
        first = pool.submit(job("sleep 0.05", source="first"))
        second = pool.submit(job(source="second"))
        await asyncio.sleep(0)
        second.abandon()
        await until(lambda: pool.state().waiting == 0)
        third = pool.submit(job(source="third"))
        await asyncio.gather(first.result(), third.result())
    assert driver.begun == [b"first", b"third"]


@pytest.mark.parametrize("fault", ["break", "raise", "status sandbox_error"])
async def test_a_cell_that_breaks_at_once_costs_only_time(fault: str) -> None:
    class Once(PuppetDriver):
        async def pause(self, step: str, seconds: float) -> None:
            await super().pause(step, seconds)
            if step == "run" and self.events.count("run") == 1:
                raise CellBrokenError("it is gone")

    async with opened(Once()) as (pool, driver):
        result = await pool.run(job("a", "b"))
    assert [o.stdout for o in result.runs] == [b"a", b"b"]
    assert " ".join(driver.events) == ("open prepare run close renew open prepare run run close")

    async with opened() as (pool, driver):
        result = await pool.run(job(fault))
    assert statuses(result) == [Status.SANDBOX_ERROR]
    assert driver.events.count("prepare") == 2  # once more, and no more
    assert driver.renewals.total() == 2


async def test_what_was_told_is_not_told_again() -> None:
    async with opened() as (pool, driver):
        result = await pool.run(job("a", "break", "c"))
    assert statuses(result) == [Status.EXITED, Status.SANDBOX_ERROR, Status.SANDBOX_ERROR]
    assert driver.events.count("prepare") == 1
    assert driver.renewals.total() == 1
    assert "told to" in result.runs[1].detail


async def test_compiling_that_was_told_is_not_done_again() -> None:
    async with opened() as (pool, driver):
        result = await pool.run(job("break", source="compile 0"))
    assert statuses(result) == [Status.SANDBOX_ERROR]
    assert driver.events.count("prepare") == 1


async def test_a_slot_that_does_not_open_is_replaced() -> None:
    async with opened() as (pool, driver):
        driver.broken_opens = 1
        assert statuses(await pool.run(job())) == [Status.EXITED]
        driver.broken_opens = 2
        assert statuses(await pool.run(job())) == [Status.SANDBOX_ERROR]


async def test_a_cell_that_does_not_close_costs_the_slot_not_the_job() -> None:
    async with opened() as (pool, driver):
        driver.broken_closes = 1
        assert statuses(await pool.run(job())) == [Status.EXITED]
        await until(lambda: driver.renewals.total() == 1)


async def test_a_driver_that_hangs_is_a_broken_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox.pool, "LATE_SECONDS", -0.9)
    limits = Limits(cpu_seconds=0.01, compile_cpu_seconds=0.01)
    async with opened() as (pool, _):
        result = await pool.run(job("sleep 60", limits=limits))
        assert statuses(result) == [Status.SANDBOX_ERROR]
        assert "did not answer" in result.runs[0].detail
        monkeypatch.setattr(sandbox.pool, "OPEN_SECONDS", 0.01)
        pool.driver.open_seconds = 60  # type: ignore[attr-defined]
        assert statuses(await pool.run(job())) == [Status.SANDBOX_ERROR]


async def test_slots_are_replaced_after_many_jobs_and_not_all_at_once() -> None:
    async with opened(jobs_per_slot=10) as (pool, driver):
        for _ in range(12):
            await pool.run(job())
        await until(lambda: driver.renewals.total() == 1)
        for _ in range(20):
            await pool.run(job())
        await until(lambda: driver.renewals.total() >= 3)
    assert b'renewals_total{why="worn"}' in pool.metrics.exposition()


async def test_a_slot_comes_back_when_it_can_be_had_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox.renewal, "RETRY_SECONDS", (0.001,))
    async with opened(slots=2) as (pool, driver):
        driver.broken_renewals = 6
        results = await asyncio.gather(*(pool.run(job("break")) for _ in range(4)))
        assert {s for r in results for s in statuses(r)} == {Status.SANDBOX_ERROR}
        await until(lambda: pool.state().free == 2)
        assert statuses(await pool.run(job())) == [Status.EXITED]


async def test_nobody_waits_for_ever_where_nothing_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox.renewal, "RETRY_SECONDS", (0.001,))
    async with opened(slots=2, patience_seconds=0.05) as (pool, driver):
        driver.broken_renewals = float("inf")
        results = await asyncio.gather(*(pool.run(job("break")) for _ in range(20)))
        assert {s for r in results for s in statuses(r)} == {Status.SANDBOX_ERROR}
        assert "no slot works: no new one can be had" in results[-1].runs[0].detail
        assert "no slot works" in pool.state().problem
        with pytest.raises(ServiceBusyError, match="no slot works"):
            pool.submit(job())
        driver.broken_renewals = 0
        await until(lambda: not pool.state().problem)
        assert statuses(await pool.run(job())) == [Status.EXITED]


async def test_cancelling_a_call_frees_its_slot() -> None:
    async with opened(slots=1) as (pool, _):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await pool.run(job("sleep 60"))
        assert statuses(await pool.run(job())) == [Status.EXITED]


class PausingDriver(PuppetDriver):
    """Takes a turn of the loop or more for each step, so that a job can be left in each of them."""

    async def pause(self, step: str, seconds: float) -> None:
        self.events.append(step)
        for _ in range(3):
            await asyncio.sleep(0)


@pytest.mark.parametrize("turns", range(60))
async def test_a_job_may_be_abandoned_at_any_moment(turns: int) -> None:
    async with opened(PausingDriver(slots=1)) as (pool, driver):
        before, left = pool.submit(job("a", "b")), pool.submit(job("c", "d", source="compile 0"))
        for _ in range(turns):
            await asyncio.sleep(0)
        left.abandon()
        before.abandon()
        assert statuses(await pool.run(job())) == [Status.EXITED]
        assert not driver.renewals  # leaving is no anomaly


async def test_abandoning_is_harmless_when_the_job_is_over() -> None:
    async with opened() as (pool, _):
        progress = pool.submit(job())
        await progress.result()
        progress.abandon()
        progress.abandon()


async def test_a_cell_that_opens_for_nobody_is_closed() -> None:
    async with opened(slots=1) as (pool, driver):
        driver.open_seconds = 0.02
        progress = pool.submit(job(source="nobody"))
        await until(lambda: bool(driver.open_cells))
        progress.abandon()
        assert driver.open_cells  # opening is not cut in half
        await until(lambda: not driver.open_cells)
    assert driver.begun == []


async def test_a_reader_who_takes_nothing_loses_its_slot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox.progress, "STALL_SECONDS", 0.02)
    async with opened(slots=1) as (pool, _):
        slow = pool.submit(job(*"abcdefghijkl"))
        assert statuses(await pool.run(job())) == [Status.EXITED]
        with pytest.raises(ValueError, match="not whole"):
            await slow.result()


async def test_a_slow_reader_holds_the_job_back_and_misses_nothing() -> None:
    async with opened(slots=1) as (pool, driver):
        seen = []
        async for event in pool.submit(job(*map(str, range(30)))):
            seen.append(event)
            await asyncio.sleep(0.001)
            assert driver.events.count("run") <= len(seen) + sandbox.progress.UNREAD_EVENTS + 1
    assert [e.run for e in seen if isinstance(e, Observed)] == list(range(30))


async def test_draining_lets_jobs_end_and_takes_no_new_ones() -> None:
    async with opened(slots=1) as (pool, _):
        accepted = [pool.submit(job("sleep 0.01")) for _ in range(3)]
        draining = asyncio.create_task(pool.drain(10))
        await asyncio.sleep(0)
        with pytest.raises(ServiceBusyError, match="shutting down"):
            pool.submit(job())
        results = await asyncio.gather(*(p.result() for p in accepted))
        await draining
    assert {s for r in results for s in statuses(r)} == {Status.EXITED}


async def test_jobs_that_outlast_the_grace_are_told_so() -> None:
    driver = PuppetDriver(slots=1)
    pool = Pool(driver, slots=1)
    running, waiting = pool.submit(job("a", "sleep 60", "c")), pool.submit(job("d"))
    await until(lambda: "run" in driver.events)
    results = asyncio.gather(running.result(), waiting.result())
    await pool.drain(0.01)
    first, second = await results
    await pool.close()
    assert statuses(first) == [Status.EXITED, Status.SANDBOX_ERROR, Status.SANDBOX_ERROR]
    assert statuses(second) == [Status.SANDBOX_ERROR]
    assert {o.detail for o in second.runs} == {"the sandbox is shutting down"}
    assert not driver.open_cells
    assert driver.is_closed


class ChaoticDriver(PausingDriver):
    """Fails in every way, at random."""

    def __init__(self, chance: random.Random, *, slots: int) -> None:
        super().__init__(slots=slots)
        self._chance = chance

    async def pause(self, step: str, seconds: float) -> None:
        for _ in range(self._chance.randrange(4)):
            await asyncio.sleep(0)
        if self._chance.random() < 0.08:
            raise self._chance.choice([CellBrokenError("chaos"), OSError("chaos"), KeyError()])


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32), slots=st.integers(1, 5))
def test_in_chaos_every_job_gets_its_observations_and_every_slot_comes_back(
    seed: int, slots: int
) -> None:
    asyncio.run(_chaos(random.Random(seed), slots))


async def _chaos(chance: random.Random, slots: int) -> None:
    driver = ChaoticDriver(chance, slots=slots)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sandbox.renewal, "RETRY_SECONDS", (0,))
        async with opened(driver, jobs_per_slot=chance.randrange(1, 20)) as (pool, _):
            await asyncio.gather(*(_one_of_many(pool, chance, i) for i in range(60)))


async def _one_of_many(pool: Pool, chance: random.Random, number: int) -> None:
    inputs = [f"{number}/{i}" for i in range(chance.randrange(1, 6))]
    progress = pool.submit(job(*inputs, source="compile 0" if chance.random() < 0.3 else ""))
    if chance.random() < 0.3:
        await _leave(progress, chance)
        return
    result = await progress.result()
    assert len(result.runs) == len(inputs)
    for given_input, observation in zip(inputs, result.runs, strict=True):
        if observation.status is not Status.SANDBOX_ERROR:
            assert observation.status is Status.EXITED
            assert observation.stdout == given_input.encode()


async def _leave(progress: Progress, chance: random.Random) -> None:
    for _ in range(chance.randrange(60)):
        await asyncio.sleep(0)
    progress.abandon()


def test_the_puppet_is_a_driver() -> None:
    from sandbox.driver import Cell, Driver

    driver: Driver = PuppetDriver()
    cell: Cell = PuppetCell(PuppetDriver(), 0)
    assert driver.name == "puppet"
    assert cell is not None
