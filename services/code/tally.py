"""Counts the tests of one sample, and draws the verdict from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from rewarden.contracts import Outcome
from sandbox.jobs import Observation, Status

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_TESTS_TOLD: Final = 100
MAX_OUTPUTS_TOLD: Final = 3
MAX_CHARS_TOLD: Final = 2_000

Result = Literal[
    "passed",
    "wrong",
    "raised",
    "runtime_error",
    "timeout",
    "memory_limit",
    "output_limit",
    "protocol_error",
    "not_run",
]
RESULT_OF: Final[dict[Status, Result]] = {
    Status.EXITED: "runtime_error",
    Status.SIGNALLED: "runtime_error",
    Status.TIMEOUT: "timeout",
    Status.MEMORY_LIMIT: "memory_limit",
    Status.OUTPUT_LIMIT: "output_limit",
    Status.PROTOCOL_ERROR: "protocol_error",
    Status.NOT_RUN: "not_run",
}
_OUTCOMES: Final[dict[Result, Outcome]] = {
    "timeout": Outcome.TIMEOUT,
    "memory_limit": Outcome.RESOURCE_LIMIT,
    "output_limit": Outcome.RESOURCE_LIMIT,
}


class Test(NamedTuple):
    """What became of one test."""

    result: Result
    why: str = ""
    weight: float = 1.0
    visible: bool = False
    observation: Observation | None = None
    share: float = 0.0
    """How much of it was got right, where it was not passed; only checkers say so."""


class Judgement(NamedTuple):
    """The verdict on one program, without the sample."""

    outcome: Outcome
    reason: str
    score: float | None = None
    details: dict[str, Any] = {}  # noqa: RUF012 - a default of a tuple; nobody changes it
    seconds: float = 0.0
    is_repeatable: bool = False
    """Whether the same program and tests would get the same verdict again."""


def judge_tests(tests: Sequence[Test], scoring: str) -> Judgement:
    """Draw the verdict; no tests at all is never a pass."""
    details = _details(tests)
    passed = sum(test.result == "passed" for test in tests)
    if tests and passed == len(tests):
        return Judgement(Outcome.CORRECT, f"All {passed} tests pass.", 1.0, details)
    if not tests:
        return Judgement(Outcome.INCORRECT, "No test was run.", 0.0, details)
    number, first = _first_failed(tests)
    reason = f"Test {number + 1} of {len(tests)} did not pass ({first.result})"
    reason += f": {first.why}." if first.why else "."
    if scoring == "fraction":
        shares = [1.0 if test.result == "passed" else test.share for test in tests]
        gained = sum(t.weight * share for t, share in zip(tests, shares, strict=True))
        score = gained / sum(t.weight for t in tests)
        if 0 < score < 1:
            return Judgement(Outcome.PARTIAL, reason, score, details)
    return Judgement(_OUTCOMES.get(first.result, Outcome.INCORRECT), reason, 0.0, details)


def _first_failed(tests: Sequence[Test]) -> tuple[int, Test]:
    """Find the test that says most: one that was run, if there is one."""
    failed = [(n, test) for n, test in enumerate(tests) if test.result != "passed"]
    return next(((n, test) for n, test in failed if test.result != "not_run"), failed[0])


def judge_compiling(seen: Observation) -> Judgement:
    """Draw the verdict on a program that does not compile."""
    result = RESULT_OF[seen.status]
    outcome = _OUTCOMES.get(result, Outcome.INCORRECT)
    details = {"compiling": _text(seen.stderr or seen.stdout)}
    return Judgement(outcome, "The program does not compile.", 0.0, details)


def _details(tests: Sequence[Test]) -> dict[str, Any]:
    hidden = [test for test in tests if not test.visible]
    shown = [test for test in tests if test.visible]
    run = [test for test in tests if test.result != "not_run"]
    told: list[dict[str, Any]] = []
    outputs = 0
    for test in tests[:MAX_TESTS_TOLD]:
        is_told = test.result not in ("passed", "not_run") and outputs < MAX_OUTPUTS_TOLD
        outputs += is_told
        told.append(_tell(test, with_output=is_told))
    return {
        "counts": {
            "total": len(tests),
            "run": len(run),
            "passed": _passed(tests),
            "hidden": len(hidden),
            "hidden_passed": _passed(hidden),
            "visible": len(shown),
            "visible_passed": _passed(shown),
        },
        "tests": told,
    }


def _passed(tests: Sequence[Test]) -> int:
    return sum(test.result == "passed" for test in tests)


def _tell(test: Test, *, with_output: bool) -> dict[str, Any]:
    told: dict[str, Any] = {"result": test.result}
    if test.why:
        told["why"] = test.why[:MAX_CHARS_TOLD]
    seen = test.observation
    if seen is not None:
        told["cpu_seconds"] = round(seen.cpu_seconds, 4)
        told["peak_memory_bytes"] = seen.peak_memory_bytes
        if with_output:
            told["stdout"], told["stderr"] = _text(seen.stdout), _text(seen.stderr)
    return told


def _text(output: bytes) -> str:
    """Return the beginning of an output as text that JSON can hold."""
    return output[:MAX_CHARS_TOLD].decode("utf-8", "replace").replace("\0", "\ufffd")
