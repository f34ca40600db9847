"""What `docs/math.md` says is equal, and what is not."""

from __future__ import annotations

import pytest

from rewarden.contracts import Outcome
from services.math.judge import Judge

EQUAL = {
    "1/2": ["0.5", ".5", "½", "50%", r"\frac{2}{4}", r"5\times10^{-1}", r"\text{one half}"],
    "71/6": ["11 5/6", r"11\frac{5}{6}"],
    "1/6": [r"0.1\overline{6}", "0.1666…"],
    "0.33": ["1/3"],
    "1/3": ["0.333333333333"],
    "1234567": ["1,234,567", "1{,}234{,}567", r"1\,234\,567", "1.234.567"],
    r"5\text{ km}": [r"5000\text{ m}", "5", "5 km", "5km"],
    "42": [r"42\text{ cm}"],
    r"37\%": ["0.37", "37 percent", "37", "37%"],
    r"90^\circ": ["90", r"\frac{\pi}{2}"],
    "52_8": ["42_{10}", "52", "42"],
    "3:2": ["6:4", r"\frac{3}{2}", r"3 \text{ to } 2"],
    "3:15 p.m.": ["15:15", "3:15"],
    "2024-01-05": ["January 5, 2024"],
    r"2\sqrt2": [r"\sqrt8", r"\sqrt{8}"],
    "3": [r"\log_{10}1000", r"\sqrt[3]{27}", "x=3", "3 = x", r"\{3\}", r"\text{The answer is } 3"],
    r"\frac12": [r"\cos60^\circ"],
    r"\tan^2(y)+1": [r"\sec^2 y"],
    r"\frac{1-i}{2}": [r"\frac{1}{1+i}"],
    "-1": [r"e^{i\pi}"],
    "x^2-1": ["(x+1)(x-1)", "(x-1)(1+x)"],
    "2x=10": ["x=5"],
    r"\frac{n(n+1)}{2}": [r"\sum_{k=1}^n k"],
    "1,2": ["2,1", r"\{2,1\}", "x=1 or x=2", "(1,2)"],
    r"1\pm\sqrt2": [r"1-\sqrt2, 1+\sqrt2"],
    "(1,4.5)": ["(1,9/2)", "1, 4.5"],
    r"\begin{pmatrix}1\\2\end{pmatrix}": ["(1,2)", r"\langle 1,2\rangle"],
    "[1,5]": [r"[1,3]\cup[2,5]", r"1\le x\le 5"],
    r"(-\infty,4)": ["x<4", "4>x"],
    "x>3": ["2x>6", "-x<-3", r"(3,\infty)"],
    "-2<x<2": ["|x|<2", "x^2<4", "(-2,2)"],
    "2x+y=4": ["8-4x=2y", "y=4-2x"],
    "x=5": ["5", "5=x", "2x=10"],
    "C": ["(C)", r"\text{C}", "Option C", r"\text{C: the enzyme is inhibited}", "c"],
    r"\text{Even}": ["even"],
    r"\emptyset": [r"\{\}", r"\text{no solution}", "∅"],
    r"\mathbb{R}": [r"(-\infty,\infty)", "\u211d"],
    r"\ln 2": [r"\log 2"],
}
DIFFERENT = {
    "1/3": ["0.33", "0.3333"],
    r"\pi": ["3.14", "22/7"],
    "10^{30}": ["10^{30}+1"],
    "0.5": ["0.48", "12/25"],
    "22/3": ["40/3"],
    r"5\text{ km}": [r"5\text{ m}", r"5\text{ kg}"],
    "$5": ["5 €"],
    r"37\%": [r"63\%"],
    "52_8": ["52_9"],
    "3:2": ["2:3"],
    "x+1": ["y+1"],
    "x": [r"\sqrt{x^2}"],
    r"\{1,2\}": ["(1,2)", "1"],
    r"\pm 4": ["4"],
    "(1,2)": ["(2,1)"],
    r"\begin{pmatrix}1\\2\end{pmatrix}": [r"\begin{pmatrix}1&2\end{pmatrix}"],
    "x>3": [r"x\ge3", "x<3"],
    "4": ["2x+y=4", "4x"],
    "3": ["x=1=2=3", "n=3k", "3 or 4", "5=3"],
    "6": [r"5\approx 6"],
    "A": [r"A\text{ or }B", "B"],
    r"\text{even}": ["odd"],
    r"\text{silent}": ["listen"],
    "2018": ["2024-01-05"],
}
OPEN = {
    "x>5": ["y>5"],
    "5": [r"5\text{ apples and }3\text{ oranges, so }8"],
    r"\frac{1}{2x}": ["1/2x"],
    r"5\text{ apples}": [r"5\text{ pears}"],
    "0.33": ["0.333"],
}


