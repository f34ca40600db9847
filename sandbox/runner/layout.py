"""Where things are inside a slot's container; the image makes the empty folders."""

from __future__ import annotations

from typing import Final

SOCKETS: Final = "/sockets"
"""Where the socket of the service is; a job does not see it."""
HOME: Final = "/opt/rewarden"
"""The supervisor and all that it imports; root's alone, and out of sight for jobs."""
GROUPS: Final = "/opt/rewarden/cgroup"
RUNNER: Final = "/opt/runner"
"""What a job's own process runs; everybody may read it."""
DISK: Final = "/tmp"  # noqa: S108  # a mount point
"""The job's own disk; in it are its working folder and its shared memory."""
WORK_ON_DISK: Final = "/tmp/work"  # noqa: S108
WORK: Final = "/work"
"""Where a job sees its working folder."""
SHM_ON_DISK: Final = "/tmp/shm"  # noqa: S108
SHM: Final = "/dev/shm"  # noqa: S108
"""A link to the folder on the disk."""
HOSTS: Final = "/opt/runner/hosts"
"""What a job reads as `/etc/hosts`: the same everywhere."""


def given_groups(count: int) -> list[str]:
    """Return where control groups are that were made outside: one of version 2, or three of 1."""
    names = ("unified",) if count == 1 else ("memory", "pids", "cpuacct")
    return [f"{GROUPS}/{name}" for name in names]
