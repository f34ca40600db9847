"""Suites of test code are judged as Python itself would, or not at all.

`code_suites.txt` holds them, each with a right and a wrong program: values and ways of asking of every
kind. Its head says what becomes of the right one: it is paid, or left open because its values do not
cross as what they are, or the suite is refused as a whole. The wrong one is never paid.
"""

from __future__ import annotations

import sys
import unittest
from types import ModuleType
from typing import NamedTuple

import pytest

from rewarden.contracts import Outcome, Sample
from services.code.verifier import CodeVerifier
from tests.integration.blocks import read_blocks

OUTCOMES = {
    "paid": Outcome.CORRECT,
    "open": Outcome.UNDECIDED,
    "refused": Outcome.BAD_SPEC,
}


class Case(NamedTuple):
    """A suite, two programs, and what becomes of the right one."""

    suite: str
    right: str
    wrong: str
    expected: Outcome


def read_cases() -> dict[str, Case]:
    """Return the cases of the file by name."""
    found: dict[str, Case] = {}
    for first, right, wrong in read_blocks("code_suites.txt"):
        head, suite = first.split("\n", 1)
        name, _, expected = head.rpartition(": ")
        assert name not in found
        found[name] = Case(suite, right, wrong, OUTCOMES[expected])
    return found


CASES = read_cases()


def _passes(suite: str, program: str, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Run both in one process, as nobody should."""
    solution = ModuleType("solution")
    monkeypatch.setitem(sys.modules, "solution", solution)
    try:
        exec(program, vars(solution))
        names = {**vars(solution), "__name__": "suite"}
        exec(suite, names)
    except Exception:  # noqa: BLE001 - whatever a wrong program makes of it
        return False
    kinds = [one for one in names.values() if isinstance(one, type)]
    cases = [one for one in kinds if issubclass(one, unittest.TestCase)]
    loader = unittest.defaultTestLoader
    results = [loader.loadTestsFromTestCase(one).run(unittest.TestResult()) for one in cases]
    return all(result.wasSuccessful() for result in results)


@pytest.mark.parametrize("name", CASES)
def test_python_tells_the_right_program_from_the_wrong_one(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = CASES[name]
    assert _passes(case.suite, case.right, monkeypatch)
    assert not _passes(case.suite, case.wrong, monkeypatch)


async def test_a_suite_is_judged_as_python_would_or_not_at_all(verifier: CodeVerifier) -> None:
    samples = [
        Sample(
            completion=f"```python\n{program}\n```",
            spec={"tests": {"kind": "assert", "code": case.suite}},
        )
        for case in CASES.values()
        for program in (case.right, case.wrong)
    ]
    verdicts = await verifier.verify(samples)
    told = dict(zip(CASES, zip(verdicts[::2], verdicts[1::2], strict=True), strict=True))
    off = {
        name: (right.outcome, right.reason)
        for name, (right, _) in told.items()
        if right.outcome is not CASES[name].expected
    }
    assert off == {}
    scored = {name: wrong.score for name, (_, wrong) in told.items() if wrong.score}
    assert scored == {}
    assert {right.details.get("trust") for right, _ in told.values()} >= {"high", "proxied"}
