"""Runs of a program: what it printed is compared with what each case expects."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING, Final

from sandbox.jobs import Run
from services.code.judging import judge_ending, judge_in_turn
from services.code.stdout import matches
from services.code.tally import Test

if TYPE_CHECKING:
    from sandbox.jobs import Observation
    from services.code.kinds import StdioCase, StdioTests
    from services.code.session import Session

SMALL_BYTES: Final = 65_536
"""Of output that is compared at once; more is compared in a thread, so that others can go on."""


async def run_stdio(session: Session, tests: StdioTests, *, stops: bool) -> list[Test]:
    """Judge the cases: one test each."""

    async def judge(case: StdioCase, seen: Observation) -> Test:
        return await _judge_output(tests, case, seen)

    runs = [Run(stdin=case.stdin.encode()) for case in tests.cases]
    async with aclosing(session.observe(runs)) as observations:
        return await judge_in_turn(observations, tests.cases, judge, stops=stops)


async def _judge_output(tests: StdioTests, case: StdioCase, seen: Observation) -> Test:
    result, why = judge_ending(seen)
    if result == "passed" and not await _is_right(tests, case.stdout.encode(), seen.stdout):
        result, why = "wrong", "another output was printed"
    # The verdict keeps a beginning of the output, and nobody needs the rest.
    short = seen.model_copy(update={"stdout": seen.stdout[:4_096], "stderr": seen.stderr[:4_096]})
    return Test(result, why, case.weight, case.visible, short)


async def _is_right(tests: StdioTests, expected: bytes, printed: bytes) -> bool:
    mode, tolerance = tests.comparison(expected)
    if len(expected) + len(printed) < SMALL_BYTES:
        return matches(mode, expected, printed, tolerance)
    return await asyncio.to_thread(matches, mode, expected, printed, tolerance)
