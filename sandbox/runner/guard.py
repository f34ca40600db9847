"""When a run has used up what it may: CPU time decides, the wall clock only guards against sleepers.

A program that wants to run but gets no CPU, because the machine is busy, is not asleep: that time
does not count on the wall clock. So the same program ends in the same way on a busy machine.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from sandbox.runner.metering import Group

TICK_SECONDS: Final = 0.05
_SHORTEST_SECONDS: Final = 0.002
_FULL_CPU: Final = 0.9


class Budget(NamedTuple):
    """What one run may use of time."""

    cpu_seconds: float
    wall_seconds: float


class Guard:
    """Looks at a run now and then, and says what limit it has reached."""

    def __init__(self, group: Group, budget: Budget) -> None:
        self._group = group
        self._budget = budget
        self._cpus = max(1, len(os.sched_getaffinity(0)))
        self._begun = self._looked = time.monotonic()
        self._cpu_before = self._cpu_then = group.cpu_seconds()
        self._starved = 0.0
        self._due = self._begun
        self._set_due()

    @property
    def wall_seconds(self) -> float:
        """Since the run began."""
        return time.monotonic() - self._begun

    @property
    def cpu_seconds(self) -> float:
        """Used by the run's whole tree."""
        return self._group.cpu_seconds() - self._cpu_before

    def next_look_seconds(self) -> float:
        """Return when to look again: no limit can be passed by much before."""
        return max(0.0, self._due - time.monotonic())

    def _set_due(self) -> None:
        spare = self._budget.cpu_seconds - (self._cpu_then - self._cpu_before)
        self._due = self._looked + min(TICK_SECONDS, max(_SHORTEST_SECONDS, spare / self._cpus))

    def look(self) -> str:
        """Return the limit that is reached: `memory`, `cpu`, `wall`, or nothing."""
        now = time.monotonic()
        if now < self._due:
            return ""
        cpu = self._group.cpu_seconds()
        passed, used = now - self._looked, cpu - self._cpu_then
        if used < passed * _FULL_CPU and self._group.wants_cpu():
            self._starved += passed - used
        self._looked, self._cpu_then = now, cpu
        self._set_due()
        if self._group.memory_kills():
            return "memory"
        if cpu - self._cpu_before > self._budget.cpu_seconds:
            return "cpu"
        slept = now - self._begun - self._starved
        return "wall" if slept > self._budget.wall_seconds else ""

    def look_back(self) -> str:
        """Return the limit that a run which ended by itself had passed, if any."""
        if self._group.memory_kills():
            return "memory"
        return "cpu" if self.cpu_seconds > self._budget.cpu_seconds else ""
