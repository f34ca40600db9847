"""The sandbox service end to end, on every driver that works here: real programs, real faults."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from collections import Counter
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import httpx
import pytest

from rewarden.errors import RewardenError
from sandbox.client import SandboxClient
from sandbox.drivers.containers import LABEL, owner_of
from sandbox.jobs import Call, Job, JobResult, Limits, Run, Status
from tests.requirements import missing
from tests.sandbox_process import (
    ROOT,
    SandboxEndedError,
    processes_with,
    running_sandbox,
    wait_until,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from sandbox.jobs import Observation

ECHO = b"import sys\nsys.stdout.buffer.write(sys.stdin.buffer.read())\n"
SLEEP = b"import subprocess, sys\nsubprocess.run(['sleep', '300' + '.' + sys.argv[1]])\n"
"""Its child's command line can be recognised from outside: it holds the run's argument."""
DOCKER = pytest.mark.docker


class Sandbox:
    """A service, and a client of it."""

    def __init__(self, client: SandboxClient, process: subprocess.Popen[str], path: Path) -> None:
        self.client = client
        self.process = process
        self.path = path

    async def run(self, source: bytes, *runs: Run, **more: Any) -> JobResult:
        job = Job(language=more.pop("language", "python"), source=source, runs=runs, **more)
        return await self.client.run(job)

    async def one(self, source: bytes, stdin: bytes = b"", **more: Any) -> Observation:
        return (await self.run(source, Run(stdin=stdin), **more)).runs[0]

    async def state(self) -> dict[str, Any]:
        transport = httpx.AsyncHTTPTransport(uds=str(self.path))
        async with httpx.AsyncClient(transport=transport, base_url="http://sandbox") as http:
            found: dict[str, Any] = (await http.get("/readyz")).json()
            return found

    async def until_all_slots_are_free(self, seconds: float = 10) -> None:
        stop = asyncio.get_running_loop().time() + seconds
        while (slots := (await self.state())["slots"])["free"] < slots["total"]:
            assert asyncio.get_running_loop().time() < stop, slots
            await asyncio.sleep(0.05)


@pytest.fixture(
    params=["bwrap", pytest.param("slots", marks=DOCKER), pytest.param("oneshot", marks=DOCKER)]
)
def driver(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    if name != "bwrap":
        request.getfixturevalue("image")
    return name


@pytest.fixture(scope="module")
def image(docker_engine: None) -> None:
    build = (
        "docker build -q -f sandbox/images/Dockerfile --target small -t rewarden-sandbox:small ."
    )
    subprocess.run(build.split(), cwd=ROOT, check=True, capture_output=True)


@asynccontextmanager
async def opened(driver: str, folder: Path) -> AsyncIterator[Sandbox]:
    path = folder / "socket"
    environment = {
        "REWARDEN_SANDBOX_SOCKETS": str(folder / "slots"),
        "REWARDEN_SANDBOX_IMAGE": "small",  # the one that was built for these tests
    }
    try:
        with running_sandbox(path, "--driver", driver, "--slots", "2", **environment) as process:
            async with SandboxClient(f"unix:{path}") as client:
                yield Sandbox(client, process, path)
    except SandboxEndedError as error:
        part = "bwrap" if driver == "bwrap" else "docker"
        missing(part, str(error))


@pytest.fixture
async def sandbox(driver: str, tmp_path: Path) -> AsyncIterator[Sandbox]:
    async with opened(driver, tmp_path) as opened_sandbox:
        yield opened_sandbox


def marker() -> str:
    return str(uuid4().int)


async def until_gone(sleeper: str, seconds: float = 5) -> None:
    await asyncio.to_thread(wait_until, lambda: not processes_with(sleeper), seconds)


async def until_there(sleeper: str) -> None:
    await asyncio.to_thread(wait_until, lambda: bool(processes_with(sleeper)), 10)


async def test_programs_are_observed(sandbox: Sandbox, driver: str) -> None:
    seen = await sandbox.run(
        b"import sys\nprint(input(), *sys.argv[1:])\nsys.exit(int(sys.argv[1]))",
        Run(stdin=b"x", argv=("0",)),
        Run(stdin=b"y", argv=("3", "z")),
    )
    assert seen.driver == driver
    assert [(o.status, o.exit_code, o.stdout) for o in seen.runs] == [
        (Status.EXITED, 0, b"x 0\n"),
        (Status.EXITED, 3, b"y 3 z\n"),
    ]
    assert (await sandbox.client.languages())["python"].startswith("Python 3.")
    assert (await sandbox.state())["driver"] == driver


async def test_functions_are_called(sandbox: Sandbox) -> None:
    calls = tuple(Call(entry_point="add", args=(i, [i])) for i in range(3))
    seen = await sandbox.run(b"def add(a, b): return [a] + b", Run(calls=calls))
    assert [r.value for r in seen.runs[0].returned] == [[i, i] for i in range(3)]


async def test_deep_values_come_back(sandbox: Sandbox) -> None:
    source = b"def f():\n  v = 1\n  for _ in range(199): v = [v]\n  return v"
    seen = await sandbox.run(source, Run(calls=(Call(entry_point="f"),)))
    value, depth = seen.runs[0].returned[0].value, 0
    while isinstance(value, list):
        value, depth = value[0], depth + 1
    assert (value, depth) == (1, 199)


async def test_8_mebibytes_go_there_and_back(sandbox: Sandbox) -> None:
    data = os.urandom(8 * 1024 * 1024)
    seen = await sandbox.one(ECHO, data)
    assert seen.stdout == data
    assert not seen.stdout_truncated


async def test_a_program_that_never_ends_is_ended_and_the_next_is_right(sandbox: Sandbox) -> None:
    spun = await sandbox.one(b"while True: pass", limits=Limits(cpu_seconds=0.5))
    assert spun.status is Status.TIMEOUT
    assert (await sandbox.one(ECHO, b"a")).stdout == b"a"


async def test_files_of_a_job_are_there_and_those_of_another_are_not(sandbox: Sandbox) -> None:
    files = {"lib/__init__.py": b"", "lib/x.py": b"WORD = 'there'"}
    seen = await sandbox.one(b"from lib.x import WORD\nopen('left', 'w')\nprint(WORD)", files=files)
    assert (seen.stdout, seen.stderr) == (b"there\n", b"")
    for _ in range(4):
        seen = await sandbox.one(b"import os\nprint(sorted(os.listdir()))")
        assert b"left" not in seen.stdout
        assert b"lib" not in seen.stdout


async def test_200_jobs_at_once_are_all_right(sandbox: Sandbox) -> None:
    results = await asyncio.gather(*(sandbox.one(ECHO, str(i).encode()) for i in range(200)))
    assert [o.stdout for o in results] == [str(i).encode() for i in range(200)]
    await sandbox.until_all_slots_are_free()


async def test_hanging_up_ends_the_program(sandbox: Sandbox) -> None:
    sleeper = marker()
    call = asyncio.create_task(sandbox.run(SLEEP, Run(argv=(sleeper,))))
    await until_there(sleeper)
    call.cancel()
    await until_gone(sleeper)
    await sandbox.until_all_slots_are_free()
    assert (await sandbox.one(ECHO, b"a")).stdout == b"a"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
async def test_nothing_outlives_the_service(
    driver: str, tmp_path: Path, number: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REWARDEN_SANDBOX_GRACE_SECONDS", "0.5")
    sleepers = [marker() for _ in range(2)]
    async with opened(driver, tmp_path) as sandbox:
        calls = [asyncio.create_task(sandbox.run(SLEEP, Run(argv=(s,)))) for s in sleepers]
        for sleeper in sleepers:
            await until_there(sleeper)
        sandbox.process.send_signal(number)
        ends = await asyncio.gather(*calls, return_exceptions=True)
    for end in ends:
        if number == signal.SIGTERM:
            assert isinstance(end, JobResult)
            assert end.runs[0].status is Status.SANDBOX_ERROR
        else:
            assert isinstance(end, RewardenError)
    for sleeper in sleepers:
        await until_gone(sleeper, 10)
    await asyncio.to_thread(wait_until, lambda: not containers(tmp_path), 10)


async def test_faults_under_load_cost_no_job_its_observations(
    sandbox: Sandbox, driver: str, tmp_path: Path
) -> None:
    source = b"import time\ntime.sleep(0.05)\n" + ECHO
    runs = [Run(stdin=str(i).encode()) for i in range(64)]
    calls = [asyncio.create_task(sandbox.run(source, run)) for run in runs]
    for _ in range(3):
        await asyncio.sleep(0.3)
        if driver == "bwrap":
            kill_everything_below(sandbox.process.pid)
        else:
            kill_containers(tmp_path)
    results = await asyncio.gather(*calls)
    for run, result in zip(runs, results, strict=True):
        (seen,) = result.runs
        if seen.status is Status.EXITED and seen.exit_code == 0:
            assert seen.stdout == run.stdin
    ends = Counter((r.runs[0].status, r.runs[0].detail) for r in results)
    assert sum(n for (status, _), n in ends.items() if status is Status.EXITED) >= 32, ends
    await sandbox.until_all_slots_are_free()
    assert (await sandbox.state())["status"] == "ok"
    after = await asyncio.gather(*(sandbox.one(ECHO, b"a") for _ in range(8)))
    assert {o.stdout for o in after} == {b"a"}


@pytest.mark.slow
async def test_thousands_of_jobs_leave_nothing_behind(sandbox: Sandbox, driver: str) -> None:
    jobs = {"slots": 10_000, "bwrap": 1_000, "oneshot": 50}[driver]

    async def work(count: int) -> None:
        for _ in range(count):
            assert (await sandbox.one(b"assert 1 + 1 == 2")).exit_code == 0

    await asyncio.gather(*(work(jobs // 40) for _ in range(4)))
    await sandbox.until_all_slots_are_free()
    before = holdings(sandbox.process.pid)
    await asyncio.gather(*(work(jobs // 4) for _ in range(4)))
    await sandbox.until_all_slots_are_free()
    after = holdings(sandbox.process.pid)
    assert after["processes"] <= before["processes"]
    assert after["mounts"] <= before["mounts"] + 2
    assert after["descriptors"] <= before["descriptors"] + 30  # connections that are kept
    assert after["kibibytes"] <= before["kibibytes"] + 20 * 1024


def holdings(pid: int) -> dict[str, int]:
    """Count what the service and its children hold."""
    family = [pid, *_below(pid)]
    fds = [len(list(Path(f"/proc/{p}/fd").iterdir())) for p in family]
    rss = [Path(f"/proc/{p}/statm").read_text().split()[1] for p in family]
    return {
        "descriptors": sum(fds),
        "processes": len(family),
        "mounts": len(Path("/proc/self/mounts").read_text().splitlines()),
        "kibibytes": sum(int(pages) for pages in rss) * os.sysconf("SC_PAGE_SIZE") // 1024,
    }


def kill_everything_below(pid: int) -> None:
    for child in _below(pid):
        try:
            os.kill(child, signal.SIGKILL)
        except ProcessLookupError:
            continue


def kill_containers(folder: Path) -> None:
    for container in containers(folder):
        subprocess.run(["docker", "kill", container], capture_output=True, check=False)


def _below(pid: int) -> list[int]:
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        children = [int(c) for task in tasks for c in (task / "children").read_text().split()]
    except OSError:
        return []
    return children + [c for child in children for c in _below(child)]


def containers(folder: Path) -> list[str]:
    """Find the containers of the sandbox in a folder, if there is an engine."""
    label = f"{LABEL}={owner_of(folder / 'slots')}"
    try:
        listed = subprocess.run(
            ["docker", "ps", "-aq", "--filter", f"label={label}"],
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError:
        return []
    return listed.stdout.split()
