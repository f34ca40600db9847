"""Tests that run in the program's own process, where nothing else is possible and the spec allows it.

Trust is low: a program can find the tests, and what it says of them may be a lie. What is held is that
as many tests are run as a reference solution has, each in a process of its own, and that what is
printed, or how a process ends, is no verdict.
"""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from sandbox.jobs import Call, Run, Status
from services.code.proxied_tests import files_of
from services.code.session import Session, TimeUpError
from services.code.steps import PROGRAM, text_of
from services.code.suite.values import UnsupportedError
from services.code.tally import RESULT_OF, Result, Test

if TYPE_CHECKING:
    from sandbox.jobs import Observation
    from services.code.session import Executor
    from services.code.spec import CodeSpec


def open_beside(
    executor: Executor, spec: CodeSpec, suite: dict[str, Any], source: bytes
) -> Session:
    """Begin with a program and its tests in one sandbox."""
    files = {name: content.encode("utf-8", "replace") for name, content in spec.files.items()}
    files |= files_of(suite, is_beside=True) | {PROGRAM: source}
    limits, seconds = spec.limits.of_a_run(), spec.limits.total_seconds
    main = text_of("tester.py")
    return Session(executor, "python", main, files, limits, seconds, program=source)


async def run_beside(reference: Session, program: Session, *, stops: bool) -> list[Test]:
    """Judge the tests that the reference solution has; `UnsupportedError` if it has none."""
    names = await _list(reference)
    found: list[Test] = []
    runs = [Run(calls=(Call(entry_point="run", args=(name, [])),)) for name in names]
    try:
        async with aclosing(program.observe(runs)) as observations:
            async for seen in observations:
                result, why = _result(seen)
                found.append(Test(result, f"{names[len(found)]}: {why}", observation=seen))
                if stops and result != "passed":
                    break
    except TimeUpError:
        found.append(Test("timeout", "the time of all tests together is used up"))
    return found + [Test("not_run")] * (len(names) - len(found))


async def _list(reference: Session) -> list[str]:
    run = Run(calls=(Call(entry_point="run", args=(None, [])),))
    async with aclosing(reference.observe([run])) as observations:
        reports = [_report(seen) async for seen in observations]
    report = reports[0] or {"tests": [], "why": "it ended"}
    if not report["tests"]:
        raise UnsupportedError(f"it has no tests that the reference passes: {report['why']}")
    names: list[str] = report["tests"]
    return names


def _report(seen: Observation) -> dict[str, Any] | None:
    report = seen.returned[0].value if len(seen.returned) == 1 else None
    return report if seen.status is Status.EXITED and isinstance(report, dict) else None


def _result(seen: Observation) -> tuple[Result, str]:
    report = _report(seen)
    if report is None:
        ended = seen.status is Status.EXITED
        return ("protocol_error" if ended else RESULT_OF[seen.status]), "it was not answered"
    if report.get("result") == "passed" and report.get("is_open") is False:
        return "passed", ""
    return "wrong", str(report.get("why"))
