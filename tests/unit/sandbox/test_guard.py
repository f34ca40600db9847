"""When a run has used up its time, on a clock and a group that do as they are told."""

from __future__ import annotations

import pytest

from sandbox.runner import guard
from sandbox.runner.guard import Budget, Guard
from sandbox.runner.metering import Limits


class Machine:
    """A clock, and a group whose CPU time and state are set by the test."""

    def __init__(self) -> None:
        self.now = 100.0
        self.cpu = 5.0
        self.is_ready = False
        self.kills = 0

    def monotonic(self) -> float:
        return self.now

    def add(self, pid: int) -> None: ...

    def cpu_seconds(self) -> float:
        return self.cpu

    def peak_memory_bytes(self) -> int:
        return 0

    def memory_kills(self) -> int:
        return self.kills

    def process_limit_hits(self) -> int:
        return 0

    def wants_cpu(self) -> bool:
        return self.is_ready

    def change(self, limits: Limits) -> None: ...

    def remove(self) -> None: ...

    def until(self, watch: Guard, *, seconds: float, share: float) -> str:
        """Let the run have a share of a CPU for so long; return the limit that is reached."""
        end = self.now + seconds
        while self.now < end:
            step = max(watch.next_look_seconds(), 0.001)
            self.now += step
            self.cpu += step * share
            if limit := watch.look():
                return limit
        return ""


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    made = Machine()
    monkeypatch.setattr(guard, "time", made)
    return made


def test_cpu_time_is_counted_from_the_beginning_of_the_run(machine: Machine) -> None:
    watch = Guard(machine, Budget(cpu_seconds=1, wall_seconds=3))
    machine.is_ready = True
    assert machine.until(watch, seconds=0.95, share=1) == ""
    assert machine.until(watch, seconds=0.2, share=1) == "cpu"
    assert 1.0 < watch.cpu_seconds < 1.06


def test_a_sleeper_ends_at_the_wall(machine: Machine) -> None:
    watch = Guard(machine, Budget(cpu_seconds=1, wall_seconds=3))
    assert machine.until(watch, seconds=2.9, share=0) == ""
    assert machine.until(watch, seconds=0.2, share=0) == "wall"


def test_waiting_for_a_cpu_is_not_sleeping(machine: Machine) -> None:
    watch = Guard(machine, Budget(cpu_seconds=1, wall_seconds=3))
    machine.is_ready = True
    assert machine.until(watch, seconds=9.5, share=0.1) == ""
    assert machine.until(watch, seconds=1, share=0.1) == "cpu"


def test_sleeping_counts_even_between_work(machine: Machine) -> None:
    watch = Guard(machine, Budget(cpu_seconds=1, wall_seconds=3))
    assert machine.until(watch, seconds=2.9, share=0.05) == ""
    assert machine.until(watch, seconds=0.2, share=0.05) == "wall"


def test_memory_that_is_used_up_is_noticed_first(machine: Machine) -> None:
    watch = Guard(machine, Budget(cpu_seconds=1, wall_seconds=3))
    machine.kills, machine.cpu = 1, 50.0
    machine.now += 1
    assert watch.look() == "memory"


def test_a_run_that_ended_by_itself_is_judged_by_what_it_used(machine: Machine) -> None:
    watch = Guard(machine, Budget(cpu_seconds=1, wall_seconds=3))
    machine.cpu += 0.99
    assert watch.look_back() == ""
    machine.cpu += 0.02
    assert watch.look_back() == "cpu"
    machine.kills = 1
    assert watch.look_back() == "memory"
