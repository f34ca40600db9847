"""How often a job has tried to reach the network: the kernel counts what it had no route for.

Counted are connections and datagrams to any address beyond loopback. Not counted are look-ups of
names, which end at a resolver that is not there.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path


class Network:
    """The counters of a network namespace; one job at a time is in it."""

    def __init__(self) -> None:
        self._then = _refused()

    def count(self) -> int:
        """Return the attempts since the last time."""
        then, self._then = self._then, _refused()
        return self._then - then


def _refused() -> int:
    total = 0
    with suppress(FileNotFoundError):
        for line in Path("/proc/net/snmp6").read_bytes().splitlines():
            if line.startswith(b"Ip6OutNoRoutes"):
                total = int(line.split()[1])
                break
    # The first two lines: names, and numbers.
    names, numbers, *_ = Path("/proc/net/snmp").read_bytes().split(b"\n", 2)
    return total + int(numbers.split()[names.split().index(b"OutNoRoutes")])