def judge(gold: object, answer: str, **options: object) -> Outcome:
    return Judge().judge({"answer": gold, **options}, rf"So it is \boxed{{{answer}}}.").outcome


@pytest.mark.parametrize(("gold", "answer"), [(g, a) for g, many in EQUAL.items() for a in many])
def test_equal(gold: str, answer: str) -> None:
    assert judge(gold, answer) is Outcome.CORRECT


@pytest.mark.parametrize(
    ("gold", "answer"), [(g, a) for g, many in DIFFERENT.items() for a in many]
)
def test_different(gold: str, answer: str) -> None:
    assert judge(gold, answer) is Outcome.INCORRECT


@pytest.mark.parametrize(("gold", "answer"), [(g, a) for g, many in OPEN.items() for a in many])
def test_open(gold: str, answer: str) -> None:
    assert judge(gold, answer) is Outcome.UNDECIDED


@pytest.mark.parametrize(
    ("gold", "answer", "options", "outcome"),
    [
        (r"\pi", "3.14", {"rel_tol": 0.01}, Outcome.CORRECT),
        (r"\pi", "3.2", {"rel_tol": 0.01}, Outcome.INCORRECT),
        ("(1,2)", "(1.001,2)", {"abs_tol": 0.01}, Outcome.CORRECT),
        ("100", "101", {"abs_tol": 1}, Outcome.CORRECT),
        ("100", "101.5", {"abs_tol": 1}, Outcome.INCORRECT),
        ("5 km", "5", {"units": "required"}, Outcome.INCORRECT),
        ("5 km", "5000 m", {"units": "required"}, Outcome.CORRECT),
        ("5 km", "5 kg", {"units": "ignored"}, Outcome.CORRECT),
        ("37%", "37", {"percent": "strict"}, Outcome.INCORRECT),
        ("37%", "0.37", {"percent": "strict"}, Outcome.CORRECT),
        ("1,2,3", "3,2,1", {"answer_type": "tuple"}, Outcome.INCORRECT),
        ("(1,2,2)", r"\{2,1\}", {"answer_type": "set"}, Outcome.CORRECT),
        ("(1,2)", "1<x<2", {"answer_type": "interval"}, Outcome.CORRECT),
        ("4s", "4", {"answer_type": "expression"}, Outcome.INCORRECT),
        ("4 s", "s*4", {"answer_type": "expression"}, Outcome.CORRECT),
        ("x=5", "5", {"answer_type": "equation"}, Outcome.INCORRECT),
        ("C", "c) because", {"answer_type": "choice"}, Outcome.CORRECT),
        ("C", "5", {"answer_type": "choice"}, Outcome.INCORRECT),
        ("2x + 1 apples", "2X+1, apples.", {"answer_type": "text"}, Outcome.CORRECT),
        ("evil", "vile", {"answer_type": "text"}, Outcome.INCORRECT),
        (["7", "8"], "8", {}, Outcome.CORRECT),
        (["7", "8"], "7, 8", {}, Outcome.INCORRECT),
    ],
)
def test_options(gold: object, answer: str, options: dict[str, object], outcome: Outcome) -> None:
    assert judge(gold, answer, **options) is outcome


def test_the_schema_documents_every_option_with_an_example() -> None:
    from services.math.spec import MathSpec

    for name, field in MathSpec.model_json_schema()["properties"].items():
        assert field["description"], name
        assert field["examples"], name
