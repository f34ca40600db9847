"""The same questions on every engine: right rewrites are paid, near misses and tricks are not."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from rewarden.contracts import Outcome, Sample
from services.sql.verifier import SqlVerifier
from tests.postgres_server import PostgresServer

SCHEMA = """\
CREATE TABLE dept(id INTEGER PRIMARY KEY, name VARCHAR(20) NOT NULL UNIQUE, floor INTEGER);
CREATE TABLE emp(id INTEGER PRIMARY KEY, name VARCHAR(20) NOT NULL, dept_id INTEGER,
                 pay INTEGER, hired DATE);
INSERT INTO dept VALUES (1, 'Sales', 1), (2, 'Tools', 2), (3, 'Law', 2);
INSERT INTO emp VALUES (1, 'Ann', 1, 50, '2019-03-01'), (2, 'Bob', 1, 60, '2020-05-10'),
  (3, 'Cid', 2, 80, '2018-01-15'), (4, 'Dee', 2, 80, '2021-07-30'), (5, 'Eve', NULL, 45, '2022-11-11'),
  (6, 'Bob', 3, NULL, '2023-02-02'), (7, 'Gus', 1, 50, '2017-09-09');
"""
CASES: list[tuple[str, list[str], list[str]]] = [
    (
        "SELECT name FROM emp WHERE pay > 50",
        [
            "SELECT e.name FROM emp AS e WHERE NOT e.pay <= 50",
            "WITH rich AS (SELECT * FROM emp WHERE pay > 50) SELECT name FROM rich",
            "SELECT name AS who FROM emp WHERE 50 < pay ORDER BY id DESC",
            "SELECT name FROM emp WHERE id IN (SELECT id FROM emp WHERE pay > 50)",
        ],
        [
            "SELECT name FROM emp WHERE pay >= 50",
            "SELECT DISTINCT name FROM emp WHERE pay > 50 OR name = 'Eve'",
            "SELECT name FROM emp WHERE pay > 60",
            "SELECT name, pay FROM emp WHERE pay > 50",
            "SELECT 'Bob' AS name UNION ALL SELECT 'Cid' UNION ALL SELECT 'Dee'",
            "SELECT name FROM emp WHERE name IN ('Bob', 'Cid', 'Dee') AND id < 5",
            "SELECT name FROM emp WHERE pay > 50; DROP TABLE emp",
            "DELETE FROM emp",
        ],
    ),
    (
        "SELECT d.name, COUNT(e.id) FROM dept d LEFT JOIN emp e ON e.dept_id = d.id GROUP BY d.name",
        [
            "SELECT name, (SELECT COUNT(*) FROM emp WHERE dept_id = dept.id) FROM dept",
            "SELECT COUNT(e.id) AS n, d.name FROM emp e RIGHT JOIN dept d ON d.id = e.dept_id "
            "GROUP BY d.name",
        ],
        [
            "SELECT d.name, COUNT(e.id) FROM dept d JOIN emp e ON e.dept_id = d.id GROUP BY d.name",
            "SELECT d.name, COUNT(*) FROM dept d LEFT JOIN emp e ON e.dept_id = d.id GROUP BY d.name",
            "SELECT d.name, COUNT(DISTINCT e.pay) FROM dept d LEFT JOIN emp e ON e.dept_id = d.id "
            "GROUP BY d.name",
        ],
    ),
    (
        "SELECT name FROM emp ORDER BY pay DESC LIMIT 2",
        [
            "SELECT name FROM emp ORDER BY pay DESC, id LIMIT 2",
            "SELECT name FROM emp ORDER BY pay DESC, id DESC LIMIT 2",
        ],
        [
            "SELECT name FROM emp ORDER BY pay LIMIT 2",
            "SELECT name FROM emp ORDER BY pay DESC LIMIT 3",
        ],
    ),
    (
        "SELECT name, pay FROM emp WHERE pay IS NOT NULL ORDER BY pay, name",
        ["SELECT e.name, e.pay FROM emp e WHERE e.pay IS NOT NULL ORDER BY e.pay ASC, e.name ASC"],
        [
            "SELECT name, pay FROM emp WHERE pay IS NOT NULL",
            "SELECT name, pay FROM emp WHERE pay IS NOT NULL ORDER BY pay DESC, name",
            "SELECT pay, name FROM emp WHERE pay IS NOT NULL ORDER BY name, pay",
        ],
    ),
    (
        "SELECT AVG(pay) FROM emp",
        [
            "SELECT SUM(pay) * 1.0 / COUNT(pay) FROM emp",
            "SELECT AVG(CAST(pay AS DOUBLE PRECISION)) AS mean FROM emp",
        ],
        [
            "SELECT SUM(pay) * 1.0 / COUNT(*) FROM emp",
            "SELECT AVG(COALESCE(pay, 0)) FROM emp",
            "SELECT MAX(pay) FROM emp",
        ],
    ),
    (
        "SELECT name FROM emp WHERE dept_id IS NULL",
        ["SELECT name FROM emp WHERE NOT (dept_id IS NOT NULL)"],
        ["SELECT name FROM emp WHERE dept_id = NULL", "SELECT name FROM emp WHERE id = 5"],
    ),
    (
        "SELECT DISTINCT name FROM emp",
        ["SELECT name FROM emp GROUP BY name", "SELECT name FROM emp UNION SELECT name FROM emp"],
        ["SELECT name FROM emp", "SELECT DISTINCT name, id FROM emp"],
    ),
    (
        "SELECT name FROM emp WHERE hired >= '2020-01-01'",
        ["SELECT name FROM emp WHERE hired > '2019-12-31'"],
        ["SELECT name FROM emp WHERE hired <= '2020-01-01'", "SELECT name FROM emp WHERE id > 1"],
    ),
    (
        "SELECT COUNT(*) FROM emp WHERE pay > 55",
        [
            "SELECT SUM(CASE WHEN pay > 55 THEN 1 ELSE 0 END) FROM emp",
            "SELECT COUNT(id) FROM emp WHERE 55 < pay",
        ],
        [
            "SELECT 3",
            "SELECT COUNT(*) FROM emp WHERE pay > 50 AND id < 9",
            "SELECT COUNT(*) - 0 FROM dept",
        ],
    ),
]
"""A gold query, its rewrites, and what looks like it."""


@pytest.fixture
async def verifier(
    postgres_server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[SqlVerifier]:
    monkeypatch.setenv("REWARDEN_SQL_POSTGRES", postgres_server.url)
    made = SqlVerifier()
    await made.start()
    yield made
    await made.close()


@pytest.mark.parametrize("engine", ["sqlite", "duckdb", "postgres"])
async def test_rewrites_are_paid_and_near_misses_are_not(
    verifier: SqlVerifier, engine: str
) -> None:
    told = [
        (gold, query, is_right)
        for gold, right, wrong in CASES
        for queries, is_right in (([gold, *right], True), (wrong, False))
        for query in queries
    ]
    verdicts = await verifier.verify(
        [
            Sample(
                completion=f"```sql\n{query}\n```",
                spec={"query": gold, "schema_sql": SCHEMA, "engine": engine},
            )
            for gold, query, _ in told
        ]
    )
    off = [
        (query, verdict.outcome, verdict.reason)
        for (_, query, is_right), verdict in zip(told, verdicts, strict=True)
        if (verdict.outcome is Outcome.CORRECT) != is_right or not verdict.outcome.is_scored
    ]
    assert off == []


@pytest.mark.parametrize("engine", ["sqlite", "duckdb"])
async def test_many_golds_fit_into_a_worker(verifier: SqlVerifier, engine: str) -> None:
    queries = [f"SELECT name FROM emp WHERE pay > {pay} AND id < {pay}" for pay in range(4, 44)]
    specs = [{"query": query, "schema_sql": SCHEMA, "engine": engine} for query in queries]
    verdicts = await verifier.verify(
        [Sample(completion=query, spec=spec) for query, spec in zip(queries, specs, strict=True)]
    )
    unpaid = {v.reason for v in verdicts if v.outcome is not Outcome.CORRECT}
    assert unpaid == set()
