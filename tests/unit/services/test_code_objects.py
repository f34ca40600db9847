"""Cases that make an object and call its methods, on real processes."""

from __future__ import annotations

from typing import Any

import pytest

from rewarden.contracts import Outcome, Sample, Verdict
from services.code.verifier import CodeVerifier
from tests.unit.services.code_processes import Processes

STACK = """\
class Stack:
    def __init__(self, limit=9):
        self.items, self.limit = [], limit

    def push(self, item):
        if len(self.items) == self.limit:
            raise OverflowError("full")
        self.items.append(item)

    def pop(self):
        return self.items.pop()

    def all(self):
        return tuple(self.items)
"""
CASE = {
    "args": [2],
    "calls": [
        {"method": "push", "args": [1]},
        {"method": "push", "kwargs": {"item": [2]}, "expected": None},
        {"method": "push", "args": [3], "raises": "OverflowError"},
        {"method": "all", "expected": {"$": "tuple", "v": [1, [2]]}},
        {"method": "pop", "expected": [2]},
        {"method": "pop"},
        {"method": "pop", "raises": "IndexError"},
    ],
}


def spec(*cases: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"tests": {"kind": "function", "entry_point": "Stack", "cases": [*cases]}, **more}


async def check(completion: str, told: dict[str, Any]) -> Verdict:
    verifier = CodeVerifier(Processes())
    await verifier.start()
    (verdict,) = await verifier.verify([Sample(completion=completion, spec=told)])
    await verifier.close()
    return verdict


async def test_an_object_lives_on_from_call_to_call_and_past_exceptions() -> None:
    verdict = await check(STACK, spec(CASE, CASE))
    assert verdict.outcome is Outcome.CORRECT, verdict.reason
    assert verdict.details["trust"] == "high"
    assert verdict.details["counts"]["total"] == 2


async def test_a_class_that_is_a_kind_of_list_is_an_object_all_the_same() -> None:
    assert (await check(STACK.replace("Stack:", "Stack(list):"), spec(CASE))).score == 1


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("items.pop()", "items.pop(0)", "call 5 of pop"),
        ("append(item)", "append(item)\n        return 1", "call 2 of push"),
        ("OverflowError", "ValueError", "OverflowError was expected"),
        ("tuple(self.items)", "self.items", "call 4 of all"),
        ("limit=9", "", "making Stack"),
        ("class Stack", "class Stak", "making Stack"),
        ("class Stack", "import os\nos._exit(0)\nclass Stack", "not answered"),
        ("class Stack", "raise SystemExit(0)\nclass Stack", "SystemExit"),
        ("class Stack", "class Stack Stack", "SyntaxError"),
    ],
)
async def test_a_class_with_a_fault_is_wrong_and_the_call_is_told(
    old: str, new: str, said: str
) -> None:
    verdict = await check(STACK.replace(old, new), spec(CASE))
    assert (verdict.outcome, verdict.score) == (Outcome.INCORRECT, 0)
    assert said in verdict.reason


async def test_what_is_expected_of_a_method_never_enters_the_sandbox() -> None:
    processes = Processes()
    told = spec({"calls": [{"method": "pop", "expected": 987654321}]})
    await CodeVerifier(processes).verify([Sample(completion=STACK, spec=told)])
    assert "987654321" not in processes.jobs[0].model_dump_json()


async def test_a_fraction_counts_cases() -> None:
    other = {"args": [1], "calls": [{"method": "all", "expected": []}]}
    assert (await check(STACK, spec(CASE, other, scoring="fraction"))).score == 0.5


@pytest.mark.parametrize(
    ("told", "said"),
    [
        (spec({"calls": [{"method": "push", "args": [1]}]}), "expect nothing"),
        (spec({**CASE, "expected": 3}), "say themselves"),
        (spec(CASE, {"args": [1], "expected": 2}), "either all cases"),
        (spec({"calls": []}), "at least 1"),
        (spec({"calls": [{"method": "pop", "expected": {"$": "?"}}]}), "cannot be read"),
        (spec(CASE, language="javascript"), "for python"),
    ],
)
async def test_calls_that_make_no_sense_are_a_bad_spec(told: dict[str, Any], said: str) -> None:
    verdict = await check(STACK, told)
    assert verdict.outcome is Outcome.BAD_SPEC
    assert said in verdict.reason
