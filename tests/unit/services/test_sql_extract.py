from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from services.sql.extract import extract

QUERY = "SELECT name FROM emp"


@pytest.mark.parametrize(
    "completion",
    [
        QUERY,
        f"```sql\n{QUERY}\n```",
        f"```SQL\r\n{QUERY}\r\n```\r\n",
        f"```sqlite\n{QUERY}\n```",
        f"```sql\n{QUERY}",
        f"~~~sql\n{QUERY}\n~~~",
        f"Here it is:\n```\n{QUERY}\n```\nDone.",
        f"```sql {QUERY}```",
        f"<answer>{QUERY}</answer>",
        f"<answer>\n```sql\n{QUERY}\n```\n</answer>",
        f"<sql>{QUERY}",
        f"`{QUERY}`",
        f"<think>```sql\nSELECT 1\n```</think>\n```sql\n{QUERY}\n```",
        f"SELECT 1 was my first idea</think>{QUERY}",
        f"```sql\nSELECT 1\n```\nNo, rather:\n```sql\n{QUERY}\n```",
        f"```python\nprint(1)\n```\n```sql\n{QUERY}\n```",
        f"```sql\n{QUERY}\n```\n<answer>{QUERY}</answer>",
    ],
)
def test_the_final_query_is_found(completion: str) -> None:
    found = extract(completion)
    assert found is not None
    assert found.sql == QUERY
    assert found.rival is None


@pytest.mark.parametrize(
    "completion",
    [
        "",
        "I do not know.",
        "You should select the names from emp.",
        "<think>```sql\nSELECT 1\n```",
        "```sql\n```",
        "```python\nprint(1)\n```",
    ],
)
def test_where_there_is_no_query_none_is_found(completion: str) -> None:
    assert extract(completion) is None


def test_comments_and_semicolons_stay() -> None:
    found = extract("```sql\n-- all names\nSELECT name FROM emp; -- done\n```")
    assert found is not None
    assert found.sql == "-- all names\nSELECT name FROM emp; -- done"


def test_a_quoted_name_at_the_end_keeps_its_quote() -> None:
    found = extract("SELECT `name` FROM `emp`")
    assert found is not None
    assert found.sql == "SELECT `name` FROM `emp`"


def test_an_unclosed_fence_is_told() -> None:
    found = extract(f"```sql\n{QUERY}")
    assert found is not None
    assert not found.is_closed


def test_two_final_queries_that_differ_are_a_conflict() -> None:
    found = extract(f"```sql\n{QUERY}\n```\n<answer>SELECT id FROM emp</answer>")
    assert found is not None
    assert found.rival == "SELECT id FROM emp"


def test_an_answer_tag_with_prose_is_no_rival() -> None:
    found = extract(f"```sql\n{QUERY}\n```\n<answer>see above</answer>")
    assert found is not None
    assert found.rival is None


def test_a_statement_that_is_no_query_is_found_so_that_it_can_be_refused() -> None:
    found = extract("DROP TABLE emp")
    assert found is not None
    assert found.sql == "DROP TABLE emp"


@given(st.text(alphabet="`~sql \n<>/answerthink;-*SELECT", max_size=300))
def test_no_text_is_too_strange(text: str) -> None:
    found = extract(text)
    assert found is None or found.sql


@pytest.mark.parametrize("strange", ["İ" * 40, "ǰΐ" * 20, "ẞK" * 9])
@pytest.mark.parametrize(
    "completion",
    [
        "<think>{}</think>SELECT name FROM emp",
        "{}</think>SELECT name FROM emp",
        "{} <answer>SELECT name FROM emp</answer>",
        "<THINK>x</Think>{}\n```sql\nSELECT name FROM emp\n```",
    ],
)
def test_letters_whose_small_form_is_longer_move_nothing(completion: str, strange: str) -> None:
    found = extract(completion.format(strange))
    assert found is not None
    assert found.sql == "SELECT name FROM emp"
