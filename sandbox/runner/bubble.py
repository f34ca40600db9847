"""A run in namespaces that bubblewrap makes: fresh for every run, and gone with it.

The job sees `/usr` and the Python in use, read-only; its own disk at `/work`, `/tmp` and `/dev/shm`;
its own `/proc`, and a `/dev` of a few devices. It has no network, no capability, and a system-call
filter. The network namespace is the slot's (`host`); all others are the run's own.

As root, no user namespace is made: the program is begun by `setpriv` as a user of the slot's own,
who owns nothing on the host. As anybody else, a user namespace makes it the user 65534 inside; to
the host it is the user who runs the service, of whose files none can be reached from there.

Namespaces are made before there is anything to run in them: bubblewrap waits, when all is made, until
it is told to go on (`--block-fd`), and then a shell reads the one command that it is to become. By
then the process has its limits. If bubblewrap never takes that word, it
has failed.
"""

from __future__ import annotations

import json
import os
import resource
import select
import shlex
import signal
import socket
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final, NamedTuple

from sandbox.runner import isolation, procfs
from sandbox.runner.watch import Ending

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sandbox.runner.watch import Order

INSIDE_USER: Final = 65_534
CALLS: Final = 3
"""The descriptor on which a program that is called finds its socket."""
FIRST_OWN: Final = 16
"""Descriptors below it are kept free: children get theirs under fixed numbers."""
_INPUT, _INFO, _BLOCK, _FILTER, _OPTIONS, _SECOND_FILTER = range(4, 10)
_SAVED: Final = _SECOND_FILTER
"""Free again when the shell begins."""
INIT_PROCESSES: Final = 1
"""bubblewrap's own in the namespace."""
_SIGNALS: Final = (signal.SIGPIPE, signal.SIGXFSZ)
_LAST_CODE: Final = 128
_OPEN_FILES: Final = 1_024
_STACK_BYTES: Final = 256 * 1024 * 1024
_LOCKED_BYTES: Final = 64 * 1024
_BACKSTOP_SECONDS: Final = 2
_MORE_THAN_THE_DISK: Final = 1024 * 1024
"""A full disk is told as a full disk, and not by a signal."""
_NICE: Final = 10
"""Where limits are kept by looking, whoever looks must get a CPU before those looked at."""


class Bubblewrap(NamedTuple):
    """How it is called; the same for every run of a slot."""

    program: str
    setpriv: str
    user: int | None
    """As whom the program runs, where the service is root; None for a user namespace."""
    root: str
    devices: str
    """The parts of the file system that every job sees, see `scenery`."""
    system_calls: bytes
    """The filter's program."""
    environment: dict[str, str]
    disk: str

    def command(self) -> list[str]:
        """Return the command line. The job can read it, so it names nothing of the host."""
        command = ["bwrap", "--args", str(_OPTIONS), "--"]
        if self.user is not None:
            command += [
                *(self.setpriv, f"--reuid={self.user}", f"--regid={self.user}", "--clear-groups"),
                *("--inh-caps=-all", "--ambient-caps=-all", "--bounding-set=-all"),
                *("--no-new-privs", "--"),
            ]
        return [*command, "/bin/sh"]

    def options(self) -> bytes:
        """Return what bubblewrap reads from a descriptor."""
        options = [
            *("--unshare-ipc", "--unshare-pid", "--unshare-uts"),
            *("--unshare-cgroup-try", "--hostname", "sandbox", "--die-with-parent"),
            *("--new-session", "--cap-drop", "ALL", *self._identity()),
            *("--ro-bind", self.root, "/", "--proc", "/proc"),
            *("--dev-bind", self.devices, "/dev"),
            *("--bind", f"{self.disk}/shm", "/dev/shm"),  # noqa: S108  # the job's own
            *("--bind", f"{self.disk}/tmp", "/tmp"),  # noqa: S108
            *("--bind", f"{self.disk}/work", "/work", "--chdir", "/work"),
            *("--remount-ro", "/dev"),
            *("--info-fd", str(_INFO), "--block-fd", str(_BLOCK)),
            *("--add-seccomp-fd", str(_FILTER), "--add-seccomp-fd", str(_SECOND_FILTER)),
        ]
        return b"".join(option.encode() + b"\0" for option in options)

    def _identity(self) -> tuple[str, ...]:
        if self.user is None:
            user = str(INSIDE_USER)
            # The job could reach into a process 1 of bubblewrap's, which has the same user and no
            # filter; the shell in its place has one.
            return ("--unshare-user", "--uid", user, "--gid", user, "--as-pid-1")
        # What setpriv needs to become the user, and gives up in doing so.
        rights = ("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP")
        return tuple(word for right in rights for word in ("--cap-add", right))


