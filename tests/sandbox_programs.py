"""Jobs for the drivers' tests, and the hostile programs with the status that each must end in."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sandbox.jobs import Job, Limits, Observation, Run, Status

if TYPE_CHECKING:
    from sandbox.driver import Driver

HOSTILE: Final = Path(__file__).parent / "integration" / "hostile"
BOMBS: Final[dict[str, tuple[dict[str, Any], Status]]] = {
    "fork_bomb": ({"cpu_seconds": 0.5}, Status.TIMEOUT),
    "thread_bomb": ({"cpu_seconds": 0.5, "processes": 16}, Status.TIMEOUT),
    "memory_bomb": ({"memory_mb": 64}, Status.MEMORY_LIMIT),
    "shared_memory_bomb": ({"memory_mb": 64}, Status.MEMORY_LIMIT),
    "disk_bomb": ({"disk_mb": 16}, Status.EXITED),
    "inode_bomb": ({"files": 256}, Status.EXITED),
    "flood": ({}, Status.OUTPUT_LIMIT),
    "zombies": ({}, Status.EXITED),
    "stop_everyone": ({"cpu_seconds": 0.1}, Status.TIMEOUT),
    "daemon": ({}, Status.EXITED),
    "kill_everyone": ({}, Status.EXITED),
}
RIGHT: Final = "print(input()[::-1])"


def python(source: str, *runs: Run, **limits: Any) -> Job:
    return Job(
        language="python",
        source=source.encode(),
        runs=runs or (Run(),),
        limits=Limits(**{"cpu_seconds": 5, "memory_mb": 128, **limits}),
    )


def hostile(name: str, **limits: Any) -> Job:
    return python((HOSTILE / f"{name}.py").read_text(), **limits)


async def run(driver: Driver, job: Job, slot: int = 0) -> list[Observation]:
    """The observations of the runs; of compiling alone, where that failed."""
    cell = await driver.open(slot)
    try:
        compiled = await cell.prepare(job)
        if compiled is not None and (compiled.status, compiled.exit_code) != (Status.EXITED, 0):
            return [compiled]
        return [await cell.run(one) for one in job.runs]
    finally:
        await cell.close()


async def assert_right(driver: Driver, slot: int = 0) -> None:
    (seen,) = await run(driver, python(RIGHT, Run(stdin=b"drawer\n")), slot)
    assert (seen.status, seen.stdout, seen.stderr) == (Status.EXITED, b"reward\n", b""), seen


def processes_of(user: int) -> list[str]:
    """The command lines of a user's processes, without those that have ended."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            status = (process / "status").read_text()  # the folder is root's where none may look in
            if f"\nUid:\t{user}\t" in status:
                found.append((process / "cmdline").read_text())
    return [line for line in found if line]
