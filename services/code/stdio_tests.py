"""Runs of a program: what it printed is compared with what each case expects."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING, Final

from sandbox.jobs import Run, Status
from services.code.session import TimeUpError
from services.code.stdout import matches
from services.code.tally import RESULT_OF, Test

if TYPE_CHECKING:
    from sandbox.jobs import Observation
    from services.code.kinds import StdioCase, StdioTests
    from services.code.session import Session

SMALL_BYTES: Final = 65_536
"""Of output that is compared at once; more is compared in a thread, so that others can go on."""


async def run_stdio(session: Session, tests: StdioTests, *, stops: bool) -> list[Test]:
    """Judge the cases: one test each."""
    found: list[Test] = []
    runs = [Run(stdin=case.stdin.encode()) for case in tests.cases]
    try:
        async with aclosing(session.observe(runs)) as observations:
            async for seen in observations:
                found.append(await _judge_output(tests, tests.cases[len(found)], seen))
                if stops and found[-1].result != "passed":
                    break
    except TimeUpError:
        case = tests.cases[len(found)]
        why = "the time of all tests together is used up"
        found.append(Test("timeout", why, case.weight, case.visible))
    rest = tests.cases[len(found) :]
    return [*found, *(Test("not_run", "", case.weight, case.visible) for case in rest)]


async def _judge_output(tests: StdioTests, case: StdioCase, seen: Observation) -> Test:
    result, why = RESULT_OF[seen.status], seen.detail.removesuffix(".")
    if seen.status is Status.EXITED and seen.exit_code == 0 and not seen.stdout_truncated:
        expected = case.stdout.encode()
        mode, tolerance = tests.comparison(expected)
        if len(expected) + len(seen.stdout) < SMALL_BYTES:
            is_right = matches(mode, expected, seen.stdout, tolerance)
        else:
            is_right = await asyncio.to_thread(matches, mode, expected, seen.stdout, tolerance)
        result, why = ("passed", "") if is_right else ("wrong", "another output was printed")
    elif seen.status is Status.EXITED:
        why = f"it ended with exit code {seen.exit_code}"
    # The verdict keeps a beginning of the output, and nobody needs the rest.
    short = seen.model_copy(update={"stdout": seen.stdout[:4_096], "stderr": seen.stderr[:4_096]})
    return Test(result, why, case.weight, case.visible, short)
