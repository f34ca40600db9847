"""Test code that is followed outside: its calls are made in the sandbox, all else is worked out here."""

from __future__ import annotations

import asyncio
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from sandbox.jobs import Call
from sandbox.runner import values
from services.code.calls import Calls, Seen
from services.code.session import UndecidedError
from services.code.suite.answers import Answer, read_value
from services.code.suite.values import UnsupportedError
from services.code.suites import MAX_ROUNDS, Reading, Suite
from services.code.tally import RESULT_OF, Test

if TYPE_CHECKING:
    from services.code.kinds import AssertTests
    from services.code.session import Session
    from services.code.spec import CodeSpec
    from services.code.suite.answers import Request

MAX_SUITES_KEPT: Final = 512


async def run_suite(
    session: Session, spec: CodeSpec, tests: AssertTests, *, stops: bool
) -> list[Test]:
    """Judge the checks that the code makes: one test each; `UnsupportedError` if it is not followed."""
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

    asked = [
        Call(entry_point=one.entry_point, args=one.args, kwargs=one.kwargs) for one in requests
    ]
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
        raise UndecidedError(str(error)) from error


def _tests_of(reading: Reading, suite: Suite) -> list[Test]:
    """Make each check a test; those that the suite has and did not come to are not run."""
    found = [_test_of(check.holds, check.why, check.line) for check in reading.checks]
    is_whole = reading.is_complete and all(check.holds is not None for check in reading.checks)
    if not is_whole and all(test.result in ("passed", "not_run") for test in found):
        raise UndecidedError("its calls depend on one another too often")
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
