"""How queries run on one database of a Postgres server, and how a copy of it is refilled.

A query is declared as a cursor over the extended protocol, by a role that may only read.
"""

from __future__ import annotations

import fcntl
import os
import re
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, Final

import psycopg
from psycopg import errors, sql as compose

from services.sql.engines.cells import as_rows
from services.sql.engines.clock import pinned_sql, speaks_of_now
from services.sql.engines.postgres_record import HeldRecord, Record
from services.sql.engines.postgres_schema import read_tables
from services.sql.engines.wording import words_of
from services.sql.results import (
    FETCH_ROWS,
    MAX_VALUE_BYTES,
    Collector,
    DatabaseError,
    Failure,
    QueryError,
    Result,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from services.sql.engines.engine import Table
    from services.sql.engines.postgres import PostgresEngine
    from services.sql.engines.postgres_server import Server

SLOW_LANES: Final = max(1, (os.cpu_count() or 2) // 2)
"""Queries at a time that are known to be slow: the rest of the server is for the others."""
_READS: Final = re.compile(r"[\s(]*(select|with|values|table)\b", re.IGNORECASE)
_SECOND: Final = re.compile(r";\s*[^\s;]")
_LOCKED: Final = (
    "SELECT lower(c.relname) FROM pg_locks l JOIN pg_class c ON c.oid = l.relation"
    " WHERE l.pid = pg_backend_pid() AND l.locktype = 'relation'"
    " AND c.relkind IN ('r', 'v', 'm', 'p', 'f') AND c.oid >= 16384"
)


class Reader:
    """Runs queries on one database, on a connection that may be dropped and made again."""

    quick_seconds: ClassVar[float | None] = 0.1

    def __init__(self, engine: PostgresEngine, database: str, lanes: Path) -> None:
        self._engine = engine
        self._database = database
        self._lanes = lanes

    @contextmanager
    def slow_lane(self) -> Iterator[None]:
        """Be one of at most `SLOW_LANES` processes that share the folder of the store."""
        self._engine.leave_all()  # whoever waits long holds no connection
        place = self._lanes / f"slow-{os.getpid() % SLOW_LANES}.lane"
        with place.open("a", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            self.get_ready()
            yield

    def run(self, sql: str, seconds: float) -> Result:
        """Run one query; a `QueryError` if there is no result."""
        if speaks_of_now(sql):
            sql = pinned_sql(sql, "TIMESTAMPTZ")
        raw = self._connection()
        began = time.monotonic()
        try:
            return _fetch(raw, sql, seconds)
        except (psycopg.Error, ValueError, MemoryError) as error:
            explained = _explained(error, sql)
            if explained.failure is Failure.ENGINE:
                self._engine.check(self._database)
            if explained.failure is Failure.TIMEOUT and self._engine.was_starved(raw, seconds):
                raise QueryError(Failure.ENGINE, "the server was too busy for it") from error
            raise explained from error
        finally:
            self._engine.note(raw, time.monotonic() - began)
            self._engine.tidy(self._database)

    def get_ready(self) -> None:
        """Connect; a `QueryError` or a `GoneError` if that cannot be."""
        self._connection()

    def _connection(self) -> psycopg.Connection[Any]:
        try:
            return self._engine.connection(self._database)
        except psycopg.Error as error:
            self._engine.check(self._database)
            raise QueryError(Failure.ENGINE, "the server does not answer") from error

    def tables(self) -> list[Table]:
        """Return its tables."""
        raw = self._engine.connection(self._database)
        try:
            return read_tables(raw)
        finally:
            raw.rollback()

    def close(self) -> None:
        """Leave it."""
        self._engine.leave(self._database)


class PostgresScratch(Reader):
    """A database that is filled again and again."""

    def __init__(self, engine: PostgresEngine, server: Server, held: HeldRecord) -> None:
        super().__init__(engine, held.name, held.folder)
        self._server = server
        self._held = held
        self._owner = server.connect(held.name)
        self._columns = {
            table.name: [c.name for c in table.columns if not c.is_generated]
            for table in read_tables(self._owner)
        }
        self._owner.execute("SET session_replication_role = replica")  # no foreign key is checked
        self._owner.commit()

    def fill(self, rows: Mapping[str, Sequence[tuple[Any, ...]]]) -> None:
        """Replace all rows."""
        raw = self._owner
        try:
            names = compose.SQL(", ").join(map(compose.Identifier, rows))
            raw.execute(compose.SQL("TRUNCATE {} CASCADE").format(names))
            for table, records in rows.items():
                if records:
                    columns = self._columns[table]
                    text = compose.SQL(
                        "INSERT INTO {} ({}) OVERRIDING SYSTEM VALUE VALUES ({})"
                    ).format(
                        compose.Identifier(table),
                        compose.SQL(", ").join(map(compose.Identifier, columns)),
                        compose.SQL(", ").join(compose.Placeholder() * len(columns)),
                    )
                    with raw.cursor() as cursor:
                        cursor.executemany(text, records)
            raw.commit()
        except (psycopg.Error, ValueError) as error:
            raw.rollback()
            raise DatabaseError(str(error)) from error

    def save(self, place: Path) -> None:
        """Copy it to another database."""
        super().close()
        self._owner.close()
        self._server.create(Record.write(place, None).name, self._database)
        self._owner = self._server.connect(self._database)
        self._owner.execute("SET session_replication_role = replica")
        self._owner.commit()

    def close(self) -> None:
        """Drop it."""
        super().close()
        self._owner.close()
        self._held.close()


def _fetch(raw: psycopg.Connection[Any], sql: str, seconds: float) -> Result:
    raw.execute(f"SET LOCAL statement_timeout = {max(1, int(seconds * 1_000))}")
    command = b"DECLARE candidate NO SCROLL CURSOR FOR " + sql.encode()
    answer = raw.pgconn.exec_params(command, None)
    if answer.status != psycopg.pq.ExecStatus.COMMAND_OK:
        raise errors.error_from_result(answer, encoding="utf-8")
    names = {name for (name,) in raw.execute(_LOCKED)}
    collector = Collector()
    cursor = raw.execute(f"FETCH {FETCH_ROWS} FROM candidate")
    width = len(cursor.description or ())
    while rows := cursor.fetchall():
        collector.add(as_rows(rows))
        if any(isinstance(c, str | bytes) and len(c) > MAX_VALUE_BYTES for c in rows[0]):
            raise QueryError(Failure.RESOURCE, "a value is too large")
        if len(rows) < FETCH_ROWS:
            break
        cursor = raw.execute(f"FETCH {FETCH_ROWS} FROM candidate")
    return Result(width, collector.rows, frozenset(names))


def _explained(error: Exception, sql: str) -> QueryError:
    said = str(error).split("\n", 1)[0]
    state = getattr(error, "sqlstate", None) or ""
    if isinstance(error, MemoryError) or state[:2] in {"53", "54"}:
        return QueryError(Failure.RESOURCE, said or "more memory than a query may use")
    if state == "57014":
        return QueryError(Failure.TIMEOUT, "the time is used up")
    if state[:2] in {"08", "57", "58", "XX"} or (
        not state and isinstance(error, psycopg.OperationalError)
    ):
        return QueryError(Failure.ENGINE, said)
    if state in {"42501", "25006", "0A000"}:
        return QueryError(Failure.REFUSED, said)
    why = _no_query(words_of(sql))
    return QueryError(Failure.REFUSED, why) if why else QueryError(Failure.ERROR, said)


def _no_query(sql: str) -> str:
    if not _READS.match(sql):
        return "it does something else than read"
    return "it is not one single statement" if _SECOND.search(sql) else ""
