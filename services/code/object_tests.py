"""Cases that make an object and call its methods in turn, as for a class that is to be designed."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING

from sandbox.runner import values
from services.code.equal import equal
from services.code.session import TimeUpError
from services.code.steps import Done, Life, Step, observe, reference
from services.code.tally import RESULT_OF, Result, Test

if TYPE_CHECKING:
    from services.code.kinds import FunctionCase, FunctionTests, MethodCall
    from services.code.session import Session


async def run_objects(session: Session, tests: FunctionTests, *, stops: bool) -> list[Test]:
    """Judge cases with calls: one test each."""
    found: list[Test] = []
    cases = tests.cases
    lives = [_steps(tests, case) for case in cases]
    try:
        async with aclosing(observe(session, lives)) as observed:
            async for life in observed:
                found.append(_judge(tests, cases[len(found)], life))
                if stops and found[-1].result != "passed":
                    break
    except TimeUpError:
        case = cases[len(found)]
        why = "the time of all tests together is used up"
        found.append(Test("timeout", why, case.weight, case.visible))
    rest = cases[len(found) :]
    return [*found, *(Test("not_run", "", case.weight, case.visible) for case in rest)]


def _steps(tests: FunctionTests, case: FunctionCase) -> list[Step]:
    args, kwargs = tests.typed(case)
    steps = [Step("call", None, tests.entry_point, [*args], kwargs)]
    for call in case.calls or ():
        args, kwargs = tests.typed(call)
        steps.append(Step("call", reference(0), call.method, [*args], kwargs))
    return steps


def _judge(tests: FunctionTests, case: FunctionCase, life: Life) -> Test:
    for number, done in enumerate(life.done):
        call = (case.calls or [])[number - 1] if number else None
        result, why = _judge_step(tests, call, done)
        if result != "passed":
            name = f"call {number} of {call.method}" if call else f"making {tests.entry_point}"
            return Test(result, f"{name}: {why}", case.weight, case.visible, life.observation)
    return Test("passed", "", case.weight, case.visible, life.observation)


def _judge_step(tests: FunctionTests, call: MethodCall | None, done: Done) -> tuple[Result, str]:
    if done.fault is not None:
        return RESULT_OF[done.fault], "it was not answered"
    if call is not None and call.raises is not None:
        is_right = done.exception == call.raises
        return ("passed", "") if is_right else ("wrong", f"{call.raises} was expected")
    if done.exception is not None:
        return "raised", f"{done.exception}: {done.message[:200]}"
    if call is None or not call.is_checked:
        return "passed", ""
    return _judge_value(tests, call, done)


def _judge_value(tests: FunctionTests, call: MethodCall, done: Done) -> tuple[Result, str]:
    try:
        value = values.decode(done.value)
    except values.ValueRefused as error:
        return "protocol_error", str(error)
    if equal(tests.expected(call), value, tests.rules):
        return "passed", ""
    return "wrong", "another value was returned"
