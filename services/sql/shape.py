"""What the outermost query of a gold asks of the order and the number of its rows.

From that comes a second query, which has no LIMIT and also returns what is ordered by. With its
rows the ties are known, and the rows that a LIMIT had to choose from (`expected_rows`).

Where the gold cannot be read, or orders by what cannot be returned next to its rows (DISTINCT, a
set operation), the ties are not known; the order of a prediction that has the right rows is then
left open. A collation by which different texts tie is not seen as one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from sqlglot import exp

from services.sql.compare import Block, Expected, fits, plain
from services.sql.parse import parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from services.sql.results import Result, Row

_ORDER: Final = re.compile(r"\border\s+by\b", re.IGNORECASE)
_CUT: Final = re.compile(r"\b(limit|fetch|offset|top)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Shape:
    """How the rows of a query are ordered and cut."""

    is_ordered: bool
    is_cut: bool
    """Whether it takes a part of its rows."""
    skips: int = 0
    full_sql: str | None = None
    """The query without its LIMIT, with what it orders by; None if there can be no such query."""
    keys: tuple[int | None, ...] = ()
    """Where in a row of the plain query the parts of the order are; None: in an added column."""


def shape(sql: str, engine: str) -> Shape:
    """Read the shape of a query."""
    tree = parse(sql, engine)
    while isinstance(tree, exp.Subquery) and not _modifiers(tree):
        tree = tree.this
    if not isinstance(tree, exp.Query) or isinstance(tree, exp.Subquery):
        return Shape(bool(_ORDER.search(sql)), bool(_CUT.search(sql)))
    order = tree.args.get("order")
    limit, offset = tree.args.get("limit"), tree.args.get("offset")
    is_cut = limit is not None or offset is not None
    if order is None and not is_cut:
        return Shape(is_ordered=False, is_cut=False)
    skips = _literal(offset)
    if skips is None or _is_distinct_on(tree):
        return Shape(order is not None, is_cut)
    full = tree.copy()
    for part in ("limit", "offset"):
        full.set(part, None)
    keys = _add_keys(full, order.expressions if order else [])
    if keys is None:
        return Shape(order is not None, is_cut)
    return Shape(order is not None, is_cut, skips, full.sql(dialect=engine), keys)


def expected_rows(
    shape_: Shape, result: Result, run: Callable[[str], Result], ordered: bool | None
) -> Expected:
    """Return what a prediction may answer, where the gold query gave `result`."""
    is_ordered = shape_.is_ordered if ordered is None else ordered
    known = plain(result.rows, result.width, is_ordered=is_ordered)
    if not (shape_.is_ordered and is_ordered) and not shape_.is_cut:
        return known
    unknown = Expected(
        known.rows,
        known.width,
        known.blocks,
        is_ordered,
        is_certain=False,
        is_open=shape_.is_cut and bool(result.rows),
    )
    if shape_.full_sql is None:
        return unknown
    full = run(shape_.full_sql)
    blocks = _blocks(full.rows, shape_, result.width, len(result.rows))
    expected = Expected(result.rows, result.width, blocks, is_ordered)
    return expected if fits(expected, result.rows) else unknown


def cuts_a_tie(expected: Expected) -> bool:
    """Whether a LIMIT had to choose among rows that tie, so that the gold has several answers."""
    return any(
        block.take < len(block.rows) and len(set(block.rows)) > 1 for block in expected.blocks
    )


def _blocks(rows: list[Row], shape_: Shape, width: int, size: int) -> list[Block]:
    window = range(shape_.skips, shape_.skips + size)
    blocks = []
    start = 0
    for group in _tied(rows, shape_.keys, width):
        end = start + len(group)
        take = min(end, window.stop) - max(start, window.start)
        if take > 0:
            blocks.append(Block([row[:width] for row in group], take))
        start = end
    return blocks


def _tied(rows: list[Row], keys: tuple[int | None, ...], width: int) -> Iterable[list[Row]]:
    places = []
    added = width
    for key in keys:
        places.append(added if key is None else key)
        added += key is None
    last: object = None
    group: list[Row] = []
    for row in rows:
        key_of_row = tuple(row[place] for place in places)
        if group and key_of_row != last:
            yield group
            group = []
        last = key_of_row
        group.append(row)
    if group:
        yield group


def _modifiers(tree: exp.Subquery) -> bool:
    return any(tree.args.get(part) for part in ("order", "limit", "offset", "alias"))


def _is_distinct_on(tree: exp.Query) -> bool:
    distinct = tree.args.get("distinct")
    return isinstance(distinct, exp.Distinct) and distinct.args.get("on") is not None


def _literal(offset: exp.Expression | None) -> int | None:
    if offset is None:
        return 0
    number = offset.expression
    return int(number.this) if isinstance(number, exp.Literal) and number.is_int else None


def _add_keys(full: exp.Query, ordered: list[exp.Expression]) -> tuple[int | None, ...] | None:
    can_add = isinstance(full, exp.Select) and full.args.get("distinct") is None
    outputs = full.selects
    keys: list[int | None] = []
    added: list[Any] = []
    for part in ordered:
        by = part.this if isinstance(part, exp.Ordered) else part
        place = _place(by, outputs)
        if place is None:
            if not can_add:
                return None
            key = exp.alias_(_without_aliases(by.copy(), outputs), f"rewarden_key_{len(added)}")
            added.append(key)
        keys.append(place)
    if added:
        full.set("expressions", [*outputs, *added])
    return tuple(keys)


def _place(by: exp.Expression, outputs: Sequence[Any]) -> int | None:
    """Return the place of an output column; None if it is none, or follows a star."""
    if isinstance(by, exp.Literal) and by.is_int:
        return int(by.this) - 1  # it counts the columns that a star stands for
    named = isinstance(by, exp.Column) and not by.table
    place = next(
        (
            i
            for i, output in enumerate(outputs)
            if output.unalias() == by or (named and output.alias_or_name == by.name)
        ),
        -1,
    )
    is_known = 0 <= place < len(outputs) and not any(o.is_star for o in outputs[: place + 1])
    return place if is_known else None


def _without_aliases(by: exp.Expression, outputs: Sequence[Any]) -> exp.Expression:
    """Put what they stand for in place of the aliases of output columns."""
    aliased = {o.alias: o.this for o in outputs if isinstance(o, exp.Alias)}

    def put(node: exp.Expression) -> exp.Expression:
        if isinstance(node, exp.Column) and not node.table and node.name in aliased:
            return exp.paren(aliased[node.name].copy())
        return node

    return by.transform(put)
