"""What a driver is: one way to run untrusted programs apart from everything else.

`sandbox.pool` opens one `Cell` a job and closes it afterwards; a driver keeps whatever it needs
between jobs (containers, warm interpreters) to itself. A driver that cannot work here says so in
`start`, in a sentence, and is not used; it never falls back to less isolation on its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from sandbox.jobs import Job, Observation, Run


class DriverUnavailableError(RuntimeError):
    """The driver cannot work on this machine; the message says why."""


class CellBrokenError(RuntimeError):
    """A cell is gone or misbehaves: the fault is ours, and the pool replaces it."""


class Cell(Protocol):
    """A fresh place for one job, apart from every other job."""

    async def prepare(self, job: Job) -> Observation | None:
        """Write the files, and compile; the observation of compiling, if there is such a step."""
        ...

    async def run(self, run: Run) -> Observation:
        """Run once, in a fresh process. Raises `CellBrokenError`, and nothing else."""
        ...

    async def close(self) -> None:
        """End every process of the job, and remove all that it left. Never raises."""
        ...


class Driver(Protocol):
    """One way to run programs; made once, used for many jobs at a time."""

    name: str

    async def start(self) -> None:
        """Take what it needs, and try it out; raises `DriverUnavailableError`."""
        ...

    async def open(self, slot: int) -> Cell:
        """Open a cell in one of the pool's slots, for one job. Raises `CellBrokenError`."""
        ...

    async def renew(self, slot: int) -> None:
        """Replace whatever stands behind the slot, after an anomaly or many jobs."""
        ...

    async def languages(self) -> dict[str, str]:
        """Return the version of each language that there is."""
        ...

    async def close(self) -> None:
        """End everything; nothing of the driver is left."""
        ...
