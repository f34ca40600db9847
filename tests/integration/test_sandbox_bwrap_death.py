"""Bubblewrap on this machine: what happens when a run, a slot or a service dies, and what it leaves."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import pytest

from sandbox.driver import CellBrokenError, DriverUnavailableError
from sandbox.drivers.bwrap import BwrapDriver, first_user
from tests.sandbox_programs import (
    assert_right,
    processes_of,
    python,
)

ROOT: Final = Path(__file__).parents[2]
USER: Final = first_user(os.getpid())

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def assert_clean(driver: BwrapDriver) -> None:
    """No process is left, and the next job is right."""
    waiting = [line for line in processes_of(USER) if "/bin/sh" not in line]
    assert waiting == []
    await assert_right(driver)


async def test_an_abandoned_run_is_ended_when_the_cell_is_closed(driver: BwrapDriver) -> None:
    cell = await driver.open(0)
    job = python("while True: pass", cpu_seconds=30)
    await cell.prepare(job)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(cell.run(job.runs[0]), 0.2)
    await cell.close()
    await assert_clean(driver)


def line_of(pid: int) -> list[int]:
    """A process, its first child, and so on."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *(line_of(int(children[0])) if children else [])]


@pytest.mark.parametrize("depth", range(3), ids=["bubblewrap", "process 1", "supervisor"])
async def test_whoever_of_a_slot_is_killed_takes_its_programs_along(
    driver: BwrapDriver, depth: int
) -> None:
    cell = await driver.open(0)
    job = python("while True: pass", cpu_seconds=30)
    await cell.prepare(job)
    running = asyncio.create_task(cell.run(job.runs[0]))
    await asyncio.sleep(0.2)
    os.kill(line_of(driver._launchers[0]._process.pid)[depth], signal.SIGKILL)
    with pytest.raises(CellBrokenError):
        await running
    await cell.close()
    with pytest.raises(CellBrokenError):
        await driver.open(0)
    await driver.renew(0)
    await assert_clean(driver)


async def test_a_supervisor_that_hangs_is_replaced_with_all_that_it_had(
    driver: BwrapDriver,
) -> None:
    job = python("while True: pass", cpu_seconds=30)
    cell = await driver.open(0)
    await cell.prepare(job)
    running = asyncio.create_task(cell.run(job.runs[0]))
    await asyncio.sleep(0.2)
    os.kill(line_of(driver._launchers[0]._process.pid)[2], signal.SIGSTOP)
    await driver.renew(0)
    with pytest.raises(CellBrokenError):
        await running
    assert await asyncio.to_thread(are_gone, [USER])
    await assert_clean(driver)


SPINNING: Final = """
import asyncio
from sandbox.drivers.bwrap import BwrapDriver
from tests.sandbox_programs import python, run

async def main():
    driver = BwrapDriver(slots=7)
    await driver.start()
    print(driver._folder, *driver._groups, flush=True)
    await run(driver, python("while True: pass", cpu_seconds=30), 6)

asyncio.run(main())
"""


def are_gone(users: Iterable[int]) -> bool:
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        if not any(map(processes_of, users)):
            return True
        time.sleep(0.05)
    return False


async def test_a_service_that_is_killed_leaves_no_process_and_the_next_one_clears_up(
    bubblewrap: None,
) -> None:
    service = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", SPINNING), cwd=ROOT, stdout=subprocess.PIPE
    )
    assert service.stdout is not None
    left = [Path(name) for name in (await service.stdout.readline()).decode().split()]
    assert all(folder.exists() for folder in left)
    await asyncio.sleep(0.3)
    service.kill()
    await service.wait()
    assert await asyncio.to_thread(
        are_gone, range(first_user(service.pid), first_user(service.pid) + 7)
    )
    after = BwrapDriver(slots=1)
    await after.start()
    await after.close()
    assert not any(folder.exists() for folder in left)


async def test_jobs_leave_no_descriptor_and_no_folder(driver: BwrapDriver) -> None:
    def held() -> tuple[int, int, int]:
        process = driver._launchers[1]._process.pid
        descriptors = len(list(Path(f"/proc/{process}/fd").iterdir()))
        mounts = len(Path(f"/proc/{process}/mounts").read_text().splitlines())
        folders = sum(len(list(folder.iterdir())) for folder in driver._groups)
        return descriptors, mounts, folders

    await assert_right(driver, 1)
    before = held()
    for _ in range(30):
        await assert_right(driver, 1)
    assert held() == before


async def test_a_host_without_bubblewrap_is_told_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(DriverUnavailableError, match="install the package 'bubblewrap'"):
        await BwrapDriver(slots=1).start()
