"""Read the tables of an SQLite database: columns, keys, references, and some rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from services.sql.engines.engine import Column, Table

if TYPE_CHECKING:
    import sqlite3

SAMPLE_ROWS: Final = 300


def quoted(name: str) -> str:
    """Return the name as an identifier."""
    return '"' + name.replace('"', '""') + '"'


def read_tables(raw: sqlite3.Connection) -> list[Table]:
    """Return the ordinary tables."""
    names = raw.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
        " AND sql NOT LIKE 'create virtual%' ORDER BY rowid"
    ).fetchall()
    return [_read(raw, name) for (name,) in names]


def _read(raw: sqlite3.Connection, name: str) -> Table:
    info = raw.execute(f"PRAGMA table_xinfo({quoted(name)})").fetchall()
    columns = [
        Column(
            column,
            (declared or "").lower(),
            is_nullable=not (required or key),
            is_generated=hidden in {2, 3},
        )
        for _, column, declared, required, _, key, hidden in info
        if hidden != 1
    ]
    primary = tuple(row[1] for row in sorted(info, key=lambda row: row[5]) if row[5])
    table = Table(name, columns, [primary] if primary else [])
    for _, index, is_unique, _, is_partial in raw.execute(f"PRAGMA index_list({quoted(name)})"):
        members = [row[2] for row in raw.execute(f"PRAGMA index_info({quoted(index)})")]
        if is_unique and not is_partial and all(members):
            table.keys.append(tuple(members))
    for row in raw.execute(f"PRAGMA foreign_key_list({quoted(name)})").fetchall():
        table.references[row[3]] = (row[2], row[4] or _primary(raw, row[2]))
    kept = [c.name for c in columns if not c.is_generated]
    wanted = ", ".join(map(quoted, kept))
    rows = raw.execute(f"SELECT {wanted} FROM {quoted(name)} LIMIT {SAMPLE_ROWS}")  # noqa: S608
    table.rows = rows.fetchall()
    return table


def _primary(raw: sqlite3.Connection, name: str) -> str:
    for row in raw.execute(f"PRAGMA table_info({quoted(name)})").fetchall():
        if row[5]:
            return str(row[1])
    return ""
