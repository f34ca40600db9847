from __future__ import annotations

import random
import signal
import time
from collections.abc import Iterator
from contextlib import suppress

import pytest

from services.math.workers.budget import _UNTOUCHABLE, Budget, BudgetSpentError, _Limit


@pytest.fixture
def budget() -> Iterator[Budget]:
    before = signal.getsignal(signal.SIGPROF)
    budget = Budget()
    budget.install()
    yield budget
    assert signal.getitimer(signal.ITIMER_PROF) == (0, 0)
    signal.signal(signal.SIGPROF, before)


def spend(seconds: float) -> None:
    ends = time.process_time() + seconds
    while time.process_time() < ends:
        pass


def test_code_that_runs_away_is_stopped(budget: Budget) -> None:
    with pytest.raises(BudgetSpentError), budget.limit(0.05):
        spend(10)
    assert budget.spent


def test_code_within_its_budget_is_left_alone(budget: Budget) -> None:
    with budget.limit(5):
        spend(0.01)
    assert not budget.spent


def test_catching_exceptions_does_not_stop_it(budget: Budget) -> None:
    with pytest.raises(BudgetSpentError), budget.limit(0.02), suppress(Exception):
        spend(10)


def test_it_comes_again_when_it_was_swallowed(budget: Budget) -> None:
    def swallow(times: int) -> None:
        for _ in range(times):
            with suppress(BudgetSpentError):
                spend(10)
            swallowed.append(1)
        spend(10)

    swallowed: list[int] = []
    with pytest.raises(BudgetSpentError), budget.limit(0.02):
        swallow(3)
    assert len(swallowed) == 3


def test_it_tells_of_an_error_that_was_swallowed(budget: Budget) -> None:
    with budget.limit(0.02), suppress(BudgetSpentError):
        spend(10)
    assert budget.spent
    with budget.limit(5):
        pass
    assert not budget.spent


def test_waiting_costs_nothing(budget: Budget) -> None:
    with budget.limit(0.05):
        time.sleep(0.15)
    assert not budget.spent


def test_an_error_of_the_code_itself_passes_and_stops_the_clock(budget: Budget) -> None:
    with pytest.raises(ZeroDivisionError), budget.limit(0.02):
        raise ZeroDivisionError
    spend(0.05)
    assert not budget.spent


def test_a_late_signal_never_escapes(budget: Budget) -> None:
    """The body ends about when its time does: hit or not, what follows is not interrupted."""
    dice = random.Random(7)
    outcomes = set()
    for _ in range(150):
        try:
            with budget.limit(0.004):
                spend(0.004 + dice.uniform(-0.004, 0.008))
        except BudgetSpentError:
            outcomes.add("spent")
        else:
            outcomes.add("done")
        assert signal.getitimer(signal.ITIMER_PROF) == (0, 0)
        signal.raise_signal(signal.SIGPROF)
    spend(0.05)
    assert outcomes == {"spent", "done"}


def test_a_signal_in_the_middle_of_leaving_does_not_leave_the_clock_running(
    budget: Budget, monkeypatch: pytest.MonkeyPatch
) -> None:
    functions = (Budget.arm, Budget.disarm, _Limit.__enter__, _Limit.__exit__)
    assert {function.__code__ for function in functions} == _UNTOUCHABLE

    def disarm(real: Budget) -> None:
        signal.raise_signal(signal.SIGPROF)  # its handler sees the frame of this function
        real_disarm(real)

    real_disarm = Budget.disarm
    monkeypatch.setattr("services.math.workers.budget._UNTOUCHABLE", frozenset({disarm.__code__}))
    monkeypatch.setattr(Budget, "disarm", disarm)
    with budget.limit(5):
        pass
    assert not budget.spent
