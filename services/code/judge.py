"""Judges one program against the tests of its spec: what the sandbox observed, compared outside it.

Zero tests run is never a pass. A fault of the sandbox makes the whole sample a `verifier_error`. A
wrong answer is never asked for again. With `scoring: all` the first test that fails is the last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rewarden.contracts import Outcome
from sandbox.jobs import MAX_SOURCE_BYTES
from services.code.beside_tests import open_beside, run_beside
from services.code.checker_tests import Checker, CheckerFaultError, run_checked
from services.code.function_tests import run_function
from services.code.kinds import AssertTests, CheckerTests, FunctionTests, PytestTests, StdioTests
from services.code.object_tests import run_objects
from services.code.proxied_tests import open_tests, run_proxied
from services.code.session import (
    CompileFailedError,
    Executor,
    SandboxFaultError,
    Session,
    UndecidedError,
)
from services.code.stdio_tests import run_stdio
from services.code.steps import open_plain, open_session
from services.code.suite.values import UnsupportedError
from services.code.suite_tests import run_suite
from services.code.tally import Judgement, Test, judge_compiling, judge_tests

if TYPE_CHECKING:
    from services.code.spec import CodeSpec


async def judge_program(executor: Executor, spec: CodeSpec, code: str) -> Judgement:
    """Run the program and judge what came back."""
    source = (f"{spec.setup}\n{code}" if spec.setup else code).encode("utf-8", "replace")
    if len(source) > MAX_SOURCE_BYTES:
        size = f"The program is larger than {MAX_SOURCE_BYTES:,} bytes."
        return Judgement(Outcome.REJECTED, size, 0.0, is_repeatable=True)
    trial = _Trial(executor, spec, source)
    try:
        tests = await trial.run()
        found = judge_tests(tests, spec.scoring)
    except CompileFailedError as error:
        found = judge_compiling(error.observation)
    except SandboxFaultError as error:
        reason = f"The sandbox could not run the program: {error}"
        return Judgement(Outcome.VERIFIER_ERROR, reason[:500], seconds=trial.seconds)
    except CheckerFaultError as error:
        return Judgement(Outcome.BAD_SPEC, f"The checker cannot be used: {error}.")
    except UnsupportedError as error:
        return _cannot_follow(error, spec)
    except UndecidedError as error:
        found = Judgement(Outcome.UNDECIDED, f"The tests could not be decided: {error}.")
    return trial.described(found)


def _cannot_follow(error: UnsupportedError, spec: CodeSpec) -> Judgement:
    reason = f"The test code cannot be kept apart from the program: {error}"
    if not spec.allow_low_trust:
        reason += "; 'allow_low_trust' would run both in one process"
    return Judgement(Outcome.BAD_SPEC, f"{reason}.", is_repeatable=True)


class _Trial:
    """One program before its tests: the sessions that it takes, and how far they can be trusted."""

    def __init__(self, executor: Executor, spec: CodeSpec, source: bytes) -> None:
        self._executor = executor
        self._spec = spec
        self._source = source
        self._sessions: list[Session] = []
        self._trust = "high"

    @property
    def seconds(self) -> float:
        """Wall time of all runs."""
        return sum(session.wall_seconds for session in self._sessions)

    async def run(self) -> list[Test]:
        """Run the tests, and tell how each ended."""
        spec, stops = self._spec, self._spec.scoring == "all"
        match spec.tests:
            case FunctionTests() if spec.tests.has_calls:
                return await run_objects(self._of_steps(), spec.tests, stops=stops)
            case FunctionTests():
                return await run_function(self._plain(), spec.tests, stops=stops)
            case StdioTests():
                return await run_stdio(self._plain(), spec.tests, stops=stops)
            case AssertTests():
                return await self._run_asserts(spec.tests, stops=stops)
            case PytestTests():
                return await self._run_beyond({"files": spec.tests.files}, stops=stops)
            case CheckerTests():
                checker = Checker(self._executor, spec.tests)
                return await run_checked(self._plain(), checker, stops=stops)

    async def _run_asserts(self, tests: AssertTests, *, stops: bool) -> list[Test]:
        """Follow the code outside; what cannot be followed is run in a sandbox of its own."""
        try:
            return await run_suite(self._plain(), self._spec, tests, stops=stops)
        except (UnsupportedError, UndecidedError) as error:
            setup = self._spec.setup
            suite = {"code": tests.code, "entry_point": tests.entry_point, "setup": setup}
            try:
                return await self._run_beyond(suite, stops=stops)
            except UnsupportedError as other:
                raise UnsupportedError(f"{error}, and {other}") from None

    async def _run_beyond(self, suite: dict[str, Any], *, stops: bool) -> list[Test]:
        """Run the tests in a sandbox of their own, or else, if that is allowed, in the program's."""
        spec = self._spec
        self._trust = "proxied"
        tests = open_tests(self._executor, spec, suite)
        try:
            return await run_proxied(self._of_steps(), tests, stops=stops)
        except (UnsupportedError, UndecidedError) as error:
            if not spec.allow_low_trust:
                raise
            if spec.reference is None:
                raise UnsupportedError(f"{error}, and low trust needs a reference") from None
        self._trust = "low"
        known = open_beside(self._executor, spec, suite, spec.reference.encode())
        program = self._opened(open_beside(self._executor, spec, suite, self._source))
        return await run_beside(known, program, stops=stops)

    def _plain(self) -> Session:
        return self._opened(open_plain(self._executor, self._spec, self._source))

    def _of_steps(self) -> Session:
        return self._opened(open_session(self._executor, self._spec, self._source))

    def _opened(self, session: Session) -> Session:
        self._sessions.append(session)
        return session

    def described(self, found: Judgement) -> Judgement:
        """Add to a judgement what is known of the trial."""
        last = self._sessions[-1]
        details = {"trust": self._trust, "driver": last.driver, **found.details}
        if last.flags:
            details["flags"] = dict(last.flags)
        return found._replace(
            details=details, seconds=self.seconds, is_repeatable=last.is_repeatable
        )
