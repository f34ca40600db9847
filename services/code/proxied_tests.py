"""Trusted tests that run in a sandbox of their own, against a program that runs in another.

Nothing connects the two but what is handed on here: the tests ask for uses of the program, as data;
the program's sandbox does them, one process a test; its answers go back, as data. The tests run
anew with the answers, until they ask for nothing more. So tests and expected values never meet the
program, and the program's objects never meet the tests.

What is not covered is told by an `UnsupportedError`: functions and objects of the tests that are
handed to the program, plugins of pytest, tests that are coroutines.
"""

from __future__ import annotations

import json
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Final

from sandbox.jobs import Call, Run, Status
from services.code.session import Session, TimeUpError, UndecidedError
from services.code.steps import Done, Life, Step, observe, reference, text_of
from services.code.suite.values import UnsupportedError
from services.code.tally import RESULT_OF, Test

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sandbox.jobs import Observation
    from services.code.session import Executor
    from services.code.spec import CodeSpec

MAX_ROUNDS: Final = 40
MAX_TESTS: Final = 1_000
_FILES: Final = ("__init__.py", "operators.py", "proxies.py", "pytest_part.py", "rewriting.py")


class _Trial:
    """One test: what it asked for, what was answered, and how it ended."""

    def __init__(self, name: str | None) -> None:
        self.name = name
        self.answers: list[dict[str, Any]] = []
        self.report: dict[str, Any] = {}
        self.observation: Observation | None = None

    @property
    def is_over(self) -> bool:
        """Whether it needs no further answers."""
        return self.report.get("is_open") is False

    @property
    def has_failed(self) -> bool:
        """Whether it is over, and did not pass."""
        return self.is_over and self.report["result"] != "passed"

    def call(self) -> Call:
        """Return the call that runs it."""
        return Call(entry_point="run", args=(self.name, self.answers))

    def steps(self) -> list[Step]:
        """Return the uses of the program that it asks for."""
        return [
            Step(
                one["kind"],
                _to_program(one["target"]),
                one["path"],
                _to_program(one["args"]),
                _to_program(one["kwargs"]),
            )
            for one in self.report["asked"]
        ]

    def take(self, life: Life) -> None:
        """Take what became of them."""
        keys = [one["key"] for one in self.report["asked"]]
        self.answers = [
            {"key": key, "done": _written(done)} for key, done in zip(keys, life.done, strict=False)
        ]
        self.observation = life.observation

    def check_supported(self) -> None:
        """Raise if it did what cannot be done; by what the program answered, nobody is at fault."""
        if self.is_over and self.report["result"] == "unsupported":
            why = str(self.report["why"])
            raise UndecidedError(why) if self.answers else UnsupportedError(why)

    def judged(self) -> Test:
        """Make it a test of the verdict."""
        result, why = self.report.get("result"), str(self.report.get("why", ""))
        if not self.is_over:
            return Test("not_run")
        name = "listing the tests" if self.name is None else self.name
        if result == "ended":
            return Test(RESULT_OF[Status(why)], name, observation=self.observation)
        if result == "passed":
            return Test("passed", observation=self.observation)
        return Test("wrong", f"{name}: {why}", observation=self.observation)


def open_tests(executor: Executor, spec: CodeSpec, suite: dict[str, Any]) -> Session:
    """Begin with the sandbox of the tests."""
    files = files_of(suite, is_beside=False)
    limits = spec.limits.of_a_run()
    return Session(
        executor,
        "python",
        text_of("tester.py"),
        files,
        limits,
        spec.limits.total_seconds,
        program=b"",
    )


def files_of(suite: dict[str, Any], *, is_beside: bool) -> dict[str, bytes]:
    """Return what lies beside the tester; `is_beside` says whether the program does, too."""
    files = {f"services/code/inside/{name}": text_of(name) for name in _FILES}
    # Without these, any package `services` elsewhere would be found first.
    files |= {"services/__init__.py": b"", "services/code/__init__.py": b""}
    return files | {"suite.json": json.dumps({**suite, "is_beside": is_beside}).encode()}


