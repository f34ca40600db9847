"""What a process tree uses, read from `/proc`: for machines where no control group can be made.

It measures like a `metering.Group`, and there is less in it. CPU time and memory are sampled, so a
limit is noticed up to a tick late; the time of children that were reaped by nobody (a parent that
ignores SIGCHLD) is lost between ticks. The number of processes is held by `RLIMIT_NPROC` instead.

Memory that no process maps is not seen, so the calls that make the worst of it are refused (System V
shared memory and queues, files without a name: see `assemble`). What sockets and pipes hold is the
kernel's, and stays unseen: open files times their buffers.
"""

from __future__ import annotations

import errno
import os
import struct
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sandbox.runner.metering import Limits

_TICKS: Final = os.sysconf("SC_CLK_TCK")
_PAGE: Final = os.sysconf("SC_PAGE_SIZE")
_MOST: Final = 4_096
_READ_BYTES: Final = 1 << 16
# shmget, msgget, memfd_create, memfd_secret. The numbers are ABI: they never change.
_UNSEEN: Final = {"x86_64": (29, 68, 319, 447), "aarch64": (194, 186, 279, 447)}
_LOAD_NUMBER: Final = (0x20, 0, 0, 0)
_ALLOW: Final = (0x06, 0, 0, 0x7FFF_0000)
_REFUSE: Final = (0x06, 0, 0, 0x0005_0000 | errno.ENOSYS)
_IF_EQUAL: Final = 0x15


def assemble(machine: str) -> bytes:
    """Return a filter against memory that cannot be seen; it stands beside `seccomp`'s, not alone."""
    numbers = _UNSEEN.get(machine, ())
    last = len(numbers)
    compared = [(_IF_EQUAL, last - at, 0, number) for at, number in enumerate(numbers)]
    steps = [_LOAD_NUMBER, *compared, _ALLOW, _REFUSE]
    return b"".join(struct.pack("<HBBI", *step) for step in steps)


class _Sample(NamedTuple):
    cpu_seconds: float
    resident_bytes: int


class ProcessTree:
    """A process and all that come from it, looked at from outside its process namespace."""

    def __init__(
        self, limits: Limits, disk_bytes: Callable[[], int], *, has_root: bool = True
    ) -> None:
        """`disk_bytes` says how much memory the run's disk takes.

        Without `has_root`, what is added is left out itself: it is the one who watches.
        """
        self._limits = limits
        self._disk_bytes = disk_bytes
        self._has_root = has_root
        self._roots: list[int] = []
        self._cpu_seconds = 0.0
        self._peak = 0
        self._kills = 0
        self._looking = _Thrift(1)
        self._weighing = _Thrift(4)

    def add(self, pid: int) -> None:
        """Watch a process, and all that come from it."""
        self._roots.append(pid)

    def cpu_seconds(self) -> float:
        """Return the CPU time that was ever seen; looks again, unless that would be all it does."""
        if self._looking.is_due():
            with self._looking:
                self._look()
        return self._cpu_seconds

    def _look(self) -> None:
        samples = [sample for pid in self._pids() if (sample := _look(pid))]
        # A sum that falls has lost a child that nobody reaped.
        self._cpu_seconds = max(self._cpu_seconds, sum(sample.cpu_seconds for sample in samples))
        self._measure_memory(sum(sample.resident_bytes for sample in samples))

    def _measure_memory(self, resident_bytes: int) -> None:
        disk = self._disk_bytes()
        used = resident_bytes + disk
        if used > self._limits.memory_bytes:
            # Pages that several processes share were counted once for each.
            if not self._weighing.is_due():
                return
            with self._weighing:
                used = sum(map(_proportional_bytes, self._pids())) + disk
        self._peak = max(self._peak, used)
        if used > self._limits.memory_bytes:
            self._kills = 1

    def peak_memory_bytes(self) -> int:
        """Return the most memory that was seen."""
        return self._peak

    def memory_kills(self) -> int:
        """Return 1 once more memory was seen than there may be."""
        return self._kills

    def process_limit_hits(self) -> int:
        """Return 0: nobody counts them here."""
        return 0

    def wants_cpu(self) -> bool:
        """Whether some process runs, or would if it got a CPU."""
        return any(_thread_runs(pid) for pid in self._pids())

    def change(self, limits: Limits) -> None:
        """Set other limits."""
        self._limits = limits

    def remove(self) -> None:
        """Stop watching."""
        self._roots.clear()

    def _pids(self) -> Iterator[int]:
        waiting = list(self._roots)
        for _ in range(_MOST):
            if not waiting:
                return
            pid = waiting.pop()
            if self._has_root or pid not in self._roots:
                yield pid
            with suppress(OSError):
                for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208  (names are enough)
                    children = _read(f"/proc/{pid}/task/{thread}/children")
                    waiting.extend(map(int, children.split()))


class _Thrift:
    """Something costly, not to be done again before so many times as long has passed."""

    def __init__(self, times: float) -> None:
        self._times = times
        self._begun = self._next = 0.0

    def is_due(self) -> bool:
        """Whether it may be done again."""
        return time.monotonic() >= self._next

    def __enter__(self) -> None:
        self._begun = time.monotonic()

    def __exit__(self, *_: object) -> None:
        now = time.monotonic()
        self._next = now + self._times * (now - self._begun)


def _read(path: str) -> bytes:
    """Read a small file of `/proc`; there are many of them, and only so much time."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return os.read(descriptor, _READ_BYTES)
    finally:
        os.close(descriptor)


def _look(pid: int) -> _Sample | None:
    try:
        fields = _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    except OSError:
        return None
    # utime, stime, and those of reaped children; the first field here is the third of proc(5).
    ticks = sum(map(int, fields[11:15]))
    return _Sample(ticks / _TICKS, int(fields[21]) * _PAGE)


def _thread_runs(pid: int) -> bool:
    with suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208
            if _read(f"/proc/{pid}/task/{thread}/stat").rpartition(b")")[2].split()[0] == b"R":
                return True
    return False


def _proportional_bytes(pid: int) -> int:
    with suppress(OSError):
        for line in _read(f"/proc/{pid}/smaps_rollup").splitlines():
            if line.startswith(b"Pss:"):
                return int(line.split()[1]) * 1024
    return 0
