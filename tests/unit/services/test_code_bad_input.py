"""Bad input gets a clear verdict, whatever the kind of tests, and costs no run in a sandbox."""

from __future__ import annotations

from typing import Any

import pytest

from rewarden.contracts import Outcome
from tests.unit.services.code_processes import Processes
from tests.unit.services.code_proxied import check

CHECKER = {
    "kind": "checker",
    "checker": "import sys\nsys.exit(open(sys.argv[2]).read() != open(sys.argv[3]).read())\n",
    "checker_language": "python",
}
CASE: dict[str, Any] = {"stdin": "1", "stdout": "1"}
CALLS: dict[str, Any] = {"args": [], "calls": [{"method": "f", "expected": 1}]}
GOOD: dict[str, dict[str, Any]] = {
    "function": {"kind": "function", "entry_point": "f", "cases": [{"args": [], "expected": 1}]},
    "calls": {"kind": "function", "entry_point": "F", "cases": [CALLS]},
    "stdio": {"kind": "stdio", "cases": [CASE]},
    "assert": {"kind": "assert", "code": "assert f() == 1"},
    "pytest": {
        "kind": "pytest",
        "files": {"test_f.py": "from solution import f\ndef test_f():\n    assert f() == 1\n"},
    },
    "checker": CHECKER | {"cases": [CASE]},
}


@pytest.mark.parametrize("kind", GOOD)
async def test_no_program_is_no_answer(kind: str) -> None:
    processes = Processes()
    verdict = await check("```rust\nfn main() {}\n```", {"tests": GOOD[kind]}, processes)
    assert (verdict.outcome, verdict.score) == (Outcome.NO_ANSWER, 0.0)
    assert processes.jobs == []


@pytest.mark.parametrize("kind", GOOD)
async def test_a_program_of_two_megabytes_is_rejected(kind: str) -> None:
    processes = Processes()
    program = "```python\nx = '" + "y" * (2 << 20) + "'\n```"
    verdict = await check(program, {"tests": GOOD[kind]}, processes)
    assert verdict.outcome is Outcome.REJECTED, verdict.reason
    assert len(processes.jobs) <= 1  # trusted tests may have been listed
    assert all(b"yyyy" not in job.source for job in processes.jobs)


@pytest.mark.parametrize("kind", GOOD)
async def test_a_reference_that_fails_is_a_bad_spec(kind: str) -> None:
    told = {"tests": GOOD[kind], "reference": "def f():\n    return 2\nclass F:\n    f = f\n"}
    verdict = await check("```python\ndef f():\n    return 1\n```", told)
    assert verdict.outcome is Outcome.BAD_SPEC
    assert "reference" in verdict.reason


@pytest.mark.parametrize(
    "tests",
    [
        {"kind": "other"},
        {},
        "assert f() == 1",
        {"kind": "function", "entry_point": "f", "cases": []},
        {"kind": "function", "entry_point": "f", "cases": [{"args": []}] * 5_000},
        {"kind": "function", "entry_point": "F", "cases": [CALLS] * 5_000},
        {"kind": "function", "entry_point": "F", "cases": [{"args": [], "calls": []}]},
        {"kind": "function", "entry_point": "F", "cases": [CALLS, {"args": []}]},
        {"kind": "function", "entry_point": "f()", "cases": [{"args": []}]},
        {"kind": "stdio", "cases": [CASE] * 5_000},
        {"kind": "assert", "code": ""},
        {"kind": "assert", "code": "assert ("},
        {"kind": "assert", "code": "x = 1"},
        {"kind": "pytest", "files": {}},
        {"kind": "pytest", "files": {"../test_f.py": ""}},
        {"kind": "pytest", "files": {"/test_f.py": ""}},
        {"kind": "pytest", "files": {"test_f.py": "x = 1\n"}},
        {"kind": "pytest", "files": {"test_f.py": "def test_f(:\n"}},
        CHECKER | {"cases": []},
        CHECKER | {"cases": [CASE] * 5_000},
        CHECKER | {"cases": [CASE], "checker_files": {"../x": ""}},
    ],
    ids=lambda tests: str(tests)[:60],
)
async def test_tests_that_cannot_be_used_are_a_bad_spec(tests: object) -> None:
    verdict = await check("```python\ndef f():\n    return 1\n```", {"tests": tests})
    assert (verdict.outcome, verdict.score) == (Outcome.BAD_SPEC, None), verdict.reason
    assert verdict.reason
