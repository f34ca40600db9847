from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from services.code.extract import Extracted, extract

GOOD = "def f():\n    return 1\n"


def _code(completion: str, language: str = "python") -> str | None:
    found = extract(completion, language)
    return found.code if found else None


def test_a_completion_without_fences_is_the_program_with_its_indentation() -> None:
    assert _code("    return a + b\n") == "    return a + b\n"


@pytest.mark.parametrize("tag", ["python", "py", "Python", "python3"])
def test_the_block_of_the_language_is_the_program(tag: str) -> None:
    assert _code(f"Here it is.\n```{tag}\n{GOOD}```\nDone.") == GOOD


def test_a_block_of_the_language_is_taken_before_a_later_one_of_none() -> None:
    assert _code(f"```python\n{GOOD}```\nIt prints\n```\n1\n```\n") == GOOD


def test_a_block_of_no_language_is_taken_where_there_is_no_other() -> None:
    assert _code(f"```\n{GOOD}```\n```text\nnothing\n```") == GOOD


def test_blocks_of_other_languages_are_no_program() -> None:
    assert _code("```text\nIt is 3.\n```") is None


def test_the_last_of_two_different_blocks_counts_and_is_flagged() -> None:
    found = extract(f"```python\ndraft\n```\n```python\n{GOOD}```", "python")
    assert found == Extracted(GOOD, is_contested=True)


def test_the_same_block_twice_is_not_flagged() -> None:
    found = extract(f"```python\n{GOOD}```\nAgain:\n```python\n{GOOD}```", "python")
    assert found == Extracted(GOOD)


def test_an_unclosed_fence_reaches_to_the_end_and_is_flagged() -> None:
    assert extract(f"```python\n{GOOD}", "python") == Extracted(GOOD + "\n", is_unclosed=True)


def test_a_fence_closes_with_one_as_long() -> None:
    assert _code("````python\n```\nx\n```\n````") == "```\nx\n```\n"


def test_tildes_and_indented_fences_are_fences() -> None:
    assert _code("1. so:\n   ~~~python\n   x = 1\n     y\n   ~~~\n") == "x = 1\n  y\n"


def test_a_thought_is_passed_over() -> None:
    assert _code(f"<think>```python\ndraft\n```</think>\n```python\n{GOOD}```") == GOOD


def test_a_thought_without_an_end_holds_no_program() -> None:
    assert _code(f"<think>```python\n{GOOD}```") is None


def test_what_stands_before_a_thought_without_an_end_counts() -> None:
    assert _code(f"```python\n{GOOD}```\n<think>or ```python\nx\n```") == GOOD


@pytest.mark.parametrize("completion", ["", " \n", "```python\n```", "<think>", "</think>"])
def test_nothing_is_no_program(completion: str) -> None:
    assert _code(completion) is None


def test_each_language_has_its_own_blocks() -> None:
    assert _code("```c++\nint main() {}\n```\n```python\nx\n```", "cpp") == "int main() {}\n"


@given(st.text(st.sampled_from("`~ \npythonx<>/think"), max_size=200))
def test_extraction_never_raises(completion: str) -> None:
    found = extract(completion, "python")
    assert found is None or found.code.strip()
