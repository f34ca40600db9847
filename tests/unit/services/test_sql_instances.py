from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from services.sql.compare import Options
from services.sql.engines.sqlite import SqliteEngine
from services.sql.instances.generate import Chosen, Generator
from services.sql.instances.mutants import mutants
from services.sql.instances.roles import read_roles
from services.sql.instances.rows import make_rows
from services.sql.parse import parse
from services.sql.shape import shape

SCHEMA = """
CREATE TABLE dept(code TEXT PRIMARY KEY, city TEXT NOT NULL CHECK (length(city) > 0));
CREATE TABLE emp(id INTEGER PRIMARY KEY, name TEXT, code TEXT REFERENCES dept(code),
                 pay REAL, hired TEXT, UNIQUE (name, hired));
INSERT INTO dept VALUES ('E', 'Oslo'), ('S', 'Rome');
INSERT INTO emp VALUES (1, 'Ann', 'E', 10.5, '2020-01-31'), (2, 'Bob', 'S', NULL, '2021-06-01');
"""
GOLD = (
    "SELECT e.name FROM emp e JOIN dept d ON e.code = d.code WHERE e.pay > 20 AND d.city = 'Oslo'"
)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    place = tmp_path / "db"
    SqliteEngine().build(SCHEMA, place)
    return place


def test_rows_keep_the_declared_keys(place: Path) -> None:
    database = SqliteEngine().open(place)
    tables = database.tables()
    database.close()
    tree = parse(GOLD, "sqlite")
    assert tree is not None
    roles = read_roles([tree])
    scratch = SqliteEngine().scratch(place)
    pays = set()
    for number in range(30):
        rows = make_rows(tables, roles, Random(number))
        scratch.fill(rows)  # a key or a check that does not hold is an error
        codes = {code for code, _ in rows["dept"]}
        assert {row[2] for row in rows["emp"]} <= codes
        assert all(row[4] is None or row[4][:2] == "20" for row in rows["emp"])  # dates stay dates
        pays |= {row[3] for row in rows["emp"]}
    scratch.close()
    assert {20.0, 21.0, 19.0, None} <= pays


def test_rows_are_the_same_every_time(place: Path) -> None:
    database = SqliteEngine().open(place)
    tables = database.tables()
    database.close()
    roles = read_roles([])
    assert make_rows(tables, roles, Random(3)) == make_rows(tables, roles, Random(3))


def test_what_joins_gets_no_null_that_the_data_has_not() -> None:
    tree = parse(
        "SELECT a FROM t e WHERE b = (SELECT MAX(b) FROM t WHERE c = e.c) AND d <> 'x'", "sqlite"
    )
    assert tree is not None
    roles = read_roles([tree])
    assert not roles.may_be_null("c", has_nulls=False)
    assert roles.may_be_null("c", has_nulls=True)
    assert roles.may_be_null("d", has_nulls=False)
    assert roles.may_be_null("b", has_nulls=False)
    assert not roles.may_be_null("a", has_nulls=False)


@pytest.mark.parametrize(
    ("sql", "mutant"),
    [
        ("SELECT a FROM t WHERE b > 3", "SELECT a FROM t WHERE b >= 3"),
        ("SELECT a FROM t WHERE b > 3", "SELECT a FROM t WHERE b > 4"),
        ("SELECT a FROM t WHERE b > 3", "SELECT a FROM t"),
        ("SELECT a FROM t WHERE b > 3", "SELECT DISTINCT a FROM t WHERE b > 3"),
        ("SELECT a FROM t WHERE b = 1 AND c = 2", "SELECT a FROM t WHERE b = 1"),
        ("SELECT a FROM t WHERE b = 1 AND c = 2", "SELECT a FROM t WHERE b = 1 OR c = 2"),
        ("SELECT SUM(a) FROM t", "SELECT AVG(a) FROM t"),
        ("SELECT COUNT(a) FROM t", "SELECT COUNT(*) FROM t"),
        ("SELECT COUNT(DISTINCT a) FROM t", "SELECT COUNT(a) FROM t"),
        ("SELECT a FROM t JOIN u ON t.x = u.x", "SELECT a FROM t LEFT JOIN u ON t.x = u.x"),
        ("SELECT a FROM t LEFT JOIN u ON t.x = u.x", "SELECT a FROM t JOIN u ON t.x = u.x"),
        ("SELECT a FROM t UNION SELECT b FROM t", "SELECT a FROM t UNION ALL SELECT b FROM t"),
        ("SELECT a FROM t ORDER BY a LIMIT 3", "SELECT a FROM t ORDER BY a DESC LIMIT 3"),
    ],
)
def test_near_misses(sql: str, mutant: str) -> None:
    tree = parse(sql, "sqlite")
    assert tree is not None
    written = mutants(tree, "sqlite")
    assert sql not in written
    assert mutant in written


def choose(place: Path, gold: str) -> Chosen:
    database = SqliteEngine().open(place)
    scratch = SqliteEngine().scratch(place)
    generator = Generator(
        scratch,
        database.tables(),
        golds=(gold,),
        shape=shape(gold, "sqlite"),
        engine="sqlite",
        options=Options(),
        ordered=None,
    )
    chosen = generator.choose([])
    scratch.close()
    database.close()
    return chosen


def test_near_misses_are_told_apart(place: Path) -> None:
    chosen = choose(place, GOLD)
    assert chosen.mutants > 10
    assert chosen.killed / chosen.mutants > 0.8
    assert 1 <= len(chosen.rows) <= 5


def test_a_gold_that_finds_nothing_gets_databases_where_it_does(place: Path) -> None:
    chosen = choose(place, "SELECT name FROM emp WHERE code = 'E' AND pay > 77")
    assert any(row[3] is not None and row[3] > 77 for rows in chosen.rows for row in rows["emp"])
