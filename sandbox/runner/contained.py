"""Process 1 of a container that serves one job: `python -m sandbox.runner.contained USER`.

Orders come in on standard input and answers go out on standard output, so that nothing has to be
shared with the host, and a strict runtime (gVisor) needs no hole. It is root with the rights to
become another user and to kill; every run is a process of `USER` without any right, who cannot look
into this process. Before a run, and after it, every other process of the container is killed.

What is covered: runs of one job are kept apart by being killed. What is not: System V shared memory
stays until the job is over, and process numbers go on counting. Memory is limited by the container,
processes by `RLIMIT_NPROC`; peak memory is sampled. The three folders that can be written to are a
disk each, so a job has three times its disk; all of it counts as memory.
"""

from __future__ import annotations

import os
import resource
import signal
import socket
import stat
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NoReturn

from sandbox.runner import descriptors, isolation, layout, procfs, seccomp
from sandbox.runner.launch import Launcher
from sandbox.runner.metering import Limits
from sandbox.runner.watch import Ending

if TYPE_CHECKING:
    from sandbox.runner.metering import Group
    from sandbox.runner.watch import Order

FOLDERS: Final = (layout.WORK, "/tmp", "/dev/shm")  # noqa: S108  # the engine's own mounts
"""Where programs can write: a disk each, made with the container."""
_COUNTERS: Final = (
    "/sys/fs/cgroup/memory.events",
    "/sys/fs/cgroup/memory/memory.oom_control",
)
_CPU_OF_VERSION_1: Final = "/sys/fs/cgroup/cpuacct/cpuacct.usage"
_CPU_OF_VERSION_2: Final = "/sys/fs/cgroup/cpu.stat"
_CANNOT_EXECUTE: Final = 127
_FIRST_TO_GO: Final = b"1000"
_OPEN_FILES: Final = 1_024
_BACKSTOP_SECONDS: Final = 2
_MORE_THAN_THE_DISK: Final = 1024 * 1024


class Streams:
    """Standard input and output, which look like a socket."""

    def __init__(self) -> None:
        self._input, self._output = os.dup(0), os.dup(1)
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 0)
        os.dup2(null, 1)

    def recv(self, size: int, /) -> bytes:
        """Wait for bytes; none at the end."""
        return os.read(self._input, size)

    def sendall(self, data: bytes, /) -> None:
        """Send bytes."""
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self._output, rest) :]

    def fileno(self) -> int:
        """Return the descriptor of the input."""
        return self._input


class ContainedTree:
    """One run: a child of this process, and all that come from it."""

    def __init__(self, user: int, system_calls: seccomp.Filter) -> None:
        self._user = user
        self._system_calls = system_calls
        with isolation.owning_files_as(user):  # so that /dev/stdin can be opened
            (given_in, feed), (out, given_out), (err, given_err) = (os.pipe() for _ in range(3))
        self.streams = (feed, out, err)
        self.calls, theirs = socket.socketpair()
        self._given = [given_in, given_out, given_err, theirs.detach()]
        self.watch = -1
        self._main = -1

    def release(self, order: Order) -> None:
        """Let the program begin."""
        if not order.is_called:
            os.close(self._given.pop())
            self.calls.close()
        self._main = os.fork()
        if not self._main:
            self._become(order)
        for descriptor in self._given:
            os.close(descriptor)
        self.watch = os.pidfd_open(self._main)

    def _become(self, order: Order) -> NoReturn:
        try:
            os.setsid()
            with open("/proc/self/oom_score_adj", "wb", buffering=0) as file:  # noqa: PTH123
                file.write(_FIRST_TO_GO)
            for number, descriptor in enumerate(self._given):
                os.dup2(descriptor, number)
            isolation.close_descriptors(len(self._given))
            _limit(order)
            isolation.empty_bounding_set()
            isolation.become(self._user)
            isolation.forbid_new_privileges()
            self._system_calls.put_on()
            os.chdir(layout.WORK)
            os.umask(0o022)
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
            os.execvpe(order.argv[0], order.argv, order.environment)  # noqa: S606  # what it is for
        except OSError as error:
            os.write(2, f"cannot execute {order.argv[0]}: {error}\n".encode())
        finally:
            os._exit(_CANNOT_EXECUTE)

    def kill(self) -> None:
        """Kill everybody else in the container."""
        with suppress(ProcessLookupError):
            os.kill(-1, signal.SIGKILL)

    def finish(self) -> Ending:
        """Kill and wait until nobody else is left."""
        if self.watch < 0:
            return Ending(None)
        _, status, used = os.wait4(self._main, 0)
        cpu_seconds = used.ru_utime + used.ru_stime + _kill_everybody()
        os.close(self.watch)
        self.watch = -1
        return Ending(status, cpu_seconds)


