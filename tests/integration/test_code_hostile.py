"""The code verifier on a real sandbox: wrong programs that would be paid, and right ones after them."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from rewarden.contracts import Outcome, Sample
from services.__main__ import make_app
from services.code.verifier import CodeVerifier
from services.settings import Settings
from tests.integration.code_hostile import (
    ADDER,
    AGAINST_PROXIES,
    BOMBS,
    CHECKER,
    HOSTILE,
    PROXIED,
    PYTEST,
    RIGHT,
    SPECS,
    SUITE,
)

UNPAID = {Outcome.INCORRECT, Outcome.TIMEOUT, Outcome.RESOURCE_LIMIT}


async def _outcomes(
    verifier: CodeVerifier, programs: list[str], spec: dict[str, Any]
) -> list[Outcome]:
    verdicts = await verifier.verify([Sample(completion=one, spec=spec) for one in programs])
    return [verdict.outcome for verdict in verdicts]


@pytest.mark.parametrize("kind", SPECS)
async def test_no_hostile_program_is_paid_and_right_ones_between_them_are(
    verifier: CodeVerifier, kind: str
) -> None:
    more = ADDER if kind == "calls" else ""
    hostile = HOSTILE | BOMBS
    programs: list[str] = []
    for number, program in enumerate(hostile.values()):
        programs += [program + more, f"{RIGHT}{more}# {number}\n"]
    found = await _outcomes(verifier, programs, SPECS[kind])
    assert found[1::2] == [Outcome.CORRECT] * len(hostile)
    off = {name: one for name, one in zip(hostile, found[::2], strict=True) if one not in UNPAID}
    assert off == {}


@pytest.mark.parametrize("kind", ["assert, proxied", "pytest"])
async def test_no_answer_deceives_tests_in_another_sandbox(
    verifier: CodeVerifier, kind: str
) -> None:
    found = await _outcomes(verifier, [*AGAINST_PROXIES.values(), RIGHT], SPECS[kind])
    assert found.pop() is Outcome.CORRECT
    unpaid = UNPAID | {Outcome.UNDECIDED}
    off = {n: one for n, one in zip(AGAINST_PROXIES, found, strict=True) if one not in unpaid}
    assert off == {}


async def test_what_is_in_a_sandbox_of_its_own_is_told_apart(verifier: CodeVerifier) -> None:
    samples = [Sample(completion=RIGHT, spec=spec) for spec in (SUITE, PYTEST, PROXIED, CHECKER)]
    trust = [verdict.details["trust"] for verdict in await verifier.verify(samples)]
    assert trust == ["high", "proxied", "proxied", "high"]


async def test_values_of_every_kind_cross_and_are_compared(verifier: CodeVerifier) -> None:
    values = ["{1, 2}", "{(1, 2): [None]}", "b'x'", "1.5", "10**30", "(1, [2])"]
    program = "def f(i):\n    return [" + ", ".join(values) + "][i]\n"
    cases = [
        {"args": ["0"], "expected": "{2, 1}"},
        {"args": ["1"], "expected": "{(1, 2): [None]}"},
        {"args": ["2"], "expected": "b'x'"},
        {"args": ["3"], "expected": "1.5000000001"},
        {"args": ["4"], "expected": "1" + "0" * 30},
        {"args": ["5"], "expected": "(1, [2])"},
        {"args": ["9"], "raises": "IndexError"},
    ]
    tests = {"kind": "function", "entry_point": "f", "notation": "python", "cases": cases}
    assert await _outcomes(verifier, [program], {"tests": tests}) == [Outcome.CORRECT]


async def test_a_method_of_a_class_can_be_the_entry_point(verifier: CodeVerifier) -> None:
    program = "class Solution:\n    def double(self, xs):\n        return [2 * x for x in xs]\n"
    cases = [{"args": [[1, 2]], "expected": [2, 4]}]
    tests = {"kind": "function", "entry_point": "Solution.double", "cases": cases}
    assert await _outcomes(verifier, [program], {"tests": tests}) == [Outcome.CORRECT]


async def test_the_service_answers_over_http_with_a_sandbox_of_its_own() -> None:
    app = make_app("code", Settings())
    samples = [
        {"id": "right", "completion": RIGHT, "spec": SUITE},
        {"id": "wrong", "completion": "def add(a, b):\n    return 3", "spec": SUITE},
        {"id": "pytest", "completion": RIGHT, "spec": {"tests": {"kind": "pytest", "files": {}}}},
    ]
    transport = httpx.ASGITransport(app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://code", timeout=150) as client,
    ):
        answer = await client.post("/v1/verify", json={"samples": samples, "timeout_seconds": 120})
    verdicts = {v["id"]: (v["outcome"], v["score"]) for v in answer.json()["verdicts"]}
    assert verdicts == {
        "right": ("correct", 1.0),
        "wrong": ("incorrect", 0.0),
        "pytest": ("bad_spec", None),
    }
