"""Random rows for every table of a database: small, with ties, and true to its declared keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from services.sql.instances.pool import family, pool

if TYPE_CHECKING:
    from random import Random

    from services.sql.engines.engine import Column, Table
    from services.sql.instances.roles import Roles

Rows = dict[str, list[tuple[Any, ...]]]

MIN_ROWS: Final = 6
MAX_ROWS: Final = 16
_NULL_SHARE: Final = 0.2
_WANTED_SHARE: Final = 0.35
"""How often a column gets a constant that the gold compares it with, so that conditions hold."""
_NARROW_SHARE: Final = 0.5
"""How often a column gets few values, so that rows tie."""


def make_rows(tables: list[Table], roles: Roles, random: Random) -> Rows:
    """Return rows for all tables."""
    made: dict[str, dict[str, list[Any]]] = {}
    links = _links(tables, roles)
    sizes = {table.name: random.randint(MIN_ROWS, MAX_ROWS) for table in tables}
    for table in _parents_first(tables, links):
        made[table.name] = columns = {}
        for column in _keys_first(table):
            if not column.is_generated:
                link = links.get((table.name.lower(), column.name.lower()))
                columns[column.name] = _fill(
                    table, column, sizes[table.name], roles, made, link, random
                )
    return {table.name: _rows(table, made[table.name]) for table in tables}


def _fill(
    table: Table,
    column: Column,
    size: int,
    roles: Roles,
    made: dict[str, dict[str, list[Any]]],
    link: tuple[str, str] | None,
    random: Random,
) -> list[Any]:
    shipped = _shipped(table, column)
    name = column.name.lower()
    values = _linked(made, link) if link else []
    if not values:
        values = pool(column, shipped, roles.constants.get(name, set()), random)
        values = _narrowed(values, roles.constants.get(name, set()), random)
    has_nulls = None in shipped
    nulls = column.is_nullable and roles.may_be_null(name, has_nulls=has_nulls)
    if (column.name,) in table.keys:
        return _distinct(values, size, family(column, shipped), random)
    wanted = _equal_to(values, roles.constants.get(name, set()))
    return [_cell(values, wanted, random, nulls=nulls) for _ in range(size)]


def _cell(values: list[Any], wanted: list[Any], random: Random, *, nulls: bool) -> Any:  # noqa: ANN401
    if nulls and random.random() < _NULL_SHARE:
        return None
    return random.choice(wanted if wanted and random.random() < _WANTED_SHARE else values)


def _equal_to(values: list[Any], constants: set[Any]) -> list[Any]:
    return [v for v in values if v in constants or str(v) in constants]


def _shipped(table: Table, column: Column) -> list[Any]:
    kept = [c.name for c in table.columns if not c.is_generated]
    place = kept.index(column.name)
    return [row[place] for row in table.rows]


def _narrowed(values: list[Any], constants: set[Any], random: Random) -> list[Any]:
    """Take few of the values, of those that equal a constant at least one."""
    if random.random() > _NARROW_SHARE:
        return values
    few = random.sample(values, min(len(values), random.randint(2, 4)))
    wanted = _equal_to(values, constants)
    return few + random.sample(wanted, min(len(wanted), 2))


def _distinct(values: list[Any], size: int, kind: str, random: Random) -> list[Any]:
    fresh = list(dict.fromkeys(values))
    random.shuffle(fresh)
    if kind == "integer":
        top = max((v for v in fresh if isinstance(v, int)), default=0)
        fresh = fresh[: size - 2] + [top + n * 3 + 2 for n in range(size)]
    elif kind == "text":
        fresh += [f"k{n}" for n in range(size)]
    return fresh[:size]


def _rows(table: Table, columns: dict[str, list[Any]]) -> list[tuple[Any, ...]]:
    """Put the columns together, without rows that break a key."""
    size = min(map(len, columns.values()), default=0)
    rows = [tuple(column[i] for column in columns.values()) for i in range(size)]
    names = list(columns)
    for key in table.keys:
        if set(key) <= set(names):
            places = [names.index(name) for name in key]
            seen: set[Any] = set()
            rows = [
                row
                for row in rows
                if None in (k := tuple(row[p] for p in places)) or not (k in seen or seen.add(k))  # type: ignore[func-returns-value]
            ]
    order = [names.index(c.name) for c in table.columns if not c.is_generated]
    return [tuple(row[p] for p in order) for row in rows]


def _keys_first(table: Table) -> list[Column]:
    return sorted(table.columns, key=lambda c: (c.name,) not in table.keys)


def _links(tables: list[Table], roles: Roles) -> dict[tuple[str, str], tuple[str, str]]:
    """Map columns to what they are a foreign key of: as declared, or as the gold joins them."""
    owners = {
        (table.name.lower(), column.name.lower()): (table, column)
        for table in tables
        for column in table.columns
    }
    links: dict[tuple[str, str], tuple[str, str]] = {}
    for pair in roles.pairs:
        ends = [_owned(end, owners) for end in pair]
        if len(ends) == 2 and None not in ends:
            _link(ends[0], ends[1], owners, links)  # type: ignore[arg-type]
            _link(ends[1], ends[0], owners, links)  # type: ignore[arg-type]
    for table in tables:
        for name, (parent, key) in table.references.items():
            owner = owners.get((parent.lower(), key.lower()))
            if owner is not None:
                links[table.name.lower(), name.lower()] = (owner[0].name, owner[1].name)
    return links


def _owned(end: str, owners: dict[tuple[str, str], tuple[Table, Column]]) -> tuple[str, str] | None:
    table, _, column = end.partition(".")
    if (table, column) in owners:
        return (table, column)
    having = [owner for owner in owners if owner[1] == column]
    return having[0] if not table and len(having) == 1 else None


def _link(
    child: tuple[str, str],
    parent: tuple[str, str],
    owners: dict[tuple[str, str], tuple[Table, Column]],
    links: dict[tuple[str, str], tuple[str, str]],
) -> None:
    table, column = owners[parent]
    its_table, its_column = owners[child]
    if (column.name,) in table.keys and (its_column.name,) not in its_table.keys:
        links[child] = (table.name, column.name)


def _linked(made: dict[str, dict[str, list[Any]]], link: tuple[str, str]) -> list[Any]:
    values = made.get(link[0], {}).get(link[1], [])
    return values[: max(2, 2 * len(values) // 3)]  # some parents have no children


def _parents_first(
    tables: list[Table], links: dict[tuple[str, str], tuple[str, str]]
) -> list[Table]:
    left = list(tables)
    ordered: list[Table] = []
    while left:
        waiting = {table.name for table in left}
        ready = [
            table
            for table in left
            if not any(
                child == table.name.lower() and parent in waiting and parent != table.name
                for (child, _), (parent, _) in links.items()
            )
        ] or left[:1]  # a circle: its columns get values of their own
        ordered += ready
        left = [table for table in left if table not in ready]
    return ordered
