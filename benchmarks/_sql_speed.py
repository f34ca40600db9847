"""The SQL verifier on SQLite: verdicts a second, registration, a large result, and runaway queries.

Verdicts are counted per second of CPU time of one process, by the judge alone. The limit that they
are compared with, in the same run, is SQLite itself: the same queries on a plain connection. The
runaways are measured through the whole verifier, workers and all.
"""

from __future__ import annotations

import asyncio
import sqlite3
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any, Final

from rewarden.contracts import Outcome, Sample
from services.sql.judge import Judge
from services.sql.verifier import SqlVerifier

SCHEMA: Final = """
CREATE TABLE emp(id INTEGER PRIMARY KEY, name TEXT, dept TEXT, salary REAL, manager_id INTEGER);
INSERT INTO emp VALUES (1,'Ann','Sales',50000,NULL),(2,'Bob','Sales',60000,1),
 (3,'Cid','Eng',80000,1),(4,'Dee','Eng',80000,3),(5,'Eve','HR',45000,1),(6,'Bob','HR',NULL,5);
"""
LARGE: Final = (
    "CREATE TABLE emp(id INTEGER PRIMARY KEY, name TEXT); WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL"
    " SELECT n + 1 FROM r WHERE n < 200000) INSERT INTO emp SELECT n, 'n' || n FROM r;"
)
GOLDS: Final = [
    "SELECT name FROM emp WHERE dept = 'Eng'",
    "SELECT dept, COUNT(*) FROM emp GROUP BY dept",
    "SELECT name FROM emp WHERE salary > 50000 ORDER BY salary DESC LIMIT 2",
    "SELECT e.name, m.name FROM emp e JOIN emp m ON e.manager_id = m.id",
    "SELECT AVG(salary) FROM emp WHERE dept <> 'HR'",
    "SELECT dept FROM emp GROUP BY dept HAVING COUNT(*) > 1",
]
RUNAWAY: Final = (
    "WITH RECURSIVE r(n) AS (SELECT {} UNION ALL SELECT n + 1 FROM r) SELECT COUNT(*) FROM r"
)
COUNT: Final = 3_000


def distinct(number: int) -> str:
    """Return a prediction that is right, and that no cache has seen."""
    return f"```sql\nSELECT name FROM emp WHERE dept = 'Eng' AND id <> {number + 1_000}\n```"


def verdicts_a_second(spec: dict[str, Any]) -> float:
    """Measure the judge, its gold known."""
    with tempfile.TemporaryDirectory() as folder:
        judge = Judge(Path(folder))
        judge.judge(spec, GOLDS[0])
        began = time.process_time()
        for number in range(COUNT):
            judged = judge.judge(spec, distinct(number))
            if judged.outcome is not Outcome.CORRECT:
                raise AssertionError(judged)
        return COUNT / (time.process_time() - began)


def plain_queries_a_second() -> float:
    """Measure SQLite itself."""
    raw = sqlite3.connect(":memory:", cached_statements=0)
    raw.executescript(SCHEMA)
    queries = [distinct(number).split("\n")[1] for number in range(COUNT)]
    began = time.process_time()
    for query in queries:
        raw.execute(query).fetchall()
    return COUNT / (time.process_time() - began)


def registration_seconds() -> list[float]:
    """Measure the audit of golds that are new."""
    seconds = []
    with tempfile.TemporaryDirectory() as folder:
        judge = Judge(Path(folder))
        for gold in GOLDS:
            began = time.process_time()
            judge.audit({"query": gold, "schema_sql": SCHEMA})
            seconds.append(time.process_time() - began)
    return seconds


def large_seconds() -> float:
    """Measure the comparison of 200,000 rows in another order."""
    with tempfile.TemporaryDirectory() as folder:
        judge = Judge(Path(folder))
        spec = {"query": "SELECT id, name FROM emp", "schema_sql": LARGE, "timeout_seconds": 10}
        judge.judge(spec, "SELECT id, name FROM emp")
        began = time.process_time()
        judged = judge.judge(spec, "SELECT name, id FROM emp ORDER BY id DESC")
        if judged.outcome is not Outcome.CORRECT:
            raise AssertionError(judged)
        return time.process_time() - began


async def latencies(verifier: SqlVerifier, first: int) -> list[float]:
    """Return what 200 right queries, one after the other, take."""
    spec = {"query": GOLDS[0], "schema_sql": SCHEMA}
    taken = []
    for number in range(first, first + 200):
        began = time.perf_counter()
        await verifier.verify([Sample(completion=distinct(number), spec=spec)])
        taken.append(time.perf_counter() - began)
        await asyncio.sleep(0.01)
    return taken


async def runaways() -> tuple[float, float, float]:
    """Return the idle p95, the p95 next to 16 runaways, and how late a lone one ends."""
    spec = {"query": GOLDS[0], "schema_sql": SCHEMA, "timeout_seconds": 2.0}
    verifier = SqlVerifier()
    await verifier.start()
    await latencies(verifier, 0)
    idle = await latencies(verifier, 1_000)
    began = time.perf_counter()
    await verifier.verify(
        [Sample(completion=RUNAWAY.format(99), spec=spec | {"timeout_seconds": 1})]
    )
    late = time.perf_counter() - began - 1
    bad = [Sample(completion=RUNAWAY.format(n), spec=spec) for n in range(16)]
    running = asyncio.create_task(verifier.verify(bad))
    await asyncio.sleep(0.3)
    busy = await latencies(verifier, 2_000)
    await running
    await verifier.close()
    return statistics.quantiles(idle, n=20)[-1], statistics.quantiles(busy, n=20)[-1], late
