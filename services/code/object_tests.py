"""Cases that make an object and call its methods in turn, as for a class that is to be designed."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING

from services.code.judging import judge_in_turn, judge_value
from services.code.steps import Done, Life, Step, observe, reference
from services.code.tally import RESULT_OF, Test

if TYPE_CHECKING:
    from services.code.judging import Finding
    from services.code.kinds import FunctionCase, FunctionTests, MethodCall
    from services.code.session import Session


async def run_objects(session: Session, tests: FunctionTests, *, stops: bool) -> list[Test]:
    """Judge cases with calls: one test each."""

    async def judge(case: FunctionCase, life: Life) -> Test:
        return _judge(tests, case, life)

    lives = [_steps(tests, case) for case in tests.cases]
    async with aclosing(observe(session, lives)) as observed:
        return await judge_in_turn(observed, tests.cases, judge, stops=stops)


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


def _judge_step(tests: FunctionTests, call: MethodCall | None, done: Done) -> Finding:
    if done.fault is not None:
        return RESULT_OF[done.fault], "it was not answered"
    if call is not None and call.raises is not None:
        is_right = done.exception == call.raises
        return ("passed", "") if is_right else ("wrong", f"{call.raises} was expected")
    if done.exception is not None:
        return "raised", f"{done.exception}: {done.message[:200]}"
    if call is None or not call.is_checked:
        return "passed", ""
    return judge_value(tests.expected(call), done.value, tests.rules)
