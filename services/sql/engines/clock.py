"""Stop the clock of a query, so that it returns the same on every day.

What is covered, where the query names them: on SQLite the date and time functions, also with
`'now'`, and `CURRENT_DATE` and its like (`pin_clock`); on DuckDB and Postgres the key words and the
functions of the present, by putting constants there (`pinned_sql`). What is not: a `'now'` that a
query puts together, and the texts `'now'`, `'today'` and their like as dates on the latter two.
"""

from __future__ import annotations

import re
import sqlite3
from typing import Any, Final

from services.sql.engines.engine import PINNED_NOW
from services.sql.engines.wording import OPAQUE

_NOW: Final = re.compile(
    r"'\s*now\s*'|\bcurrent_(?:date|time|timestamp)\b|\bnow\s*\(|\btoday\s*\(|"
    r"\b(?:date|time|datetime|julianday|unixepoch)\s*\(\s*\)|"
    r"\bstrftime\s*\(\s*'[^']*'\s*\)|\b(?:get_current_|local)time(?:stamp)?\b|"
    r"\b(?:clock|statement|transaction)_timestamp\b|\btimeofday\b|\bage\s*\([^,()]*\)",
    re.IGNORECASE,
)
_FUNCTIONS: Final = ("date", "time", "datetime", "julianday", "unixepoch", "strftime")
_CURRENT: Final = {
    "current_date": PINNED_NOW[:10],
    "current_time": PINNED_NOW[11:],
    "current_timestamp": PINNED_NOW,
}


def speaks_of_now(sql: str) -> bool:
    """Whether the query seems to ask for the present date or time."""
    return bool(_NOW.search(sql))


_CLOCKS: Final = re.compile(
    rf"(?P<opaque>{OPAQUE})|(?<![\w.$])(?:(?P<word>current_date|current_timestamp|current_time|"
    r"localtimestamp|localtime)\b(?:\s*\(\s*\d?\s*\))?(?!\s*\()|(?:pg_catalog\s*\.\s*)?"
    r"(?P<call>now|today|transaction_timestamp|statement_timestamp|get_current_timestamp|"
    r"get_current_time|current_localtimestamp|current_localtime)\s*\(\s*\))",
    re.IGNORECASE | re.DOTALL,
)
_DATES: Final = frozenset({"current_date", "today"})
_TIMES: Final = frozenset({"current_time", "localtime", "get_current_time", "current_localtime"})


def pinned_sql(sql: str, moment: str) -> str:
    """Put constants for the clocks of the query; `moment` is the type of `now()`."""
    return _CLOCKS.sub(lambda found: _pinned_clock(found, moment), sql)


def _pinned_clock(found: re.Match[str], moment: str) -> str:
    if found["opaque"] is not None:
        return found[0]
    clock = (found["word"] or found["call"]).lower()
    if clock in _DATES:
        return f"CAST('{PINNED_NOW[:10]}' AS DATE)"
    if clock in _TIMES:
        return f"CAST('{PINNED_NOW[11:]}' AS TIME)"
    is_local = clock.startswith("local") or "_local" in clock
    return f"CAST('{PINNED_NOW}' AS {'TIMESTAMP' if is_local else moment})"


def pin_clock(raw: sqlite3.Connection) -> sqlite3.Connection:
    """Replace the clock of the connection, and return what its functions need: close it after."""
    helper = sqlite3.connect(":memory:", check_same_thread=False)
    for name in _FUNCTIONS:
        raw.create_function(name, -1, _pinned(helper, name), deterministic=True)
    for name, value in _CURRENT.items():
        raw.create_function(name, 0, _constant(value), deterministic=True)
    return helper


def _constant(value: str) -> Any:  # noqa: ANN401 - a function
    return lambda: value


def _pinned(helper: sqlite3.Connection, name: str) -> Any:  # noqa: ANN401 - a function
    places = int(name == "strftime")

    def call(*arguments: Any) -> Any:  # noqa: ANN401 - cells
        given = [PINNED_NOW if _is_now(value) else value for value in arguments]
        if len(given) == places:
            given.append(PINNED_NOW)
        marks = ", ".join("?" * len(given))
        row = helper.execute(f"SELECT {name}({marks})", given).fetchone()
        return row[0]

    return call


def _is_now(value: object) -> bool:
    return isinstance(value, str) and value.strip().lower() == "now"
