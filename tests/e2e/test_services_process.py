"""`python -m services` as its users run it: a process of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rewarden.client import Client
from rewarden.contracts import Outcome, Sample
from tests.running_service import running

if TYPE_CHECKING:
    from tests.redis_server import RedisServer


def sums(count: int) -> list[Sample]:
    return [
        Sample(id=str(i), verifier="math", completion=f"\\boxed{{{i % 3}}}", spec={"answer": "1"})
        for i in range(count)
    ]


def test_all_in_one_process_over_http() -> None:
    with running("all") as (url, _), Client(url) as client:
        verdicts = client.verify(sums(300))
        assert [v.id for v in verdicts] == [str(i) for i in range(300)]
        assert [v.score for v in verdicts] == [float(i % 3 == 1) for i in range(300)]


def test_it_ends_with_whoever_started_it() -> None:
    with running("format") as (_, process):
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(timeout=15) == 0


def test_it_ends_when_told() -> None:
    with running("format") as (_, process):
        process.terminate()
        process.wait(timeout=15)


@pytest.mark.redis
def test_gateway_and_verifiers_in_processes_of_their_own(redis_server: RedisServer) -> None:
    queue = ("--queue", redis_server.url)
    with (
        running("math", *queue),
        running("math", *queue),
        running("format", *queue),
        running("gateway", *queue) as (url, _),
        Client(url) as client,
    ):
        shaped = Sample(
            verifier="format",
            completion="<thinking>1</thinking> \\boxed{1}",
            spec={"template": "thinking_boxed"},
        )
        stranger = Sample(verifier="poetry", completion="Ode")
        verdicts = client.verify([*sums(200), shaped, stranger])
    assert [v.score for v in verdicts[:200]] == [float(i % 3 == 1) for i in range(200)]
    assert verdicts[200].outcome is Outcome.CORRECT
    assert verdicts[201].outcome is Outcome.BAD_SPEC
