"""Outputs that a checker looks at, on real processes."""

from __future__ import annotations

from typing import Any

import pytest

from rewarden.contracts import Outcome, Sample, Verdict
from services.code.verifier import CodeVerifier
from tests.unit.services.code_processes import Processes

CHECKER = """\
import sys
from limits import SPECIAL

total = int(open(sys.argv[1]).read())
parts = open(sys.argv[2]).read().split()
assert open(sys.argv[3]).read() == "any"
if total in SPECIAL:
    print(SPECIAL[total][1], file=sys.stderr)
    sys.exit(SPECIAL[total][0])
if len(parts) != 2 or not all(part.isdecimal() for part in parts):
    sys.exit(2)
sys.exit(0 if sum(map(int, parts)) == total else 1)
"""
LIMITS = "SPECIAL = {13: (3, 'no such sum'), 14: (7, 'points 0.25'), 15: (7, ''), 16: (9, 'what')}"
RIGHT = "n = int(input())\nprint(n - 1, 1)\n"


def spec(*totals: int, **more: Any) -> dict[str, Any]:
    cases = [{"stdin": f"{total}\n", "stdout": "any"} for total in totals]
    tests = {
        "kind": "checker",
        "cases": cases,
        "checker": CHECKER,
        "checker_language": "python",
        "checker_files": {"limits.py": LIMITS},
    }
    return {"tests": tests, **more}


async def check(
    completion: str, told: dict[str, Any], processes: Processes | None = None
) -> Verdict:
    (verdict,) = await CodeVerifier(processes or Processes()).verify(
        [Sample(completion=completion, spec=told)]
    )
    return verdict


@pytest.mark.parametrize("program", [RIGHT, RIGHT.replace("n - 1, 1", "1, n - 1")])
async def test_every_output_that_the_checker_takes_is_right(program: str) -> None:
    processes = Processes()
    verdict = await check(program, spec(3, 4), processes)
    assert verdict.outcome is Outcome.CORRECT, verdict.reason
    assert verdict.details["trust"] == "high"
    assert len(processes.jobs) == 2


@pytest.mark.parametrize(
    "program", ["print(0, 0)", "print('x')", "1 / 0", "import sys; sys.exit(0)"]
)
async def test_outputs_that_it_refuses_are_wrong(program: str) -> None:
    assert (await check(program, spec(3, 4))).outcome is Outcome.INCORRECT


async def test_the_checker_and_the_answers_are_not_where_the_program_runs() -> None:
    processes = Processes()
    await check(RIGHT, spec(3), processes)
    program, checker = processes.jobs
    assert not program.files
    assert CHECKER.encode() == checker.source
    assert RIGHT.strip().encode() not in checker.model_dump_json().encode()


async def test_points_are_a_part_of_a_test() -> None:
    assert (await check(RIGHT, spec(3, 14, scoring="fraction"))).score == (1 + 0.25) / 2
    assert (await check(RIGHT, spec(3, 14))).outcome is Outcome.INCORRECT


@pytest.mark.parametrize(
    ("total", "outcome"),
    [(13, Outcome.BAD_SPEC), (15, Outcome.UNDECIDED), (16, Outcome.UNDECIDED)],
)
async def test_a_checker_that_fails_by_itself_blames_no_program(
    total: int, outcome: Outcome
) -> None:
    verdict = await check(RIGHT, spec(3, total))
    assert (verdict.outcome, verdict.score) == (outcome, None)


async def test_a_program_that_fails_early_leaves_the_checker_little_to_do() -> None:
    verdict = await check("n = int(input())\nassert n < 4\nprint(n, 0)", spec(3, 4, 5))
    assert verdict.details["counts"]["run"] == 2


async def test_names_of_files_that_lead_elsewhere_are_a_bad_spec() -> None:
    told = spec(3)
    told["tests"]["checker_files"] = {"../x": ""}
    assert (await check(RIGHT, told)).outcome is Outcome.BAD_SPEC
