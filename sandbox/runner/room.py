"""One job's place, seen by the supervisor: a disk, and the process that the next run begins with.

The zygote does the work; here its answers are waited for, and the control groups are made. The next
`Start` is made while there is nothing to do, so a run finds its namespaces, mounts and group ready.
"""

from __future__ import annotations

import os
import signal
import stat
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from sandbox.runner import descriptors, isolation

if TYPE_CHECKING:
    import socket
    from collections.abc import Sequence

    from sandbox.runner.metering import Group, Hierarchy

_PATIENCE_SECONDS: Final = 20.0
"""For steps that take milliseconds; beyond it the slot is broken."""


@dataclass(frozen=True, slots=True)
class Start:
    """A process that waits for its order to become the program of a run."""

    pid: int
    watch: int
    """A descriptor that is readable when the process has ended."""
    first: int
    """One for the first process of its pid namespace, which ends after all others in it."""
    control: socket.socket
    work: int
    """The job's working folder."""
    group: Group

    def kill(self) -> None:
        """End the run: the kernel kills the whole pid namespace with its first process."""
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.first, signal.SIGKILL)

    def release(self) -> None:
        """Let go of a run that is over."""
        self.control.close()
        for descriptor in (self.watch, self.first, self.work):
            os.close(descriptor)
        self.group.remove()


class Room:
    """The zygote's end of the slot."""

    def __init__(self, zygote: socket.socket, hierarchy: Hierarchy, user: int) -> None:
        self._zygote = zygote
        self._zygote.settimeout(_PATIENCE_SECONDS)
        self._hierarchy = hierarchy
        self._user = user
        self._made = 0
        # What is unshared for children lasts until it is entered again.
        self._own_pids = os.open("/proc/self/ns/pid", os.O_RDONLY)
        self._idlers = isolation.Idlers()
        self._next: Start | None = None
        self._used = (0, 0)
        self._is_turned = False

    def check(self) -> None:
        """Raise `HungUpError` if the zygote is gone."""
        descriptors.check(self._zygote)

    def open(self) -> None:
        """Put an empty disk in place, and make ready for a run."""
        self._make(b"open")

    def make_ready(self) -> None:
        """Fork the next run's process, unless there is one."""
        if self._next is None:
            self._make(b"fork")

    def _make(self, word: bytes) -> None:
        self._made += 1
        group = self._hierarchy.make(f"run-{self._made}")
        first, namespace = self._begin_namespace()
        ours, theirs = descriptors.pair()
        ours.settimeout(_PATIENCE_SECONDS)
        given = [theirs.detach(), namespace, *group.doors()]
        pid = int(self._ask(word, given))
        for descriptor in given:
            os.close(descriptor)
        word, attached = descriptors.receive(ours)
        if word != b"ready":
            raise RuntimeError(f"a run could not be made ready: {word.decode()}")
        self._next = Start(pid, os.pidfd_open(pid), first, ours, attached[0], group)

    def _begin_namespace(self) -> tuple[int, int]:
        """Return descriptors of a new pid namespace's first process, and of the namespace."""
        isolation.unshare(isolation.NEW_PIDS)
        first = os.pidfd_open(self._idlers.make())
        namespace = os.open("/proc/self/ns/pid_for_children", os.O_RDONLY)
        isolation.enter(self._own_pids, isolation.NEW_PIDS)
        return first, namespace

    def end(self, start: Start) -> int:
        """End all that is left of a run whose program has ended; return its wait status."""
        status = int(self._ask(b"reap %d" % start.pid))
        start.kill()
        descriptors.await_readable(start.first, _PATIENCE_SECONDS)
        return status

    def take(self) -> Start:
        """Return the process for a run; the caller releases it."""
        if self._is_turned:
            raise RuntimeError("a run was asked for after the last one")
        self.make_ready()
        start, self._next = self._next, None
        if start is None:
            raise RuntimeError("there is no process for a run")
        return start

    def write(self, files: list[tuple[str, bytes]]) -> None:
        """Write the job's files, before anything of the job has run."""
        self.make_ready()
        if self._next is None:
            raise RuntimeError("there is no folder for files")
        with isolation.owning_files_as(self._user):
            for name, content in files:
                _write(self._next.work, name, content)
        self.settle(self._next.work)

    def settle(self, work: int) -> None:
        """Count what is on the disk now as there before: a run's limits come on top."""
        self._used = _use(work)

    def disk(self, size_bytes: int, files: int) -> tuple[int, int]:
        """Return the size in bytes and inodes that leaves a run so much."""
        return self._used[0] + size_bytes, self._used[1] + files

    def turn(self) -> None:
        """Make all ready for the next job, while the last run of this one goes on.

        That run keeps its disk, which ends with it; nothing else of this job can begin any more.
        """
        self._used = (0, 0)
        self._make(b"turn")
        self._is_turned = True

    def close(self) -> None:
        """End what is left of the job, and take its disk away, unless that is done already."""
        if self._next is not None and not self._is_turned:
            start, self._next = self._next, None
            start.kill()
            descriptors.await_readable(start.watch, _PATIENCE_SECONDS)
            self.end(start)
            start.release()
        if not self._is_turned:
            self.turn()
        self._is_turned = False

    def _ask(self, word: bytes, attached: Sequence[int] = ()) -> bytes:
        descriptors.send(self._zygote, word, attached)
        return descriptors.receive(self._zygote)[0]


def _write(folder: int, name: str, content: bytes) -> None:
    *parents, last = name.split("/")
    at = os.dup(folder)
    for parent in parents:
        with suppress(FileExistsError):
            os.mkdir(parent, 0o755, dir_fd=at)
        below = os.open(parent, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=at)
        os.close(at)
        at = below
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    file = os.open(
        last, flags, stat.S_IRUSR | stat.S_IWUSR | stat.S_IRGRP | stat.S_IROTH, dir_fd=at
    )
    os.close(at)
    with os.fdopen(file, "wb") as stream:
        stream.write(content)


def _use(folder: int) -> tuple[int, int]:
    disk = os.fstatvfs(folder)
    return (disk.f_blocks - disk.f_bfree) * disk.f_frsize, disk.f_files - disk.f_ffree
