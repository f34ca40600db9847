"""Read the tables of a Postgres database: columns, keys, references, and some rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from psycopg import sql as compose

from services.sql.engines.engine import Column, Table

if TYPE_CHECKING:
    import psycopg

SAMPLE_ROWS: Final = 300
_TABLES: Final = (
    "SELECT c.oid, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
    " WHERE n.nspname = 'public' AND c.relkind IN ('r', 'p') ORDER BY c.oid"
)
_COLUMNS: Final = (
    "SELECT attname, format_type(atttypid, atttypmod), attnotnull, attgenerated <> '' "
    "FROM pg_attribute WHERE attrelid = %s AND attnum > 0 AND NOT attisdropped ORDER BY attnum"
)
_CONSTRAINTS: Final = (
    "SELECT c.contype::text, p.relname,"
    " ARRAY(SELECT a.attname::text FROM unnest(c.conkey) WITH ORDINALITY k(n, o)"
    "  JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = k.n ORDER BY o),"
    " ARRAY(SELECT a.attname::text FROM unnest(c.confkey) WITH ORDINALITY k(n, o)"
    "  JOIN pg_attribute a ON a.attrelid = c.confrelid AND a.attnum = k.n ORDER BY o)"
    " FROM pg_constraint c LEFT JOIN pg_class p ON p.oid = c.confrelid"
    " WHERE c.conrelid = %s AND c.contype IN ('p', 'u', 'f')"
)


def read_tables(raw: psycopg.Connection[Any]) -> list[Table]:
    """Return the tables of the schema `public`."""
    return [_read(raw, oid, name) for oid, name in raw.execute(_TABLES).fetchall()]


def _read(raw: psycopg.Connection[Any], oid: int, name: str) -> Table:
    columns = [
        Column(column, kind.lower(), is_nullable=not required, is_generated=generated)
        for column, kind, required, generated in raw.execute(_COLUMNS, [oid]).fetchall()
    ]
    table = Table(name, columns)
    for kind, parent, members, keys in raw.execute(_CONSTRAINTS, [oid]).fetchall():
        if kind == "f":
            for member, key in zip(members, keys, strict=True):
                table.references[member] = (parent, key)
        else:
            table.keys.append(tuple(members))
    wanted = compose.SQL(", ").join(
        compose.Identifier(c.name) for c in columns if not c.is_generated
    )
    text = compose.SQL("SELECT {} FROM {} LIMIT {}").format(
        wanted, compose.Identifier(name), compose.Literal(SAMPLE_ROWS)
    )
    table.rows = raw.execute(text).fetchall()
    return table
