from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from services.sql.engines.sqlite import SqliteDatabase, SqliteEngine
from services.sql.results import DatabaseError, Failure, QueryError

SCHEMA = """
CREATE TABLE emp(id INTEGER PRIMARY KEY, name TEXT NOT NULL, boss INTEGER REFERENCES emp(id),
                 mail TEXT UNIQUE);
CREATE VIEW names AS SELECT name FROM emp;
INSERT INTO emp VALUES (1, 'Ann', NULL, 'a@b'), (2, 'Bob', 1, NULL);
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    place = tmp_path / "emp.sqlite"
    SqliteEngine().build(SCHEMA, place)
    return place


@pytest.fixture
def database(place: Path) -> Iterator[SqliteDatabase]:
    database = SqliteEngine().open(place)
    yield database
    database.close()


def failure(database: SqliteDatabase, sql: str, seconds: float = 1.0) -> Failure:
    with pytest.raises(QueryError) as caught:
        database.run(sql, seconds)
    return caught.value.failure


def test_rows_and_the_tables_they_come_from(database: SqliteDatabase) -> None:
    result = database.run("SELECT name FROM emp ORDER BY id", 1)
    assert result.rows == [("Ann",), ("Bob",)]
    assert result.tables == {"emp"}
    assert database.run("SELECT COUNT(*) FROM emp", 1).tables == {"emp"}
    assert database.run("SELECT * FROM names", 1).tables == {"emp", "names"}
    assert database.run("WITH x AS (SELECT 1 AS a) SELECT a FROM x", 1).tables == set()


def test_a_query_that_ran_before_still_tells_its_tables(database: SqliteDatabase) -> None:
    for _ in range(2):
        assert database.run("SELECT id FROM emp", 1).tables == {"emp"}


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM emp",
        "INSERT INTO emp(name) VALUES ('Cid') RETURNING name",
        "WITH d AS (SELECT 1) DELETE FROM emp",
        "DROP TABLE emp",
        "CREATE TEMP TABLE emp AS SELECT 1",
        "CREATE TRIGGER t AFTER INSERT ON emp BEGIN DELETE FROM emp; END",
        "ATTACH DATABASE ':memory:' AS other",
        "VACUUM",
        "VACUUM INTO '/tmp/copy.db'",
        "PRAGMA writable_schema = ON",
        "PRAGMA query_only = OFF",
        "ANALYZE",
        "REINDEX",
        "COMMIT",
        "BEGIN",
        "SAVEPOINT a",
        "SELECT load_extension('/tmp/x.so')",
        "SELECT fts3_tokenizer('simple')",
        "SELECT random()",
        "SELECT randomblob(1000000000)",
        "SELECT file FROM pragma_database_list",
        "SELECT * FROM sqlite_master",
        "SELECT * FROM dbstat",
        "SELECT name FROM emp; DROP TABLE emp",
        "SELECT name FROM emp ORDER BY random()",
    ],
)
def test_what_is_no_reading_is_refused(database: SqliteDatabase, place: Path, sql: str) -> None:
    before = sha256(place.read_bytes()).digest()
    assert failure(database, sql) is Failure.REFUSED
    assert sha256(place.read_bytes()).digest() == before
    assert len(database.run("SELECT * FROM emp", 1).rows) == 2


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT nothing FROM emp", Failure.ERROR),
        ("SELEC 1", Failure.ERROR),
        ("", Failure.ERROR),
        ("SELECT " + "(" * 3000 + "1" + ")" * 3000, Failure.ERROR),
        ("SELECT '\ud800'", Failure.ERROR),
        ("SELECT replace(hex(zeroblob(8000000)), '0', 'xxxx')", Failure.RESOURCE),
        (
            "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM r) SELECT n FROM r",
            Failure.RESOURCE,
        ),
        (
            "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM r) SELECT COUNT(*) FROM r",
            Failure.TIMEOUT,
        ),
    ],
)
def test_why_there_is_no_result(database: SqliteDatabase, sql: str, expected: Failure) -> None:
    seconds = 0.1 if expected is Failure.TIMEOUT else 20
    assert failure(database, sql, seconds) is expected
    assert database.run("SELECT 1", 1).rows == [(1,)]


def test_the_clock_stands_still(database: SqliteDatabase) -> None:
    sql = "SELECT CURRENT_DATE, date('now', '+1 day'), strftime('%Y'), CURRENT_TIMESTAMP"
    rows = database.run(sql, 1).rows
    assert rows == [("2025-06-15", "2025-06-16", "2025", "2025-06-15 12:00:00")]
    assert database.run("SELECT date('2020-01-31', '+1 day')", 1).rows == [("2020-02-01",)]


def test_json_can_be_read(database: SqliteDatabase) -> None:
    assert database.run("SELECT value FROM json_each('[1, 2]')", 1).rows == [(1,), (2,)]


def test_text_that_is_not_utf8_is_kept(tmp_path: Path) -> None:
    place = tmp_path / "bad"
    SqliteEngine().build(
        "CREATE TABLE t(a TEXT); INSERT INTO t VALUES (CAST(x'ff41' AS TEXT))", place
    )
    database = SqliteEngine().open(place)
    assert database.run("SELECT a FROM t", 1).rows == [("\udcffA",)]
    database.close()


@pytest.mark.parametrize(
    "statements", ["CREATE TABL t(a)", "ATTACH ':memory:' AS x", "SELECT '\ud800'", "SELECT '\0'"]
)
def test_statements_that_make_no_database_are_told(tmp_path: Path, statements: str) -> None:
    place = tmp_path / "bad"
    with pytest.raises(DatabaseError):
        SqliteEngine().build(statements, place)
    assert not place.exists()


def test_keys_and_references_are_read(database: SqliteDatabase) -> None:
    (table,) = database.tables()
    assert table.keys == [("id",), ("mail",)]
    assert table.references == {"boss": ("emp", "id")}
    assert [c.is_nullable for c in table.columns] == [False, False, True, True]


def test_a_scratch_is_filled_and_kept(place: Path, tmp_path: Path) -> None:
    engine = SqliteEngine()
    scratch = engine.scratch(place)
    scratch.fill({"emp": [(7, "Zoe", None, None)]})
    assert scratch.run("SELECT name FROM names", 1).rows == [("Zoe",)]
    with pytest.raises(DatabaseError):
        scratch.fill({"emp": [(1, None, None, None)]})
    scratch.save(tmp_path / "copy")
    scratch.close()
    copy = engine.open(tmp_path / "copy")
    assert copy.run("SELECT id FROM emp", 1).rows == [(7,)]
    copy.close()
