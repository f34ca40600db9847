"""PostgreSQL: a server that `REWARDEN_SQL_POSTGRES` names, as its superuser; keep it for this alone.

Every database of the store is a database of the server. A query runs as a role that may read its
tables and nothing else: it may call no volatile function (random, sequences, locks, settings,
sleep), cannot write, and is cut off by the server after its time. It is declared as a cursor over
the extended protocol, which takes a single query and no other statement.

The statements that make a database run as a role of their own that owns it, not as superuser. The
clock is pinned where a query names it.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any, ClassVar, Final
from weakref import WeakKeyDictionary

import psycopg

from services.sql.engines.postgres_reader import PostgresScratch, Reader
from services.sql.engines.postgres_record import HeldRecord, Record
from services.sql.engines.postgres_server import Server
from services.sql.results import DatabaseError, EngineError, GoneError

if TYPE_CHECKING:
    from pathlib import Path

VARIABLE: Final = "REWARDEN_SQL_POSTGRES"
BUILD_SECONDS: Final = 15
MAX_CONNECTIONS: Final = 6
"""Of each worker, as a reader."""
_SERVER_STATES: Final = frozenset({None, "53300", "57P01", "57P02", "57P03", "08006", "08001"})
"""Errors of the connection and of the server, not of what it was asked."""


class PostgresEngine:
    """Makes and opens databases of one server."""

    name: ClassVar[str] = "postgres"

    def __init__(self, address: str | None = None) -> None:
        address = address or os.environ.get(VARIABLE)
        if not address:
            msg = f"no Postgres server is set up here ({VARIABLE})"
            raise EngineError(msg)
        self._server = Server(address)
        self._readers: dict[str, psycopg.Connection[Any]] = {}
        self._earlier: WeakKeyDictionary[psycopg.Connection[Any], float] = WeakKeyDictionary()
        """Wall time of the queries that each connection has answered."""

    @property
    def version(self) -> str:
        """The version of the server."""
        return self._server.version()

    def build(self, statements: str, place: Path) -> None:
        """Make a database."""
        record = Record.write(place, statements)
        try:
            self._build(statements, record.name)
        except BaseException:
            place.unlink()
            raise

    def open(self, place: Path) -> Reader:
        """Open a database for reading; one that its server has lost is made again or is gone."""
        record = Record.read(place)
        try:
            self.check(record.name)
        except GoneError:
            if record.statements is None:
                place.unlink(missing_ok=True)
                raise
            self._build(record.statements, record.name)
        return Reader(self, record.name, place.parent)

    def scratch(self, place: Path) -> PostgresScratch:
        """Make the database once more."""
        statements = Record.read(place).statements or ""
        held = HeldRecord(place.parent, self._server.drop)
        try:
            self._build(statements, held.name)
            return PostgresScratch(self, self._server, held)
        except psycopg.Error as error:
            held.close()
            raise DatabaseError(str(error)) from error
        except BaseException:
            held.close()
            raise

    def remove(self, place: Path) -> None:
        """Drop the database."""
        if place.exists():
            name = Record.read(place).name
            self.leave(name)
            self._server.drop(name)
            place.unlink(missing_ok=True)

    def check(self, name: str) -> None:
        """Raise a `GoneError` if the server says that there is no such database."""
        with suppress(psycopg.Error):
            if not self._server.has(name):
                msg = "it was deleted to make room"
                raise GoneError(msg)

    def connection(self, database: str) -> psycopg.Connection[Any]:
        """Return a connection of the reader; the one not used for longest is closed for it."""
        raw = self._readers.pop(database, None)
        if raw is None or raw.closed:
            if len(self._readers) >= MAX_CONNECTIONS:
                self._readers.pop(next(iter(self._readers))).close()
            raw = self._server.connect(database, "reader")
        self._readers[database] = raw
        return raw

    def note(self, raw: psycopg.Connection[Any], seconds: float) -> None:
        """Note that a query took so much wall time."""
        self._earlier[raw] = self._earlier.get(raw, 0.0) + seconds

    def was_starved(self, raw: psycopg.Connection[Any], seconds: float) -> bool:
        """Whether a query that used up its wall time may have had less than half of it on a CPU.

        It is no fault of the query then. What the process behind the connection has used is told
        by the server; earlier queries had no more of it than their wall time. A server that does
        not tell is taken to have had time.
        """
        if raw.closed:
            return True
        used = self._server.used_seconds(raw.info.backend_pid)
        return used is not None and used - self._earlier.get(raw, 0.0) < seconds / 2

    def tidy(self, database: str) -> None:
        """End what a query left open."""
        raw = self._readers.get(database)
        if raw is None:
            return
        try:
            raw.rollback()
        except psycopg.Error:
            self.leave(database)

    def leave(self, database: str) -> None:
        """Close the connection, if there is one."""
        raw = self._readers.pop(database, None)
        if raw is not None:
            with suppress(psycopg.Error):
                raw.close()

    def leave_all(self) -> None:
        """Close every connection of a reader."""
        for database in list(self._readers):
            self.leave(database)

    def _build(self, statements: str, name: str) -> None:
        try:
            self._server.create(name)
            try:
                with self._server.connect(name, "builder") as raw:
                    raw.execute(f"SET statement_timeout = '{BUILD_SECONDS}s'")
                    raw.execute(statements)
                self._server.allow_reading(name)
            except BaseException:
                self._server.drop(name)
                raise
        except (psycopg.Error, ValueError) as error:
            if isinstance(error, psycopg.OperationalError) and error.sqlstate in _SERVER_STATES:
                msg = "the Postgres server does not answer"
                raise EngineError(msg) from error
            raise DatabaseError(str(error).split("\n", 1)[0]) from error
