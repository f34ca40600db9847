"""The place of one slot on a host without control groups: a disk in a mount namespace of its own.

The slot also has a network namespace of its own, with nothing but loopback, for all its runs.

The disk is one tmpfs a job, with one limit of bytes and inodes for its three folders; files written
by one run are there for the job's next. It is mounted where only this process and its children see
it, so that nothing is left of it when they end, however they end.
"""

from __future__ import annotations

import base64
import ctypes
import itertools
import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sandbox.runner import isolation, metering, scenery
from sandbox.runner.bubble import INIT_PROCESSES, Bubble, Bubblewrap
from sandbox.runner.procfs import ProcessTree

if TYPE_CHECKING:
    from sandbox.runner.metering import Group
    from sandbox.runner.watch import Order

_NEW_USER: Final = 0x1000_0000
_SET_CHILD_SUBREAPER: Final = 36
_FOLDERS: Final = ("work", "tmp", "shm")
_FLAGS: Final = isolation.NO_SUID | isolation.NO_DEVICES
_BEFORE_THE_RUN: Final = metering.Limits(1 << 30, 1 << 10)
_WRITING_BYTES: Final = 256 * 1024 * 1024
_WRITING_FILES: Final = 100_000


class HostPlace:
    """Runs under bubblewrap, each in namespaces that bubblewrap makes for it.

    While one job's last run goes on, a disk and namespaces for the next job are made already.
    """

    def __init__(
        self,
        *,
        folder: str,
        system_calls: str,
        links: list[tuple[str, str]],
        binds: list[tuple[str, str]],
        bubblewrap: dict[str, Any],
    ) -> None:
        self._folder = folder
        # A host that was killed has left folders: this one must not meet them.
        self._tag = os.urandom(4).hex()
        self._numbers = itertools.count()
        self._root = Path(folder, f"root-{self._tag}")
        self._devices = Path(folder, f"dev-{self._tag}")
        self._bubblewrap = Bubblewrap(
            **bubblewrap,
            root=str(self._root),
            devices=str(self._devices),
            disk="",
            system_calls=base64.b64decode(system_calls),
        )
        leave_the_host(alone=self._bubblewrap.user is not None)
        _adopt_orphans()
        scenery.build(self._root, links, binds)
        scenery.build_devices(self._devices)
        self._spare: _Room | None = self._room()
        self._now: _Room = self._spare

    def open(self) -> None:
        """Take an empty disk."""
        self._now = self._spare or self._room()
        self._spare = None

    def _room(self) -> _Room:
        disk = Path(self._folder, f"disk-{self._tag}-{next(self._numbers)}")
        disk.mkdir()
        room = _Room(str(disk), self._bubblewrap.user)
        room.next = self._ready(room)
        return room

    def _ready(self, room: _Room) -> tuple[Bubble, Group]:
        """Make namespaces for a run that is not known yet, and watch them."""
        bubble = Bubble(self._bubblewrap._replace(disk=room.disk))
        group = ProcessTree(_BEFORE_THE_RUN, room.used_bytes)
        if bubble.first is not None:
            group.add(bubble.first)
        return bubble, group

    def write(self, files: list[tuple[str, bytes]]) -> None:
        """Write the job's files, before anything of it has run."""
        self._now.write(files)

    def settle(self) -> None:
        """Count what is on the disk now as there before: a run's limits come on top."""
        self._now.settle()

    def take(self, order: Order) -> tuple[Bubble, Group]:
        """Return namespaces and a group for a run, and give both their limits."""
        room = self._now
        bubble, group = room.next or self._ready(room)
        room.next = None
        room.resize(order.disk_bytes, order.files)
        group.change(metering.Limits(order.memory_bytes, order.processes + INIT_PROCESSES))
        return bubble, group

    def make_ready(self, *, is_followed: bool) -> None:
        """Make namespaces for the job's next run, or a disk and namespaces for the next job."""
        if is_followed:
            self._now.next = self._ready(self._now)
        elif self._spare is None:
            self._spare = self._room()

    def end(self, group: Group) -> None:
        """Remove the group of a run that is over."""
        group.remove()

    def close(self) -> None:
        """Take the disk away, with all that is on it."""
        self._now.close()

    def shut(self) -> None:
        """Take everything away, also what was made for jobs to come."""
        for room in (self._now, self._spare):
            if room is not None:
                room.close()
        for folder in (self._root, self._devices):
            isolation.unmount(str(folder))
            folder.rmdir()


