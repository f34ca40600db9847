"""The words of a query, apart from what it only says: strings and comments.

Good for hints and for lists of names, on DuckDB and Postgres. Comments within comments are read as
if the first end were the end: so words may be seen that are none, and none are hidden.
"""

from __future__ import annotations

import re
from typing import Final

OPAQUE: Final = (
    r"(?P<string>\$(?P<tag>(?:[A-Za-z_]\w*)?)\$.*?\$(?P=tag)\$|\b[eE]'(?:[^'\\]|\\.|'')*'|'(?:[^']|'')*')"
    r"|(?P<quoted>\"(?:[^\"]|\"\")*\")|(?P<comment>--[^\n]*|/\*.*?\*/)"
)
"""A string, a quoted name, or a comment."""
_OPAQUE: Final = re.compile(OPAQUE, re.DOTALL)


def words_of(sql: str) -> str:
    """Return the query with blank strings, without comments, and with its names unquoted."""
    return _OPAQUE.sub(_bare, sql)


def _bare(found: re.Match[str]) -> str:
    if found["quoted"] is not None:
        name = found["quoted"][1:-1]
        return name if name.isidentifier() else "_"
    return " " if found["comment"] is not None else "''"
