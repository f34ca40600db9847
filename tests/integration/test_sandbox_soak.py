"""Many jobs: whatever one leaves behind, a slot in use for weeks would drown in.

Counted are processes, descriptors, mounts, control groups, folders, and memory, of everything that
lives on between jobs: this process with its pool, supervisors, zygotes, launchers. 10,000 jobs, as
marked slow, find what is lost once in a hundred times.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from sandbox.drivers.bwrap import BwrapDriver
from sandbox.drivers.containers import LABEL
from sandbox.drivers.slots import SlotsDriver, SlotsOptions
from sandbox.jobs import Call, Job, Run, Status
from sandbox.pool import Pool
from tests.requirements import missing
from tests.sandbox_programs import python

ROOT: Final = Path(__file__).parents[2]
IMAGE: Final = "rewarden-sandbox:small"
SLOTS: Final = 2
LEAVES_A_CHILD: Final = "import os, time\nif not os.fork():\n    os.setsid()\n    time.sleep(60)\n"
LEAVES_FILES: Final = "for i in range(50): open(f'/tmp/{i}', 'w').write('x' * 5000)\n"
KINDS: Final[tuple[tuple[Job, Status], ...]] = (
    (python("print(input())", Run(stdin=b"a\n"), Run(stdin=b"b\n")), Status.EXITED),
    (python("raise SystemExit(3)"), Status.EXITED),
    (python("import os; os.kill(os.getpid(), 11)"), Status.SIGNALLED),
    (python(LEAVES_A_CHILD), Status.EXITED),
    (python(LEAVES_FILES), Status.EXITED),
    (python("def f(x): return [x] * 1000", Run(calls=(Call(entry_point="f"),))), Status.EXITED),
    (python("print('x' * 10**6)", output_kb=8), Status.OUTPUT_LIMIT),
    (Job(language="bash", source=b"sleep 60 & exit 0", runs=(Run(),)), Status.EXITED),
)


class Holdings(NamedTuple):
    """What is held while nothing runs."""

    processes: int
    descriptors: int
    mounts: int
    folders: int
    kibibytes: int


class Watched(NamedTuple):
    """A pool of a real driver, and where to look for what it holds."""

    pool: Pool
    owner: str

    def holdings(self) -> Holdings:
        """Count, over this process and all that serve its jobs."""
        family = [os.getpid(), *self.servers()]
        places = [Path("/proc", str(pid)) for pid in family]
        return Holdings(
            processes=len(family),
            descriptors=sum(len(list((place / "fd").iterdir())) for place in places),
            mounts=sum(map(_mounts, places)),
            folders=sum(len(list(folder.rglob("*/"))) for folder in self._folders(family)),
            kibibytes=sum(map(_kibibytes, places)),
        )

    def servers(self) -> list[int]:
        """Find the processes beside this one: supervisors, zygotes, launchers, what waits to run."""
        if not self.owner:
            return sorted(_below(os.getpid()))
        containers = _docker("ps", "-q", "--filter", f"label={LABEL}={self.owner}").split()
        lines = (line for each in containers for line in _docker("top", each).splitlines()[1:])
        return sorted(int(line.split()[1]) for line in lines)

    def _folders(self, family: list[int]) -> Iterator[Path]:
        driver = self.pool.driver
        if isinstance(driver, BwrapDriver):
            assert driver._folder is not None
            yield from (driver._folder, *driver._groups)
        for pid in family:
            groups = Path("/proc", str(pid), "root/opt/rewarden/cgroup")
            if groups.exists():
                yield groups


def _docker(*arguments: str) -> str:
    seen = subprocess.run(["docker", *arguments], check=True, capture_output=True, text=True)
    return seen.stdout.strip()


def _below(pid: int) -> set[int]:
    found: set[int] = set()
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in map(int, (task / "children").read_text().split()):
            found |= {child} | _below(child)
    return found


def _mounts(place: Path) -> int:
    """Count mounts, but for those that the engine makes on the host for anybody's containers."""
    points = [line.split()[1] for line in (place / "mounts").read_text().splitlines()]
    return sum("/docker/" not in point for point in points)


def _kibibytes(place: Path) -> int:
    return sum(
        int(line.split()[1])
        for line in (place / "smaps_rollup").read_text().splitlines()
        if line.startswith("Pss_Anon:")
    )


@pytest.fixture(params=["bwrap", pytest.param("slots", marks=pytest.mark.docker)])
def driver(request: pytest.FixtureRequest) -> str:
    if os.geteuid() != 0:
        pytest.skip("needs root: looks into processes of containers and of other users")
    name: str = request.param
    if name == "slots":
        request.getfixturevalue("docker_engine")
        small = ["--target", "small", "-t", IMAGE, str(ROOT)]
        _docker("build", "-q", "-f", str(ROOT / "sandbox/images/Dockerfile"), *small)
    elif shutil.which("bwrap") is None:
        missing("bwrap", "no bwrap on PATH")
    return name


