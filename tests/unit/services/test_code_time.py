"""Who is at fault when the time of all tests together is used up: the program, or a busy machine."""

from __future__ import annotations

import pytest

from rewarden.contracts import Outcome
from sandbox.jobs import Job, Observation, Run
from tests.unit.services.code_puppet import (
    ADD,
    SUM,
    Observe,
    Puppet,
    check,
    function,
    really,
    stdio,
)

LIMITS = {"limits": {"total_seconds": 5}}


def taking(wall: float, cpu: float) -> Observe:
    def observe(job: Job, run: Run) -> Observation:
        times = {"wall_seconds": wall, "cpu_seconds": cpu}
        return really(job, run).model_copy(update=times)

    return observe


@pytest.mark.parametrize(
    ("wall", "cpu", "outcome"),
    [
        (1, 1, Outcome.CORRECT),
        (2, 1.9, Outcome.TIMEOUT),
        (2, 0.4, Outcome.UNDECIDED),
    ],
)
async def test_a_program_that_had_no_cpu_is_not_at_fault(
    wall: float, cpu: float, outcome: Outcome
) -> None:
    spec = stdio(("1 2", "3"), ("3 4", "7"), ("5 6", "11"), **LIMITS)
    verdict = await check(spec, f"```python\n{SUM}\n```", Puppet(taking(wall, cpu)))
    assert verdict.outcome is outcome, verdict.reason


@pytest.mark.parametrize(("cpu", "outcome"), [(5.9, Outcome.TIMEOUT), (0.4, Outcome.UNDECIDED)])
async def test_the_same_holds_for_calls(cpu: float, outcome: Outcome) -> None:
    spec = function(*(([n, 1], n + 1) for n in range(60)), **LIMITS)
    verdict = await check(spec, ADD, Puppet(taking(6, cpu)))
    assert verdict.outcome is outcome, verdict.reason
