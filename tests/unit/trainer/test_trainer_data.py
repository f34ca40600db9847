"""Data: sums, files, columns."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from rewarden.errors import ConfigurationError
from rewarden.rewards import RewardTerm
from trainer.addition import Sum, count_sums, draw_sums
from trainer.data import load_data
from trainer.recipe import Evaluation, FileData, Grpo, Recipe, RewardSettings, TinyModel

ROWS = [{"question": f"{n} + 1 = ?", "gold": f"so it is #### {n + 1} "} for n in range(20)]


def recipe(data: dict[str, Any], prompts: int = 5, column: str = "answer") -> Recipe:
    term = RewardTerm(name="right", verifier="math", columns={"answer": column})
    return Recipe(
        name="test",
        model=TinyModel(kind="tiny"),
        data=FileData(kind="file", **data),
        grpo=Grpo(max_steps=1),
        rewards=RewardSettings(terms=[term]),
        evaluation=Evaluation(prompts=prompts),
    )


@pytest.fixture
def jsonl(tmp_path: Path) -> str:
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    return str(path)


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")


def columns(path: str) -> dict[str, Any]:
    return {"path": path, "prompt_column": "question", "answer_column": "gold"}


def test_sums_have_no_carry_and_a_worked_solution() -> None:
    assert Sum(23, 45).prompt == "23+45="
    assert Sum(23, 45).demonstration == "<thinking>2+4=6 3+5=8</thinking> \\boxed{68}"
    for drawn in draw_sums(200, 2, seed=1):
        digits = re.fullmatch(r"(\d)(\d)\+(\d)(\d)=", drawn.prompt)
        assert digits is not None
        a, b, c, d = map(int, digits.groups())
        assert 0 < a + c <= 9
        assert b + d <= 9


def test_sums_are_drawn_by_seed_and_never_twice() -> None:
    assert draw_sums(50, 2, seed=1) == draw_sums(50, 2, seed=1)
    assert draw_sums(50, 2, seed=1) != draw_sums(50, 2, seed=2)
    assert len(set(draw_sums(10_000, 2, seed=0))) == count_sums(2) == 1980


def test_columns_are_renamed_and_answers_cut(jsonl: str) -> None:
    data = load_data(recipe(columns(jsonl) | {"answer_after": "####"}))
    assert (len(data.train), len(data.heldout)) == (15, 5)
    for row in [*data.train, *data.heldout]:
        assert int(row["prompt"].split()[0]) + 1 == int(row["answer"])
    assert not set(data.train["prompt"]) & set(data.heldout["prompt"])


def test_a_json_list_reads_like_jsonl(tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    path.write_text(json.dumps(ROWS), encoding="utf-8")
    assert len(load_data(recipe(columns(str(path)))).train) == 15


def test_prompts_become_messages(jsonl: str) -> None:
    data = load_data(recipe(columns(jsonl) | {"chat": True, "system_prompt": "Think."}))
    system, user = data.train[0]["prompt"]
    assert system == {"role": "system", "content": "Think."}
    assert user["role"] == "user"


def test_a_heldout_file_leaves_the_rest_to_training(jsonl: str) -> None:
    data = load_data(recipe(columns(jsonl) | {"heldout_path": jsonl, "train_size": 7}))
    assert (len(data.train), len(data.heldout)) == (7, 5)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"answer_column": "golt"}, "no column 'golt' .*did you mean 'gold'"),
        ({"prompt_column": "prompt"}, "no column 'prompt' .*correct data.prompt_column"),
        ({"answer_after": "@@"}, "an answer has no '@@' in it"),
        ({"path": "/nowhere/x.json"}, "does not exist; correct data.path"),
    ],
)
def test_what_is_wrong_with_the_data_is_said(
    jsonl: str, change: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(ConfigurationError, match=sentence):
        load_data(recipe(columns(jsonl) | change))


def test_a_reward_term_without_its_column(jsonl: str) -> None:
    with pytest.raises(ConfigurationError, match=r"no column 'tests'.*reward term 'right'"):
        load_data(recipe(columns(jsonl), column="tests"))


def test_too_few_samples_to_hold_some_out(jsonl: str) -> None:
    with pytest.raises(ConfigurationError, match=r"lower evaluation.prompts"):
        load_data(recipe(columns(jsonl), prompts=20))


def test_a_file_that_is_not_json(tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    path.write_text("what is this", encoding="utf-8")
    with pytest.raises(ConfigurationError, match="cannot be read as JSON"):
        load_data(recipe(columns(str(path))))
