"""How often a job has tried to reach the network: the kernel counts what it had no route for.

Counted are connections and datagrams to any address beyond loopback. Not counted are look-ups of
names, which end at a resolver that is not there.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Final

_MOST_BYTES: Final = 1 << 14
"""More than the kernel writes there: about 1 KiB for version 4 and 5 KiB for version 6."""


class Network:
    """The counters of a network namespace; one job at a time is in it."""

    def __init__(self) -> None:
        self._version_4 = os.open("/proc/net/snmp", os.O_RDONLY | os.O_CLOEXEC)
        self._version_6 = -1
        with suppress(FileNotFoundError):
            self._version_6 = os.open("/proc/net/snmp6", os.O_RDONLY | os.O_CLOEXEC)
        self._then = self._refused()

    def count(self) -> int:
        """Return the attempts since the last time."""
        then, self._then = self._then, self._refused()
        return self._then - then

    def _refused(self) -> int:
        # The first two lines: names, and numbers.
        names, numbers, _ = os.pread(self._version_4, _MOST_BYTES, 0).split(b"\n", 2)
        total = int(numbers.split()[names.split().index(b"OutNoRoutes")])
        if self._version_6 >= 0:
            found = os.pread(self._version_6, _MOST_BYTES, 0).partition(b"\nIp6OutNoRoutes")[2]
            total += int(found.partition(b"\n")[0] or 0)
        return total
