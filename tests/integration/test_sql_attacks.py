"""Predictions that want to be paid without answering, or to do harm, on each engine.

None is paid, none is anybody else's fault, and afterwards the databases are what they were.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from rewarden.contracts import Outcome, Sample
from services.sql.verifier import SqlVerifier
from tests.postgres_server import PostgresServer

SCHEMA = """
CREATE TABLE emp(id INTEGER PRIMARY KEY, name VARCHAR(20), dept VARCHAR(20), pay INTEGER);
INSERT INTO emp VALUES (1, 'Ann', 'Eng', 50), (2, 'Bob', 'Eng', 60), (3, 'Cid', 'HR', 60), (4, 'Dee', 'HR', 70);
"""
GOLD = "SELECT name FROM emp WHERE pay > 55"
WRITES = [
    "DELETE FROM emp",
    "DELETE FROM emp RETURNING name",
    "UPDATE emp SET pay = 0 RETURNING name",
    "INSERT INTO emp VALUES (9, 'x', 'y', 99) RETURNING name",
    "DROP TABLE emp",
    "ALTER TABLE emp RENAME TO other",
    "CREATE TABLE t AS SELECT 1",
    "CREATE TEMP TABLE emp AS SELECT 'Bob' AS name, 60 AS pay",
    "CREATE TEMP VIEW emp AS SELECT 'Bob' AS name, 60 AS pay",
    "CREATE INDEX i ON emp(pay)",
    "BEGIN; DELETE FROM emp; COMMIT; SELECT name FROM emp",
    "COMMIT; DELETE FROM emp; SELECT name FROM emp",
    f"{GOLD}; DELETE FROM emp",
    f"{GOLD} /* ; */ ; DROP TABLE emp --",
    f"{GOLD} --\n; DROP TABLE emp",
    f"DELETE FROM emp; {GOLD}",
    f"EXPLAIN {GOLD}",
    f"EXPLAIN ANALYZE {GOLD}",
]
FABRICATIONS = [
    "VALUES ('Bob'), ('Cid'), ('Dee')",
    "SELECT 'Bob' AS name UNION ALL SELECT 'Cid' UNION ALL SELECT 'Dee'",
    "SELECT name FROM emp WHERE id IN (2, 3, 4)",
    "SELECT name FROM emp WHERE name IN ('Bob', 'Cid', 'Dee')",
    "WITH emp AS (SELECT 'Bob' AS name, 60 AS pay) SELECT name FROM emp WHERE pay > 55",
    "SELECT v.name FROM (SELECT 'Bob' AS name UNION ALL SELECT 'Cid' UNION ALL SELECT 'Dee') v, (SELECT COUNT(*) FROM emp) c",
    "SELECT name FROM emp WHERE pay > 55 OR 1 = 1",
    "SELECT name FROM emp WHERE pay > 55 OR (SELECT COUNT(*) FROM emp) <> 4",
    "SELECT 'match' AS outcome, 1.0 AS score",
    "SELECT NULL",
    "SELECT name FROM emp WHERE pay > 55 AND 1 = 0",
    "SELECT * FROM emp WHERE pay > 55",
]
OWN = {
    "sqlite": [
        "ATTACH 'scratch.db' AS s",
        "ATTACH ':memory:' AS s",
        "PRAGMA writable_schema = ON",
        "PRAGMA database_list",
        "PRAGMA journal_mode = DELETE",
        "VACUUM INTO 'copy.db'",
        "VACUUM",
        "REINDEX",
        "SELECT load_extension('x')",
        "SELECT fts3_tokenizer('simple')",
        "SELECT fts3_tokenizer('simple', x'4141414141414141')",
        "SELECT writefile('x', 'y')",
        "SELECT readfile('/etc/passwd')",
        "SELECT sql FROM sqlite_master",
        "SELECT name FROM pragma_table_info('emp')",
        "SELECT file FROM pragma_database_list",
        "SELECT * FROM dbstat",
        "SELECT * FROM sqlite_stmt",
        "SELECT sqlite_version()",
        "SELECT name FROM emp ORDER BY random() LIMIT 3",
        "SELECT name FROM emp WHERE abs(random()) % 2",
        "REPLACE INTO emp VALUES (1, 'x', 'y', 1)",
        "CREATE VIRTUAL TABLE v USING fts5(a)",
        "SAVEPOINT s",
        "DETACH main",
        "ANALYZE",
    ],
    "duckdb": [
        "COPY emp TO 'emp.csv'",
        "EXPORT DATABASE 'out'",
        "ATTACH 'scratch.duckdb'",
        "USE memory",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET threads = 9",
        "SET search_path = 'temp'",
        "RESET memory_limit",
        "PRAGMA enable_profiling",
        "CALL pragma_version()",
        "CHECKPOINT",
        "SUMMARIZE emp",
        "DESCRIBE emp",
        "/* x */ SUMMARIZE emp",
        "SELECT * FROM read_text('/etc/passwd')",
        "SELECT * FROM '/etc/passwd'",
        "SELECT * FROM glob('/etc/*')",
        "SELECT * FROM read_csv_auto('/etc/passwd')",
        "SELECT * FROM sniff_csv('/etc/passwd')",
        "SELECT current_setting('home_directory')",
        "SELECT * FROM duckdb_settings()",
        "SELECT * FROM duckdb_databases()",
        "SELECT * FROM information_schema.tables",
        'SELECT name FROM emp WHERE "random"() < 0.75',
        "SELECT name FROM emp WHERE random/* */() < 0.75",
        """SELECT "a'", random(), "b'" FROM (SELECT 1 AS "a'", 2 AS "b'") t, emp""",
        "SELECT $$'$$, random() FROM emp WHERE '$$' <> ''",
        "SELECT name FROM emp USING SAMPLE 3",
        "SELECT name FROM emp TABLESAMPLE 50%",
        "SELECT * FROM query('SELECT name FROM emp')",
        "SELECT uuid() FROM emp",
        "SELECT getenv('HOME')",
        "SELECT nextval('s')",
        "PREPARE p AS SELECT 1",
        "EXECUTE p",
        "SET VARIABLE x = 1",
        "CREATE MACRO now() AS 1",
        "SELECT txid_current()",
    ],
    "postgres": [
        "SET search_path = pg_temp",
        "SET statement_timeout = 0",
        "SET ROLE owner",
        "RESET ALL",
        "SELECT set_config('search_path', 'pg_temp', false), name FROM emp",
        "SELECT pg_catalog.set_config('transaction_read_only', 'off', true)",
        "SELECT current_setting('data_directory')",
        "DO $$ BEGIN DELETE FROM emp; END $$",
        "COPY emp TO STDOUT",
        "COPY (SELECT 1) TO PROGRAM 'id'",
        "SELECT pg_read_file('/etc/passwd')",
        "SELECT pg_read_binary_file('/etc/passwd')",
        "SELECT pg_ls_dir('/')",
        "SELECT pg_stat_file('/etc/passwd')",
        "SELECT lo_import('/etc/passwd')",
        "SELECT lo_from_bytea(0, 'x')",
        "SELECT * FROM dblink('dbname=postgres', 'SELECT 1') AS t(a int)",
        "CREATE EXTENSION dblink",
        "SELECT pg_sleep(5)",
        "SELECT pg_sleep_for('5 seconds')",
        "SELECT pg_cancel_backend(pid) FROM pg_stat_activity",
        "SELECT pg_terminate_backend(pg_backend_pid())",
        "SELECT pg_reload_conf()",
        "SELECT pg_rotate_logfile()",
        "SELECT pg_switch_wal()",
        "SELECT pg_notify('a', 'b')",
        "SELECT pg_advisory_lock(1)",
        "SELECT pg_advisory_xact_lock(1)",
        "SELECT pg_export_snapshot()",
        "SELECT txid_current()",
        "SELECT rolpassword FROM pg_authid",
        "SELECT passwd FROM pg_shadow",
        "SELECT statement FROM pg_stat_statements",
        "SELECT setting FROM pg_settings",
        "SELECT * FROM pg_hba_file_rules",
        "SELECT random() FROM emp",
        "SELECT gen_random_uuid() FROM emp",
        "SELECT clock_timestamp() FROM emp",
        "SELECT query_to_xml('DELETE FROM emp', true, true, '')",
        "SELECT table_to_xml('emp', true, true, '')",
        "SELECT database_to_xml(true, true, '')",
        "SELECT name FROM emp FOR UPDATE",
        "SELECT name INTO TEMP t FROM emp",
        "SELECT name FROM emp TABLESAMPLE BERNOULLI (50)",
        "WITH d AS (DELETE FROM emp RETURNING name) SELECT name FROM d",
        "WITH u AS (UPDATE emp SET pay = 60 RETURNING name) SELECT name FROM u",
        "DECLARE c CURSOR WITH HOLD FOR SELECT 1",
        "FETCH 1 FROM candidate",
        "CLOSE candidate",
        "MOVE 1 FROM candidate",
        "LISTEN x",
        "LOCK TABLE emp",
        "TRUNCATE emp",
        "PREPARE p AS SELECT 1",
        "EXECUTE p",
        "DISCARD ALL",
        "SELECT 1; SELECT name FROM emp WHERE pay > 55",
        "SELECT 1) TO STDOUT; --",
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


async def test_no_attack_is_paid_and_none_leaves_a_trace(
    engine: str, verifier: SqlVerifier, tmp_path: Path
) -> None:
    spec = {"query": GOLD, "schema_sql": SCHEMA, "engine": engine, "timeout_seconds": 1.0}
    attacks = [*WRITES, *FABRICATIONS, *OWN[engine]]
    right = [Sample(completion=f"{GOLD} -- {n}", spec=spec) for n in range(len(attacks))]
    await verifier.verify(right[:1])
    files = {path: path.read_bytes() for path in _databases(tmp_path)}
    for attack, same in zip(attacks, right, strict=True):
        texts = [attack, f"```sql\n{attack}\n```"]
        samples = [Sample(completion=text, spec=spec) for text in texts]
        verdicts = await verifier.verify([*samples, same])
        assert [v.score for v in verdicts] == [0, 0, 1], (attack, verdicts)
    assert {path: path.read_bytes() for path in _databases(tmp_path)} == files
    (last,) = await verifier.verify([Sample(completion=GOLD, spec=spec | {"rel_tol": 0.0})])
    assert last.outcome is Outcome.CORRECT


def _databases(folder: Path) -> list[Path]:
    return sorted(
        path
        for path in (folder / "databases").iterdir()
        if path.suffix in {".sqlite", ".duckdb", ".postgres"}
    )
