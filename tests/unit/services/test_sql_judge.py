from __future__ import annotations

import json
from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from rewarden.contracts import Outcome
from services.sql.engines.sqlite import SqliteEngine
from services.sql.judge import Judge, Judgement

SCHEMA = """
CREATE TABLE shop(id INTEGER PRIMARY KEY, name TEXT, city TEXT);
CREATE TABLE sale(id INTEGER PRIMARY KEY, shop_id INTEGER REFERENCES shop(id), total REAL,
                  pieces INTEGER, kind TEXT, day TEXT);
INSERT INTO shop VALUES (1, 'Nook', 'Oslo'), (2, 'Barn', 'Rome'), (3, 'Loft', 'Oslo');
INSERT INTO sale VALUES (1, 1, 9.5, 1, 'web', '2021-03-01'), (2, 1, 20, 2, 'web', '2021-04-02'),
 (3, 2, 20, 5, 'desk', '2022-01-05'), (4, 2, NULL, 1, 'web', '2022-01-06');
"""


@pytest.fixture
def judge(tmp_path: Path) -> Judge:
    return Judge(tmp_path)


def check(judge: Judge, gold: str, text: str, **spec: Any) -> Judgement:
    judged = judge.judge({"query": gold, "schema_sql": SCHEMA} | spec, text)
    json.dumps(judged)  # whatever it is, it can be sent
    return judged


EQUIVALENT = [
    ("SELECT COUNT(*) FROM sale", "SELECT COUNT(1) FROM sale"),
    ("SELECT COUNT(*) FROM sale", "SELECT COUNT(*) * 1.0 FROM sale"),
    ("SELECT name, city FROM shop", "SELECT city AS c, name AS n FROM shop ORDER BY 1"),
    ("SELECT name FROM shop WHERE city = 'Oslo'", "SELECT `name` FROM [shop] WHERE \"city\" IN ('Oslo');"),
    ("SELECT id FROM sale WHERE kind <> 'web'", "SELECT id FROM sale WHERE NOT kind = 'web' -- done"),
    ("SELECT id, name FROM shop", "SELECT DISTINCT id, name FROM shop"),
    ("SELECT EXISTS(SELECT 1 FROM shop WHERE city = 'Oslo')", "SELECT COUNT(*) > 0 FROM shop WHERE city = 'Oslo'"),
    ("SELECT id FROM sale ORDER BY total", "SELECT id FROM sale ORDER BY total, id DESC"),
    ("SELECT total * 1.1 FROM sale", "SELECT total + total * 0.1 FROM sale"),
    (
        "SELECT s.name FROM shop s JOIN sale a ON a.shop_id = s.id GROUP BY s.id HAVING COUNT(*) > 1",
        "SELECT name FROM shop WHERE (SELECT COUNT(*) FROM sale WHERE shop_id = shop.id) > 1",
    ),
    (
        "SELECT name FROM shop WHERE id NOT IN (SELECT shop_id FROM sale)",
        "SELECT s.name FROM shop s LEFT JOIN sale a ON a.shop_id = s.id WHERE a.id IS NULL",
    ),
    ("SELECT MAX(pieces) FROM sale", "SELECT pieces FROM sale ORDER BY pieces DESC LIMIT 1"),
]  # fmt: skip

NEAR_MISSES = [
    ("SELECT COUNT(*) FROM sale", "SELECT 4"),
    ("SELECT COUNT(*) FROM sale", "SELECT 4 FROM sale LIMIT 1"),
    ("SELECT COUNT(*) FROM sale", "SELECT MAX(id) FROM sale"),
    ("SELECT city FROM shop", "SELECT DISTINCT city FROM shop"),
    ("SELECT name FROM shop WHERE city = 'Bonn'", "SELECT name FROM shop WHERE city = 'Kiel'"),
    ("SELECT name FROM shop WHERE city = 'Bonn'", "SELECT name FROM shop WHERE 0"),
    ("SELECT name FROM shop WHERE city = 'Oslo'", "SELECT name FROM shop WHERE LOWER(city) = 'oslo'"),
    ("SELECT name FROM shop WHERE city = 'Oslo'", "SELECT name FROM shop WHERE id <> 2"),
    ("SELECT id FROM sale WHERE pieces > 3", "SELECT id FROM sale WHERE pieces >= 5"),
    ("SELECT COUNT(*) FROM sale WHERE kind = 'desk'", "SELECT COUNT(total) FROM sale WHERE kind = 'desk'"),
    (
        "SELECT s.name, COUNT(a.id) FROM shop s LEFT JOIN sale a ON a.shop_id = s.id AND a.pieces > 0 GROUP BY s.id",
        "SELECT s.name, COUNT(a.id) FROM shop s JOIN sale a ON a.shop_id = s.id GROUP BY s.id",
    ),
    (
        "SELECT name, SUM(total) FROM shop s JOIN sale a ON a.shop_id = s.id GROUP BY s.id",
        "SELECT name, SUM(total) FROM shop s JOIN sale a ON a.shop_id = s.id GROUP BY s.name",
    ),
    ("SELECT id FROM sale WHERE kind <> 'web'", "SELECT id FROM sale WHERE kind IS NOT 'web'"),
    ("SELECT name FROM shop ORDER BY name", "SELECT name FROM shop ORDER BY name DESC"),
    ("SELECT id FROM sale WHERE day < '2022-01-01'", "SELECT id FROM sale WHERE shop_id = 1"),
    (
        "SELECT id FROM sale WHERE (kind = 'web' OR kind = 'desk') AND pieces > 1",
        "SELECT id FROM sale WHERE kind = 'web' AND pieces > 1 OR kind = 'desk'",
    ),
    ("SELECT name FROM shop", "SELECT name, city FROM shop"),
]  # fmt: skip