class _Room:
    """One job's disk, and the namespaces that see it."""

    def __init__(self, disk: str, user: int | None) -> None:
        self.disk = disk
        self.next: tuple[Bubble, Group] | None = None
        self._user = user
        options = f"mode=0755,size={_WRITING_BYTES},nr_inodes={_WRITING_FILES}"
        isolation.mount("disk", disk, "tmpfs", _FLAGS, options)
        for name in _FOLDERS:
            folder = f"{disk}/{name}"
            os.mkdir(folder, 0o755)  # noqa: PTH102
            self._give(folder)
        self.settle()

    def close(self) -> None:
        """End what is left, and take the disk away."""
        if self.next is not None:
            (bubble, group), self.next = self.next, None
            bubble.discard()
            group.remove()
        if Path(self.disk).exists():
            isolation.unmount(self.disk)
            Path(self.disk).rmdir()

    def used_bytes(self) -> int:
        """Return what the disk takes of memory."""
        disk = os.statvfs(self.disk)
        return (disk.f_blocks - disk.f_bfree) * disk.f_frsize

    def settle(self) -> None:
        """Count what is there now as there before."""
        disk = os.statvfs(self.disk)
        self._used = (self.used_bytes(), disk.f_files - disk.f_ffree)

    def resize(self, size_bytes: int, files: int) -> None:
        """Leave room for so much more."""
        options = f"size={self._used[0] + size_bytes},nr_inodes={self._used[1] + files}"
        isolation.mount(None, self.disk, None, isolation.REMOUNT | _FLAGS, options)

    def write(self, files: list[tuple[str, bytes]]) -> None:
        """Write files below the working folder."""
        work = os.open(f"{self.disk}/work", os.O_RDONLY | os.O_DIRECTORY)
        try:
            for name, content in files:
                self._write(work, name, content)
        finally:
            os.close(work)
        self.settle()

    def _write(self, folder: int, name: str, content: bytes) -> None:
        *parents, last = name.split("/")
        at = os.dup(folder)
        for parent in parents:
            with suppress(FileExistsError):
                os.mkdir(parent, 0o755, dir_fd=at)
            below = os.open(parent, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=at)
            self._give(below)
            os.close(at)
            at = below
        mode = stat.S_IRUSR | stat.S_IWUSR | stat.S_IRGRP | stat.S_IROTH
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        with os.fdopen(os.open(last, flags, mode, dir_fd=at), "wb") as stream:
            self._give(stream.fileno())
            stream.write(content)
        os.close(at)

    def _give(self, path: str | int) -> None:
        if self._user is not None:
            os.chown(path, self._user, self._user)


def leave_the_host(*, alone: bool) -> None:
    """Go where mounts and network are the slot's own; as an ordinary user, as root of a namespace.

    A network namespace for every run would cost more than all other namespaces together.
    """
    user, group = os.getuid(), os.getgid()
    isolation.unshare(isolation.NEW_MOUNTS | isolation.NEW_NETWORK | (0 if alone else _NEW_USER))
    if not alone:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"0 {user} 1")
        Path("/proc/self/gid_map").write_text(f"0 {group} 1")
    isolation.mount(None, "/", None, isolation.RECURSIVE | isolation.PRIVATE)
    isolation.bring_up_loopback()


def _adopt_orphans() -> None:
    """Be the parent of what bubblewrap leaves behind, so as to know when it is gone."""
    ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
