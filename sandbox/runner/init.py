"""The first process of a run's pid namespace: it makes the namespaces, forks the program, reaps.

When it ends, the kernel ends every process of the run, however many and whatever they do. It waits
for its one order (descriptors, of which the first holds the plan), so most of its work is
done before there is a job. Forked from the zygote and gone with the run: what it reads from the plan
is in no other job's memory.
"""

from __future__ import annotations

import marshal
import os
import signal
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, NoReturn

from sandbox.runner import descriptors, interpreter, isolation, layout

if TYPE_CHECKING:
    import socket

    from sandbox.runner.seccomp import Filter

CANNOT_EXECUTE: Final = 127
_FIRST_TO_GO: Final = b"1000"
_PROC_FLAGS: Final = isolation.NO_SUID | isolation.NO_DEVICES | isolation.NO_EXEC


class Init:
    """Process 1 of one run."""

    def __init__(self, control: socket.socket, user: int, system_calls: Filter) -> None:
        self._control = control
        self._user = user
        self._system_calls = system_calls

    def live(self) -> NoReturn:
        """Prepare, run the program, tell how it ended, and end everything."""
        try:
            with suppress(descriptors.HungUpError):
                self._live()
        except BaseException as error:  # noqa: BLE001  # the edge of this process
            with suppress(OSError, descriptors.HungUpError):
                descriptors.send(self._control, f"fault {error!r}".encode()[:200])
        finally:
            os._exit(0)

    def _live(self) -> None:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        isolation.unshare(isolation.NEW_MOUNTS | isolation.NEW_IPC | isolation.NEW_UTS)
        isolation.mount(layout.WORK_ON_DISK, layout.WORK, None, isolation.BIND)
        isolation.mount("proc", "/proc", "proc", _PROC_FLAGS, "hidepid=2")
        _write("/proc/self/oom_score_adj", _FIRST_TO_GO)
        work = os.open(layout.WORK, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        descriptors.send(self._control, b"ready", [work])
        os.close(work)
        _, (plan_file, *streams) = descriptors.receive(self._control)
        plan = marshal.loads(os.pread(plan_file, os.fstat(plan_file).st_size, 0))  # noqa: S302  # ours
        os.close(plan_file)
        self._size_disk(plan["disk_bytes"], plan["files"])
        # Here and not in the program's process, where the first use of ctypes would cost more than
        # all else; this process needs no call any more that the filter refuses.
        self._system_calls.put_on()
        program = os.fork()
        if not program:
            self._control.close()
            self._run(plan, streams)
        for stream in streams:
            os.close(stream)
        descriptors.send(self._control, f"ended {_await(program)}".encode())

    def _size_disk(self, size_bytes: int, files: int) -> None:
        flags = isolation.REMOUNT | isolation.NO_SUID | isolation.NO_DEVICES
        isolation.mount(None, layout.DISK, None, flags, f"size={size_bytes},nr_inodes={files}")

    def _run(self, plan: dict[str, Any], streams: list[int]) -> NoReturn:
        try:
            os.setsid()
            for number, stream in enumerate(streams):
                os.dup2(stream, number)
            isolation.close_descriptors(len(streams))
            isolation.become(self._user)
            os.chdir(layout.WORK)
            os.umask(0o022)
            if plan["main"] is None:
                _execute(plan["argv"], plan["environment"])
            interpreter.run(
                plan["main"], plan["argv"], plan["environment"], is_called=plan["is_called"]
            )
        except BaseException as error:  # noqa: BLE001  # the edge of this process
            with suppress(OSError):
                os.write(2, f"the sandbox failed: {error!r}\n".encode())
        finally:
            os._exit(CANNOT_EXECUTE)


def _write(file: str, text: bytes) -> None:
    descriptor = os.open(file, os.O_WRONLY)
    os.write(descriptor, text)
    os.close(descriptor)


def _await(program: int) -> int:
    """Collect whatever ends, until the program does."""
    while True:
        pid, status = os.wait()
        if pid == program:
            return status


def _execute(argv: list[str], environment: dict[str, str]) -> None:
    # Python ignores these two, and what is ignored stays so in what is executed.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    try:
        os.execvpe(argv[0], argv, environment)  # noqa: S606  # what a sandbox is for
    except (OSError, ValueError) as error:
        sys.stderr.write(f"cannot execute {argv[0]}: {error}\n")
        sys.stderr.flush()
