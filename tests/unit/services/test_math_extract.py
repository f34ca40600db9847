from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from services.math.boxes import MAX_RIVALS, closed_boxes
from services.math.extract import extract


def found(text: str) -> tuple[str, str, bool] | None:
    hit = extract(text)
    return hit and (hit.strategy, text[hit.start : hit.end], hit.stated)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (r"so \boxed{42}.", "42"),
        (r"\fbox{42}", "42"),
        (r"\boxed {42}", "42"),
        (r"\boxed{\frac{1}{2}} it is", r"\frac{1}{2}"),
        (r"\boxed{\{1, 2\}}", r"\{1, 2\}"),
        (r"\boxed{\}}", r"\}"),
        (r"\boxed{\boxed{7}}", r"\boxed{7}"),
        (r"\boxed{}", ""),
        (r"`\boxed{5}`. That is wrong; the answer is `\boxed{7}`", "7"),
        (r"} } \boxed{5}", "5"),
        (r"\boxed{ { \boxed{5}", "5"),
        (r"<think>\boxed{3}</think> The answer is \boxed{4}.", "4"),
        (r"<thinking>\boxed{3}</thinking>", "3"),
        ("<Thinking>\\boxed{3}</ THINKING >\n\n", "3"),
        (r"<think>\boxed{3}</think> <!-- done -->", "3"),
        (r"Put it in \boxed{}: \boxed{5}", "5"),
        (r"the answer, within \boxed{}. \boxed{5}", "5"),
        (r"<!-- \boxed{3} --> \boxed{4} <!-- \boxed{5} -->", "4"),
        (r"\boxed{5} <think> or is it \boxed{6}", "5"),
        ("所以\uff0c答案\uff1a\\boxed{5}。", "5"),
    ],
)
def test_the_last_closed_box_counts(text: str, answer: str) -> None:
    assert found(text) == ("boxed", answer, True)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no number at all",
        r"<think>\boxed{5}",
        r"<Think>\boxed{5}",
        r"< think >\boxed{5}",
        r'<THINKING mode="long">\boxed{5}',
        r"<!-- \boxed{5} -->",
        r"<thinking>the answer is 5. \boxed{5}",
        r"done</think><think>\boxed{5}",
        r"We must simplify $\frac{10}{4}$. I cannot finish this.",
        "</thinking>",
        "done\n****",
    ],
)
def test_nothing_is_found(text: str) -> None:
    assert extract(text) is None


@pytest.mark.parametrize(
    ("text", "strategy", "answer"),
    [
        ("<answer> 42 </answer>", "answer_tag", "42"),
        ("<answer>1</answer> no: <answer>2</answer>", "answer_tag", "2"),
        ("<Answer>42</ANSWER >", "answer_tag", "42"),
        ("<answer>The answer is 42</answer>", "final_answer", "42"),
        ("I use \\boxed{}. The answer is 42.", "final_answer", "42"),
        ("The answer is 7. <!-- \\boxed{5} -->", "final_answer", "7"),
        ("The final answer is 42. I hope it helps.", "final_answer", "42"),
        ("The answer is **42**.", "final_answer", "42"),
        ("The answer is 11 5/6.", "final_answer", "11 5/6"),
        ("Answer: 3.5\nbye", "final_answer", "3.5"),
        ("✅ Final Answer: **81**", "final_answer", "81"),
        ("ANSWER: C", "final_answer", "C"),
        ("答案是 42。", "final_answer", "42"),
        ("This answers it. The answer is 1. Hence answers exist.", "final_answer", "1"),
        ("<think>\\boxed{3}</think> The answer is 4.", "final_answer", "4"),
        ("3 + 4 = 7\n#### 7", "hashes", "7"),
        ("Therefore:\n**42**", "bold", "42"),
        ("We multiply.\n**42**.", "bold", "42"),
        ("The area is **42**", "bold", "42"),
        ("Hence $x = 5$.", "latex", "x = 5"),
        (r"The sum is \(\frac{1}{2}\).", "latex", r"\frac{1}{2}"),
        (r"It is \[7\]", "latex", "7"),
        ("$$7$$", "latex", "7"),
        ("42", "number", "42"),
        ("The final price is €20.", "number", "€20"),
        ("I am sure. Hence x = 5.", "number", "x = 5"),
        ("So the line is 3*x - 7*y + 2 = 0", "number", "3*x - 7*y + 2 = 0"),
    ],
)
def test_other_strategies(text: str, strategy: str, answer: str) -> None:
    assert found(text) == (strategy, answer, True)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("We get 12. Perhaps consider 7", "7"),
        ("We must simplify $\\frac{10}{4}$.", r"\frac{10}{4}"),
        ("It took 42 minutes", "42"),
        ("15 * 4 / 2 = 30", "30"),
        (r"The answer is \boxed{42", "42"),
        ("Is the answer: 5?", "5?"),
        ("x = 5 or x = 7", "x = 7"),
        ("It is $5$ or $7$", "7"),
        (r"<thinking>\boxed{3}</thinking> That settles it.", "3"),
        (r"<think>\boxed{5}</think> so I get 7", "7"),
        ("<!-- \\boxed{5}", "5"),
        ("There are 5! ways", "5!"),
        ("We used the prime **7**", "7"),
    ],
)
def test_a_value_that_is_only_mentioned_is_marked(text: str, answer: str) -> None:
    hit = found(text)
    assert hit is not None
    assert hit[1:] == (answer, False)


