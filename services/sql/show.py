"""Write queries, cells and differences so that JSON can hold them and a person can read them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from rewarden.contracts import mended

if TYPE_CHECKING:
    from services.sql.compare import Comparison

MAX_SHOWN_CHARS: Final = 200
MAX_SHOWN_SQL: Final = 4_000
MAX_SHOWN_CELLS: Final = 30
_SAFE_INTEGER: Final = 2**53


def cell_text(text: str) -> str:
    """Return a text fit for JSON, cut to a readable length."""
    clean: str = mended(text)
    return clean if len(clean) <= MAX_SHOWN_CHARS else clean[:MAX_SHOWN_CHARS] + "…"


def shown_sql(sql: str) -> str:
    """Return a query fit for JSON."""
    clean: str = mended(sql[:MAX_SHOWN_SQL])
    return clean if len(sql) <= MAX_SHOWN_SQL else clean + "…"


def shown_cell(cell: Any) -> Any:  # noqa: ANN401 - a cell
    """Return a cell fit for JSON: bytes in hex, large integers and decimals as text."""
    if isinstance(cell, tuple | list):
        return [shown_cell(part) for part in cell[:MAX_SHOWN_CELLS]]
    if isinstance(cell, bytes):
        return "x'" + cell[: MAX_SHOWN_CHARS // 2].hex() + "'"
    return cell if _is_plain(cell) else cell_text(str(cell))


def _is_plain(cell: Any) -> bool:  # noqa: ANN401 - a cell
    if isinstance(cell, float):
        return math.isfinite(cell)
    if isinstance(cell, int):
        return abs(cell) <= _SAFE_INTEGER
    return cell is None


def shown_difference(compared: Comparison, database: str) -> dict[str, Any]:
    """Return the first difference: database, row, column and both values."""
    shown: dict[str, Any] = {"database": database, "what": compared.reason}
    for name, value in (compared.difference or {}).items():
        shown[name] = shown_cell(value)
    return shown
