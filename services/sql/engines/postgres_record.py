"""Files that say which databases of a Postgres server belong to a store.

A record is written before its database is made, so that none is ever forgotten: whoever finds a
record of a process that died can drop what it names.
"""

from __future__ import annotations

import fcntl
import json
import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self
from uuid import uuid4

from services.sql.results import DatabaseError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_NAME: Final = re.compile(r"rewarden_[0-9a-f]{32}")


class Record(NamedTuple):
    """One database of the server."""

    name: str
    statements: str | None
    """What makes it; None for one that was generated."""

    @classmethod
    def write(cls, place: Path, statements: str | None) -> Self:
        """Choose a name, and write it down."""
        record = cls(f"rewarden_{uuid4().hex}", statements)
        place.write_text(json.dumps(record._asdict()), encoding="utf-8")
        return record

    @classmethod
    def read(cls, place: Path) -> Self:
        """Return what is written; a `DatabaseError` if it cannot be read."""
        try:
            read: dict[str, Any] = json.loads(place.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise DatabaseError(str(error)) from error
        if not _NAME.fullmatch(read["name"]):  # what it names may be dropped
            msg = "its record is damaged"
            raise DatabaseError(msg)
        return cls(read["name"], read["statements"])


class HeldRecord:
    """The record of a database that lives as long as this object, or its process.

    Those that others left behind are dropped on this occasion.
    """

    def __init__(self, folder: Path, drop: Callable[[str], None]) -> None:
        self._drop = drop
        self.folder = folder
        for left in folder.glob("scratch-*.postgres"):
            _drop_left(left, drop)
        self._place = folder / f"scratch-{uuid4().hex}.postgres"
        self._file = self._place.open("a", encoding="utf-8")
        fcntl.flock(self._file, fcntl.LOCK_EX)
        self.name = Record.write(self._place, None).name

    def close(self) -> None:
        """Drop the database."""
        self._drop(self.name)
        self._place.unlink(missing_ok=True)
        self._file.close()


def _drop_left(place: Path, drop: Callable[[str], None]) -> None:
    try:
        with place.open("a", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # not to be had while its owner lives
            if file.tell():  # else it is just being written
                drop(Record.read(place).name)
                place.unlink(missing_ok=True)
    except (OSError, DatabaseError):
        return
