"""Runs of a program whose outputs a checker looks at, in a sandbox of its own.

The program is run first, on every case; then the checker on every output, compiled once. It is given
files, and its exit code is the word of a trusted program, which never shares a sandbox with the one
that it judges. That it fails by itself is a fault of the tests.
"""

from __future__ import annotations

import re
from contextlib import aclosing
from typing import TYPE_CHECKING, Final

from sandbox.jobs import Limits, Run, Status
from services.code.judging import judge_ending, judge_in_turn
from services.code.session import CompileFailedError, Session, TimeUpError, UndecidedError
from services.code.tally import Test

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sandbox.jobs import Observation
    from services.code.kinds import CheckerTests, StdioCase
    from services.code.session import Executor

MAX_JOB_BYTES: Final = 16 * 1024 * 1024
"""Of files that one job of the checker is given."""
TOTAL_SECONDS: Final = 600.0
OK: Final = 0
WRONG: Final = frozenset({1, 2})
FAIL: Final = 3
POINTS: Final = 7
_POINTS: Final = re.compile(rb"points\s+(\d{1,9}(?:\.\d{0,9})?)")


class CheckerFaultError(Exception):
    """The checker does not compile, or says that the test is at fault."""


class Checker:
    """One checker, and where it runs."""

    def __init__(self, executor: Executor, tests: CheckerTests) -> None:
        self._executor = executor
        self.tests = tests
        self._files = {name: text.encode() for name, text in tests.checker_files.items()}

    async def check(self, found: Sequence[tuple[StdioCase, bytes]]) -> list[Observation]:
        """Have it look at outputs: what became of it, in order."""
        seen: list[Observation] = []
        for group in _groups(found):
            files = dict(self._files)
            runs = []
            for number, (case, output) in enumerate(group):
                names = [f"{kind}_{number}.txt" for kind in ("input", "output", "answer")]
                contents = (case.stdin.encode(), output, case.stdout.encode())
                files.update(zip(names, contents, strict=True))
                runs.append(Run(argv=tuple(names)))
            seen += await self._run(files, runs)
        return seen

    async def _run(self, files: dict[str, bytes], runs: list[Run]) -> list[Observation]:
        source, language = self.tests.checker.encode(), self.tests.checker_language
        session = Session(
            self._executor, language, source, files, Limits(), TOTAL_SECONDS, program=b""
        )
        try:
            async with aclosing(session.observe(runs)) as observations:
                return [one async for one in observations]
        except CompileFailedError as error:
            said = error.observation.stderr[:300].decode("utf-8", "replace")
            raise CheckerFaultError(f"it does not compile: {said}") from error
        except TimeUpError as error:
            raise UndecidedError("the checker has used up its time") from error


async def run_checked(session: Session, checker: Checker, *, stops: bool) -> list[Test]:
    """Judge the cases: one test each."""
    cases = checker.tests.cases
    found = await _run(session, cases, stops=stops)
    ended = [(n, one) for n, one in enumerate(found) if one.result == "passed"]
    outputs = [(cases[n], _output(one)) for n, one in ended]
    for (number, test), seen in zip(ended, await checker.check(outputs), strict=True):
        found[number] = _judge(test, seen)
    return found


async def _run(session: Session, cases: Sequence[StdioCase], *, stops: bool) -> list[Test]:
    """Run the program; a test is `passed` if there is an output to look at."""
    runs = [Run(stdin=case.stdin.encode()) for case in cases]
    async with aclosing(session.observe(runs)) as observations:
        return await judge_in_turn(observations, cases, _ended, stops=stops)


async def _ended(case: StdioCase, seen: Observation) -> Test:
    return Test(*judge_ending(seen), case.weight, case.visible, seen)


def _output(test: Test) -> bytes:
    return test.observation.stdout if test.observation else b""


def _judge(test: Test, seen: Observation) -> Test:
    code = seen.exit_code if seen.status is Status.EXITED else None
    said = seen.stderr[:300].decode("utf-8", "replace").strip() or "the checker refused the output"
    if code == OK:
        return test
    if code == FAIL:
        raise CheckerFaultError(f"it says that the test is at fault: {said}")
    if code == POINTS and (points := _POINTS.search(seen.stderr)):
        share = min(float(points[1]), 1.0)
        return test if share == 1 else test._replace(result="wrong", why=said, share=share)
    if code not in WRONG:
        raise UndecidedError(f"the checker ended with {seen.status}, exit code {seen.exit_code}")
    return test._replace(result="wrong", why=said)


def _groups(
    found: Sequence[tuple[StdioCase, bytes]],
) -> list[list[tuple[StdioCase, bytes]]]:
    groups: list[list[tuple[StdioCase, bytes]]] = []
    size = 0
    for case, output in found:
        more = len(case.stdin) + len(case.stdout) + len(output)
        if not groups or size + more > MAX_JOB_BYTES:
            groups.append([])
            size = 0
        groups[-1].append((case, output))
        size += more
    return groups
