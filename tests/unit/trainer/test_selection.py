"""The toy task for SQL: its golds run, differ from one another, and the alphabet can write them."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from rewarden.contracts import Outcome
from services.sql.judge import Judge
from trainer.data import load_data
from trainer.recipe import TinyModel
from trainer.recipe_file import read_recipe
from trainer.selection import draw_questions

RECIPE = Path(__file__).parents[3] / "trainer" / "recipes" / "toy_sql.yaml"


@pytest.fixture(scope="module")
def spec() -> dict[str, Any]:
    (term,) = read_recipe(RECIPE).rewards.terms
    return dict(term.spec)


def test_questions_are_drawn_by_seed_and_never_twice() -> None:
    one, two = draw_questions(1), draw_questions(2)
    assert draw_questions(1) == one
    assert one != two
    assert set(one) == set(two)
    assert len({question.prompt for question in one}) == len(one) > 300


def test_every_gold_runs_and_the_alphabet_can_write_it(spec: dict[str, Any]) -> None:
    model = read_recipe(RECIPE).model
    assert isinstance(model, TinyModel)
    assert model.alphabet is not None
    raw = sqlite3.connect(":memory:")
    raw.executescript(spec["schema_sql"])
    for question in draw_questions(0):
        assert set(question.prompt + question.query) <= set(model.alphabet)
        assert len(question.query) < read_recipe(RECIPE).grpo.max_completion_length
        raw.execute(question.query).fetchall()
    raw.close()


def test_only_the_right_answer_is_paid(spec: dict[str, Any], tmp_path: Path) -> None:
    judge = Judge(tmp_path)
    for question in draw_questions(0)[:8]:
        gold = spec | {"query": question.query}
        assert judge.judge(gold, question.query).outcome is Outcome.CORRECT
        other = question._replace(number=question.number + 10)
        assert judge.judge(gold, other.query).outcome is Outcome.INCORRECT


def test_nothing_held_out_is_trained_on() -> None:
    data = load_data(read_recipe(RECIPE))
    assert not set(data.train["prompt"]) & set(data.heldout["prompt"])
    assert data.train["query"] == data.train["demonstration"]
