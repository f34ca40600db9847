from __future__ import annotations

from typing import Any

import pytest

from services.sql.spec import MAX_GOLD_ROWS, MAX_SQL_BYTES, SqlSpec
from services.verifier import read_spec

GOOD: dict[str, Any] = {"query": "SELECT 1", "schema_sql": "CREATE TABLE t(a)"}


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"alternatives": ["SELECT 2"]},
        {"instances": ["CREATE TABLE t(a); INSERT INTO t VALUES (1)"]},
        {"query": None, "rows": [[1, "a"], [None, 0.5]]},
        {"schema_sql": None, "database": "shop-1"},
        {"engine": "postgres", "ordered": True, "rows_as": "set", "types": "lenient"},
        {"transpile_from": "mysql", "profile": "graded", "decimals": 2},
    ],
)
def test_a_spec_that_is_good(change: dict[str, Any]) -> None:
    assert isinstance(read_spec(SqlSpec, GOOD | change), SqlSpec)


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"engine": "oracle"}, "engine"),
        ({"query": None}, "spec"),
        ({"rows": [[1]]}, "spec"),
        ({"query": "  "}, "query"),
        ({"query": "SELECT " + "1" * MAX_SQL_BYTES}, "query"),
        ({"query": 7}, "query"),
        ({"schema_sql": ""}, "schema_sql"),
        ({"schema_sql": None}, "spec"),
        ({"database": "shop"}, "spec"),
        ({"schema_sql": None, "database": "../../etc/passwd"}, "database"),
        ({"alternatives": [""]}, "alternatives"),
        ({"instances": [" "]}, "instances"),
        ({"instances": ["x"] * 17}, "instances"),
        ({"query": None, "rows": [[1], [1, 2]]}, "rows"),
        ({"query": None, "rows": [[float("inf")]]}, "rows"),
        ({"query": None, "rows": [[1]] * (MAX_GOLD_ROWS + 1)}, "rows"),
        ({"rel_tol": -1}, "rel_tol"),
        ({"timeout_seconds": 0}, "timeout_seconds"),
        ({"timeout_seconds": float("nan")}, "timeout_seconds"),
        ({"profile": "generous"}, "profile"),
        ({"limit": 5}, "limit"),
    ],
)
def test_a_spec_that_is_not_says_where(change: dict[str, Any], place: str) -> None:
    said = read_spec(SqlSpec, GOOD | change)
    assert isinstance(said, str)
    assert f"'{place}" in said


def test_every_field_is_documented() -> None:
    properties = SqlSpec.model_json_schema()["properties"]
    assert all(field.get("description") for field in properties.values())
