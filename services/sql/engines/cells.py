"""Turn what drivers return into the cells of `services.sql.results`."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from services.sql.results import Row

_PLAIN: Final = frozenset({type(None), bool, int, float, str, bytes, Decimal})


def as_rows(rows: Iterable[tuple[Any, ...]]) -> list[Row]:
    """Return the rows, dates and times as texts, lists and structs as tuples."""
    return [row if _PLAIN.issuperset(map(type, row)) else tuple(map(as_cell, row)) for row in rows]


def as_cell(value: Any) -> Any:  # noqa: ANN401 - whatever a driver returns
    """Return one cell."""
    if type(value) in _PLAIN:
        return value
    return next((read(value) for kind, read in _READERS if isinstance(value, kind)), str(value))


_READERS: Final[tuple[tuple[Any, Callable[[Any], Any]], ...]] = (
    (datetime, lambda value: value.isoformat(sep=" ")),
    (date | time, lambda value: value.isoformat()),
    (timedelta, lambda value: ("interval", value.total_seconds())),
    (list | tuple | set, lambda value: ("list", *map(as_cell, value))),
    (dict, lambda value: ("struct", *((str(k), as_cell(v)) for k, v in value.items()))),
    (bytearray | memoryview, bytes),
)
