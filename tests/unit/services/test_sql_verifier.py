from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from rewarden.contracts import Outcome, Sample
from services.sql.operations import DatabaseRequest, GoldRequest
from services.sql.verifier import SqlVerifier
from services.sql.workers.crew import PoolError

SCHEMA = "CREATE TABLE t(a INTEGER, b TEXT); INSERT INTO t VALUES (1, 'x'), (2, 'y');"
SPEC = {"query": "SELECT b FROM t", "schema_sql": SCHEMA}
PUPPET = "tests.unit.services.sql_puppet:Puppet"


@pytest.fixture
async def puppets(tmp_path: Path) -> AsyncIterator[SqlVerifier]:
    verifier = SqlVerifier(workers=2, folder=tmp_path, judge=PUPPET)
    await verifier.start()
    yield verifier
    await verifier.close()


def samples(*texts: str, spec: dict[str, Any] | None = None) -> list[Sample]:
    return [Sample(id=text, completion=text, spec=spec or SPEC) for text in texts]


@pytest.mark.parametrize(
    ("order", "outcome"),
    [
        ("spin prediction", Outcome.TIMEOUT),
        ("sleep prediction", Outcome.VERIFIER_ERROR),
        ("spin gold", Outcome.BAD_SPEC),
        ("spin own", Outcome.UNDECIDED),
        ("die prediction", Outcome.RESOURCE_LIMIT),
        ("die own", Outcome.VERIFIER_ERROR),
        ("stumble prediction", Outcome.CORRECT),
        ("raise prediction", Outcome.VERIFIER_ERROR),
        ("swell prediction", Outcome.UNDECIDED),
    ],
)
async def test_a_worker_that_is_lost_costs_its_own_sample_alone(
    puppets: SqlVerifier, order: str, outcome: Outcome
) -> None:
    for _ in range(2):
        verdicts = await puppets.verify(samples("good", order, "good", "good"))
        found = [verdict.outcome for verdict in verdicts]
        assert found == [Outcome.CORRECT, outcome, Outcome.CORRECT, Outcome.CORRECT]


async def test_more_runaways_than_workers_leave_room_for_others(puppets: SqlVerifier) -> None:
    runaways = asyncio.create_task(puppets.verify(samples(*["spin prediction"] * 6)))
    await asyncio.sleep(0)
    (verdict,) = await puppets.verify(samples("good"))
    assert verdict.outcome is Outcome.CORRECT
    assert {v.outcome for v in await runaways} == {Outcome.TIMEOUT}


async def test_nothing_is_left_running(tmp_path: Path) -> None:
    verifier = SqlVerifier(workers=2, folder=tmp_path, judge=PUPPET)
    await verifier.start()
    (verdict,) = await verifier.verify(samples("good"))
    waiting = asyncio.create_task(verifier.verify(samples(*["sleep own"] * 5)))
    await asyncio.sleep(0.05)
    await verifier.close()
    with pytest.raises(PoolError):
        await waiting
    with pytest.raises(ProcessLookupError):
        os.kill(verdict.details["pid"], 0)


async def test_a_service_that_is_not_started_says_so() -> None:
    with pytest.raises(PoolError):
        await SqlVerifier().verify(samples("good"))


async def test_the_whole_way() -> None:
    verifier = SqlVerifier(workers=1)
    await verifier.start()
    try:
        asked = DatabaseRequest(name="letters", schema_sql=SCHEMA)
        registered = await verifier.register(asked)
        assert registered.usable
        spec = {"query": "SELECT b FROM t", "database": "letters", "profile": "graded"}
        audit = await verifier.audit(GoldRequest(spec=spec))
        assert audit.usable
        assert audit.details["mutation_score"] > 0
        bomb = "SELECT instr(hex(zeroblob(7000000)), hex(zeroblob(3000000)) || '1') FROM t"
        verdicts = await verifier.verify(
            [
                Sample(completion="```sql\nSELECT b FROM t\n```", spec=spec),
                Sample(completion="SELECT b FROM t WHERE a = 1", spec=spec),
                Sample(completion="DROP TABLE t", spec=spec),
                Sample(completion=bomb, spec=spec | {"timeout_seconds": 0.2}),
                Sample(completion="SELECT b FROM t", spec={"query": 7}),
                Sample(completion=[{"role": "assistant", "content": "SELECT b FROM t"}], spec=spec),
            ]
        )
    finally:
        await verifier.close()
    assert [verdict.outcome for verdict in verdicts] == [
        Outcome.CORRECT,
        Outcome.PARTIAL,
        Outcome.REJECTED,
        Outcome.TIMEOUT,
        Outcome.BAD_SPEC,
        Outcome.CORRECT,
    ]
    assert verdicts[1].score == pytest.approx(0.2 + 0.3 * 2 / 3)
    assert all(verdict.verifier == "sql" for verdict in verdicts)
