"""What an engine is: it builds databases, opens them for reading, and refills a copy of one.

A database is a place under the store's folder. Once built it is never written again: every query
runs on a connection that cannot write, whatever the query says.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from services.sql.results import Result

PINNED_NOW = "2025-06-15 12:00:00"
"""What every clock of a query says."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column as it is declared."""

    name: str
    type: str
    """In lower case; may be empty on SQLite."""
    is_nullable: bool = True
    is_generated: bool = False


@dataclass(slots=True)
class Table:
    """A table, its keys, and some of its rows."""

    name: str
    columns: list[Column]
    keys: list[tuple[str, ...]] = field(default_factory=list)
    """Sets of columns that are declared unique."""
    references: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Column -> table and column that it is a foreign key of."""
    rows: list[tuple[Any, ...]] = field(default_factory=list)


class Database(Protocol):
    """A database, open for reading."""

    quick_seconds: ClassVar[float | None]
    """Where queries run elsewhere and cannot be made to yield: those that take longer than this
    are to run again in the slow lane. None where they run in this process."""

    def slow_lane(self) -> AbstractContextManager[None]:
        """Wait until few others are in the lane, and be in it."""
        ...

    def get_ready(self) -> None:
        """Connect, if that has to be done, so that the time of a query is its own."""
        ...

    def run(self, sql: str, seconds: float) -> Result:
        """Run one query with at most so much time; a `QueryError` if there is no result."""
        ...

    def tables(self) -> list[Table]:
        """Return its tables, each with at most some hundred rows."""
        ...

    def close(self) -> None:
        """Give it back."""
        ...


class Scratch(Protocol):
    """A copy of a database whose rows are replaced again and again."""

    def fill(self, rows: Mapping[str, Sequence[tuple[Any, ...]]]) -> None:
        """Replace all rows; a `DatabaseError` where a constraint does not hold."""
        ...

    def run(self, sql: str, seconds: float) -> Result:
        """Run a query of a trusted author."""
        ...

    def save(self, place: Path) -> None:
        """Keep it as it is now as a database."""
        ...

    def close(self) -> None:
        """Drop the copy."""
        ...


class Engine(Protocol):
    """One database system."""

    name: ClassVar[str]

    @property
    def version(self) -> str:
        """The version of the system; results of another one are not the same."""
        ...

    def build(self, statements: str, place: Path) -> None:
        """Make the database that the statements describe; a `DatabaseError` if they fail."""
        ...

    def open(self, place: Path) -> Database:
        """Open a database for reading; a `DatabaseError` if it cannot be."""
        ...

    def scratch(self, place: Path) -> Scratch:
        """Copy a database."""
        ...

    def remove(self, place: Path) -> None:
        """Delete a database, if it is there."""
        ...
