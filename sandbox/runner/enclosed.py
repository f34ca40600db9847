"""Becomes a slot on the host: `python -m sandbox.runner.enclosed PLACE SOCKET`.

It goes into control groups of the slot's own and into a network and a view of the host of its own,
and then becomes bubblewrap, which makes every other namespace and begins the supervisor there. From
then on a slot on the host is like one in a container: the same supervisor, with the same few
capabilities, makes fresh namespaces for every run.

Only for root: the supervisor and its jobs have to be different users. `PLACE` says as JSON what
`Enclosure` holds; the socket is a descriptor.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from pathlib import Path
from typing import Any, Final, NamedTuple, NoReturn

from sandbox.runner import host, isolation, layout, metering, scenery

CAPABILITIES: Final = ("SYS_ADMIN", "SETUID", "SETGID", "KILL", "SETPCAP")
"""What the supervisor needs to make namespaces and become a job's user; jobs have none."""
_MEMORY_BYTES: Final = 9 * 1024**3
_PROCESSES: Final = 1_024
"""Of a whole slot: above the most that a job may ask for, as each run has limits of its own."""
_STACK_BYTES: Final = 256 * 1024**2
_OPEN_FILES: Final = 4_096
_SUPERVISOR: Final = ("python3", "-P", "-s", "-m", "sandbox.runner.supervisor")
_INNER: Final = "supervisor"


class Enclosure(NamedTuple):
    """A slot on the host."""

    program: str
    """bubblewrap."""
    folder: str
    groups: list[str]
    """Where control groups are made: one folder of version 2, or three of version 1."""
    name: str
    links: list[tuple[str, str]]
    binds: list[tuple[str, str]]
    environment: dict[str, str]
    user: int

    def command(self, groups: list[str], socket: int) -> list[str]:
        """Return the command line of bubblewrap; no job can read it.

        Process 1 is bubblewrap's own, which ends with its parent, and everything with it: the
        supervisor could not, as the kernel forgets such a wish whenever it owns files as a job.
        """
        rights = (word for right in CAPABILITIES for word in ("--cap-add", f"CAP_{right}"))
        given = zip(groups, layout.given_groups(len(groups)), strict=True)
        binds = (word for source, place in given for word in ("--bind", source, place))
        pairs = (f"{name}={value}" for name, value in self.environment.items())
        return [
            *("bwrap", "--unshare-ipc", "--unshare-pid", "--unshare-uts"),
            *("--hostname", "sandbox", "--die-with-parent", "--new-session"),
            *("--cap-drop", "ALL", *rights),
            *("--ro-bind", self.root, "/", "--proc", "/proc", "--tmpfs", layout.DISK),
            *("--dev-bind", self.devices, "/dev", "--remount-ro", "/dev", *binds, "--chdir", "/"),
            *("--", *_SUPERVISOR, str(socket), str(self.user), *pairs),
        ]

    @property
    def root(self) -> str:
        """The folder of what is seen of the host."""
        return f"{self.folder}/root"

    @property
    def devices(self) -> str:
        """The folder of what is seen as `/dev`."""
        return f"{self.folder}/dev"

    def enter_groups(self) -> list[str]:
        """Go into groups of the slot's own, and see no others; return where runs may have theirs.

        Seen from a leaf, with version 2, the kernel would let nobody go into the groups of runs.
        """
        hierarchy = metering.at([Path(folder) for folder in self.groups])
        group = hierarchy.make(self.name, metering.Limits(_MEMORY_BYTES, _PROCESSES))
        group.add(os.getpid())
        isolation.unshare(isolation.NEW_GROUPS)
        folders = [f"{folder}/{self.name}" for folder in self.groups]
        if len(folders) == 1:
            metering.delegate(Path(folders[0]), _INNER)
        return folders

    def become(self, socket: int) -> NoReturn:
        """Leave the host and become bubblewrap; `OSError` if a step fails."""
        groups = self.enter_groups()
        host.leave_the_host(alone=True)
        scenery.build(Path(self.root), self.links, self.binds)
        scenery.build_devices(Path(self.devices), shm=layout.SHM_ON_DISK)
        _limit()
        os.set_inheritable(socket, True)  # it takes no keyword
        environment = {"PATH": self.environment["PATH"], "PYTHONPATH": layout.HOME}
        os.execve(self.program, self.command(groups, socket), environment)  # noqa: S606  # ours


def _limit() -> None:
    for kind, value in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, _OPEN_FILES),
        (resource.RLIMIT_STACK, _STACK_BYTES),
    ):
        resource.setrlimit(kind, (value, value))


def main() -> None:
    """Become the slot."""
    os.umask(0o022)  # programs are another user, and have to get at what is made for them
    told: dict[str, Any] = json.loads(sys.argv[1])
    Enclosure(**told).become(int(sys.argv[2]))


if __name__ == "__main__":
    main()
