"""Queries that do not end, or that swell, on each engine, through the whole verifier.

They cost their own sample alone; the databases are the same bytes afterwards.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import psycopg
import pytest

from rewarden.contracts import Outcome, Sample
from services.sql.verifier import SqlVerifier
from tests.postgres_server import PostgresServer

SCHEMA = """
CREATE TABLE emp(id INTEGER PRIMARY KEY, name VARCHAR(20), dept VARCHAR(20), pay INTEGER);
INSERT INTO emp VALUES (1, 'Ann', 'Eng', 50), (2, 'Bob', 'Eng', 60), (3, 'Cid', 'HR', 60), (4, 'Dee', 'HR', 70);
"""
GOLD = "SELECT name FROM emp WHERE pay > 55"
SAME = "```sql\nSELECT name FROM emp WHERE NOT pay <= 55 AND id <> {}\n```"
CROSS = "SELECT COUNT(*) FROM " + ", ".join(f"emp e{n}" for n in range(20))
BOMBS = {
    "sqlite": [
        CROSS,
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT COUNT(*) FROM r",
        "SELECT instr(hex(zeroblob(7000000)), hex(zeroblob(3000000)) || '1') FROM emp",
        "SELECT printf('%.*c', 900000000, 'x')",
        "SELECT randomblob(1000000000)",
        "SELECT hex(zeroblob(1000000000))",
        "SELECT group_concat(hex(zeroblob(1000000)), '') FROM emp a, emp b, emp c, emp d",
        "WITH RECURSIVE r(n, t) AS (SELECT 1, 'x' UNION ALL SELECT n + 1, t || t FROM r) SELECT * FROM r",
        "SELECT replace(hex(zeroblob(8000000)), '0', hex(zeroblob(100)))",
        "SELECT 'a' LIKE '" + "%a" * 20_000 + "b' FROM emp",
        "SELECT * FROM json_each('[' || substr(replace(hex(zeroblob(4000000)), '0', ',1'), 2) || ']')",
    ],
    "duckdb": [
        CROSS,
        "SELECT MAX(hash(a.range, b.range)) FROM range(1000000) a, range(1000000) b",
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT COUNT(*) FROM r",
        "SELECT repeat('x', 2000000000)",
        "SELECT list(range) FROM range(1000000000)",
        "SELECT array_agg(a.range) FROM range(100000) a, range(100000) b",
        "SELECT string_agg(repeat('x', 1000000), '') FROM range(10000)",
        "SELECT range(2000000000)",
        "SELECT lpad('', 2000000000, 'x')",
        "SELECT regexp_matches(repeat('a', 10000000), '(a+)+$') FROM range(1000)",
    ],
    "postgres": [
        CROSS,
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT COUNT(*) FROM r",
        "SELECT repeat('x', 1000000000)",
        "SELECT array_agg(a) FROM generate_series(1, 1000000000) a",
        "SELECT string_agg(repeat('x', 1000000), '') FROM generate_series(1, 10000)",
        "SELECT COUNT(*) FROM generate_series(1, 1000000000) a, generate_series(1, 1000000000) b",
        "SELECT regexp_matches(repeat('a', 1000000), '(a|a)+(a|a)+b') FROM emp",
        "SELECT factorial(100000) FROM emp",
        "SELECT 2::numeric ^ 130000 ^ 2",
    ],
}
ENGINES = ["sqlite", "duckdb", pytest.param("postgres", marks=pytest.mark.postgres)]


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    name: str = request.param
    if name == "postgres":
        server: PostgresServer = request.getfixturevalue("postgres_server")
        monkeypatch.setenv("REWARDEN_SQL_POSTGRES", server.url)
    return name


@pytest.fixture
async def verifier(engine: str, tmp_path: Path) -> AsyncIterator[SqlVerifier]:
    verifier = SqlVerifier(workers=2, folder=tmp_path)
    await verifier.start()
    yield verifier
    await verifier._ask([("clear",)])
    await verifier.close()


def sample(engine: str, text: str, seconds: float = 0.4) -> Sample:
    spec = {"query": GOLD, "schema_sql": SCHEMA, "engine": engine, "timeout_seconds": seconds}
    return Sample(completion=text, spec=spec)


def rows_and_bytes(folder: Path) -> list[Any]:
    """Say what is in every database: the bytes of the files, the rows on a server."""
    found: list[Any] = []
    for place in sorted((folder / "databases").iterdir()):
        if place.suffix in {".sqlite", ".duckdb", ".postgres"}:
            found.append((place.name, sha256(place.read_bytes()).hexdigest()))
    return found


def rows_on(url: str) -> list[Any]:
    with psycopg.connect(url) as raw:
        names = raw.execute(
            "SELECT datname FROM pg_database WHERE datname ~ 'rewarden_[0-9a-f]{32}' ORDER BY 1"
        ).fetchall()
    found = []
    for (name,) in names:
        with psycopg.connect(url, dbname=name) as raw:
            rows = raw.execute("SELECT * FROM emp ORDER BY id").fetchall()
            objects = raw.execute("SELECT COUNT(*) FROM pg_class").fetchall()
            found.append((name, rows, objects))
    return found


async def test_each_ends_as_its_own_fault_and_changes_nothing(
    engine: str, verifier: SqlVerifier, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    (first,) = await verifier.verify([sample(engine, SAME.format(424_242))])
    assert first.outcome is Outcome.CORRECT
    url = request.getfixturevalue("postgres_server").url if engine == "postgres" else ""
    before = rows_and_bytes(tmp_path), rows_on(url) if url else None
    for bomb in BOMBS[engine]:
        verdicts = await verifier.verify(
            [sample(engine, bomb), sample(engine, SAME.format(424_242))]
        )
        assert verdicts[0].score == 0, (bomb, verdicts[0])
        assert verdicts[0].outcome in {
            Outcome.TIMEOUT,
            Outcome.RESOURCE_LIMIT,
            Outcome.REJECTED,
            Outcome.INCORRECT,
        }, (bomb, verdicts[0])
        assert verdicts[1].outcome is Outcome.CORRECT
    assert (rows_and_bytes(tmp_path), rows_on(url) if url else None) == before


async def test_right_answers_do_not_wait_for_sixteen_runaways(
    engine: str, verifier: SqlVerifier
) -> None:
    await verifier.verify([sample(engine, SAME.format(424_242))])
    bad = [sample(engine, f"{CROSS} WHERE e0.id > {-n}", 1.0) for n in range(16)]
    running = asyncio.create_task(verifier.verify(bad))
    for number in range(1, 11):
        (verdict,) = await verifier.verify([sample(engine, SAME.format(number + 424_242), 10.0)])
        assert verdict.outcome is Outcome.CORRECT
    assert not running.done()
    # Where the machine is so busy that a server gave it no time, that is not held against a query.
    may = {Outcome.TIMEOUT, Outcome.VERIFIER_ERROR} if engine == "postgres" else {Outcome.TIMEOUT}
    assert {verdict.outcome for verdict in await running} <= may
