"""Judges one program against the tests of its spec: what the sandbox observed, compared outside it.

Zero tests run is never a pass. A fault of the sandbox makes the whole sample a `verifier_error`. A
wrong answer is never asked for again. With `scoring: all` the first test that fails is the last.
"""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from rewarden.contracts import Outcome
from sandbox.jobs import MAX_SOURCE_BYTES, Call, Run, Status
from sandbox.runner import values
from services.code.calls import Calls, Seen
from services.code.equal import equal
from services.code.session import (
    CompileFailedError,
    Executor,
    SandboxFaultError,
    Session,
    TimeUpError,
)
from services.code.spec import AssertTests, CodeSpec, FunctionCase, FunctionTests, StdioTests
from services.code.stdout import matches
from services.code.suite.answers import Answer, read_value
from services.code.suite.values import UnsupportedError
from services.code.suites import MAX_ROUNDS, Reading, Suite
from services.code.tally import RESULT_OF, Judgement, Test, judge_compiling, judge_tests

if TYPE_CHECKING:
    from sandbox.jobs import Observation, Returned
    from services.code.spec import StdioCase
    from services.code.suite.answers import Request

MAX_SUITES_KEPT: Final = 512
SMALL_BYTES: Final = 65_536
"""Of output that is compared at once; more is compared in a thread, so that others can go on."""


class _UndecidedError(Exception):
    """The tests cannot be followed with what the solution returned."""


async def judge_program(executor: Executor, spec: CodeSpec, code: str) -> Judgement:
    """Run the program and judge what came back."""
    source = (f"{spec.setup}\n{code}" if spec.setup else code).encode("utf-8", "replace")
    if len(source) > MAX_SOURCE_BYTES:
        size = f"The program is larger than {MAX_SOURCE_BYTES:,} bytes."
        return Judgement(Outcome.REJECTED, size, 0.0, is_repeatable=True)
    session = _open(executor, spec, source)
    try:
        tests = await _run_tests(session, spec)
        found = judge_tests(tests, spec.scoring)
    except CompileFailedError as error:
        found = judge_compiling(error.observation)
    except SandboxFaultError as error:
        reason = f"The sandbox could not run the program: {error}"
        return Judgement(Outcome.VERIFIER_ERROR, reason[:500], seconds=session.wall_seconds)
    except UnsupportedError as error:
        return _cannot_follow(error, spec)
    except _UndecidedError as error:
        found = Judgement(Outcome.UNDECIDED, f"The tests could not be decided: {error}.")
    details = {"trust": "high", "driver": session.driver, **found.details}
    if session.flags:
        details["flags"] = dict(session.flags)
    return found._replace(
        details=details, seconds=session.wall_seconds, is_repeatable=session.is_repeatable
    )


def _open(executor: Executor, spec: CodeSpec, source: bytes) -> Session:
    files = {name: content.encode("utf-8", "replace") for name, content in spec.files.items()}
    limits = spec.limits
    return Session(executor, spec.language, source, files, limits.of_a_run(), limits.total_seconds)


def _cannot_follow(error: UnsupportedError, spec: CodeSpec) -> Judgement:
    reason = f"The test code cannot be followed: {error}"
    if spec.allow_low_trust:
        reason += "; running it in the solution's own process is not supported yet"
    return Judgement(Outcome.BAD_SPEC, f"{reason}.", is_repeatable=True)


async def _run_tests(session: Session, spec: CodeSpec) -> list[Test]:
    stops = spec.scoring == "all"
    match spec.tests:
        case FunctionTests():
            return await _run_function(session, spec.tests, stops=stops)
        case StdioTests():
            return await _run_stdio(session, spec.tests, stops=stops)
        case AssertTests():
            return await _run_suite(session, spec, spec.tests, stops=stops)
    raise UnsupportedError(f"tests of kind '{spec.tests.kind}' are not supported yet")


async def _run_function(session: Session, tests: FunctionTests, *, stops: bool) -> list[Test]:
    judged: dict[int, Test] = {}

    def is_wrong(number: int, seen: Seen) -> bool:
        judged[number] = _judge_call(tests, tests.cases[number], seen)
        return stops and judged[number].result != "passed"

    asked = [_call(tests.entry_point, *tests.typed(case)) for case in tests.cases]
    calls = Calls(session, asked, is_wrong)
    seen = await calls.make(lambda number: tests.cases[number].raises is not None)
    return [
        judged[n] if n in judged else _judge_call(tests, case, seen[n])
        for n, case in enumerate(tests.cases)
    ]


