"""What a whole process tree uses: control groups of version 1 and 2.

A `Hierarchy` is a place where groups may be made; a `Group` limits, measures and lists the processes
that were put into it and all that come from them, reaped or not. Covered: version 2, version 1, and
machines that have both (there the version 1 controllers are the ones that count). Not covered:
machines where no group can be made; `mount_hierarchy` says so, and nothing else here works then.

Memory counts what is kept in tmpfs, and file pages that the group was the first to read.
"""

from __future__ import annotations

import errno
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from sandbox.runner import isolation

if TYPE_CHECKING:
    from collections.abc import Iterator

_CONTROLLERS: Final = ("memory", "pids", "cpuacct")
MOUNT_FLAGS: Final = isolation.NO_SUID | isolation.NO_DEVICES | isolation.NO_EXEC
_REMOVE_SECONDS: Final = 1.0
_FILE_BYTES: Final = 65_536
_LOOKED_AT: Final = 64
"""Threads that `Group.wants_cpu` looks at; one that is ready to run is found early."""


class MeteringUnavailableError(RuntimeError):
    """No control group can be made here; the message says why."""


class Limits(NamedTuple):
    """What a group may use."""

    memory_bytes: int
    processes: int


class Hierarchy(Protocol):
    """A place where groups may be made."""

    def make(self, name: str, limits: Limits | None = None) -> ControlGroup:
        """Make a group, without limits if none are given; `OSError` if the kernel refuses."""
        ...


class Group(Protocol):
    """The processes of one run."""

    def add(self, pid: int) -> None:
        """Put a process into the group; its future children are born there."""
        ...

    def cpu_seconds(self) -> float:
        """Return the CPU time of all that ever were in the group."""
        ...

    def peak_memory_bytes(self) -> int:
        """Return the most memory that the group ever held."""
        ...

    def memory_kills(self) -> int:
        """Return how many processes were killed because the memory was used up."""
        ...

    def process_limit_hits(self) -> int:
        """Return how often a process or thread was refused."""
        ...

    def wants_cpu(self) -> bool:
        """Whether some thread runs, or would if it got a CPU."""
        ...

    def change(self, limits: Limits) -> None:
        """Set other limits."""
        ...

    def remove(self) -> None:
        """Remove the group; `OSError` if a process is still in it after a second."""
        ...


class ControlGroup(Group, Protocol):
    """A group that the kernel keeps."""

    def doors(self) -> list[int]:
        """Open the files by which whoever writes `0` enters the group; the caller closes them.

        One thread that moves itself need not wait until no other process forks, as `add` must.
        """
        ...


class Version2:
    """Groups below a folder of the unified hierarchy, which holds no process itself."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def make(self, name: str, limits: Limits | None = None) -> ControlGroup:
        """Make a group."""
        folder = f"{self.folder}/{name}"
        os.mkdir(folder)  # noqa: PTH102  # pathlib costs more than the call
        group = _GroupOfVersion2(folder)
        if limits is not None:
            group.change(limits)
        return group


class _GroupOfVersion2:
    def __init__(self, folder: str) -> None:
        self._folder = folder

    def add(self, pid: int) -> None:
        _write(f"{self._folder}/cgroup.procs", pid)

    def doors(self) -> list[int]:
        return [os.open(f"{self._folder}/cgroup.procs", os.O_WRONLY)]

    def cpu_seconds(self) -> float:
        return _table(f"{self._folder}/cpu.stat")[b"usage_usec"] / 1e6

    def peak_memory_bytes(self) -> int:
        try:
            return _number(f"{self._folder}/memory.peak")
        except FileNotFoundError:  # before Linux 5.19
            return _number(f"{self._folder}/memory.current")

    def memory_kills(self) -> int:
        return _table(f"{self._folder}/memory.events")[b"oom_kill"]

    def process_limit_hits(self) -> int:
        return _table(f"{self._folder}/pids.events")[b"max"]

    def wants_cpu(self) -> bool:
        return _some_thread_runs(f"{self._folder}/cgroup.threads")

    def change(self, limits: Limits) -> None:
        _write(f"{self._folder}/memory.max", limits.memory_bytes)
        _write(f"{self._folder}/pids.max", limits.processes)
        _write(f"{self._folder}/memory.oom.group", 1)
        with suppress(FileNotFoundError):  # a kernel without swap
            _write(f"{self._folder}/memory.swap.max", 0)

    def remove(self) -> None:
        remove(self._folder)


class Version1:
    """Groups of the same name below a folder of each of three controllers."""

    def __init__(self, memory: Path, pids: Path, cpuacct: Path) -> None:
        self.folders = (memory, pids, cpuacct)

    def make(self, name: str, limits: Limits | None = None) -> ControlGroup:
        """Make a group in every controller's tree."""
        memory, pids, cpuacct = (f"{folder}/{name}" for folder in self.folders)
        for folder in (memory, pids, cpuacct):
            os.mkdir(folder)  # noqa: PTH102
        group = _GroupOfVersion1(memory, pids, cpuacct)
        if limits is not None:
            group.change(limits)
        return group


