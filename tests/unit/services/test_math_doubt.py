"""Words around an answer: what denies, hides or takes it back, and what only remarks on it."""

from __future__ import annotations

import pytest

from rewarden.contracts import Outcome
from services.math.judge import Judge

NOT_GIVEN = [
    "Instead of \\boxed{5} we get 6",
    "\\boxed{5} or 6",
    "6 or \\boxed{5}",
    "Many would say \\boxed{5}, but it is 6",
    "The answer is 5. Actually no, it's 6.",
    "\\boxed{5}\n\nActually, I made a mistake; it should be 6.",
    "I don't think the answer is 5",
    "It is false that the answer is 5",
    "A student says the answer is \\boxed{5}",
    "The model answered \\boxed{5}, which is wrong",
    "Incorrect: \\boxed{5}",
    "Example: \\boxed{5}",
    "e.g. \\boxed{5}",
    "Format your answer like \\boxed{5}",
    "My friend got \\boxed{5}",
    "Nobody would answer \\boxed{5}",
    "I refuse to write \\boxed{5}",
    "the result is wrong: 5",
    "答案不是5",
    "假设答案是5",
    "错误答案:5",
    "答案是5。错了,应该是6",
    "~~\\boxed{5}~~ 6",
    "<del>\\boxed{5}</del>",
    "\\textcolor{white}{\\boxed{5}}",
    "\\color{white} \\boxed{5}",
    "\\hidden{\\boxed{5}}",
    "If the problem meant integers, \\boxed{5}; otherwise 6",
    "错误答案:\\boxed{5}",
    "The answer is not 5",
    "Rather than 5 the answer is 6",
    "My answer was \\boxed{5} but the answer key says 6",
    "The answer is 5, which is wrong, it is 6",
]
"""A 5 that is not the answer."""
GIVEN = [
    "Instead of guessing, we compute \\boxed{5}.",
    "He got \\boxed{5} apples.",
    "One might think it is 6, but the answer is \\boxed{5}.",
    "This is not hard: \\boxed{5}",
    "\\boxed{5} or 5.0",
    "So the value is \\boxed{5}.\n\nI hope this helps!",
    "The number of wrong answers is \\boxed{5}",
    "They can not be equal, so we have \\boxed{5}",
    "\\boxed{5}\n\nLet me know if you have a question.",
    "For example, when x=2, we get 3. The final answer is \\boxed{5}.",
    "The answer is 5.",
    "The answer is 5. Thanks!",
    "So the final answer is 5, as expected.",
    "Therefore x = 3 or x = 5; since x>4, \\boxed{5}",
    "If it does not rain she walks, so the answer is 5.",
    "So the final answer is 5, as expected.",
    "The answer is 5, since 2+3=5.",
    "The answer is 5, because it is prime.",
    "The final answer is 5 (rounded).",
    "The answer is 5, which is prime.",
    "The answer is 5 as required.",
    "The answer is 5 because 2+3 is 5.",
    "The answer is: 5 (see above).",
    "The answer is 5, obtained by adding.",
    "Answer: 5, i.e. five",
    "Answer: 5 → done",
    "The answer is 5, and we are done.",
    "The answer is $5$, so option B is right.",
    "The answer is 5 since x > 0",
]
"""A 5 that is."""


@pytest.mark.parametrize("completion", NOT_GIVEN)
def test_an_answer_that_is_not_given_is_not_paid(completion: str) -> None:
    assert Judge().judge({"answer": "5"}, completion).outcome is not Outcome.CORRECT


@pytest.mark.parametrize("completion", GIVEN)
def test_words_around_an_answer_do_not_unmake_it(completion: str) -> None:
    judged = Judge().judge({"answer": "5"}, completion)
    assert judged.outcome is Outcome.CORRECT, judged.reason


def test_a_unit_is_no_remark() -> None:
    judged = Judge().judge({"answer": "5 miles"}, "The answer is 5 miles per hour.")
    assert judged.outcome is not Outcome.CORRECT