@asynccontextmanager
async def opened(name: str) -> AsyncIterator[Watched]:
    owner = f"test-soak-{os.getpid()}" if name == "slots" else ""
    made: SlotsDriver | BwrapDriver
    if owner:
        made = SlotsDriver(slots=SLOTS, options=SlotsOptions(owner=owner, images=(IMAGE,)))
    else:
        made = BwrapDriver(slots=SLOTS)
    await made.start()
    pool = Pool(made, slots=SLOTS, jobs_per_slot=10**6)
    try:
        yield Watched(pool, owner)
    finally:
        await pool.close()


async def work(pool: Pool, jobs: Iterable[tuple[Job, Status]]) -> None:
    for job, status in jobs:
        result = await pool.run(job)
        assert {seen.status for seen in result.runs} == {status}, result


async def settled(watched: Watched, before: Holdings, seconds: float = 10) -> Holdings:
    """Count once the kernel has taken down what ended: it does so in its own time."""
    end = asyncio.get_running_loop().time() + seconds
    after = watched.holdings()
    while _has_grown(before, after) and asyncio.get_running_loop().time() < end:
        await asyncio.sleep(0.1)
        after = watched.holdings()
    return after


def _has_grown(before: Holdings, after: Holdings) -> bool:
    return any(now > then for then, now in zip(before[:4], after[:4], strict=True))


async def soak(watched: Watched, kinds: tuple[tuple[Job, Status], ...], jobs: int) -> None:
    """Run jobs of every kind on every slot at once, and compare before and after."""
    await asyncio.gather(*(work(watched.pool, kinds * 6) for _ in range(SLOTS)))
    before = watched.holdings()
    rounds = jobs // (len(kinds) * SLOTS)
    await asyncio.gather(*(work(watched.pool, kinds * rounds) for _ in range(SLOTS)))
    after = await settled(watched, before)
    print(f"{jobs} jobs: {before} before, {after} after")  # noqa: T201  # shown by `pytest -s`
    # One descriptor more or less is a thread's that the engine's client keeps for a while.
    # What others gave back meanwhile, such as the mounts of an earlier test's containers, is fine.
    assert after.processes <= before.processes
    assert after.descriptors <= before.descriptors + 2
    assert after.mounts <= before.mounts
    assert after.folders <= before.folders
    assert after.kibibytes <= before.kibibytes + 20 * 1024


async def test_hundreds_of_jobs_of_every_kind_leave_nothing_behind(driver: str) -> None:
    async with opened(driver) as watched:
        await soak(watched, KINDS, 600)


@pytest.mark.slow
async def test_ten_thousand_jobs_leave_nothing_behind(driver: str) -> None:
    async with opened(driver) as watched:
        await soak(watched, KINDS[1:2], 10_000)


async def until_free(pool: Pool, seconds: float) -> None:
    end = asyncio.get_running_loop().time() + seconds
    while (state := pool.state()).free < SLOTS:
        assert asyncio.get_running_loop().time() < end, state
        await asyncio.sleep(0.05)


async def test_servers_that_are_killed_cost_no_job_its_observations(driver: str) -> None:
    source = "import sys, time\ntime.sleep(0.05)\nprint(sys.stdin.read())"
    async with opened(driver) as watched:
        await work(watched.pool, KINDS[:1] * 4)
        before = watched.holdings()
        jobs = [python(source, Run(stdin=b"%d" % number)) for number in range(64)]
        calls = [asyncio.create_task(watched.pool.run(job)) for job in jobs]
        for which in range(6):  # supervisors and launchers are first, zygotes and runs later
            await asyncio.sleep(0.2)
            servers = watched.servers()
            with suppress(ProcessLookupError, IndexError):
                os.kill(servers[which % len(servers)], signal.SIGKILL)
        results = await asyncio.gather(*calls)
        for job, result in zip(jobs, results, strict=True):
            (seen,) = result.runs
            if (seen.status, seen.exit_code) == (Status.EXITED, 0):
                assert seen.stdout.strip() == job.runs[0].stdin
            else:  # the program itself may have been the one that was killed
                assert seen.status in {Status.SANDBOX_ERROR, Status.SIGNALLED}
        assert sum(result.runs[0].status is Status.EXITED for result in results) >= 32
        await until_free(watched.pool, 10)
        await work(watched.pool, KINDS[:1] * 4)
        after = watched.holdings()
        assert after.processes == before.processes
        assert after.folders == before.folders