class _GroupOfVersion1:
    def __init__(self, memory: str, pids: str, cpuacct: str) -> None:
        self._memory, self._pids, self._cpuacct = memory, pids, cpuacct

    def add(self, pid: int) -> None:
        # `cgroup.procs` takes the whole process; each write waits for the kernel, but costs no CPU.
        for folder in (self._memory, self._pids, self._cpuacct):
            _write(f"{folder}/cgroup.procs", pid)

    def doors(self) -> list[int]:
        folders = (self._memory, self._pids, self._cpuacct)
        return [os.open(f"{folder}/tasks", os.O_WRONLY) for folder in folders]

    def cpu_seconds(self) -> float:
        return _number(f"{self._cpuacct}/cpuacct.usage") / 1e9

    def peak_memory_bytes(self) -> int:
        return _number(f"{self._memory}/memory.max_usage_in_bytes")

    def memory_kills(self) -> int:
        return _table(f"{self._memory}/memory.oom_control").get(b"oom_kill", 0)

    def process_limit_hits(self) -> int:
        return _table(f"{self._pids}/pids.events")[b"max"]

    def wants_cpu(self) -> bool:
        return _some_thread_runs(f"{self._pids}/tasks")

    def change(self, limits: Limits) -> None:
        limit = f"{self._memory}/memory.limit_in_bytes"
        with_swap = f"{self._memory}/memory.memsw.limit_in_bytes"
        counts_swap = os.access(with_swap, os.W_OK)
        try:
            _write(limit, limits.memory_bytes)
        except OSError as error:
            # The limit with swap may never be the lower one, so it is lifted first.
            if error.errno != errno.EINVAL or not counts_swap:
                raise
            _write(with_swap, -1)
            _write(limit, limits.memory_bytes)
        if counts_swap:
            _write(with_swap, limits.memory_bytes)
        _write(f"{self._pids}/pids.max", limits.processes)

    def remove(self) -> None:
        for folder in (self._memory, self._pids, self._cpuacct):
            remove(folder)


def controllers_of_version_1(cgroups: str) -> dict[str, str]:
    """Read `/proc/self/cgroup`: each version 1 controller and the set that it is mounted with."""
    found = {}
    for line in cgroups.splitlines():
        _, names, _ = line.split(":", 2)
        for name in names.split(","):
            if name and "=" not in name:
                found[name] = names
    return found


def at(folders: list[Path]) -> Hierarchy:
    """Return the groups below one folder of version 2, or three of version 1."""
    return Version2(*folders) if len(folders) == 1 else Version1(*folders)


def mount_hierarchy(folder: Path) -> Hierarchy:
    """Mount the groups of a container's own control-group namespace below an empty folder.

    `MeteringUnavailableError` where the namespace is not private or may not be written to.
    """
    cgroups = Path("/proc/self/cgroup").read_text()
    if any(line.split(":", 2)[2] != "/" for line in cgroups.splitlines()):
        raise MeteringUnavailableError("the control-group namespace is not the container's own")
    sets = controllers_of_version_1(cgroups)
    try:
        if sets.keys() >= set(_CONTROLLERS):
            return Version1(*(_mount_version_1(folder / name, sets[name]) for name in _CONTROLLERS))
        isolation.mount("cgroup2", str(folder), "cgroup2", MOUNT_FLAGS)
        return delegate(folder)
    except OSError as error:
        raise MeteringUnavailableError(f"control groups cannot be divided: {error}") from error


def _mount_version_1(folder: Path, controllers: str) -> Path:
    folder.mkdir()
    isolation.mount("cgroup", str(folder), "cgroup", MOUNT_FLAGS, controllers)
    return folder


def delegate(folder: Path, inner: str = "supervisor") -> Version2:
    """Make groups possible below one's own version 2 group, by moving its processes into a leaf.

    A group with controllers for its children may hold no process. `OSError` where the group is not
    ours to divide.
    """
    leaf = folder / inner
    leaf.mkdir(exist_ok=True)
    for pid in (folder / "cgroup.procs").read_text().split():
        with suppress(ProcessLookupError):
            _write(f"{leaf}/cgroup.procs", int(pid))
    (folder / "cgroup.subtree_control").write_text("+memory +pids")
    return Version2(folder)


def _some_thread_runs(listing: str) -> bool:
    return any(state == b"R" for state in _states(listing))


def _states(listing: str) -> Iterator[bytes]:
    for thread in _read(listing).split()[:_LOOKED_AT]:
        with suppress(OSError):  # it ended in between
            yield _read(f"/proc/{thread.decode()}/stat").rpartition(b")")[2].split()[0]


def remove(folder: str) -> None:
    """Remove an empty group; `OSError` if a process is still in it after a second."""
    deadline = time.monotonic() + _REMOVE_SECONDS
    while True:
        try:
            os.rmdir(folder)  # noqa: PTH106
        except FileNotFoundError:
            return
        except OSError as error:
            # A process leaves its group a moment after its parent has seen it end.
            if error.errno != errno.EBUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.001)
        else:
            return


def _write(file: str, value: int) -> None:
    descriptor = os.open(file, os.O_WRONLY)
    try:
        os.write(descriptor, b"%d" % value)
    finally:
        os.close(descriptor)


def _read(file: str) -> bytes:
    descriptor = os.open(file, os.O_RDONLY)
    try:
        return os.read(descriptor, _FILE_BYTES)
    finally:
        os.close(descriptor)


def _number(file: str) -> int:
    return int(_read(file))


def _table(file: str) -> dict[bytes, int]:
    words = _read(file).split()
    return {name: int(value) for name, value in zip(words[::2], words[1::2], strict=True)}