@pytest.mark.parametrize(("gold", "text"), EQUIVALENT)
def test_another_way_to_write_it_is_right(judge: Judge, gold: str, text: str) -> None:
    judged = check(judge, gold, text)
    assert judged.outcome is Outcome.CORRECT, judged
    assert check(judge, gold, gold).outcome is Outcome.CORRECT


@pytest.mark.parametrize(("gold", "text"), NEAR_MISSES)
def test_a_near_miss_is_wrong(judge: Judge, gold: str, text: str) -> None:
    judged = check(judge, gold, text)
    assert judged.outcome is Outcome.INCORRECT, judged


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("I cannot say.", Outcome.NO_ANSWER),
        ("```sql\nSELECT 1\n```<answer>SELECT 2</answer>", Outcome.NO_ANSWER),
        ("DROP TABLE shop", Outcome.REJECTED),
        ("SELECT name FROM shop; DELETE FROM shop", Outcome.REJECTED),
        ("SELECT name FROM shop ORDER BY RANDOM()", Outcome.REJECTED),
        ("SELECT name FROM shop WHERE id IN (" + "1," * 40_000 + "1)", Outcome.REJECTED),
        ("SELECT " + "x" * 1_100_000, Outcome.REJECTED),
        ("SELECT " + "(" * 3_000 + "1" + ")" * 3_000, Outcome.INCORRECT),
        ("SELECT nothing FROM shop", Outcome.INCORRECT),
        ("SELECT '\0' FROM shop", Outcome.REJECTED),
        ("SELECT '\ud800' FROM shop", Outcome.INCORRECT),
        (
            "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT MAX(n) FROM r",
            Outcome.TIMEOUT,
        ),
    ],
)
def test_what_became_of_it_is_told(judge: Judge, text: str, outcome: Outcome) -> None:
    judged = check(judge, "SELECT name FROM shop", text, timeout_seconds=0.2)
    assert judged.outcome is outcome, judged


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({"query": "SELECT nothing FROM shop"}, "does not run"),
        ({"query": "DELETE FROM shop"}, "does not run"),
        ({"query": "SELECT name FROM shop ORDER BY RANDOM()"}, "does not run"),
        ({"query": "SELECT name FROM shop", "alternatives": ["SELEC"]}, "does not run"),
        (
            {"query": "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM r) SELECT MAX(n) FROM r"},
            "time",
        ),
        ({"schema_sql": "CREATE TABL x"}, "database"),
        ({"schema_sql": None, "database": "nobody"}, "nobody"),
        ({"instances": ["CREATE TABLE other(a)"]}, "instance 1"),
        ({"query": "SELECT name FROM shop WHERE 0"}, "no rows"),
        ({"engine": "oracle"}, "engine"),
        ({"query": None, "rows": []}, "no rows"),
        ({"query": "SELECT FROM WHERE ((", "transpile_from": "mysql"}, "translated"),
    ],
)  # fmt: skip
def test_a_bad_gold_is_no_fault_of_the_prediction(
    judge: Judge, spec: dict[str, Any], said: str
) -> None:
    base = {"query": "SELECT name FROM shop", "schema_sql": SCHEMA, "timeout_seconds": 0.2}
    judged = judge.judge(base | spec, "SELECT name FROM shop")
    assert judged.outcome is Outcome.BAD_SPEC, judged
    assert said in judged.reason


