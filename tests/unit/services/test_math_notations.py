"""Notations beside the plain ones: vectors in i and j, systems, classes of numbers, conjunctions."""

from __future__ import annotations

import pytest

from rewarden.contracts import Outcome
from services.math.judge import Judge

PAID = [
    ("x,x^2", "So \\boxed{g(x)=x^2,f(x)=x}"),
    ("f(x)=x,g(x)=x^2", "So \\boxed{g(x)=x^2,f(x)=x}"),
    ("f(x)=x,g(x)=x^2", "So \\boxed{x, x^2}"),
    ("(0,2)\\cup(3,5)", "So \\boxed{0<x<2 \\text{ or } 3<x<5}"),
    ("(-\\infty,-2)\\cup(2,\\infty)", "So \\boxed{x>2 or x<-2}"),
    ("(-\\infty,-2)\\cup(2,\\infty)", "So \\boxed{|x|>2}"),
    ("1\\pmod7", "So \\boxed{8 \\pmod 7}"),
    ("1\\pmod7", "So \\boxed{x\\equiv1\\pmod7}"),
    ("5", "So \\boxed{5 USD}"),
    ("42", "So the total is 42 apples."),
    ("2\\begin{pmatrix}1\\\\2\\end{pmatrix}", "So \\boxed{\\begin{pmatrix}2\\\\4\\end{pmatrix}}"),
    ("2\\begin{pmatrix}1\\\\2\\end{pmatrix}", "So \\boxed{(2,4)}"),
    ("3\\mathbf{i}+4\\mathbf{j}", "So \\boxed{(3,4)}"),
    ("3\\hat{i}-\\hat{k}", "So \\boxed{(3,0,-1)}"),
    ("3\\mathbf{i}+4\\mathbf{j}", "So \\boxed{3i+4j}"),
    ("3\\mathbf{i}+4\\mathbf{j}", "So \\boxed{\\langle 3,4\\rangle}"),
    ("3\\mathbf{i}+4\\mathbf{j}", "So \\boxed{\\begin{pmatrix}3\\\\4\\end{pmatrix}}"),
    ("\\operatorname{cis}(\\pi/3)", "So \\boxed{e^{i\\pi/3}}"),
    ("\\operatorname{cis}(\\pi/3)", "So \\boxed{\\frac12+\\frac{\\sqrt3}{2}i}"),
    ("\\begin{cases}x=1\\\\y=2\\end{cases}", "So \\boxed{x=1,y=2}"),
    ("\\begin{cases}x=1\\\\y=2\\end{cases}", "So \\boxed{(1,2)}"),
    ("n!", "So \\boxed{\\Gamma(n+1)}"),
    ("[1,2]^T", "So \\boxed{(1,2)}"),
    ("[1,2]^T", "So \\boxed{\\begin{pmatrix}1\\\\2\\end{pmatrix}}"),
    ("42", "So the total is 42 red apples."),
    ("42", "Thus there are 42 apples."),
    ("42", "So \\boxed{42 \\text{ apples}}"),
    ("42 cm", "The length is 42 cm."),
    ("42 cm", "The length is 42 centimeters."),
]
OPEN = [
    ("n=3k+1", "So \\boxed{n\\equiv1\\pmod3}"),
    ("n=3k+1", "So \\boxed{n=3m+1}"),
    ("1\\pmod7", "So \\boxed{1}"),
    ("5", "So \\boxed{USD 5}"),
    ("42", "Tom has 42 apples."),
    ("42", "I get 42."),
    ("\\frac{\\pi^2}{6}", "So \\boxed{\\zeta(2)}"),
    ("C_1e^x+C_2e^{-x}", "So \\boxed{c_1e^{x}+c_2e^{-x}}"),
    ("C_1e^x+C_2e^{-x}", "So \\boxed{Ae^x+Be^{-x}}"),
]
"""Right, but not known to be: never scored as wrong."""
UNPAID = [
    ("f(x)=x,g(x)=x^2", "So \\boxed{x^2,x}"),
    ("(0,2)\\cup(3,5)", "So \\boxed{0<x<2 \\text{ and } 3<x<5}"),
    ("(0,2)\\cup(3,5)", "So \\boxed{0<x<2 and 3<x<5}"),
    ("(-\\infty,-2)\\cup(2,\\infty)", "So \\boxed{x>2 and x<-2}"),
    ("(-\\infty,-2)\\cup(2,\\infty)", "So \\boxed{x>2 \\text{ and } x<-2}"),
    ("24/2", "So \\boxed{12_3}"),
    ("12", "So \\boxed{12_3}"),
    ("n=3k+1", "So \\boxed{n\\equiv2\\pmod3}"),
    ("1\\pmod7", "So \\boxed{2\\pmod7}"),
    ("5", "So \\boxed{6 USD}"),
    ("42", "Tom has 43 apples."),
    ("3\\mathbf{i}+4\\mathbf{j}", "So \\boxed{4\\mathbf{i}+3\\mathbf{j}}"),
    ("\\operatorname{cis}(\\pi/3)", "So \\boxed{e^{i\\pi/6}}"),
    ("\\begin{cases}x=1\\\\y=2\\end{cases}", "So \\boxed{(2,1)}"),
    ("\\frac{\\pi^2}{6}", "So \\boxed{\\zeta(3)}"),
    ("n!", "So \\boxed{\\Gamma(n)}"),
    ("C_1e^x+C_2e^{-x}", "So \\boxed{C_1e^x+C_2e^{x}}"),
    ("[1,2]^T", "So \\boxed{[2,1]^T}"),
    ("42", "So the total is 43 apples."),
    ("42", "The rest is 42 of them wrong."),
    ("42 cm", "The length is 42 km."),
]


def outcome(gold: str, completion: str) -> Outcome:
    return Judge().judge({"answer": gold}, completion).outcome


@pytest.mark.parametrize(("gold", "completion"), PAID)
def test_what_is_paid(gold: str, completion: str) -> None:
    assert outcome(gold, completion) is Outcome.CORRECT


@pytest.mark.parametrize(("gold", "completion"), OPEN)
def test_what_is_left_open(gold: str, completion: str) -> None:
    assert outcome(gold, completion) is Outcome.UNDECIDED


@pytest.mark.parametrize(("gold", "completion"), UNPAID)
def test_what_is_not_paid(gold: str, completion: str) -> None:
    assert outcome(gold, completion) is not Outcome.CORRECT