def _call(entry_point: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
    return Call(entry_point=entry_point, args=args, kwargs=kwargs)


def _judge_call(tests: FunctionTests, case: FunctionCase, seen: Seen) -> Test:
    result, why = RESULT_OF[seen.status], _why(seen.observation)
    if seen.returned is not None:
        result, why = _judge_returned(tests, case, seen.returned)
    return Test(result, why, case.weight, case.visible, seen.observation)


def _judge_returned(tests: FunctionTests, case: FunctionCase, returned: Returned) -> Any:  # noqa: ANN401
    raised = returned.exception
    if case.raises is not None:
        is_right = raised == case.raises
        return ("passed", "") if is_right else ("wrong", f"{case.raises} was expected")
    if raised is not None:
        return "raised", f"{raised}: {returned.message[:200]}"
    try:
        value = values.decode(returned.value)
    except values.ValueRefused as error:
        return "protocol_error", str(error)
    if equal(tests.expected(case), value, tests.rules):
        return "passed", ""
    return "wrong", "another value was returned"


def _why(seen: Observation | None) -> str:
    return seen.detail.removesuffix(".") if seen else ""


async def _run_stdio(session: Session, tests: StdioTests, *, stops: bool) -> list[Test]:
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
    result, why = RESULT_OF[seen.status], _why(seen)
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


async def _run_suite(
    session: Session, spec: CodeSpec, tests: AssertTests, *, stops: bool
) -> list[Test]:
    suite = await asyncio.to_thread(_suite, tests.code, tests.entry_point, spec.setup)
    answers: dict[str, Answer] = {}
    reading = suite.first
    for _ in range(MAX_ROUNDS):
        requests = reading.requests
        if not requests:
            break
        for request, seen in zip(
            requests, await _ask(session, suite, requests, answers, stops=stops), strict=True
        ):
            answers[request.key] = _answer(seen)
        reading = await asyncio.to_thread(_read, suite, answers)
        if stops and any(check.holds is False for check in reading.checks):
            break
    return _tests_of(reading, suite)


async def _ask(
    session: Session,
    suite: Suite,
    requests: list[Request],
    known: dict[str, Answer],
    *,
    stops: bool,
) -> list[Seen]:
    answers = dict(known)

    def is_wrong(number: int, seen: Seen) -> bool:
        answers[requests[number].key] = _answer(seen)
        if not stops or (seen.returned is not None and seen.returned.exception is None):
            return False
        reading = _read(suite, answers)
        return any(check.holds is False for check in reading.checks)

    asked = [_call(one.entry_point, one.args, one.kwargs) for one in requests]
    return await Calls(session, asked, is_wrong).make(lambda _: False)


def _answer(seen: Seen) -> Answer:
    if seen.returned is None:
        return Answer(fault=RESULT_OF[seen.status])
    if seen.returned.exception is not None:
        return Answer(exception=seen.returned.exception, message=seen.returned.message)
    try:
        return Answer(read_value(seen.value))
    except values.ValueRefused as error:
        return Answer(fault="protocol_error", message=str(error))


def _read(suite: Suite, answers: dict[str, Answer]) -> Reading:
    try:
        return suite.read(answers)
    except UnsupportedError as error:
        raise _UndecidedError(str(error)) from error


def _tests_of(reading: Reading, suite: Suite) -> list[Test]:
    """Make each check a test; those that the suite has and did not come to are not run."""
    found = [_test_of(check.holds, check.why, check.line) for check in reading.checks]
    is_whole = reading.is_complete and all(check.holds is not None for check in reading.checks)
    if not is_whole and all(test.result in ("passed", "not_run") for test in found):
        raise _UndecidedError("its calls depend on one another too often")
    missing = len(suite.first.checks) - len(found)
    return found + [Test("not_run")] * missing


def _test_of(holds: bool | None, why: str, line: int) -> Test:
    if holds is None:
        return Test("not_run")
    if holds:
        return Test("passed")
    fault = next(
        (name for name in RESULT_OF.values() if why.startswith(f"{name} was raised")), None
    )
    return Test(fault or "wrong", f"line {line}: {why}")


@lru_cache(maxsize=MAX_SUITES_KEPT)
def _suite(code: str, entry_point: str | None, setup: str) -> Suite:
    return Suite(code, entry_point, setup)
