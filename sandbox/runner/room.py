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

    from sandbox.runner.metering import Group, Hierarchy

_PATIENCE_SECONDS: Final = 20.0
"""For steps that take milliseconds; beyond it the slot is broken."""


@dataclass(frozen=True, slots=True)
class Start:
    """The first process of a run, waiting for its order."""

    watch: int
    """A descriptor that is readable when the process and all below it are gone."""
    control: socket.socket
    work: int
    """The job's working folder."""
    group: Group

    def kill(self) -> None:
        """End the run: the kernel kills the whole pid namespace with its first process."""
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.watch, signal.SIGKILL)

    def release(self) -> None:
        """Let go of a run that is over."""
        self.control.close()
        os.close(self.watch)
        os.close(self.work)
        self.group.remove()


class Room:
    """The zygote's end of the slot."""

    def __init__(self, zygote: socket.socket, hierarchy: Hierarchy, user: int) -> None:
        self._zygote = zygote
        self._zygote.settimeout(_PATIENCE_SECONDS)
        self._hierarchy = hierarchy
        self._user = user
        self._made = 0
        self._next: Start | None = None
        self._used = (0, 0)
        self._is_turned = False

    def check(self) -> None:
        """Raise `HungUpError` if the zygote is gone."""
        descriptors.check(self._zygote)

    def open(self) -> None:
        """Put an empty disk in place, and make ready for a run."""
        self._ask(b"open")
        self.make_ready()

    def make_ready(self) -> None:
        """Fork the next run's first process, unless there is one."""
        if self._next is not None:
            return
        ours, theirs = descriptors.pair()
        ours.settimeout(_PATIENCE_SECONDS)
        pid = int(self._ask(b"fork", theirs))
        theirs.close()
        word, attached = descriptors.receive(ours)
        if word != b"ready":
            raise RuntimeError(f"a run could not be made ready: {word.decode()}")
        self._made += 1
        group = self._hierarchy.make(f"run-{self._made}")
        group.add(pid)
        self._next = Start(os.pidfd_open(pid), ours, attached[0], group)

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
        self._ask(b"close")
        self._used = (0, 0)
        self.open()
        self._is_turned = True

    def close(self) -> None:
        """End what is left of the job, and take its disk away, unless that is done already."""
        if self._next is not None and not self._is_turned:
            start, self._next = self._next, None
            start.kill()
            descriptors.await_readable(start.watch, _PATIENCE_SECONDS)
            start.release()
        if not self._is_turned:
            self.turn()
        self._is_turned = False

    def _ask(self, word: bytes, attached: socket.socket | None = None) -> bytes:
        files = [] if attached is None else [attached.fileno()]
        descriptors.send(self._zygote, word, files)
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
