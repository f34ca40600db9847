"""What the SQL verifier is told about one sample: the gold query, and the database it speaks of."""

from __future__ import annotations

from math import isfinite
from typing import Final, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    field_validator,
    model_validator,
)

MAX_SQL_BYTES: Final = 65_536
"""Size of one query, the gold one or the predicted one."""
MAX_SCHEMA_BYTES: Final = 16 * 1024 * 1024
MAX_INSTANCES: Final = 16
MAX_ALTERNATIVES: Final = 16
MAX_GOLD_ROWS: Final = 100_000

NAME_PATTERN: Final = r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$"
"""Of a registered database."""

EngineName = Literal["sqlite", "duckdb", "postgres"]
Dialect = Literal[
    "bigquery", "clickhouse", "databricks", "duckdb", "mysql", "oracle", "postgres", "presto",
    "redshift", "snowflake", "spark", "sqlite", "trino", "tsql",
]  # fmt: skip
Profile = Literal["binary", "arctic", "skyrl", "sqlr1", "graded"]
Cell = StrictBool | StrictInt | StrictFloat | StrictStr | None


class SqlSpec(BaseModel):
    """The spec of an SQL sample: the gold query, its databases, and what counts as equal.

    Two results are equal when they hold the same bag of rows, under some order of the columns. The
    order of the rows counts when the outermost query of the gold orders them; rows that tie may
    permute, and a LIMIT may cut a tie anywhere. A prediction must be equal on every database.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    query: StrictStr | None = Field(default=None, examples=["SELECT name FROM emp WHERE id > 3"])
    """The gold query: one SELECT, at most 64 KB. Either this or `rows` is given."""
    rows: list[list[Cell]] | None = Field(default=None, examples=[[["Ann", 3], ["Bob", None]]])
    """The gold rows themselves, where there is no gold query. Nothing can then be generated: the
    prediction is compared on the given database alone."""
    alternatives: list[StrictStr] = Field(default_factory=list, max_length=MAX_ALTERNATIVES)
    """Further gold queries; a prediction that equals any one of them, on every database, is right."""
    schema_sql: StrictStr | None = Field(
        default=None,
        examples=[
            "CREATE TABLE emp(id INTEGER PRIMARY KEY, name TEXT); INSERT INTO emp VALUES (1, 'Ann')"
        ],
    )
    """Statements that make the database, tables and data. Either this or `database` is given."""
    database: StrictStr | None = Field(default=None, pattern=NAME_PATTERN)
    """The name of a registered database."""
    instances: list[StrictStr] = Field(default_factory=list, max_length=MAX_INSTANCES)
    """Further databases, each as the statements that make all of it."""
    generate: StrictBool = True
    """Whether further databases are generated, so that a query which is right by coincidence on the
    given ones is found out. Nullable columns, ties and values near the constants of the gold are
    what they vary; declared keys are kept."""
    engine: EngineName = Field(default="sqlite", examples=["duckdb"])
    """The system that runs the queries, and so their dialect."""
    transpile_from: Dialect | None = Field(default=None, examples=["mysql"])
    """The dialect that golds and predictions are written in, where it is not the engine's own; they
    are translated before they run."""
    ordered: StrictBool | None = None
    """Whether the order of the rows counts; null asks the gold query."""
    rel_tol: float = Field(default=1e-6, ge=0, lt=1, allow_inf_nan=False)
    """Numbers of which one is no integer are equal when they differ by at most this part of the
    larger one. Two integers are only equal when they are the same."""
    abs_tol: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    """Numbers of which one is no integer are equal when they differ by at most this."""
    decimals: StrictInt | None = Field(default=None, ge=0, le=15)
    """Numbers that are no integers are rounded to so many places first."""
    columns: Literal["any_order", "positional"] = "any_order"
    """`any_order`: the columns may be permuted, consistently for all rows. Names never count."""
    rows_as: Literal["bag", "set"] = "bag"
    """`set`: repeated rows count once, and the order of rows never counts."""
    types: Literal["strict", "lenient"] = "strict"
    """`lenient`: a text that reads as a number equals it, and a date equals its midnight."""
    allow_vacuous: StrictBool = False
    """Whether a gold without rows on any database may be matched; it is a bad spec otherwise."""
    timeout_seconds: float = Field(default=2.0, gt=0, le=60, allow_inf_nan=False)
    """The time of the prediction on all databases together, and of the gold on each: CPU time on
    SQLite and DuckDB, wall time on Postgres."""
    profile: Profile = Field(default="binary", examples=["graded"])
    """What a prediction that is not right is worth. `binary`: 0. `arctic`: 0.1 if it runs. `skyrl`
    and `sqlr1`: 0, and their own reward (-1..1 and -6..6) in the details. `graded`: .05 for SQL that
    was found, .05 if it parses, .1 if it runs and up to .3 for the rows that are right."""

    @field_validator("query", "alternatives", "schema_sql", "instances")
    @classmethod
    def _is_usable(cls, value: str | list[str] | None) -> str | list[str] | None:
        for text in [value] if isinstance(value, str) else value or ():
            if not text or text.isspace():
                msg = "is blank"
                raise ValueError(msg)
            if len(text.encode("utf-8", "surrogatepass")) > MAX_SCHEMA_BYTES:
                msg = f"is longer than {MAX_SCHEMA_BYTES:,} bytes"
                raise ValueError(msg)
        return value

    @field_validator("query", "alternatives")
    @classmethod
    def _is_short(cls, value: str | list[str] | None) -> str | list[str] | None:
        for text in [value] if isinstance(value, str) else value or ():
            if len(text.encode("utf-8", "surrogatepass")) > MAX_SQL_BYTES:
                msg = f"a query is longer than {MAX_SQL_BYTES:,} bytes"
                raise ValueError(msg)
        return value

    @field_validator("rows")
    @classmethod
    def _is_a_table(cls, rows: list[list[Cell]] | None) -> list[list[Cell]] | None:
        if rows is None:
            return None
        if len(rows) > MAX_GOLD_ROWS:
            msg = f"holds more than {MAX_GOLD_ROWS:,} rows"
            raise ValueError(msg)
        if len({len(row) for row in rows}) > 1 or (rows and not rows[0]):
            msg = "the rows are not of one length"
            raise ValueError(msg)
        if any(isinstance(cell, float) and not isfinite(cell) for row in rows for cell in row):
            msg = "a number is not finite"
            raise ValueError(msg)
        return rows

    @model_validator(mode="after")
    def _has_gold_and_database(self) -> Self:
        if (self.query is None) == (self.rows is None):
            msg = "give either 'query' or 'rows'"
            raise ValueError(msg)
        if (self.schema_sql is None) == (self.database is None):
            msg = "give either 'schema_sql' or 'database'"
            raise ValueError(msg)
        if self.rows is not None and self.alternatives:
            msg = "'alternatives' go with a 'query'"
            raise ValueError(msg)
        return self

    @property
    def golds(self) -> tuple[str, ...]:
        """The accepted queries; none where the rows are given."""
        return () if self.query is None else (self.query, *self.alternatives)