class ContainerGroup(procfs.ProcessTree):
    """What the container uses, from its own counters where they can be read."""

    def __init__(self, limits: Limits) -> None:
        super().__init__(limits, _disk_bytes, has_root=False)
        self._kills_before = _out_of_memory_kills()
        self.add(os.getpid())

    def cpu_seconds(self) -> float:
        """Return the CPU time of the container, or of the processes that were seen."""
        seen = super().cpu_seconds()
        counted = _counted_cpu_seconds()
        return seen if counted is None else counted - time.process_time()

    def memory_kills(self) -> int:
        """Return how often the container or the run had no memory left."""
        return super().memory_kills() + _out_of_memory_kills() - self._kills_before


class ContainerPlace:
    """The container's writable folders."""

    def __init__(self, user: int) -> None:
        self._user = user
        self._system_calls = seccomp.Filter()

    def open(self) -> None:
        """Do nothing: the container was made for the job."""

    def write(self, files: list[tuple[str, bytes]]) -> None:
        """Write the job's files."""
        work = os.open(layout.WORK, os.O_RDONLY | os.O_DIRECTORY)
        with isolation.owning_files_as(self._user):
            for name, content in files:
                _write(work, name, content)
        os.close(work)

    def take(self, order: Order) -> tuple[ContainedTree, ContainerGroup]:
        """Make a run's pipes; nobody else is there."""
        _kill_everybody()
        limits = Limits(order.memory_bytes, order.processes)
        return ContainedTree(self._user, self._system_calls), ContainerGroup(limits)

    def make_ready(self, *, is_followed: bool) -> None:
        """Do nothing: there is nothing to make."""

    def settle(self) -> None:
        """Do nothing: the folders have the size that compiling needs."""

    def end(self, group: Group) -> None:
        """Forget what was measured."""
        group.remove()

    def close(self) -> None:
        """Kill everybody else; the engine removes the rest with the container."""
        _kill_everybody()


def _kill_everybody() -> float:
    """Kill every process but this one until none is left; the CPU time of those that were."""
    seconds = 0.0
    while True:
        with suppress(ProcessLookupError):
            os.kill(-1, signal.SIGKILL)
        try:
            _, _, used = os.wait4(-1, 0)
        except ChildProcessError:
            return seconds
        seconds += used.ru_utime + used.ru_stime


def _limit(order: Order) -> None:
    for kind, value in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, int(order.cpu_seconds) + _BACKSTOP_SECONDS),
        (resource.RLIMIT_FSIZE, order.disk_bytes + _MORE_THAN_THE_DISK),
        (resource.RLIMIT_MSGQUEUE, 0),
        (resource.RLIMIT_NOFILE, _OPEN_FILES),
        (resource.RLIMIT_NPROC, order.processes),
    ):
        resource.setrlimit(kind, (value, value))


def _write(folder: int, name: str, content: bytes) -> None:
    *parents, last = name.split("/")
    at = os.dup(folder)
    for parent in parents:
        with suppress(FileExistsError):
            os.mkdir(parent, 0o755, dir_fd=at)
        below = os.open(parent, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=at)
        os.close(at)
        at = below
    mode = stat.S_IRUSR | stat.S_IWUSR | stat.S_IRGRP | stat.S_IROTH
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    with os.fdopen(os.open(last, flags, mode, dir_fd=at), "wb") as stream:
        stream.write(content)
    os.close(at)


def _disk_bytes() -> int:
    used = 0
    for folder in FOLDERS:
        disk = os.statvfs(folder)
        used += (disk.f_blocks - disk.f_bfree) * disk.f_frsize
    return used


def _out_of_memory_kills() -> int:
    for name in _COUNTERS:
        with suppress(OSError, KeyError):
            return int(_table(name)["oom_kill"])
    return 0


def _counted_cpu_seconds() -> float | None:
    with suppress(OSError, KeyError):
        return int(_table(_CPU_OF_VERSION_2)["usage_usec"]) / 1e6
    with suppress(OSError):
        return int(_text(_CPU_OF_VERSION_1)) / 1e9
    return None


def _table(name: str) -> dict[str, str]:
    return dict(line.split() for line in _text(name).splitlines())


def _text(name: str) -> str:
    with open(name) as file:  # noqa: PTH123  # read at every look
        return file.read()


def main() -> None:
    """Serve one job, then end; the container ends with this process."""
    isolation.set_dumpable(dumpable=False)
    with suppress(descriptors.HungUpError, BrokenPipeError):
        Launcher(Streams(), ContainerPlace(int(sys.argv[1]))).serve()


if __name__ == "__main__":
    main()
