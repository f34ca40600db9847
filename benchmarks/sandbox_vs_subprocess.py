"""Small Python programs in the sandbox, against programs that nothing keeps apart.

The yardstick is a bare `python3 -I -c` subprocess at the same number of clients: it is what a
verifier without a sandbox pays. Each driver that works here runs the same program through a pool in
this process, the best one also through the service and its HTTP; `docker run` starts a container a
job. All take turns in one run, and medians are shown. CPU-ms a job are of the whole machine, so
that containers and the engine are counted: run it on an idle one.

Aims, at each number of clients: slots >= 2 times the subprocess, slots without the warm interpreter
>= 0.7, bwrap >= 0.65, slots >= 25 times `docker run`; p95 at one client <= 20 ms (45 without the
warm interpreter); the service is ready in <= 5 s. bwrap has no aim where it can only sample.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import logging
import os
import shutil
import statistics
import sys
import time
from collections import defaultdict
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sandbox.choice import DRIVERS, choose, find_driver
from sandbox.client import SandboxClient
from sandbox.driver import DriverUnavailableError
from sandbox.embedded import embedded_sandbox
from sandbox.jobs import Job, Run, Status
from sandbox.pool import Pool

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from sandbox.choice import MakeDriver
    from sandbox.jobs import JobResult

PROGRAM: Final = (
    "def add(a, b):\n    return a + b\n\nassert add(2, 3) == 5\nassert add(-1, 1) == 0\n"
)
JOB: Final = Job(language="python", source=PROGRAM.encode(), runs=(Run(),))
CLIENTS: Final = (1, 2, 4)
PYTHON: Final = shutil.which("python3", path=os.defpath) or sys.executable
"""The machine's own interpreter, as one of a virtual environment starts more slowly."""
BARE: Final = "subprocess"
DOCKER_RUN: Final = "docker run"
COLD: Final = "slots, exec"
"""Slots without their warm interpreter."""
SAMPLED: Final = "bwrap, sampled"
"""bubblewrap as it is where no control groups can be made, as for an ordinary user."""


@dataclass(frozen=True)
class Turn:
    """One way at one number of clients, for some seconds."""

    seconds: float
    latencies: list[float]
    """Seconds, of each job."""
    cpu_seconds: float

    @property
    def jobs_per_second(self) -> float:
        """Jobs a second of wall time."""
        return len(self.latencies) / self.seconds


@dataclass(frozen=True)
class Aim:
    """A claim that this benchmark can refute."""

    said: str
    found: float
    limit: float
    is_most: bool = False

    def holds(self) -> bool:
        """Whether it was met in this run."""
        return self.found <= self.limit if self.is_most else self.found >= self.limit


async def run_bare() -> None:
    """Run the program as a subprocess."""
    child = await asyncio.create_subprocess_exec(
        PYTHON, "-I", "-c", PROGRAM, stdin=asyncio.subprocess.DEVNULL
    )
    if await child.wait():
        sys.exit("the program failed as a subprocess")


async def run_in_container(image: str) -> None:
    """Run the program in a container of its own."""
    command = ["docker", "run", "--rm", "--network", "none", image, "python3", "-I", "-c", PROGRAM]
    child = await asyncio.create_subprocess_exec(*command)
    if await child.wait():
        sys.exit("the program failed in a container")


async def run_pooled(run: Callable[[Job], Awaitable[JobResult]]) -> None:
    """Run the program in a sandbox, and look at what was observed."""
    result = await run(JOB)
    (seen,) = result.runs
    if (seen.status, seen.exit_code) != (Status.EXITED, 0):
        sys.exit(f"the program failed in the sandbox: {seen}")


async def take_turn(way: Callable[[], Awaitable[None]], clients: int, seconds: float) -> Turn:
    """Let some clients ask for one job after the other."""
    latencies: list[float] = []
    began, cpu = time.perf_counter(), machine_seconds()

    async def ask() -> None:
        while (start := time.perf_counter()) < began + seconds:
            await way()
            latencies.append(time.perf_counter() - start)

    await asyncio.gather(*(ask() for _ in range(clients)))
    return Turn(time.perf_counter() - began, latencies, machine_seconds() - cpu)


def machine_seconds() -> float:
    """Processor time that this machine has used so far."""
    user, nice, system, _, _, irq, softirq, *_ = map(
        int, Path("/proc/stat").read_text(encoding="ascii").splitlines()[0].split()[1:]
    )
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")


def find(name: str) -> MakeDriver:
    """Find a driver, or one without what makes it fast."""
    if name == SAMPLED:
        from sandbox.drivers.bwrap import BwrapDriver

        return partial(BwrapDriver, with_groups=False)
    if name != COLD:
        return find_driver(name)
    find_driver("slots")  # says what is missing
    from sandbox.drivers.slots import SlotsDriver, SlotsOptions

    return partial(SlotsDriver, options=SlotsOptions(is_warm=False))


@contextlib.asynccontextmanager
async def pools() -> AsyncIterator[dict[str, Pool]]:
    """Open a pool on every driver that works here."""
    opened: dict[str, Pool] = {}
    try:
        for name in (*DRIVERS, COLD, SAMPLED):
            try:
                choice = await choose([name], len(os.sched_getaffinity(0)), find)
            except DriverUnavailableError as error:
                print(f"left out: {error}")
            else:
                opened[name] = Pool(choice.driver)
        yield opened
    finally:
        for pool in opened.values():
            await pool.close()


