"""What the SQL service does besides verifying: register a database, audit a gold.

`POST /v1/databases` builds a database once and gives it a name for specs; `POST /v1/golds` takes a
spec and says whether its gold can be used, and how well its databases tell near misses apart.
"""

from __future__ import annotations

from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, StrictStr

from services.sql.spec import MAX_SCHEMA_BYTES, NAME_PATTERN, EngineName

_CLOSED: Final = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class DatabaseRequest(BaseModel):
    """A database, and the name by which specs will speak of it."""

    model_config = _CLOSED

    name: StrictStr = Field(pattern=NAME_PATTERN, examples=["shop"])
    """A name is given once: to give it to the same database again changes nothing, to give it to
    another one is refused."""
    engine: EngineName = "sqlite"
    schema_sql: StrictStr | None = Field(
        default=None,
        max_length=MAX_SCHEMA_BYTES,
        examples=["CREATE TABLE shop(name TEXT); INSERT INTO shop VALUES ('Nook')"],
    )
    """Statements that make it, tables and data. Either this or `file` is given."""
    file: StrictStr | None = None
    """A database file of SQLite or DuckDB, in base 64."""


class GoldRequest(BaseModel):
    """A spec of which the gold is to be looked at, before anything is compared with it."""

    model_config = _CLOSED

    spec: dict[str, Any] = Field(
        examples=[{"query": "SELECT name FROM shop WHERE id > 1", "database": "shop"}]
    )
    """As samples carry it."""


class Finding(BaseModel):
    """Whether what was sent can be used."""

    model_config = _CLOSED

    usable: bool
    reason: str
    """One sentence."""
    details: dict[str, Any]
    """Of a database: `engine`, `key`, and `tables` with their columns. Of a gold: `warnings`,
    `mutation_score`, `instances`, `ordered`, `tables`, `rows`."""
