"""Ways to be paid for nothing, and right answers that looked wrong, once."""

from __future__ import annotations

import pytest

from rewarden.contracts import Outcome
from services.math.judge import Judge


def B(answer: str) -> str:  # noqa: N802 - a box, as it looks
    return rf"So \boxed{{{answer}}}"


UNPAID: list[tuple[object, str]] = [
    ("x=1,y=2", B("2,1")),
    ("x=1,y=2", B("y=1,y=2")),
    ("x=1,y=2", B("x=1,x=2")),
    ("x=1,x=2", B("x=1,y=2")),
    ("x=1,x=2", B("(1,2)")),
    ("(x,y)=(1,2)", B("x=1,x=2")),
    ("a=1,b=2,c=3", B("1,3,2")),
    ("x=1,y=2", B("x=1 or y=2")),
    (r"\mathbb{R}", B(r"x>0 \text{ and } x\le3 \text{ or } x<5")),
    ("3:2", B("0:0")),
    ("1:2:3", B("0:0:0")),
    ("0:1:2", B("0:5:7")),
    ("A_{15}", B("A_{16}")),
    ("A_{15}", B("10")),
    ("K_{33}", B("20")),
    ("5", B("5 gross")),
    ("5", B("5 tens")),
    ("5", B("5 error")),
    ("5", B("5 ppm")),
    ("5", B("5 binary")),
    ("2.5", B("37/15")),
    ("3.5", B(r"2\sqrt3")),
    (2.0, B("61/30")),
    ("123456789012345", B(r"12345678901234.6\times10^1")),
    ("1", B("1+2^{-100000}")),
    ("1", B(r"1+\frac1{3000!}")),
    ("1", B(r"1+\frac{1}{9^{9^5}}")),
    ("1", B(r"\cos(10^{-50000})")),
    ("BDCA", B("A B C D")),
    ("XYZ", B("Z Y X")),
    ("a=b=c", B("a=c")),
    ("A", B("A, alternatively C")),
    ("A", B("A. 5 B. 6")),
    ("B", B("b)c")),
    ("5", B(r"4.8\approx5")),
    ("5", B(r"5\approx5.2")),
    ("100", B(r"97\approx100")),
    ("x>2, x\\in\\mathbb{Z}", B("x>2")),
    ("1<x<4", B("1<x<4, x\\in\\mathbb{Z}")),
    (r"\pm\sqrt2\pm\sqrt3", B(r"\sqrt2+\sqrt3,-\sqrt2-\sqrt3")),
    ("2^10", B("2^{1}0")),
    ("x^23", B("x^{2}3")),
    ("52_8", B("52.0")),
    ("(1,2,3)", B("(1,,2,3)")),
    ("\\{1,2,3\\}", B("\\{\\{1\\},2,3\\}")),
    ("5", "`\\boxed{5}` is wrong."),
    ("5", "\\boxed{5}\nFinal answer: 7"),
    ("5", "\\boxed{5}\n#### 7"),
    ("5", "\\boxed{5} <answer>7</answer>"),
    ("5", "\\boxed{5} Wait, that is wrong. The answer is 7"),
    ("5", "If the answer were 5 I would write \\boxed{5}, but I do not know."),
    ("5", "You asked me to put the final answer in \\boxed{5}. I cannot"),
    ("5", "Suppose the answer is \\boxed{5}"),
    ("5", "The answer cannot possibly be equal to \\boxed{5}"),
    ("5", "The wrong answer is \\boxed{5}"),
    ("5", "Is it \\boxed{5}?"),
    ("5", "% \\boxed{5}\nThe answer is 7"),
    ("5", "\\phantom{\\boxed{5}}"),
    ("5", "\\iffalse \\boxed{5} \\fi"),
    ("5", "<div style='display:none'>\\boxed{5}</div>"),
    ("5", "\\newcommand{\\x}{\\boxed{5}}"),
    ("5", "<thought>\\boxed{5}"),
    ("5", "<reasoning>\\boxed{5}"),
    ("5", "◁think▷ \\boxed{5}"),
    ("5", "[THINK] \\boxed{5}"),
    ("5", "<|begin_of_thought|> \\boxed{5}"),
    ("5", "<|channel|>analysis<|message|> \\boxed{5}"),
    ("5", "The wrong answer is 5"),
    ("5", "It is not true that the answer is 5."),
    ("5", "There is no way the answer is 5"),
    ("5", "Maybe the answer is 5"),
    ("5", "I guess the answer is 5"),
    ("5", "whether the answer is 5"),
    ("5", "The answer is 5.\n\n7"),
]
PAID: list[tuple[str, str]] = [
    ("5", B("f(2)=5")),
    ("f(2)=5", B("f(2)=5.0")),
    ("5", B("P(X=2)=5")),
    ("5", B("AB=5")),
    ("5", B("|AB|=5")),
    ("5", B("Area=5")),
    ("f(x)=2x", B("f(t)=2t")),
    ("AC", B("A,C")),
    ("A,C", B("AC")),
    ("circle", B("a circle")),
    ("7", "故答案为\uff1a7\uff0e"),
    ("-7", "Final answer - 7"),
    ("10^{2005}", B("2^{2005}5^{2005}")),
    ("x\\sin x", B("xsin x")),
    ("3", B("log2(8)")),
    ("xe^x", B("e^x x")),
    ("a+bi", B("bi+a")),
    ("ax+by=c", B("2ax+2by=2c")),
    ("3", B("3 or 3")),
    ("五", B("5")),
    ("\\emptyset", B("无解")),
    ("C", "C"),
    ("C", "故选C"),
    ("C", "the correct option is C"),
    ("5", "<|channel|>analysis<|message|> hmm <|channel|>final<|message|> \\boxed{5}"),
    ("(-2,0]\\cup(3,\\infty)", B("x>-2 \\text{ and } x\\le0 \\text{ or } x>3")),
    ("5", B("5\\\\")),
    ("a\\le-1 \\text{ or } a\\ge1", B("a≤-1或a≥1")),
    ("\\{x|x>1\\}", B("{x|x>1}")),
    ("3:2", B("3\u22362")),
    ("x_1=1,x_2=2", B("x1=1\uff0cx2=2")),
    ("1", B(r"\min\{1,2\}")),
    ("k\\pi, k\\in\\mathbb{Z}", B("k\\pi")),
    ("5", "The answer is 5. I hope that it is correct."),
    ("5", "If x=2, then the answer is \\boxed{5}."),
    ("5", "So it is not 3 but \\boxed{5}."),
]


@pytest.mark.parametrize(("gold", "completion"), UNPAID)
def test_what_is_not_paid(gold: object, completion: str) -> None:
    assert Judge().judge({"answer": gold}, completion).outcome is not Outcome.CORRECT


@pytest.mark.parametrize(("gold", "completion"), PAID)
def test_what_is_paid(gold: str, completion: str) -> None:
    judged = Judge().judge({"answer": gold}, completion)
    assert judged.outcome is Outcome.CORRECT, judged.reason


def test_a_text_is_compared_with_its_signs() -> None:
    for gold, answer in (("x<5", "x>5"), ("5", ".5"), ("5", "5!")):
        spec = {"answer": gold, "answer_type": "text"}
        assert Judge().judge(spec, B(answer)).outcome is Outcome.INCORRECT


def test_braces_claim_no_order() -> None:
    spec = {"answer": "(1,2)", "answer_type": "tuple"}
    assert Judge().judge(spec, B(r"\{1,2\}")).outcome is Outcome.UNDECIDED
