"""What a query came to: rows, or the reason why there are none."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

Row = tuple[Any, ...]
"""Cells are None, bool, int, float, Decimal, str, bytes, or a tuple of a name and cells (a list, a
struct). Dates and times are texts in ISO form. A text that is not UTF-8 holds lone surrogates."""

MAX_ROWS: Final = 1_000_000
MAX_RESULT_BYTES: Final = 256 * 1024 * 1024
MAX_VALUE_BYTES: Final = 16 * 1024 * 1024
FETCH_ROWS: Final = 5_000


@dataclass(frozen=True, slots=True)
class Result:
    """The rows of a query in the order in which they came."""

    width: int
    rows: list[Row]
    tables: frozenset[str]
    """The tables and views of the database that the query reads."""


class Failure(StrEnum):
    """Why a query has no result."""

    ERROR = "error"
    """The engine does not accept it, or stopped on a value."""
    REFUSED = "refused"
    """It would do what no query may: write, read files, be random."""
    TIMEOUT = "timeout"
    RESOURCE = "resource"
    """A value, the result or the memory it takes is too large."""
    ENGINE = "engine"
    """The engine itself is not there: no fault of the query."""


class QueryError(Exception):
    """A query without a result."""

    def __init__(self, failure: Failure, said: str) -> None:
        super().__init__(said)
        self.failure = failure
        self.said = said


class DatabaseError(Exception):
    """A database that cannot be built or opened; the message says why."""


class GoneError(DatabaseError):
    """A database that was there, and was deleted to make room; it can be made again."""


class Collector:
    """Takes rows from a cursor, and refuses more than a result may hold."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self._bytes = 0

    def add(self, rows: list[Row]) -> None:
        """Take some rows; a `QueryError` when they are too many or too large."""
        self.rows += rows
        if len(self.rows) > MAX_ROWS:
            raise QueryError(Failure.RESOURCE, f"more than {MAX_ROWS:,} rows")
        self._bytes += sum(map(_row_bytes, rows))
        if self._bytes > MAX_RESULT_BYTES:
            raise QueryError(Failure.RESOURCE, f"more than {MAX_RESULT_BYTES:,} bytes of rows")


def _row_bytes(row: Row) -> int:
    return 56 + sum(len(cell) if isinstance(cell, str | bytes) else 8 for cell in row)


class EngineError(Exception):
    """An engine that is not there: the fault is ours."""