def test_an_engine_that_is_not_there_is_our_fault(
    judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("REWARDEN_SQL_POSTGRES", raising=False)
    judged = check(judge, "SELECT name FROM shop", "SELECT name FROM shop", engine="postgres")
    assert judged.outcome is Outcome.VERIFIER_ERROR


def test_a_limit_may_cut_a_tie_anywhere(judge: Judge) -> None:
    gold = "SELECT id FROM sale ORDER BY total DESC LIMIT 1"
    assert check(judge, gold, gold + " -- 2").outcome is Outcome.CORRECT
    other = "SELECT id FROM sale ORDER BY total DESC, id DESC LIMIT 1"
    assert check(judge, gold, other).outcome is Outcome.CORRECT
    last = "SELECT id FROM sale ORDER BY total LIMIT 1"
    assert check(judge, gold, last).outcome is Outcome.INCORRECT
    audit = judge.audit({"query": gold, "schema_sql": SCHEMA}).details
    assert "tie_at_limit" in audit["warnings"]


def test_a_place_behind_a_star_is_a_column(judge: Judge) -> None:
    gold = "SELECT * FROM sale ORDER BY 4 DESC LIMIT 2"
    assert check(judge, gold, gold + " -- 2").outcome is Outcome.CORRECT
    other = "SELECT * FROM sale ORDER BY pieces LIMIT 2"
    assert check(judge, gold, other).outcome is Outcome.INCORRECT


def test_what_a_limit_may_take_is_left_open_where_ties_are_unknown(judge: Judge) -> None:
    gold = "SELECT DISTINCT city FROM shop ORDER BY id LIMIT 1"
    assert check(judge, gold, gold + " -- 2").outcome is Outcome.CORRECT
    other = "SELECT city FROM shop WHERE name = 'Barn'"
    assert check(judge, gold, other, generate=False).outcome is Outcome.UNDECIDED
    assert check(judge, gold, "SELECT city FROM shop").outcome is Outcome.INCORRECT
    gold = "SELECT DISTINCT city FROM shop ORDER BY id"
    turned = "SELECT DISTINCT city FROM shop ORDER BY city DESC"
    assert check(judge, gold, turned, alternatives=[turned]).outcome is Outcome.CORRECT
    assert check(judge, gold, turned, generate=False).outcome is Outcome.UNDECIDED


def test_any_alternative_will_do_but_only_one_throughout(judge: Judge) -> None:
    gold, other = "SELECT name FROM shop", "SELECT id FROM shop"
    assert check(judge, gold, other).outcome is Outcome.INCORRECT
    assert check(judge, gold, other, alternatives=[other]).outcome is Outcome.CORRECT


def test_given_rows_are_a_gold(judge: Judge) -> None:
    rows = [["Nook"], ["Barn"], ["Loft"]]
    spec: dict[str, Any] = {"rows": rows, "schema_sql": SCHEMA}
    assert judge.judge(spec, "SELECT name FROM shop").outcome is Outcome.CORRECT
    assert judge.judge(spec, "SELECT city FROM shop").outcome is Outcome.INCORRECT
    written = "VALUES ('Nook'), ('Barn'), ('Loft')"
    assert judge.judge(spec, written).outcome is Outcome.INCORRECT
    assert (
        judge.judge(spec | {"ordered": True}, "SELECT name FROM shop ORDER BY id DESC").outcome
        is Outcome.INCORRECT
    )


def test_without_generated_databases_a_coincidence_is_paid(judge: Judge) -> None:
    gold, text = "SELECT COUNT(*) FROM sale", "SELECT MAX(id) FROM sale"
    assert check(judge, gold, text, generate=False).outcome is Outcome.CORRECT
    instance = SCHEMA + "DELETE FROM sale WHERE id = 2;"
    judged = check(judge, gold, text, generate=False, instances=[instance])
    assert judged.outcome is Outcome.INCORRECT
    assert judged.details["difference"]["database"] == "instance 1"


def test_the_details_explain(judge: Judge) -> None:
    judged = check(judge, "SELECT id, total FROM sale", "SELECT id, pieces FROM sale")
    assert judged.details["sql"] == "SELECT id, pieces FROM sale"
    assert judged.details["tables"] == ["sale"]
    assert judged.details["difference"] | {"what": ""} == {
        "database": "given", "what": "", "row": 0, "column": 1, "expected": 9.5, "got": 1,
    }  # fmt: skip
    assert judged.details["gold"]["mutation_score"] > 0.5
    assert [d["name"] for d in judged.details["databases"]] == ["given"]


def test_a_query_that_does_not_parse_has_its_place(judge: Judge) -> None:
    judged = check(judge, "SELECT name FROM shop", "SELECT name FROM shop WHERE (id = 1")
    assert judged.details["failure"] == "parse_error"
    assert judged.details["place"]["line"] == 1


def test_profiles_grade_what_is_wrong(judge: Judge) -> None:
    gold = "SELECT name FROM shop"
    text = "SELECT name FROM shop WHERE id < 3"
    graded = check(judge, gold, text, profile="graded")
    assert graded.outcome is Outcome.PARTIAL
    assert graded.score == pytest.approx(0.2 + 0.3 * 0.8)
    assert check(judge, gold, text, profile="arctic").score == 0.1
    assert check(judge, gold, text, profile="sqlr1").details["reward"] == 0
    refused = check(judge, gold, "DELETE FROM shop", profile="graded")
    assert refused.outcome is Outcome.REJECTED


def test_a_known_prediction_is_told_to_be_known(judge: Judge) -> None:
    gold = "SELECT name FROM shop"
    assert not check(judge, gold, gold).cached
    assert check(judge, gold, gold).cached


def test_queries_are_translated(judge: Judge) -> None:
    gold = "SELECT IFNULL(total, 0) FROM sale"
    text = "SELECT COALESCE(`total`, 0) FROM `sale`"
    assert check(judge, gold, text, transpile_from="mysql").outcome is Outcome.CORRECT


def test_databases_are_the_same_afterwards(judge: Judge, tmp_path: Path) -> None:
    gold = "SELECT name FROM shop"
    check(judge, gold, gold)
    files = sorted((tmp_path / "databases").glob("*.sqlite"))
    before = [sha256(file.read_bytes()).digest() for file in files]
    assert len(files) > 1
    for text in ("DELETE FROM shop", "WITH x AS (SELECT 1) UPDATE shop SET name = 1", "VACUUM"):
        check(judge, gold, text)
    assert [sha256(file.read_bytes()).digest() for file in files] == before


def test_a_registered_database_serves_by_name(judge: Judge) -> None:
    assert judge.register("shop", "sqlite", SCHEMA).outcome is Outcome.CORRECT
    assert judge.register("shop", "sqlite", SCHEMA).outcome is Outcome.CORRECT
    assert judge.register("shop", "sqlite", "CREATE TABLE t(a)").outcome is Outcome.BAD_SPEC
    assert judge.register("../up", "sqlite", SCHEMA).outcome is Outcome.BAD_SPEC
    assert judge.register("new", "oracle", SCHEMA).outcome is Outcome.BAD_SPEC
    spec = {"query": "SELECT name FROM shop", "database": "shop"}
    assert judge.judge(spec, "SELECT name FROM shop").outcome is Outcome.CORRECT
    wrong = spec | {"engine": "duckdb"}
    assert judge.judge(wrong, "SELECT name FROM shop").outcome is Outcome.BAD_SPEC


@pytest.mark.parametrize(
    ("gold", "warning"),
    [
        ("SELECT name FROM shop WHERE city = 'Bonn'", "empty"),
        ("SELECT COUNT(*) FROM shop WHERE city = 'Bonn'", "says_nothing"),
        ("SELECT name FROM shop LIMIT 2", "limit_without_order"),
        ("SELECT id FROM sale WHERE day < date('now')", "clock_dependent"),
        ("SELECT 1", "constant"),
        ("SELECT DISTINCT name FROM shop ORDER BY id", "ties_unknown"),
    ],
)
def test_an_audit_warns(judge: Judge, gold: str, warning: str) -> None:
    judged = judge.audit({"query": gold, "schema_sql": SCHEMA})
    assert judged.outcome is Outcome.CORRECT
    assert warning in judged.details["warnings"]


def test_a_database_file_can_be_registered(judge: Judge, tmp_path: Path) -> None:
    place = tmp_path / "shop.db"
    SqliteEngine().build(SCHEMA, place)
    content = b64encode(place.read_bytes()).decode()
    assert judge.register_file("shop", "sqlite", content).outcome is Outcome.CORRECT
    assert judge.register_file("bad", "sqlite", "bm8gZmlsZQ==").outcome is Outcome.BAD_SPEC
    assert judge.register_file("bad", "sqlite", "?").outcome is Outcome.BAD_SPEC
    assert judge.register_file("bad", "postgres", content).outcome is Outcome.BAD_SPEC
    spec = {"query": "SELECT name FROM shop", "database": "shop"}
    assert judge.judge(spec, "SELECT name FROM shop").outcome is Outcome.CORRECT
