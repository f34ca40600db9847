"""The databases of a service, in one folder that all its workers share.

A database is built once, by whoever needs it first, under a lock and under its hash; then it is
never written again. Those that have no name are deleted when they take up too much room, the ones
unused for longest first (`trim`); what needs one again gets a `GoneError` and makes it anew.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
from contextlib import contextmanager, suppress
from hashlib import sha256
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from services.sql.results import DatabaseError, EngineError, GoneError
from services.sql.spec import NAME_PATTERN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from services.sql.engines.engine import Database, Engine

ENGINES: Final[dict[str, str]] = {
    "sqlite": "services.sql.engines.sqlite:SqliteEngine",
    "duckdb": "services.sql.engines.duckdb:DuckdbEngine",
    "postgres": "services.sql.engines.postgres:PostgresEngine",
}
FILE_ENGINES: Final = frozenset({"sqlite", "duckdb"})
MAX_OPEN: Final = 128
DISK_BYTES: Final = 8 * 1024**3
SERVER_DATABASE_BYTES: Final = 8 * 1024**2
"""What a small database of Postgres takes on its server."""
_TRIM_EVERY: Final = 16
"""Databases that a process makes between two looks at how much room all of them take."""
_NAME: Final = re.compile(NAME_PATTERN)


class Registered(NamedTuple):
    """A database that has a name."""

    engine: str
    key: str


class Store:
    """Builds, finds and opens databases."""

    def __init__(self, root: Path, disk_bytes: int = DISK_BYTES) -> None:
        self._root = root
        self._disk_bytes = disk_bytes
        self._made = 0
        self._engines: dict[str, Engine] = {}
        self._open: dict[tuple[str, str], Database] = {}
        for name in ("databases", "names", "golds"):
            (root / name).mkdir(parents=True, exist_ok=True)

    def engine(self, name: str) -> Engine:
        """Return the engine; an `EngineError` if this installation lacks it."""
        if name not in self._engines:
            module, _, attribute = ENGINES[name].partition(":")
            try:
                self._engines[name] = getattr(import_module(module), attribute)()
            except ImportError as error:
                msg = f"the engine '{name}' is not installed here"
                raise EngineError(msg) from error
        return self._engines[name]

    def key(self, engine: str, statements: str) -> str:
        """Build the database of these statements unless it is there, and return its key."""
        made_by = self.engine(engine)
        key = digest(engine, made_by.version, statements)
        with self.making_database(engine, key) as place:
            if place is not None:
                made_by.build(statements, place)
        return key

    def register(self, name: str, engine: str, statements: str) -> Registered:
        """Build a database and give it a name; a `DatabaseError` if the name has another one."""
        return self._name(name, Registered(engine, self.key(engine, statements)))

    def register_file(self, name: str, engine: str, content: bytes) -> Registered:
        """Keep a database file and give it a name; a `DatabaseError` if it cannot be opened."""
        if engine not in FILE_ENGINES:
            msg = f"a database of {engine} is no file"
            raise DatabaseError(msg)
        key = digest(engine, self.engine(engine).version, sha256(content).hexdigest())
        with self.making_database(engine, key) as place:
            if place is not None:
                place.write_bytes(content)
                self.engine(engine).open(place).close()
        return self._name(name, Registered(engine, key))

    def _name(self, name: str, registered: Registered) -> Registered:
        if not _NAME.fullmatch(name):
            msg = "a name is up to 100 letters, digits, dots, dashes and underscores"
            raise DatabaseError(msg)
        path = self._root / "names" / f"{name}.json"
        try:
            with path.open("x", encoding="utf-8") as file:
                json.dump(registered, file)
        except FileExistsError:
            if self.named(name) != registered:
                msg = f"the name '{name}' is taken by another database"
                raise DatabaseError(msg) from None
        return registered

    def named(self, name: str) -> Registered:
        """Return what is registered by that name; a `DatabaseError` if nothing is."""
        try:
            text = (self._root / "names" / f"{name}.json").read_text(encoding="utf-8")
        except FileNotFoundError:
            msg = f"no database is registered as '{name}'"
            raise DatabaseError(msg) from None
        return Registered(*json.loads(text))

    def place(self, engine: str, key: str) -> Path:
        """Return where a database is, or is to be."""
        return self._root / "databases" / f"{key}.{engine}"

    def gold_path(self, key: str) -> Path:
        """Return where what was found out about a gold is kept."""
        return self._root / "golds" / f"{key}.json"

    def open(self, engine: str, key: str) -> Database:
        """Return the open database; the one not used for longest is closed for it."""
        database = self._open.pop((engine, key), None)
        if database is None:
            place = self.place(engine, key)
            if not place.exists():
                msg = "it was deleted to make room"
                raise GoneError(msg)
            database = self.engine(engine).open(place)
        self._open[engine, key] = database
        if len(self._open) > MAX_OPEN:
            self._open.pop(next(iter(self._open))).close()
        return database

    def leave(self, engine: str, key: str) -> None:
        """Close the database if it is open."""
        database = self._open.pop((engine, key), None)
        if database is not None:
            database.close()

    def leave_others(self, engine: str, key: str) -> bool:
        """Close every database but this one; whether there was any."""
        others = [known for known in self._open if known != (engine, key)]
        for known in others:
            self.leave(*known)
        return bool(others)

    def opens(self, engine: str, keys: Iterable[str]) -> bool:
        """Whether all of these databases can be opened; each that is gone is known as such then."""
        gone = 0
        for key in keys:
            try:
                self.open(engine, key)
            except GoneError:
                gone += 1
        return not gone and self.has(engine, keys)

    def has(self, engine: str, keys: Iterable[str]) -> bool:
        """Whether all of these databases are there; they count as used now."""
        try:
            for key in keys:
                os.utime(self.place(engine, key))
        except FileNotFoundError:
            return False
        return True

    def clear(self) -> None:
        """Delete every database, those of a server too, also what is half made."""
        for database in self._open.values():
            database.close()
        self._open.clear()
        for place in (self._root / "databases").iterdir():
            engine = _engine_of(place)
            if engine in ENGINES and not place.name.endswith(".lock"):
                self.engine(engine).remove(place)

    def trim(self) -> None:
        """Delete what has no name and was not used for longest, until the rest has room."""
        kept = {self.named(path.stem).key for path in (self._root / "names").glob("*.json")}
        found = []
        for place in (self._root / "databases").iterdir():
            if place.suffix[1:] in ENGINES and not place.name.startswith("scratch-"):
                with suppress(FileNotFoundError):
                    found.append((place.stat().st_mtime, _size(place), place))
        total = sum(size for _, size, _ in found)
        for _, size, place in sorted(found):
            if total <= self._disk_bytes:
                return
            if place.stem not in kept:
                self._delete(place)
                total -= size

    def _delete(self, place: Path) -> None:
        self.leave(_engine_of(place), place.stem)
        # Another process has the same in mind, or it is of an engine that is not set up any more.
        with suppress(FileNotFoundError, DatabaseError, EngineError):
            self.engine(_engine_of(place)).remove(place)

    @contextmanager
    def making_database(self, engine: str, key: str) -> Iterator[Path | None]:
        """Do as `making` does for a database; what a process that died left of it is deleted."""
        with self.making(self.place(engine, key)) as place:
            if place is not None:
                self.engine(engine).remove(place)
            yield place
        if place is not None:
            self._made += 1
            if self._made % _TRIM_EVERY == 0:
                self.trim()

    @contextmanager
    def making(self, place: Path, *, again: bool = False) -> Iterator[Path | None]:
        """Yield where to make what is to be at `place`, or None where it is there already.

        Of several processes one makes it and the others wait; it appears when it is complete.
        `again` has what is there made anew.
        """
        if place.exists() and not again:
            yield None
            return
        with place.with_name(place.name + ".lock").open("a") as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # given back by the end of the process, too
            if place.exists() and not again:
                yield None
                return
            made = place.with_name(place.name + ".new")
            yield made
            made.rename(place)


def _engine_of(place: Path) -> str:
    return place.name.removesuffix(".new").rpartition(".")[2]


def _size(place: Path) -> int:
    if place.suffix == ".postgres":
        return SERVER_DATABASE_BYTES
    return place.stat().st_blocks * 512


def digest(*parts: Any) -> str:  # noqa: ANN401 - whatever JSON writes
    """Return the key of these parts."""
    return sha256(json.dumps(parts, default=str).encode()).hexdigest()[:32]
