from __future__ import annotations

import pytest

from services.sql.parse import MAX_PARSED_CHARS, error_place, parse, transpile
from services.sql.shape import shape


@pytest.mark.parametrize(
    ("sql", "is_ordered", "is_cut"),
    [
        ("SELECT a FROM t", False, False),
        ("SELECT a FROM t ORDER BY a", True, False),
        ("SELECT a FROM (SELECT a FROM t ORDER BY a LIMIT 3) x", False, False),
        ("WITH x AS (SELECT a FROM t ORDER BY a) SELECT * FROM x", False, False),
        ("SELECT a, ROW_NUMBER() OVER (ORDER BY a) FROM t", False, False),
        ("SELECT a FROM t UNION SELECT b FROM t ORDER BY 1", True, False),
        ("SELECT a FROM t LIMIT 3", False, True),
        ("(SELECT a FROM t ORDER BY a LIMIT 1)", True, True),
        ("VALUES (1), (2)", False, False),
    ],
)
def test_the_outermost_query_decides(sql: str, *, is_ordered: bool, is_cut: bool) -> None:
    found = shape(sql, "sqlite")
    assert (found.is_ordered, found.is_cut) == (is_ordered, is_cut)


def test_what_is_ordered_by_is_added_and_the_limit_is_dropped() -> None:
    found = shape("SELECT a AS x FROM t ORDER BY b DESC, x LIMIT 2 OFFSET 1", "sqlite")
    assert found.full_sql == "SELECT a AS x, b AS rewarden_key_0 FROM t ORDER BY b DESC, x"
    assert found.keys == (None, 0)
    assert found.skips == 1


def test_an_alias_within_an_expression_is_put_out() -> None:
    found = shape("SELECT SUM(a) AS s FROM t GROUP BY b ORDER BY s * 2", "sqlite")
    assert found.full_sql is not None
    assert "(SUM(a)) * 2 AS rewarden_key_0" in found.full_sql


def test_distinct_rows_take_no_further_column() -> None:
    assert shape("SELECT DISTINCT a FROM t ORDER BY b", "sqlite").full_sql is None
    assert shape("SELECT DISTINCT a FROM t ORDER BY a", "sqlite").keys == (0,)


def test_what_cannot_be_read_is_asked_for_its_words() -> None:
    found = shape("SELEC a FRM t ORDER BY a LIMIT 3 ((", "sqlite")
    assert found.is_ordered
    assert found.is_cut
    assert found.full_sql is None


def test_neither_depth_nor_length_hurts_the_parser() -> None:
    assert parse("SELECT " + "(" * 3000 + "1" + ")" * 3000, "sqlite") is None
    items = ", ".join(map(str, range(100_000)))
    assert len(items) > MAX_PARSED_CHARS
    assert parse(f"SELECT a FROM t WHERE a IN ({items})", "sqlite") is None


def test_a_parse_error_has_its_place() -> None:
    place = error_place("SELECT a FROM t WHERE (a = 1", "sqlite")
    assert place is not None
    assert place["line"] == 1
    assert error_place("SELECT a FROM t", "sqlite") is None


def test_dialects_are_translated() -> None:
    assert transpile("SELECT `a` FROM t", "mysql", "sqlite") == 'SELECT "a" FROM t'
    assert transpile("SELECT FROM WHERE ((", "mysql", "sqlite") is None