async def run_proxied(program: Session, tests: Session, *, stops: bool) -> list[Test]:
    """Judge the tests; `UnsupportedError` if they cannot be run so, or check nothing."""
    listing = _Trial(None)
    await _run([listing], program, tests, stops=False)
    names = listing.report["tests"]
    if listing.report["result"] != "passed" and not listing.report["asked"]:
        raise UnsupportedError(f"it fails by itself: {listing.report['why']}")
    if listing.report["result"] != "passed":
        return [listing.judged()]
    if not names or len(names) > MAX_TESTS:
        raise UnsupportedError(f"it has {len(names)} tests")
    trials = [_Trial(name) for name in names]
    try:
        await _run(trials, program, tests, stops=stops)
    except TimeUpError:
        first = next(trial for trial in trials if not trial.is_over)
        first.report = {"is_open": False, "result": "ended", "why": "timeout"}
    _check(trials)
    return [trial.judged() for trial in trials]


def _check(trials: Sequence[_Trial]) -> None:
    over = [trial for trial in trials if trial.is_over]
    untouched = [trial for trial in over if not trial.answers]
    for trial in untouched:
        if trial.has_failed and trial.report["result"] != "ended":
            raise UnsupportedError(f"{trial.name} fails whatever the program does")
    if over and len(untouched) == len(trials):
        raise UnsupportedError("it never uses the program")


async def _run(trials: Sequence[_Trial], program: Session, tests: Session, *, stops: bool) -> None:
    for _ in range(MAX_ROUNDS):
        left = [trial for trial in trials if not trial.is_over]
        await _run_tests(left, tests)
        if not all(trial.is_over for trial in left):
            left = [trial for trial in left if not trial.is_over]
            if stops and any(trial.has_failed for trial in trials):
                return
            await _run_program(left, program)
        else:
            return
    raise UndecidedError("what its tests do depends on too many answers, one after the other")


async def _run_tests(trials: Sequence[_Trial], session: Session) -> None:
    at = iter(trials)
    runs = [Run(calls=(trial.call(),)) for trial in trials]
    try:
        async with aclosing(session.observe(runs)) as observations:
            async for seen in observations:
                trial = next(at)
                trial.report = _report(seen)
                trial.check_supported()
    except TimeUpError as error:
        raise UndecidedError("the tests have used up their own time") from error


async def _run_program(trials: Sequence[_Trial], session: Session) -> None:
    at = iter(trials)
    async with aclosing(observe(session, [trial.steps() for trial in trials])) as lives:
        async for life in lives:
            next(at).take(life)


def _report(seen: Observation) -> dict[str, Any]:
    """Read what a test did. It is trusted, but it may have been handed more than it could bear."""
    report = seen.returned[0].value if len(seen.returned) == 1 else None
    if seen.status is not Status.EXITED or not isinstance(report, dict):
        said = seen.returned[0].message if seen.returned else seen.detail
        raise UndecidedError(f"running a test ended with {seen.status} {said}".strip())
    return report


def _written(done: Done) -> dict[str, Any]:
    return {
        "value": _to_tests(done.value),
        "exception": done.exception,
        "message": done.message,
        "names": [*done.names],
        "args": _to_tests([*done.args]),
        "changed": _to_tests(done.changed),
        "fault": str(done.fault) if done.fault else "",
        "kin": done.kin,
    }


def _to_program(data: Any) -> Any:  # noqa: ANN401 - typed JSON
    """Turn what stands for the program's objects among the tests into these objects."""
    if isinstance(data, list):
        return [_to_program(item) for item in data]
    if not isinstance(data, dict):
        return data
    name = {"handle": data.get("type"), "opaque": data.get("v")}.get(str(data.get("$")))
    if name is None:
        return {key: _to_program(item) for key, item in data.items()}
    if name[:1] == "#":
        return reference(int(name[1:]))
    return {"$": "handle", "v": int(name[1:])}


def _to_tests(data: Any) -> Any:  # noqa: ANN401 - typed JSON
    """Turn the program's objects into what stands for them among the tests."""
    if isinstance(data, list):
        return [_to_tests(item) for item in data]
    if not isinstance(data, dict):
        return data
    if data.get("$") == "handle":
        return {"$": "opaque", "v": f"@{data['v']} {data.get('type', 'object')}"[:200]}
    if data.get("$") == "opaque":
        return {"$": "opaque", "v": f"? {data['v']}"[:200]}
    return {key: _to_tests(item) for key, item in data.items()}