class Bubble:
    """One run's namespaces, with nothing in them until it is released."""

    def __init__(self, bubblewrap: Bubblewrap) -> None:
        """Begin to make them. `OSError` if bubblewrap cannot be executed."""
        self._is_first = bubblewrap.user is None
        with _owning_files_as(bubblewrap.user):  # so that /dev/stdin can be opened
            (script_in, self._script), (given_in, feed) = os.pipe(), os.pipe()
            (out, given_out), (err, given_err) = os.pipe(), os.pipe()
        self._information, info = os.pipe()
        self._unread, self._go = os.pipe()
        self.streams = (feed, out, err)
        self.calls, theirs = socket.socketpair()
        given = [script_in, given_out, given_err, theirs.detach(), given_in, info]
        given += [os.dup(self._unread), _file(bubblewrap.system_calls)]
        given.append(_file(bubblewrap.options()))
        given.append(_file(procfs.assemble(os.uname().machine)))
        self._outer = os.posix_spawn(
            bubblewrap.program,
            bubblewrap.command(),
            bubblewrap.environment,
            file_actions=[(os.POSIX_SPAWN_DUP2, end, number) for number, end in enumerate(given)],
            setsigdef=_SIGNALS,
        )
        self.watch = os.pidfd_open(self._outer)
        for descriptor in given:
            os.close(descriptor)
        self.first = self._hear_first()
        self._first_watch = -1 if self.first is None else os.pidfd_open(self.first)

    def release(self, order: Order) -> None:
        """Limit the namespace's first process, and let the program begin."""
        if not order.is_called:
            self.calls.close()
        with suppress(BrokenPipeError):  # it ended; `finish` tells
            os.write(self._script, _script(order, is_first=self._is_first))
        os.close(self._script)
        self._script = -1
        if self.first is None:
            return
        with suppress(ProcessLookupError):
            os.setpriority(os.PRIO_PROCESS, self.first, _NICE)
            for kind, value in _resource_limits(order):
                resource.prlimit(self.first, kind, value)
        os.write(self._go, b"+")

    def discard(self) -> None:
        """End namespaces that nothing was run in."""
        self.kill()
        self.finish()
        for descriptor in self.streams:
            os.close(descriptor)
        self.calls.close()

    def _hear_first(self) -> int | None:
        said = b""
        while data := os.read(self._information, 4_096):
            said += data
        os.close(self._information)
        with suppress(ValueError):
            return int(json.loads(said)["child-pid"])
        return None

    def kill(self) -> None:
        """Kill the namespace's first process, and the kernel kills the others with it."""
        for watch in (self._first_watch, self.watch):
            if watch >= 0:
                with suppress(ProcessLookupError):
                    signal.pidfd_send_signal(watch, signal.SIGKILL)

    def finish(self) -> Ending:
        """Kill what is left, and wait until the namespace is empty."""
        if self.watch < 0:
            return Ending(None)
        _, status, used = os.wait4(self._outer, 0)
        self.kill()
        cpu_seconds = used.ru_utime + used.ru_stime
        if self.first is not None:
            with suppress(ChildProcessError):  # bubblewrap has waited for it already
                _, _, used = os.wait4(self.first, 0)
                cpu_seconds += used.ru_utime + used.ru_stime
        fault = self._fault(status)
        own = (self.watch, self._first_watch, self._go, self._unread, self._script)
        for descriptor in own:
            if descriptor >= 0:
                os.close(descriptor)
        self.watch = self._first_watch = -1
        return Ending(_true_status(status), cpu_seconds, fault)

    def _fault(self, status: int) -> str:
        has_word, _, _ = select.select([self._unread], [], [], 0)
        if self.first is not None and not has_word:
            return ""
        code = os.waitstatus_to_exitcode(status)
        return f"bubblewrap ended with {code} before the program began"


def _script(order: Order, *, is_first: bool) -> bytes:
    """Return what the shell reads: to become the program, or, as process 1, to wait for it.

    A shell that waits tells of signals in words, which are not the program's to answer for.
    """
    program = f"{shlex.join(order.argv)} <&{_INPUT} {_INPUT}<&-"
    if not order.is_called:
        program += f" {CALLS}<&-"
    if is_first:
        program = f"(exec {program} 2>&{_SAVED} {_SAVED}>&-)"
        return f"exec {_SAVED}>&2 2>/dev/null\n{program}\nexit $?\n".encode()
    return f"exec {program}\n".encode()


@contextmanager
def _owning_files_as(user: int | None) -> Iterator[None]:
    if user is None:
        yield
    else:
        with isolation.owning_files_as(user):
            yield


def _file(content: bytes) -> int:
    """Make a file of its own for a child: one that is shared has one position for all."""
    descriptor = os.memfd_create("options")
    os.write(descriptor, content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def _true_status(status: int) -> int:
    """Undo what bubblewrap does like a shell: 128 and the signal's number, if it was one."""
    code = os.waitstatus_to_exitcode(status)
    number = code - _LAST_CODE
    return number if 0 < number < signal.NSIG else status


def _resource_limits(order: Order) -> list[tuple[int, tuple[int, int]]]:
    seconds = int(order.cpu_seconds) + _BACKSTOP_SECONDS
    limits = [
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_FSIZE, order.disk_bytes + _MORE_THAN_THE_DISK),
        (resource.RLIMIT_MEMLOCK, _LOCKED_BYTES),
        (resource.RLIMIT_MSGQUEUE, 0),
        (resource.RLIMIT_NOFILE, _OPEN_FILES),
        (resource.RLIMIT_NPROC, order.processes + INIT_PROCESSES),
        (resource.RLIMIT_STACK, _STACK_BYTES),
    ]
    return [(kind, (value, value)) for kind, value in limits]
