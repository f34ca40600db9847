"""Read the tables of a DuckDB database: columns, keys, references, and some rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from services.sql.engines.cells import as_rows
from services.sql.engines.engine import Column, Table

if TYPE_CHECKING:
    import duckdb

SAMPLE_ROWS: Final = 300
_HERE: Final = "database_name = current_database() AND schema_name = 'main'"


def quoted(name: str) -> str:
    """Return the name as an identifier."""
    return '"' + name.replace('"', '""') + '"'


def read_tables(raw: duckdb.DuckDBPyConnection) -> list[Table]:
    """Return the tables, parents before their children where they were made so."""
    names = raw.execute(
        f"SELECT table_name FROM duckdb_tables() WHERE {_HERE} AND NOT internal ORDER BY table_oid"  # noqa: S608
    ).fetchall()
    tables = {name: Table(name, []) for (name,) in names}
    columns = raw.execute(
        f"SELECT table_name, column_name, lower(data_type), is_nullable FROM duckdb_columns()"  # noqa: S608
        f" WHERE {_HERE} ORDER BY table_name, column_index"
    ).fetchall()
    for table, name, its_type, is_nullable in columns:
        if table in tables:
            tables[table].columns.append(Column(name, its_type, is_nullable=is_nullable))
    constraints = raw.execute(
        "SELECT table_name, constraint_type, constraint_column_names, referenced_table,"  # noqa: S608
        f" referenced_column_names FROM duckdb_constraints() WHERE {_HERE}"
    ).fetchall()
    for name, kind, members, parent, keys in constraints:
        if kind in {"PRIMARY KEY", "UNIQUE"}:
            tables[name].keys.append(tuple(members))
        elif kind == "FOREIGN KEY":
            for member, key in zip(members, keys, strict=True):
                tables[name].references[member] = (parent, key)
    for table in tables.values():
        rows = raw.execute(f"SELECT * FROM {quoted(table.name)} LIMIT {SAMPLE_ROWS}").fetchall()  # noqa: S608
        table.rows = as_rows(rows)
    return list(tables.values())
