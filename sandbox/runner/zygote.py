"""The warm interpreter that jobs are forked from; it never sees anything of a request.

`python -m sandbox.runner.zygote DESCRIPTOR USER` obeys the supervisor at the other end:

    fork + fds  fork a process into a pid namespace; it talks to the supervisor over a socket, and
                enters control groups: descriptors of the socket, the namespace, and the groups
    open + fds  put an empty disk in place for the next job, and fork
    turn + fds  take the disk away (runs that have it go on having it), open, and fork
    reap PID    wait for a process that has ended, and say how

Only these words and descriptors come in. So whatever a job finds in the memory that it inherits
from here was there before the first job.
"""

from __future__ import annotations

import gc
import importlib
import os
import socket
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

from sandbox.runner import descriptors, isolation, layout
from sandbox.runner.program import Program
from sandbox.runner.seccomp import Filter

_WARM: Final = (
    *("bisect", "collections", "copy", "datetime", "functools", "heapq", "itertools", "json"),
    *("math", "operator", "random", "re", "string", "typing"),
)
"""What solutions import most and what is small; the rest is imported by the job that wants it."""
_DISK_OPTIONS: Final = "size=128m,nr_inodes=8192,mode=0755"
_HIDDEN: Final = (
    layout.SOCKETS,
    *layout.given_groups(1),
    *layout.given_groups(3),
    layout.GROUPS,
    layout.SHM,
    "/dev/mqueue",
    "/dev/pts",
    "/proc",
    "/sys",
)
_DOCKERS_FILES: Final = ("/etc/hosts", "/etc/hostname", "/etc/resolv.conf")
_NO_FILES: Final = (
    isolation.NO_SUID | isolation.NO_DEVICES | isolation.NO_EXEC | isolation.READ_ONLY
)


def main() -> None:
    """Serve the supervisor until it hangs up."""
    supervisor = socket.socket(fileno=int(sys.argv[1]))
    # From here on this is the environment of a job.
    sys.path.remove(os.environ.pop("PYTHONPATH"))
    for name in _WARM:
        importlib.import_module(name)
    zygote = Zygote(supervisor, int(sys.argv[2]))
    zygote.hide_the_container()
    _modules = [sys.modules.pop(name) for name in list(sys.modules) if name.startswith("sandbox")]
    gc.collect()
    gc.freeze()
    with suppress(descriptors.HungUpError):
        zygote.serve()


class Zygote:
    """A process that forks, in a mount namespace that all jobs begin with."""

    def __init__(self, supervisor: socket.socket, user: int) -> None:
        self._supervisor = supervisor
        self._user = user
        self._own_pids = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
        self._filter = Filter()

    def hide_the_container(self) -> None:
        """Leave nothing in sight but the image, and give up what jobs must not have."""
        isolation.unshare(isolation.NEW_MOUNTS | isolation.NEW_IPC | isolation.NEW_UTS)
        isolation.mount(None, "/", None, isolation.RECURSIVE | isolation.PRIVATE)
        for place in (*_HIDDEN, *_DOCKERS_FILES):
            with suppress(OSError):  # not every engine mounts each
                isolation.unmount(place)
        for place in (layout.HOME, "/sys") if Path("/sys").exists() else (layout.HOME,):
            isolation.mount("none", place, "tmpfs", _NO_FILES, "size=4k,nr_inodes=2,mode=0555")
        if not Path(layout.SHM).is_symlink():
            Path(layout.SHM).rmdir()
            Path(layout.SHM).symlink_to(layout.SHM_ON_DISK)
        isolation.mount(layout.HOSTS, "/etc/hosts", None, isolation.BIND)
        isolation.empty_bounding_set()
        isolation.keep_capabilities_to_oneself()
        isolation.forbid_new_privileges()
        isolation.set_dumpable(dumpable=False)

    def serve(self) -> None:
        """Obey; `HungUpError` when the supervisor is gone."""
        while True:
            message, attached = descriptors.receive(self._supervisor)
            word, _, pid = message.partition(b" ")
            if word == b"reap":
                answer = os.waitpid(int(pid), 0)[1]
            else:
                if word == b"turn":
                    isolation.unmount(layout.DISK)
                if word != b"fork":
                    self._open_disk()
                answer = self._fork(*attached)
            descriptors.send(self._supervisor, b"%d" % answer)

    def _open_disk(self) -> None:
        flags = isolation.NO_SUID | isolation.NO_DEVICES
        options = f"{_DISK_OPTIONS},uid={self._user},gid={self._user}"
        isolation.mount("disk", layout.DISK, "tmpfs", flags, options)
        with isolation.owning_files_as(self._user):
            for place in (layout.WORK_ON_DISK, layout.SHM_ON_DISK):
                os.mkdir(place, 0o755)  # noqa: PTH102  # this is on every job's way

    def _fork(self, control: int, namespace: int, *groups: int) -> int:
        isolation.enter(namespace, isolation.NEW_PIDS)
        pid = os.fork()
        if not pid:
            self._supervisor.close()
            os.close(namespace)
            end = socket.socket(fileno=control)
            Program(end, list(groups), self._user, self._filter).live()
        isolation.enter(self._own_pids, isolation.NEW_PIDS)
        for descriptor in (control, namespace, *groups):
            os.close(descriptor)
        return pid


if __name__ == "__main__":
    main()
