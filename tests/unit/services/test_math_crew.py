from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from services.math.workers.crew import PoolError
from services.math.workers.pool import Pool
from tests.unit.services.math_processes import (
    PUPPET,
    TWICE,
    WORKERS,
    ask,
    echoes,
    is_running,
    numbered,
    nursery_of,
    running,
    until,
)

pytestmark = pytest.mark.asyncio(loop_scope="module")

SERVICE = f"""
import asyncio
from services.math.workers.pool import Pool

async def main():
    pool = Pool({PUPPET!r}, workers=2, budget_seconds=0.9)
    await pool.start()
    [answer] = await pool.judge([(None, "=")])
    print(answer.details["nursery"], *pool.pids, flush=True)
    await pool.judge([(None, "c"), (None, "hang")])

asyncio.run(main())
"""


@pytest_asyncio.fixture(scope="module", loop_scope="module", name="shared")
async def _shared() -> AsyncIterator[Pool]:
    async with running() as pool:
        yield pool


@pytest_asyncio.fixture(loop_scope="module")
async def pool(shared: Pool) -> AsyncIterator[Pool]:
    """The shared pool, which is full again after every test."""
    yield shared
    await until(lambda: len(set(shared.pids)) == WORKERS)


def children() -> set[str]:
    lists = Path("/proc/self/task").glob("*/children")
    return {pid for found in lists for pid in found.read_text(encoding="ascii").split()}


def limits_of(pid: int) -> dict[str, list[str]]:
    rows = Path(f"/proc/{pid}/limits").read_text(encoding="ascii").splitlines()
    return {row[:25].strip(): row[25:].split()[:2] for row in rows}


def files_of(pid: int) -> dict[int, str]:
    return {int(fd.name): str(fd.readlink()) for fd in Path(f"/proc/{pid}/fd").iterdir()}


async def test_a_worker_has_limits_and_nothing_of_the_service(pool: Pool) -> None:
    [worker, *_] = pool.pids
    limits = limits_of(worker)
    assert limits["Max address space"] == [str(512 * 2**20)] * 2
    assert limits["Max core file size"] == ["0", "0"]
    files = files_of(worker)
    assert (files.pop(0), files.pop(1)) == ("/dev/null", "/dev/null")
    del files[2]
    assert sorted(name.partition(":")[0] for name in files.values()) == ["/memfd", "socket"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_signal_to_the_whole_group_is_the_parents_business(
    pool: Pool, number: signal.Signals
) -> None:
    before = [await nursery_of(pool), *pool.pids]
    for pid in before:
        os.kill(pid, number)
    assert echoes(await ask(pool, *numbered(50), "spend 0.05")) == [*numbered(50), "0.05"]
    assert [await nursery_of(pool), *sorted(pool.pids)] == [before[0], *sorted(before[1:])]


async def test_a_nursery_that_dies_is_started_again(pool: Pool) -> None:
    before = await nursery_of(pool)
    os.kill(before, signal.SIGKILL)
    assert echoes(await ask(pool, "= 1", *["exit"] * WORKERS, "= 2")) == [
        "= 1",
        *[TWICE] * WORKERS,
        "= 2",
    ]
    assert not is_running(before)


async def test_close_ends_everything_while_busy(capfd: pytest.CaptureFixture[str]) -> None:
    async with running() as pool:
        nursery = await nursery_of(pool)
        await ask(pool, "raise cause")
        asking = asyncio.ensure_future(ask(pool, "c", "hang", *numbered(50), *["spend 0.2"] * 50))
        await asyncio.sleep(0.05)
        pids = [nursery, *pool.pids]
    with pytest.raises(PoolError, match="stopped"):
        await asking
    assert len(pids) == 1 + WORKERS
    assert not any(map(is_running, pids))
    with pytest.raises(PoolError, match="not running"):
        await ask(pool, "= 1")
    assert "ValueError: cause" in capfd.readouterr().err


async def test_a_judge_that_cannot_be_made_is_told_at_the_start(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(PoolError, match=r"nursery ended \(exit status 1\); see standard error"):
        async with running("tests.unit.services.math_puppet:Broken"):
            pass
    assert "RuntimeError: told to" in capfd.readouterr().err


async def test_a_start_that_is_given_up_leaves_nothing_running() -> None:
    before = children()
    pool = Pool(PUPPET, workers=WORKERS)
    starting = asyncio.ensure_future(pool.start())
    await asyncio.sleep(0.1)
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    assert children() == before


@pytest.mark.parametrize("with_nursery", [False, True])
async def test_a_killed_service_leaves_no_process(with_nursery: bool) -> None:
    service = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        SERVICE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert service.stdout
    pids = [int(pid) for pid in (await service.stdout.readline()).split()]
    assert len(pids) == 3
    assert all(map(is_running, pids))
    await asyncio.sleep(0.1)  # both workers hang by now
    if with_nursery:  # then the kernel's own limit ends the one that hangs in C
        os.kill(pids[0], signal.SIGKILL)
    service.kill()
    await service.communicate()
    await until(lambda: not any(map(is_running, pids)))
