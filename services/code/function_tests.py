"""Calls of a function: what came back is compared with what each case expects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sandbox.jobs import Call
from services.code.calls import Calls, Seen
from services.code.judging import judge_value
from services.code.tally import RESULT_OF, Test

if TYPE_CHECKING:
    from sandbox.jobs import Returned
    from services.code.judging import Finding
    from services.code.kinds import FunctionCase, FunctionTests
    from services.code.session import Session


async def run_function(session: Session, tests: FunctionTests, *, stops: bool) -> list[Test]:
    """Judge the cases: one test each."""
    judged: dict[int, Test] = {}

    def is_wrong(number: int, seen: Seen) -> bool:
        judged[number] = _judge_call(tests, tests.cases[number], seen)
        return stops and judged[number].result != "passed"

    asked = [_call(tests, case) for case in tests.cases]
    calls = Calls(session, asked, is_wrong)
    seen = await calls.make(lambda number: tests.cases[number].raises is not None)
    return [
        judged[n] if n in judged else _judge_call(tests, case, seen[n])
        for n, case in enumerate(tests.cases)
    ]


def _judge_call(tests: FunctionTests, case: FunctionCase, seen: Seen) -> Test:
    result, why = (
        RESULT_OF[seen.status],
        seen.observation.detail.removesuffix(".") if seen.observation else "",
    )
    if seen.returned is not None:
        result, why = _judge_returned(tests, case, seen.returned)
    return Test(result, why, case.weight, case.visible, seen.observation)


def _judge_returned(tests: FunctionTests, case: FunctionCase, returned: Returned) -> Finding:
    raised = returned.exception
    if case.raises is not None:
        is_right = raised == case.raises
        return ("passed", "") if is_right else ("wrong", f"{case.raises} was expected")
    if raised is not None:
        return "raised", f"{raised}: {returned.message[:200]}"
    return judge_value(tests.expected(case), returned.value, tests.rules)


def _call(tests: FunctionTests, case: FunctionCase) -> Call:
    args, kwargs = tests.typed(case)
    return Call(entry_point=tests.entry_point, args=args, kwargs=kwargs)