async def docker_image() -> str | None:
    """Find an image with Python that is here already."""
    for image in ("rewarden-sandbox:full", "rewarden-sandbox:small", "python:3.11-slim-bookworm"):
        with contextlib.suppress(OSError):
            child = await asyncio.create_subprocess_exec(
                "docker", "image", "inspect", image, stdout=-3, stderr=-3
            )
            if await child.wait() == 0:
                return image
    return None


async def measure(rounds: int, seconds: float) -> tuple[dict[tuple[str, int], list[Turn]], float]:
    """Take turns; also return how long a service took to be ready."""
    found: dict[tuple[str, int], list[Turn]] = defaultdict(list)
    async with contextlib.AsyncExitStack() as stack:
        opened = await stack.enter_async_context(pools())
        ways: dict[str, Callable[[], Awaitable[None]]] = {BARE: run_bare}
        ways |= {name: partial(run_pooled, pool.run) for name, pool in opened.items()}
        start = time.perf_counter()
        best = next(iter(opened), None)
        if best:
            address = stack.enter_context(
                embedded_sandbox(["--driver", best, "--log-level", "error"])
            )
            client = await stack.enter_async_context(SandboxClient(address))
            ways[f"{best}, HTTP"] = partial(run_pooled, client.run)
        ready = time.perf_counter() - start
        if image := await docker_image():
            ways[DOCKER_RUN] = partial(run_in_container, image)
        for way in ways.values():  # what is done once is not counted
            await take_turn(way, 2, min(1.0, seconds))
        for _ in range(rounds):
            for name, way in ways.items():
                for clients in CLIENTS:
                    found[name, clients].append(await take_turn(way, clients, seconds))
    return found, ready


def speed(turns: list[Turn]) -> float:
    """Return the median of jobs a second."""
    return statistics.median(turn.jobs_per_second for turn in turns)


def milliseconds(turns: list[Turn], share: float) -> float:
    """Return a quantile of all latencies."""
    latencies = sorted(second for turn in turns for second in turn.latencies)
    return 1_000 * latencies[min(int(share * len(latencies)), len(latencies) - 1)]


def cpu_milliseconds(turns: list[Turn]) -> float:
    """Return CPU time a job."""
    return statistics.median(1_000 * turn.cpu_seconds / len(turn.latencies) for turn in turns)


def show(found: dict[tuple[str, int], list[Turn]]) -> None:
    """Print a row for each way."""
    heads = "".join(f"{f'at {n}':>9}{'ratio':>7}" for n in CLIENTS)
    print(f"{'jobs a second':16}{heads}{'p50 ms':>9}{'p95 ms':>9}{'CPU-ms':>9}")
    for name in dict.fromkeys(name for name, _ in found):
        speeds = [speed(found[name, n]) for n in CLIENTS]
        ratios = [s / speed(found[BARE, n]) for s, n in zip(speeds, CLIENTS, strict=True)]
        cells = "".join(f"{s:>9.1f}{r:>7.2f}" for s, r in zip(speeds, ratios, strict=True))
        one = found[name, 1]
        print(
            f"{name:16}{cells}{milliseconds(one, 0.5):>9.1f}{milliseconds(one, 0.95):>9.1f}"
            f"{cpu_milliseconds(found[name, 2]):>9.1f}"
        )


def aims(found: dict[tuple[str, int], list[Turn]], ready: float) -> list[Aim]:
    """Return what is claimed of the ways that were measured."""
    names = {name for name, _ in found}

    def ratio(name: str, to: str) -> float:
        """Compare at the number of clients that suits the name least."""
        return min(speed(found[name, n]) / speed(found[to, n]) for n in CLIENTS)

    made = [Aim("seconds until the service is ready", ready, 5.0, is_most=True)]
    if "slots" in names:
        p95 = milliseconds(found["slots", 1], 0.95)
        made += [
            Aim("slots to subprocess", ratio("slots", BARE), 2.0),
            Aim("slots, p95 ms at one client", p95, 20.0, is_most=True),
        ]
    if COLD in names:
        p95 = milliseconds(found[COLD, 1], 0.95)
        made += [
            Aim("slots, exec, to subprocess", ratio(COLD, BARE), 0.7),
            Aim("slots, exec, p95 ms at one client", p95, 45.0, is_most=True),
        ]
    if {"slots", DOCKER_RUN} <= names:
        made.append(Aim("slots to docker run", ratio("slots", DOCKER_RUN), 25.0))
    if "bwrap" in names:
        made.append(Aim("bwrap to subprocess", ratio("bwrap", BARE), 0.65))
    return made


def main() -> None:
    """Measure, and say which aims hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0, help="of each turn")
    options = parser.parse_args()
    logging.disable()
    found, ready = asyncio.run(measure(options.rounds, options.seconds))
    print(f"{PYTHON}, {len(os.sched_getaffinity(0))} cores, load {os.getloadavg()[0]:.1f}")
    show(found)
    for aim in aims(found, ready):
        sign = "<=" if aim.is_most else ">="
        met = "holds" if aim.holds() else "DOES NOT HOLD"
        print(f"{aim.said:36} {aim.found:8.2f}  {sign} {aim.limit:g}: {met}")


if __name__ == "__main__":
    main()