@pytest.mark.parametrize(
    ("text", "rivals"),
    [
        (r"\boxed{5} or \boxed{7}", ("5",)),
        (r"\boxed{5}\boxed{7}", ("5",)),
        (r"$\boxed{5}$, $\boxed{6}$ and $\boxed{7}$", ("6", "5")),
        (r"\boxed{5} \text{ or } \boxed{7}", ("5",)),
        (r"\boxed{5}. So it is \boxed{7}", ()),
        (r"First \boxed{5}, then we double it and get \boxed{7}", ()),
        (r"\boxed{5}" + " " * 50 + r"\boxed{7}", ("5",)),
        (r"\boxed{5}" + "." * 50 + r"\boxed{7}", ("5",)),
        (r"\boxed{5} vs. \boxed{7}", ("5",)),
        (r"\boxed{5}; Alternatively: \boxed{7}", ("5",)),
        (r"\boxed{5}, otherwise \boxed{7}", ("5",)),
        (r"\boxed{5} ou \boxed{7}", ("5",)),
        (r"\boxed{5} \boxed{} \boxed{7}", ("5",)),
        (r"\boxed{5} or \boxed{5}", ()),
        (r"\boxed{} or \boxed{5}", ()),
    ],
)
def test_boxes_side_by_side_are_rivals(text: str, rivals: tuple[str, ...]) -> None:
    hit = extract(text)
    assert hit is not None
    assert hit.rivals == rivals


@pytest.mark.parametrize(
    ("text", "doubts"),
    [
        (r"\boxed{5} hmm \boxed{7}", ("5",)),
        (r"\boxed{5} or else it could well be \boxed{7}", ("5",)),
        (r"\boxed{5} + \boxed{7} = \boxed{12}", ("7", "5")),
        (r"\boxed{5}, next \boxed{7} or \boxed{8}", ("5",)),
        (r"\boxed{5} in \boxed{}", ("",)),
        (r"\boxed{5}. So it is \boxed{7}", ()),
        (r"<think>\boxed{5}</think> so I get 7", ("5",)),
        ("So the answer is 7. For two weeks that makes 14.\n#### 14", ()),
        ("The answer is 7. <answer>14</answer>", ()),
        ("<answer>7</answer>\nThe final answer is 14.", ("7",)),
        ("<answer>7</answer>\nThe final answer is 7.", ()),
        ("The answer is 7.\n\nFinal: $14$", ("14",)),
        ("The answer is 7. That is:\n**14**", ("14",)),
        ("The answer is 7. So the total is 14", ("14",)),
        ("The answer is 7.\n**Good luck**", ()),
        ("The total is:\n**7**\nThe answer is 14.", ()),
        ("The answer is $7$ or **8**.", ()),
    ],
)
def test_what_may_be_meant_instead_makes_a_doubt(text: str, doubts: tuple[str, ...]) -> None:
    hit = extract(text)
    assert hit is not None
    assert hit.doubts == doubts


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("n = 5!", "n = 5!"),
        ("The total is 4! + 6", "4! + 6"),
        ("We get n = 1, 2, 3, ...", "n = 1, 2, 3, ..."),
        ("x = 0.333...", "x = 0.333..."),
        ("The answer is 0.333...", "0.333.."),
        ("The answer is 1, 2, . . .", "1, 2, . ."),
        ("Hence:\n**5!**", "5!"),
        ("The total is 5 !", "5"),
        ("Hence **5**!", "5"),
    ],
)
def test_a_factorial_and_an_ellipsis_are_no_punctuation(text: str, answer: str) -> None:
    hit = found(text)
    assert hit is not None
    assert hit[1] == answer


def test_rivals_are_bounded() -> None:
    hit = extract("".join(rf"\boxed{{{number}}} " for number in range(1_000)))
    assert hit is not None
    assert len(hit.rivals) == MAX_RIVALS


def test_repeats_do_not_hide_a_rival() -> None:
    hit = extract(r"\boxed{5} or " + r"\boxed{7} " * 1_000)
    assert hit is not None
    assert hit.rivals == ("5",)


def test_one_strategy_can_be_asked_for() -> None:
    text = "\\boxed{5}\n#### 7"
    assert extract(text, "hashes") == ("hashes", 15, 16, True, (), ())
    assert extract(text, "answer_tag") is None


def test_a_box_inside_a_closed_box_is_a_part_of_it() -> None:
    text = r"\boxed{a}\boxed{b\boxed{c}d}"
    assert [text[box.start : box.end] for box in closed_boxes(text, 0, len(text))] == [
        r"\boxed{a}",
        r"\boxed{b\boxed{c}d}",
    ]


_PIECES = st.sampled_from(
    [
        "\\boxed{",
        "\\fbox{",
        "{",
        "}",
        "\\",
        "5",
        " or ",
        "<think>",
        "</think>",
        "</Think >",
        "<!--",
        "-->",
        "...",
        "!",
        "<answer>",
        "$",
        "</answer>",
        "answer is ",
        "####",
        "**",
        "\n",
        ". ",
        "x",
        "=",
        "\\(",
        "\\)",
        "1/2",
        "é",
        "。",
    ]
)


@given(st.lists(_PIECES, max_size=30).map("".join))
def test_a_span_always_lies_in_the_text(text: str) -> None:
    hit = extract(text)
    assert hit is None or 0 <= hit.start <= hit.end <= len(text)
