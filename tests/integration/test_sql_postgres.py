"""The Postgres engine against a server of its own."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from rewarden.contracts import Outcome, Sample
from services.sql.judge import Judge
from services.sql.verifier import SqlVerifier
from tests.postgres_server import PostgresServer

pytestmark = pytest.mark.postgres

SCHEMA = """
CREATE TABLE shop(id SERIAL PRIMARY KEY, name TEXT, city TEXT);
CREATE TABLE sale(id INTEGER PRIMARY KEY, shop_id INTEGER REFERENCES shop(id), total NUMERIC(10, 2),
                  pieces INTEGER, paid BOOLEAN, day DATE);
INSERT INTO shop(name, city) VALUES ('Nook', 'Oslo'), ('Barn', 'Rome'), ('Loft', 'Oslo');
INSERT INTO sale VALUES (1, 1, 9.5, 1, TRUE, '2021-03-01'), (2, 1, 20, 2, FALSE, '2021-04-02'),
 (3, 2, 20, 5, TRUE, '2022-01-05'), (4, 2, NULL, 1, TRUE, '2022-01-06');
"""


@pytest.fixture(scope="module")
def judge(postgres_server: PostgresServer) -> Iterator[Judge]:
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setenv("REWARDEN_SQL_POSTGRES", postgres_server.url)
        judge = Judge(Path(folder))
        yield judge
        judge.clear()
    with psycopg.connect(postgres_server.url) as raw:
        left = raw.execute(
            "SELECT datname FROM pg_database WHERE datname ~ 'rewarden_[0-9a-f]{32}'"
        )
        assert left.fetchall() == []


def outcome(judge: Judge, gold: str, text: str, **spec: Any) -> Outcome:
    base = {"query": gold, "schema_sql": SCHEMA, "engine": "postgres"}
    return judge.judge(base | spec, text).outcome


@pytest.mark.parametrize(
    ("gold", "text"),
    [
        ("SELECT name FROM shop", "SELECT name FROM shop ORDER BY 1 DESC; -- done"),
        ("SELECT AVG(id) FROM sale", "SELECT AVG(id::float8) FROM sale"),
        ("SELECT COUNT(*) > 0 FROM sale", "SELECT EXISTS(SELECT 1 FROM sale)"),
        ("SELECT id FROM sale WHERE day < '2022-01-01'", "SELECT id FROM sale WHERE EXTRACT(year FROM day) < 2022"),
        ("SELECT id FROM sale WHERE paid", "SELECT id FROM sale WHERE paid IS TRUE"),
    ],
)  # fmt: skip
def test_another_way_to_write_it_is_right(judge: Judge, gold: str, text: str) -> None:
    assert outcome(judge, gold, text) is Outcome.CORRECT


@pytest.mark.parametrize(
    ("gold", "text"),
    [
        ("SELECT COUNT(*) FROM sale", "SELECT MAX(id) FROM sale"),
        ("SELECT COUNT(*) FROM sale", "SELECT 4"),
        ("SELECT COUNT(*) * 1.0 / 3 FROM sale", "SELECT COUNT(*) / 3 FROM sale"),
        ("SELECT name FROM shop WHERE city = 'Bonn'", "SELECT name FROM shop WHERE city = 'Kiel'"),
        ("SELECT name FROM shop", "SELECT nothing FROM shop"),
    ],
)
def test_a_near_miss_is_wrong(judge: Judge, gold: str, text: str) -> None:
    assert outcome(judge, gold, text) is Outcome.INCORRECT


@pytest.mark.parametrize(
    "text",
    [
        "DROP TABLE shop",
        "WITH d AS (DELETE FROM shop RETURNING name) SELECT name FROM d",
        "SELECT name FROM shop; DROP TABLE shop",
        "COMMIT; DROP TABLE shop; SELECT 1",
        "SET statement_timeout = 0",
        "SELECT set_config('statement_timeout', '0', false)",
        "SELECT set_config('role', 'owner', false)",
        "RESET ROLE",
        "DO $$ BEGIN DELETE FROM shop; END $$",
        "COPY (SELECT 1) TO PROGRAM 'true'",
        "COPY shop TO STDOUT",
        "SELECT nextval('shop_id_seq')",
        "SELECT pg_advisory_lock(1)",
        "SELECT pg_sleep(60)",
        "SELECT pg_read_file('/etc/passwd')",
        "SELECT random() FROM shop",
        "SELECT gen_random_uuid()",
        "SELECT query_to_xml('DELETE FROM shop', true, true, '')",
        "SELECT lo_create(0)",
        "SELECT pg_terminate_backend(pg_backend_pid())",
        "SELECT query FROM pg_stat_activity",
        "SELECT name FROM shop FOR UPDATE",
        "SELECT name INTO other FROM shop",
        "CREATE TEMP TABLE shop AS SELECT 1",
        "LISTEN a",
        "TRUNCATE shop",
    ],
)
def test_what_is_no_reading_is_refused(judge: Judge, text: str) -> None:
    gold = "SELECT name FROM shop"
    assert outcome(judge, gold, text) in {Outcome.REJECTED, Outcome.INCORRECT}
    assert outcome(judge, gold, gold) is Outcome.CORRECT


def test_a_query_without_end_is_stopped_by_the_server(judge: Judge) -> None:
    text = "SELECT COUNT(*) FROM generate_series(1, 1000000000) a, generate_series(1, 1000000000) b"
    assert outcome(judge, "SELECT name FROM shop", text, timeout_seconds=0.3) is Outcome.TIMEOUT


def test_a_bad_gold_is_told(judge: Judge) -> None:
    assert outcome(judge, "SELECT nothing FROM shop", "SELECT 1") is Outcome.BAD_SPEC
    spec = {"schema_sql": "COPY (SELECT 1) TO PROGRAM 'true'"}
    assert outcome(judge, "SELECT 1", "SELECT 1", **spec) is Outcome.BAD_SPEC


def test_a_server_that_is_not_there_is_our_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REWARDEN_SQL_POSTGRES", "postgresql://owner@127.0.0.1:1/postgres")
    gold = "SELECT name FROM shop"
    assert outcome(Judge(tmp_path), gold, gold) is Outcome.VERIFIER_ERROR


@pytest.mark.parametrize(
    ("gold", "text"),
    [
        ("SELECT id FROM sale WHERE day < '2025-06-15'", "SELECT id FROM sale WHERE day < CURRENT_DATE"),
        ("SELECT id, timestamp '2025-06-15 12:00' FROM sale", "SELECT id, LOCALTIMESTAMP(0) FROM sale"),
        ("SELECT id, '2025-06-15'::date - day FROM sale", "SELECT id, now()::date - day FROM sale"),
        ("SELECT id, 'now()' FROM sale", "SELECT id, 'now()' -- now()\n FROM sale"),
    ],
)  # fmt: skip
def test_the_clock_stands_still(judge: Judge, gold: str, text: str) -> None:
    assert outcome(judge, gold, text) is Outcome.CORRECT


def names_on(url: str) -> set[str]:
    with psycopg.connect(url) as raw:
        found = raw.execute(
            "SELECT datname FROM pg_database WHERE datname ~ 'rewarden_[0-9a-f]{32}'"
        )
        return {name for (name,) in found.fetchall()}


def test_a_database_that_the_server_lost_is_made_again(
    judge: Judge, postgres_server: PostgresServer
) -> None:
    gold = "SELECT name FROM shop WHERE id > 1"
    assert outcome(judge, gold, gold) is Outcome.CORRECT
    with psycopg.connect(postgres_server.url, autocommit=True) as raw:
        for name in names_on(postgres_server.url):
            raw.execute(f"DROP DATABASE {name} WITH (FORCE)")
    assert outcome(judge, gold, gold + " --") is Outcome.CORRECT
    assert outcome(judge, gold, "SELECT name FROM shop WHERE id = 2") is Outcome.INCORRECT


async def test_nothing_is_left_on_the_server_by_a_service_that_was_killed(
    postgres_server: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REWARDEN_SQL_POSTGRES", postgres_server.url)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = names_on(postgres_server.url)
    folder = tmp_path / "rewarden-sql-left"
    spec = {"query": "SELECT name FROM shop", "schema_sql": SCHEMA, "engine": "postgres"}
    left = Judge(folder)
    assert left.judge(spec, "SELECT name FROM shop").outcome is Outcome.CORRECT
    for engine, key in list(left._store._open):
        left._store.leave(engine, key)  # as the end of its process does
    (folder / "lease").touch()  # which nobody holds
    assert names_on(postgres_server.url) > before
    verifier = SqlVerifier(workers=1)
    await verifier.start()
    assert names_on(postgres_server.url) == before
    verdict = (await verifier.verify([Sample(completion=spec["query"], spec=spec)]))[0]
    assert verdict.outcome is Outcome.CORRECT
    await verifier.close()
    assert names_on(postgres_server.url) == before
