"""DuckDB, in the process of a worker.

What stops a query: it must be one SELECT by DuckDB's own parser, on a read-only file, without
access to other files or extensions, in one thread, with little memory and a locked configuration;
a thread interrupts it once its time is used up. What does not look up in time is ended by the kill
of the worker. Random functions are refused by name. The clock is pinned.
"""

from __future__ import annotations

import re
from contextlib import nullcontext
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Final

import duckdb

from services.sql.engines.cells import as_rows
from services.sql.engines.clock import pinned_sql, speaks_of_now
from services.sql.engines.duckdb_schema import quoted, read_tables
from services.sql.engines.interrupt import Interrupter
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
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from services.sql.engines.engine import Table

_Settings = dict[str, str | bool | int | float | list[str]]

BUILD_SECONDS: Final = 15.0
MEMORY_LIMIT: Final = "512MB"
_GUARD: Final[_Settings] = {
    "threads": 1,
    "memory_limit": MEMORY_LIMIT,
    "max_temp_directory_size": "0KB",
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
}
_READING: Final[_Settings] = {**_GUARD, "lock_configuration": "true"}
_SCRATCH: Final[_Settings] = {"threads": 1, "memory_limit": MEMORY_LIMIT}
_RANDOM: Final = re.compile(
    r"\b(random|setseed|uuid|uuidv4|uuidv7|gen_random_uuid|nextval|currval|getenv|"
    r"current_setting|duckdb_\w+|pragma_\w+|query|query_table|sleep_ms|txid_current|write_log)\s*\(|"
    r"\busing\s+sample\b|\btablesample\b|\b(information_schema|sqlite_master|pg_catalog)\b",
    re.IGNORECASE,
)
_SHOWS: Final = re.compile(r"\s*\(*\s*(summarize|describe|desc|show|explain)\b", re.IGNORECASE)


@cache
def _has_async_threads() -> bool:
    with duckdb.connect() as raw:
        said = raw.execute("SELECT 1 FROM duckdb_settings() WHERE name = 'async_threads'")
        return said.fetchone() is not None


def _alone(settings: _Settings) -> _Settings:
    """Leave out the eight threads that each database has since DuckDB 1.5: a worker holds many."""
    return {**settings, "async_threads": 0} if _has_async_threads() else settings


class Connection:
    """A connection on which queries run under guard."""

    quick_seconds: ClassVar[float | None] = None

    def __init__(
        self, raw: duckdb.DuckDBPyConnection, names: set[str], interrupter: Interrupter
    ) -> None:
        self._raw = raw
        self._names = names
        self._interrupter = interrupter

    def slow_lane(self) -> AbstractContextManager[None]:
        """Do nothing: the process yields."""
        return nullcontext()

    def get_ready(self) -> None:
        """Do nothing: it is open."""

    def run(self, sql: str, seconds: float) -> Result:
        """Run one query; a `QueryError` if there is no result."""
        if speaks_of_now(sql):
            sql = pinned_sql(sql, "TIMESTAMP")
        with self._interrupter.after(self._raw.interrupt, seconds) as fuse:
            try:
                return self._fetch(sql, self._checked(sql))
            except (duckdb.OutOfMemoryException, MemoryError) as error:
                raise QueryError(Failure.RESOURCE, "more memory than a query may use") from error
            except (duckdb.InterruptException, RuntimeError, ValueError, duckdb.Error) as error:
                if fuse.has_fired:
                    raise QueryError(Failure.TIMEOUT, "the time is used up") from error
                failure = Failure.REFUSED if isinstance(error, _REFUSALS) else Failure.ERROR
                raise QueryError(failure, str(error).split("\n", 1)[0]) from error

    def close(self) -> None:
        """Close it."""
        self._raw.close()

    def _checked(self, sql: str) -> duckdb.Statement:
        statements = self._raw.extract_statements(sql)
        if len(statements) != 1:
            raise QueryError(Failure.REFUSED, "it is not one single statement")
        if statements[0].type != duckdb.StatementType.SELECT or _SHOWS.match(words_of(sql)):
            raise QueryError(Failure.REFUSED, "it does something else than read")
        refused = _RANDOM.search(words_of(sql))
        if refused:
            raise QueryError(Failure.REFUSED, f"it uses {refused[0].strip('( ')}")
        return statements[0]

    def _fetch(self, sql: str, statement: duckdb.Statement) -> Result:
        cursor = self._raw.execute(statement)
        width = len(cursor.description or ())
        collector = Collector()
        while rows := cursor.fetchmany(FETCH_ROWS):
            collector.add(as_rows(rows))
            if any(isinstance(c, str | bytes) and len(c) > MAX_VALUE_BYTES for c in rows[0]):
                raise QueryError(Failure.RESOURCE, "a value is too large")
        return Result(width, collector.rows, self._tables(sql))

    def _tables(self, sql: str) -> frozenset[str]:
        try:
            named = self._raw.get_table_names(sql)
        except duckdb.Error:  # it cannot bind what it is asked alone; the words will do
            named = set(re.findall(r"\w+", words_of(sql)))
        return frozenset({name.lower() for name in named} & self._names)


