"""SQLite, from the standard library, in the process of a worker.

What stops a query: an authorizer that knows what is allowed (reading the tables of the database,
and functions that are not on a list), a read-only immutable file, limits on values and on the
heap, and an interrupt once its time is used up. What does not come back to SQLite's virtual
machine in time, such as one call of `instr` on megabytes, is ended by the kill of the worker.
"""

from __future__ import annotations

import sqlite3
import time
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, ClassVar, Final

from services.sql.engines.clock import pin_clock, speaks_of_now
from services.sql.engines.sqlite_schema import quoted, read_tables
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

_OF_PAGES: Final = frozenset({"page_size", "max_page_count"})
HEAP_BYTES: Final = 256 * 1024 * 1024
MAX_DATABASE_BYTES: Final = 512 * 1024 * 1024
BUILD_SECONDS: Final = 10.0
_STEPS: Final = 2_000
"""Instructions of SQLite's machine between two looks at the clock."""
_TABLE_FUNCTIONS: Final = frozenset({"json_each", "json_tree"})
_REFUSED_FUNCTIONS: Final = frozenset(
    [
        "random",
        "randomblob",
        "load_extension",
        "fts3_tokenizer",
        "readfile",
        "writefile",
        "edit",
        "sqlite_log",
        "sqlite_compileoption_get",
        "sqlite_compileoption_used",
        "sqlite_source_id",
        "sqlite_version",
        "last_insert_rowid",
        "changes",
        "total_changes",
        "lsmode",
        "fsdir",
        "icu_load_collation",
    ]
)
_READ: Final = sqlite3.SQLITE_READ
_FUNCTION: Final = sqlite3.SQLITE_FUNCTION
_HARMLESS: Final = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE})
_BUILD_REFUSED: Final = frozenset({sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH})


class Connection:
    """A connection on which queries run under guard."""

    quick_seconds: ClassVar[float | None] = None

    def __init__(self, raw: sqlite3.Connection) -> None:
        self._raw = raw
        self._ends = 0.0
        self._refused = ""
        self._read: set[str] = set()
        raw.text_factory = _decode
        _limit(raw)
        for function in _TABLE_FUNCTIONS:  # made known now: this is a write to the schema
            raw.execute(f"SELECT * FROM {function}('[]')").fetchall()  # noqa: S608 - a constant
        names = raw.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")
        self._names = frozenset(name.lower() for (name,) in names) - {"sqlite_master"}
        self._pinned: sqlite3.Connection | None = None

    def slow_lane(self) -> AbstractContextManager[None]:
        """Do nothing: the process yields."""
        return nullcontext()

    def get_ready(self) -> None:
        """Do nothing: it is open."""

    def run(self, sql: str, seconds: float) -> Result:
        """Run one query; a `QueryError` if there is no result."""
        if self._pinned is None and speaks_of_now(sql):
            self._pinned = pin_clock(self._raw)
        self._refused = ""
        self._read = set()
        self._ends = time.thread_time() + seconds
        raw = self._raw
        raw.set_authorizer(self._authorize)
        raw.set_progress_handler(self._is_over, _STEPS)
        try:
            return self._fetch(sql)
        except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError, MemoryError) as error:
            raise self._explained(error) from error
        finally:
            raw.set_authorizer(None)
            raw.set_progress_handler(None, 0)

    def close(self) -> None:
        """Close it."""
        if self._pinned is not None:
            self._pinned.close()
        self._raw.close()

    def _fetch(self, sql: str) -> Result:
        cursor = self._raw.execute(sql)
        if cursor.description is None:
            raise QueryError(Failure.ERROR, "the statement returns no rows")
        collector = Collector()
        try:
            while rows := cursor.fetchmany(FETCH_ROWS):
                collector.add(rows)
        finally:
            cursor.close()
        return Result(len(cursor.description or ()), collector.rows, frozenset(self._read))

    def _is_over(self) -> bool:
        return time.thread_time() > self._ends

    def _authorize(
        self, action: int, one: str | None, two: str | None, schema: str | None, _: str | None
    ) -> int:
        if action == _READ:
            name = (one or "").lower()
            if schema in {"main", None} and name in self._names:
                self._read.add(name)
                return sqlite3.SQLITE_OK
            if schema is None or name in _TABLE_FUNCTIONS:  # None: made by the query itself
                return sqlite3.SQLITE_OK
            self._refused = f"it reads {one}"
        elif action == _FUNCTION:
            if (two or "").lower() not in _REFUSED_FUNCTIONS:
                return sqlite3.SQLITE_OK
            self._refused = f"it calls {two}()"
        elif action in _HARMLESS:
            return sqlite3.SQLITE_OK
        else:
            self._refused = "it does something else than read"
        return sqlite3.SQLITE_DENY

    def _explained(self, error: BaseException) -> QueryError:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if self._refused:
            return QueryError(Failure.REFUSED, self._refused)
        if isinstance(error, MemoryError) or code in {sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_FULL}:
            return QueryError(Failure.RESOURCE, "more memory than a query may use")
        if code == sqlite3.SQLITE_TOOBIG:
            return QueryError(Failure.RESOURCE, "a value is too large")
        if code == sqlite3.SQLITE_INTERRUPT:
            return QueryError(Failure.TIMEOUT, "the time is used up")
        if isinstance(error, sqlite3.ProgrammingError | sqlite3.Warning) and not code:
            return QueryError(Failure.REFUSED, "it is not one single statement")
        return QueryError(Failure.ERROR, str(error))


