"""Read SQL with sqlglot, for what it is good at: the shape of golds, mutants, places of errors.

It guards nothing: what a query may do is up to the engine that runs it.
"""

from __future__ import annotations

import logging
from typing import Any, Final

import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError, SqlglotError

MAX_PARSED_CHARS: Final = 20_000
"""Longer queries are not read: a list of 100,000 items would take a quarter of a minute."""
MAX_PARSED_DEPTH: Final = 100
"""Brackets in brackets; more of them than some hundreds end in a RecursionError."""

_FAULTS: Final = (
    SqlglotError, RecursionError, ValueError, TypeError, AttributeError, LookupError,
)  # fmt: skip
"""What it raises on text that it cannot read: its own errors, and others that it does not foresee."""

# It warns of what it does not support, once a query.
logging.getLogger("sqlglot").setLevel(logging.ERROR)


def parse(sql: str, engine: str) -> exp.Expression | None:
    """Return the tree of a single statement; None if it cannot be had."""
    if not _is_readable(sql):
        return None
    try:
        trees = [tree for tree in sqlglot.parse(sql, read=engine) if tree is not None]
    except _FAULTS:
        return None
    tree = trees[0] if len(trees) == 1 else None
    return tree if isinstance(tree, exp.Expression) else None


def error_place(sql: str, engine: str) -> dict[str, Any] | None:
    """Say where the query cannot be read; None if it can, or is not tried."""
    if not _is_readable(sql):
        return None
    try:
        sqlglot.parse(sql, read=engine)
    except ParseError as error:
        first = error.errors[0] if error.errors else {}
        kept = ("description", "line", "col", "highlight")
        return {part: first[part] for part in kept if part in first}
    except _FAULTS as error:
        return {"description": str(error)[:200]}
    return None


def transpile(sql: str, source: str, target: str) -> str | None:
    """Write the query in another dialect; None if it cannot be read."""
    tree = parse(sql, source)
    try:
        return None if tree is None else tree.sql(dialect=target)
    except _FAULTS:
        return None


def _is_readable(sql: str) -> bool:
    if len(sql) > MAX_PARSED_CHARS:
        return False
    depth = deepest = 0
    for bracket in sql:
        if bracket == "(":
            depth += 1
            deepest = max(deepest, depth)
        elif bracket == ")":
            depth -= 1
    return deepest <= MAX_PARSED_DEPTH