_REFUSALS: Final = (duckdb.PermissionException, duckdb.InvalidInputException)


class DuckdbDatabase(Connection):
    """A database file, open for reading."""

    def __init__(self, place: Path, interrupter: Interrupter) -> None:
        try:
            raw = duckdb.connect(str(place), read_only=True, config=_alone(_READING))
            names = raw.execute(
                "SELECT lower(table_name) FROM information_schema.tables"
            ).fetchall()
        except duckdb.Error as error:
            raise DatabaseError(str(error)) from error
        super().__init__(raw, {name for (name,) in names}, interrupter)

    def tables(self) -> list[Table]:
        """Return its tables."""
        return read_tables(self._raw)


class DuckdbScratch(Connection):
    """A copy in memory."""

    def __init__(self, place: Path, interrupter: Interrupter) -> None:
        raw = duckdb.connect(":memory:", config=_alone(_SCRATCH))
        try:
            raw.execute(f"ATTACH '{place}' AS given (READ_ONLY)")
            raw.execute("COPY FROM DATABASE given TO memory")
            raw.execute("DETACH given")
        except duckdb.Error as error:
            raise DatabaseError(str(error)) from error
        names = raw.execute("SELECT lower(table_name) FROM information_schema.tables").fetchall()
        super().__init__(raw, {name for (name,) in names}, interrupter)

    def fill(self, rows: Mapping[str, Sequence[tuple[Any, ...]]]) -> None:
        """Replace all rows, each statement on its own: keys are checked too early in a transaction."""
        try:
            for table in reversed(list(rows)):
                self._raw.execute(f"DELETE FROM {quoted(table)}")  # noqa: S608 - quoted
            for table, records in rows.items():
                if records:
                    marks = "(" + ", ".join("?" * len(records[0])) + ")"
                    values = ", ".join([marks] * len(records))
                    cells = [cell for record in records for cell in record]
                    self._raw.execute(f"INSERT INTO {quoted(table)} VALUES {values}", cells)  # noqa: S608
        except (duckdb.Error, ValueError, RuntimeError) as error:
            raise DatabaseError(str(error)) from error

    def save(self, place: Path) -> None:
        """Write it to a file."""
        self._raw.execute(f"ATTACH '{place}' AS kept")
        self._raw.execute("COPY FROM DATABASE memory TO kept")
        self._raw.execute("DETACH kept")


class DuckdbEngine:
    """Makes and opens database files."""

    name: ClassVar[str] = "duckdb"

    def __init__(self) -> None:
        self._interrupter = Interrupter()

    @property
    def version(self) -> str:
        """The version of the library."""
        return str(duckdb.__version__)

    def build(self, statements: str, place: Path) -> None:
        """Make a database file."""
        raw = duckdb.connect(str(place), config=_alone(_GUARD))
        try:
            with self._interrupter.after(raw.interrupt, BUILD_SECONDS):
                raw.execute(statements)
        except (duckdb.Error, RuntimeError, ValueError, MemoryError) as error:
            raw.close()
            place.unlink(missing_ok=True)
            raise DatabaseError(str(error) or "out of memory") from error
        raw.close()

    def open(self, place: Path) -> DuckdbDatabase:
        """Open a database file for reading."""
        return DuckdbDatabase(place, self._interrupter)

    def scratch(self, place: Path) -> DuckdbScratch:
        """Copy a database file into memory."""
        return DuckdbScratch(place, self._interrupter)

    def remove(self, place: Path) -> None:
        """Delete the file."""
        place.unlink(missing_ok=True)
