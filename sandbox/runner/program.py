"""The process that becomes the program of a run: it makes what the program sees, waits, and begins.

It is forked from the zygote into a pid namespace whose first process sleeps (`isolation.Idlers`).
It waits for its one order (descriptors, of which the first holds the plan), so most of its work is
done before there is a job. What it reads from the plan is in no other job's memory.
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
_DISK_FLAGS: Final = isolation.REMOUNT | isolation.NO_SUID | isolation.NO_DEVICES


class Program:
    """A process on its way to be a program."""

    def __init__(
        self, control: socket.socket, groups: list[int], user: int, system_calls: Filter
    ) -> None:
        """Begin with the files by which this process enters its control `groups`."""
        self._control = control
        self._groups = groups
        self._user = user
        self._system_calls = system_calls

    def live(self) -> NoReturn:
        """Prepare, wait for the order, and be the program."""
        try:
            self._prepare()
            plan, streams = self._await_order()
        except descriptors.HungUpError:
            os._exit(0)
        except BaseException as error:  # noqa: BLE001  # the edge of this process
            with suppress(OSError, descriptors.HungUpError):
                descriptors.send(self._control, f"fault {error!r}".encode()[:200])
            os._exit(0)
        self._run(plan, streams)

    def _prepare(self) -> None:
        for group in self._groups:
            os.write(group, b"0")  # whoever writes it
            os.close(group)
        isolation.unshare(isolation.NEW_MOUNTS | isolation.NEW_IPC | isolation.NEW_UTS)
        isolation.mount(layout.WORK_ON_DISK, layout.WORK, None, isolation.BIND)
        isolation.mount("proc", "/proc", "proc", _PROC_FLAGS, "hidepid=2")
        _write("/proc/self/oom_score_adj", _FIRST_TO_GO)
        work = os.open(layout.WORK, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        descriptors.send(self._control, b"ready", [work])
        os.close(work)
        os.setsid()
        os.umask(0o022)

    def _await_order(self) -> tuple[dict[str, Any], list[int]]:
        _, (plan_file, *streams) = descriptors.receive(self._control)
        plan = marshal.loads(os.pread(plan_file, os.fstat(plan_file).st_size, 0))  # noqa: S302  # ours
        os.close(plan_file)
        options = f"size={plan['disk_bytes']},nr_inodes={plan['files']}"
        isolation.mount(None, layout.DISK, None, _DISK_FLAGS, options)
        self._system_calls.put_on()
        return plan, streams

    def _run(self, plan: dict[str, Any], streams: list[int]) -> NoReturn:
        try:
            self._control.close()
            for number, stream in enumerate(streams):
                os.dup2(stream, number)
            isolation.close_descriptors(len(streams))
            isolation.become(self._user)
            os.chdir(layout.WORK)
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


def _execute(argv: list[str], environment: dict[str, str]) -> None:
    # Python ignores these two, and what is ignored stays so in what is executed.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    try:
        os.execvpe(argv[0], argv, environment)  # noqa: S606  # what a sandbox is for
    except (OSError, ValueError) as error:
        sys.stderr.write(f"cannot execute {argv[0]}: {error}\n")
        sys.stderr.flush()