class SqliteDatabase(Connection):
    """A database file, open for reading."""

    def __init__(self, place: Path) -> None:
        try:
            raw = sqlite3.connect(
                f"file:{place}?mode=ro&immutable=1",
                uri=True,
                isolation_level=None,
                cached_statements=0,  # a cached one is not shown to the authorizer again
            )
            super().__init__(raw)
            raw.execute("PRAGMA query_only = ON")
            raw.execute("PRAGMA trusted_schema = OFF")
        except sqlite3.Error as error:
            raise DatabaseError(str(error)) from error

    def tables(self) -> list[Table]:
        """Return its tables."""
        return read_tables(self._raw)


class SqliteScratch(Connection):
    """A copy in memory."""

    def __init__(self, place: Path) -> None:
        raw = sqlite3.connect(":memory:", isolation_level=None, cached_statements=0)
        with sqlite3.connect(f"file:{place}?mode=ro&immutable=1", uri=True) as source:
            source.backup(raw)
        source.close()
        triggers = raw.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for (name,) in triggers:
            raw.execute(f"DROP TRIGGER {quoted(name)}")
        super().__init__(raw)

    def fill(self, rows: Mapping[str, Sequence[tuple[Any, ...]]]) -> None:
        """Replace all rows."""
        raw = self._raw
        try:
            raw.execute("BEGIN")
            for table in rows:
                raw.execute(f"DELETE FROM {quoted(table)}")  # noqa: S608 - quoted
            for table, records in rows.items():
                if records:
                    marks = ", ".join("?" * len(records[0]))
                    raw.executemany(f"INSERT INTO {quoted(table)} VALUES ({marks})", records)  # noqa: S608
            raw.execute("COMMIT")
        except (sqlite3.Error, ValueError, OverflowError) as error:
            if raw.in_transaction:
                raw.execute("ROLLBACK")
            raise DatabaseError(str(error)) from error

    def save(self, place: Path) -> None:
        """Write it to a file."""
        place.write_bytes(self._raw.serialize())


class SqliteEngine:
    """Makes and opens database files."""

    name: ClassVar[str] = "sqlite"

    @property
    def version(self) -> str:
        """The version of the library."""
        return sqlite3.sqlite_version

    def build(self, statements: str, place: Path) -> None:
        """Make a database file."""
        raw = sqlite3.connect(place, isolation_level=None)
        ends = time.thread_time() + BUILD_SECONDS
        try:
            _limit(raw)
            raw.execute("PRAGMA journal_mode = OFF")
            raw.execute(f"PRAGMA max_page_count = {MAX_DATABASE_BYTES // 4096}")
            raw.set_authorizer(_authorize_building)
            raw.set_progress_handler(lambda: time.thread_time() > ends, _STEPS)
            raw.executescript(statements)
            if raw.in_transaction:
                raw.execute("COMMIT")
        except (sqlite3.Error, sqlite3.Warning, ValueError, MemoryError) as error:
            place.unlink(missing_ok=True)
            raise DatabaseError(str(error) or "out of memory") from error
        finally:
            raw.close()

    def open(self, place: Path) -> SqliteDatabase:
        """Open a database file for reading."""
        return SqliteDatabase(place)

    def scratch(self, place: Path) -> SqliteScratch:
        """Copy a database file into memory."""
        return SqliteScratch(place)

    def remove(self, place: Path) -> None:
        """Delete the file."""
        place.unlink(missing_ok=True)


def _authorize_building(action: int, first: str | None, name: str | None, *_: str | None) -> int:
    is_refused = (
        action in _BUILD_REFUSED
        or (
            action == _FUNCTION
            and (name or "").lower() in _REFUSED_FUNCTIONS - {"random", "randomblob"}
        )
        # How large a database may be is counted in pages.
        or (action == sqlite3.SQLITE_PRAGMA and (first or "").lower() in _OF_PAGES)
    )
    return sqlite3.SQLITE_DENY if is_refused else sqlite3.SQLITE_OK


def _limit(raw: sqlite3.Connection) -> None:
    raw.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)
    raw.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    raw.setlimit(sqlite3.SQLITE_LIMIT_WORKER_THREADS, 0)
    raw.setlimit(sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH, 20)
    raw.execute(f"PRAGMA hard_heap_limit = {HEAP_BYTES}").fetchall()


def _decode(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
