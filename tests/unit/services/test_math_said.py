from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from services.math.said import last_answer_block, said, without_comments


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("all", "all"),
        ("<think>a</think>b", "b"),
        ("a</Thinking>b", "b"),
        ("<think>a</think>b<think>c</think>d", "d"),
        ("a< THINK >b", "a"),
        ('a<think about="it">b', "a"),
        ("a</think>b<think>c<think>d", "b"),
        ("a<thinker>b", "a<thinker>b"),
        ("a < think b > c", "a "),
    ],
)
def test_thoughts_are_not_said(text: str, part: str) -> None:
    start, end = said(text)
    assert text[start:end] == part


@pytest.mark.parametrize(
    ("text", "block"),
    [
        ("<answer>1</answer>", "1"),
        ("<ANSWER>1</ answer >", "1"),
        ("<answer>1</answer> <answer>2</answer>", "2"),
        ("<answer>1<answer>2</answer>", "2"),
        ("<answer>1</answer></answer>", "1"),
        ("<answer>1", None),
        ("</answer>1<answer>", None),
    ],
)
def test_the_last_closed_answer_block(text: str, block: str | None) -> None:
    span = last_answer_block(text, 0, len(text))
    assert (span and text[slice(*span)]) == block


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a<!-- b -->c", "a          c"),
        ("<!---->", "       "),
        ("<!-- a\n --><!-- b", " " * 11 + "<!-- b"),
        ("--> a <!--", "--> a <!--"),
    ],
)
def test_comments_become_blanks(text: str, shown: str) -> None:
    assert without_comments(text) == shown


@given(st.lists(st.sampled_from(["<!--", "-->", "a", "\n", "<", "-"])).map("".join))
def test_no_place_is_moved_and_no_closed_comment_left(text: str) -> None:
    shown = without_comments(text)
    assert len(shown) == len(text)
    opening = shown.find("<!--")
    assert opening < 0 or "-->" not in shown[opening + 4 :]
