from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from rewarden.contracts import Outcome
from services.sql.judge import Judge

SCHEMA = """
CREATE TABLE shop(id INTEGER PRIMARY KEY, name VARCHAR, city VARCHAR);
CREATE TABLE sale(id INTEGER PRIMARY KEY, shop_id INTEGER REFERENCES shop(id), total DECIMAL(10, 2),
                  pieces INTEGER, paid BOOLEAN, day DATE);
INSERT INTO shop VALUES (1, 'Nook', 'Oslo'), (2, 'Barn', 'Rome'), (3, 'Loft', 'Oslo');
INSERT INTO sale VALUES (1, 1, 9.5, 1, TRUE, '2021-03-01'), (2, 1, 20, 2, FALSE, '2021-04-02'),
 (3, 2, 20, 5, TRUE, '2022-01-05'), (4, 2, NULL, 1, TRUE, '2022-01-06');
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sql")


@pytest.fixture(scope="module")
def judge(folder: Path) -> Judge:
    return Judge(folder)


def outcome(judge: Judge, gold: str, text: str, **spec: Any) -> Outcome:
    base = {"query": gold, "schema_sql": SCHEMA, "engine": "duckdb"}
    return judge.judge(base | spec, text).outcome


@pytest.mark.parametrize(
    ("gold", "text"),
    [
        ("SELECT name FROM shop", "FROM shop SELECT name ORDER BY ALL DESC"),
        ("SELECT total FROM sale", "SELECT total::DOUBLE FROM sale"),
        ("SELECT CAST(1.50 AS DECIMAL(10, 2))", "SELECT 1.5::DOUBLE"),
        ("SELECT day FROM sale WHERE paid", "SELECT day::VARCHAR FROM sale WHERE paid = TRUE"),
        ("SELECT COUNT(*) > 0 FROM sale", "SELECT EXISTS(FROM sale)::INT"),
        ("SELECT list(id ORDER BY id) FROM shop", "SELECT array_agg(id ORDER BY id) FROM shop"),
        ("SELECT id FROM sale WHERE day < DATE '2022-01-01'", "SELECT id FROM sale WHERE year(day) < 2022"),
        ("SELECT id FROM sale WHERE day < '2025-06-15'", "SELECT id FROM sale WHERE day < CURRENT_DATE"),
        ("SELECT id, TIMESTAMP '2025-06-15 12:00:00' FROM sale", "SELECT id, now() FROM sale"),
        ("SELECT id FROM sale ORDER BY total", "SELECT id FROM sale ORDER BY total, id DESC"),
    ],
)  # fmt: skip
def test_another_way_to_write_it_is_right(judge: Judge, gold: str, text: str) -> None:
    assert outcome(judge, gold, text) is Outcome.CORRECT


@pytest.mark.parametrize(
    ("gold", "text"),
    [
        ("SELECT COUNT(*) FROM sale", "SELECT MAX(id) FROM sale"),
        ("SELECT COUNT(*) FROM sale", "SELECT 4"),
        ("SELECT COUNT(*) / 3 FROM sale", "SELECT COUNT(*) // 3 FROM sale"),
        ("SELECT id FROM sale WHERE pieces > 3", "SELECT id FROM sale WHERE pieces >= 5"),
        ("SELECT name FROM shop WHERE city = 'Bonn'", "SELECT name FROM shop WHERE city = 'Kiel'"),
        ("SELECT id FROM sale ORDER BY day", "SELECT id FROM sale ORDER BY day DESC"),
        ("SELECT nothing_else FROM (SELECT name AS nothing_else FROM shop)", "SELECT nothing FROM shop"),
    ],
)  # fmt: skip
def test_a_near_miss_is_wrong(judge: Judge, gold: str, text: str) -> None:
    assert outcome(judge, gold, text) is Outcome.INCORRECT


@pytest.mark.parametrize(
    "text",
    [
        "DROP TABLE shop",
        "INSERT INTO shop VALUES (9, 'x', 'y') RETURNING name",
        "COPY shop TO '/tmp/shop.csv'",
        "EXPORT DATABASE '/tmp/shop'",
        "ATTACH '/tmp/evil.duckdb'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET threads = 8",
        "PRAGMA database_list",
        "SUMMARIZE shop",
        "SELECT content FROM read_text('/etc/passwd')",
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM '/etc/passwd'",
        "SELECT random() FROM shop",
        "SELECT name FROM shop USING SAMPLE 1",
        "SELECT * FROM duckdb_settings()",
        "SELECT name FROM shop; DELETE FROM shop",
    ],
)
def test_what_is_no_reading_is_not_done(judge: Judge, folder: Path, text: str) -> None:
    gold = "SELECT name FROM shop"
    assert outcome(judge, gold, gold) is Outcome.CORRECT
    files = sorted((folder / "databases").glob("*.duckdb"))
    before = [sha256(file.read_bytes()).digest() for file in files]
    assert outcome(judge, gold, text) in {Outcome.REJECTED, Outcome.INCORRECT}
    assert [sha256(file.read_bytes()).digest() for file in files] == before
    assert not Path("/tmp/evil.duckdb").exists()


def test_a_query_without_end_is_stopped(judge: Judge) -> None:
    text = "SELECT MAX(hash(a.range, b.range)) FROM range(1000000) a, range(1000000) b"
    assert outcome(judge, "SELECT name FROM shop", text, timeout_seconds=0.3) is Outcome.TIMEOUT


def test_a_query_that_takes_too_much_memory_is_stopped(judge: Judge) -> None:
    text = "SELECT list(a.range) FROM range(1000000000) a"
    spec = {"timeout_seconds": 20}
    assert outcome(judge, "SELECT name FROM shop", text, **spec) is Outcome.RESOURCE_LIMIT


def test_a_bad_gold_is_told(judge: Judge) -> None:
    assert outcome(judge, "SELECT nothing FROM shop", "SELECT 1") is Outcome.BAD_SPEC
    assert outcome(judge, "SELECT random() FROM shop", "SELECT 1") is Outcome.BAD_SPEC
    spec = {"schema_sql": "CREATE TABL x"}
    assert outcome(judge, "SELECT 1", "SELECT 1", **spec) is Outcome.BAD_SPEC
    spec = {"schema_sql": "CREATE TABLE t AS SELECT * FROM read_text('/etc/passwd')"}
    assert outcome(judge, "SELECT 1", "SELECT 1", **spec) is Outcome.BAD_SPEC
