"""A container a job on a real Docker engine: what runs well, what is contained, what is left."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

import pytest
import pytest_asyncio

from sandbox.driver import CellBrokenError, DriverUnavailableError
from sandbox.drivers.containers import LABEL
from sandbox.drivers.oneshot import OneshotDriver
from sandbox.jobs import Call, Job, Run, Status
from tests.sandbox_programs import BOMBS, assert_right, hostile, python, run

ROOT: Final = Path(__file__).parents[2]
IMAGE: Final = "rewarden-sandbox:small"

pytestmark = [pytest.mark.docker, pytest.mark.asyncio(loop_scope="module")]


def docker(*arguments: str) -> str:
    seen = subprocess.run(["docker", *arguments], check=True, capture_output=True, text=True)
    return seen.stdout.strip()


def containers(driver: OneshotDriver) -> list[str]:
    return docker("ps", "-aq", "--filter", f"label={LABEL}={driver._owner}").split()


@pytest.fixture(scope="module")
def image(docker_engine: None) -> str:
    docker(
        "build",
        "-q",
        "-f",
        "sandbox/images/Dockerfile",
        "--target",
        "small",
        "-t",
        IMAGE,
        str(ROOT),
    )
    return IMAGE


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def driver(image: str) -> AsyncIterator[OneshotDriver]:
    made = OneshotDriver(slots=2, images=(image,))
    await made.start()
    yield made
    await made.close()
    assert containers(made) == []


@pytest.mark.parametrize("name", BOMBS)
async def test_a_bomb_ends_in_its_status_and_nothing_is_left(
    driver: OneshotDriver, name: str
) -> None:
    limits, status = BOMBS[name]
    (seen,) = await run(driver, hostile(name, **limits))
    assert seen.status is status, seen
    assert containers(driver) == []


async def test_bombs_leave_nothing_for_the_job_s_next_run(driver: OneshotDriver) -> None:
    source = """
import os, sys, time
if input() == "leave":
    if os.fork() == 0:
        os.setsid()
        time.sleep(60)
else:
    print([pid for pid in os.listdir("/proc") if pid.isdigit() and int(pid) not in (1, os.getpid())])
"""
    seen = await run(driver, python(source, Run(stdin=b"leave\n"), Run(stdin=b"look\n")))
    assert [one.status for one in seen] == [Status.EXITED, Status.EXITED]
    assert seen[1].stdout == b"[]\n"


async def test_no_system_call_leads_out(driver: OneshotDriver) -> None:
    (seen,) = await run(driver, hostile("system_calls"))
    assert seen.stdout == b"[]\n", seen


async def test_the_launcher_cannot_be_looked_into(driver: OneshotDriver) -> None:
    source = """
import os
for path in ("/proc/1/environ", "/proc/1/mem", "/proc/1/fd/0", "/opt/rewarden/sandbox/__init__.py"):
    try:
        print(path, os.open(path, os.O_RDONLY))
    except OSError as error:
        pass
try:
    os.kill(1, 9)
    print("killed")
except OSError:
    pass
print(os.getuid() != 0, sorted(os.listdir("/proc/self/fd")))
"""
    (seen,) = await run(driver, python(source))
    assert seen.stdout == b"True ['0', '1', '2', '3']\n", seen  # the last is the listing's own


async def test_eight_mebibytes_go_in_and_come_out_unchanged(driver: OneshotDriver) -> None:
    stdin = bytes(range(256)) * (32 * 1024)
    source = "import sys; sys.stdout.buffer.write(sys.stdin.buffer.read())"
    (seen,) = await run(driver, python(source, Run(stdin=stdin)))
    assert (seen.status, seen.stdout == stdin) == (Status.EXITED, True)


async def test_functions_are_called(driver: OneshotDriver) -> None:
    calls = tuple(Call(entry_point="f", args=(x,)) for x in (5, 0, 1))
    (seen,) = await run(driver, python("def f(x):\n    return 10 // x", Run(calls=calls)))
    assert [(one.value, one.exception) for one in seen.returned] == [
        (2, None),
        (None, "ZeroDivisionError"),
    ]
    (seen,) = await run(driver, python("import os\ndef f(x): os._exit(0)", Run(calls=calls)))
    assert seen.status is Status.PROTOCOL_ERROR


async def test_bash_runs_and_java_is_said_to_be_missing(driver: OneshotDriver) -> None:
    job = Job(
        language="bash", source=b"read x; echo $((x + 1)) >&2; exit 4", runs=(Run(stdin=b"41\n"),)
    )
    (seen,) = await run(driver, job)
    assert (seen.exit_code, seen.stderr) == (4, b"42\n")
    cell = await driver.open(0)
    said = await cell.prepare(Job(language="java", source=b"", runs=(Run(),)))
    await cell.close()
    assert said is not None
    assert (said.status, "default-jdk-headless" in said.detail) == (Status.SANDBOX_ERROR, True)


async def test_an_abandoned_run_takes_its_container_along(driver: OneshotDriver) -> None:
    cell = await driver.open(0)
    job = python("while True: pass", cpu_seconds=30)
    await cell.prepare(job)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(cell.run(job.runs[0]), 0.3)
    await cell.close()
    assert containers(driver) == []
    await assert_right(driver)


async def test_a_container_that_is_killed_is_a_broken_cell(driver: OneshotDriver) -> None:
    cell = await driver.open(0)
    job = python("while True: pass", cpu_seconds=30)
    await cell.prepare(job)
    running = asyncio.create_task(cell.run(job.runs[0]))
    await asyncio.sleep(0.2)
    docker("kill", *containers(driver))
    with pytest.raises(CellBrokenError):
        await running
    await cell.close()
    await assert_right(driver)


async def test_jobs_of_two_slots_do_not_meet(driver: OneshotDriver) -> None:
    await asyncio.gather(assert_right(driver, 0), assert_right(driver, 1))
    assert containers(driver) == []


async def test_what_an_engine_has_not_is_said(image: str) -> None:
    with pytest.raises(DriverUnavailableError, match="among runc, runsc"):
        await OneshotDriver(slots=1, images=(image,), runtime="kata").start()
    if "runsc" not in docker("info", "--format", "{{.Runtimes}}"):
        strict = OneshotDriver(slots=1, images=(image,), runtime="runsc")
        with pytest.raises(DriverUnavailableError, match="no runtime 'runsc'"):
            await strict.start()
        await strict.close()
