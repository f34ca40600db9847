"""The toy task for code: its answers are right, differ from one another, and can be written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from services.code.spec import CodeSpec
from trainer.data import load_data
from trainer.one_liners import draw_tasks
from trainer.recipe import TinyModel
from trainer.recipe_file import read_recipe

RECIPE = Path(__file__).parents[3] / "trainer" / "recipes" / "toy_code.yaml"


def test_tasks_are_drawn_by_seed_and_never_twice() -> None:
    one, two = draw_tasks(1), draw_tasks(2)
    assert draw_tasks(1) == one
    assert one != two
    assert set(one) == set(two)
    assert len({task.prompt for task in one}) == len(one) == 400


def test_every_right_answer_passes_its_tests_and_the_alphabet_can_write_it() -> None:
    recipe = read_recipe(RECIPE)
    assert isinstance(recipe.model, TinyModel)
    assert recipe.model.alphabet is not None
    for task in draw_tasks(0):
        assert set(task.prompt + task.program) <= set(recipe.model.alphabet)
        assert len(task.program) < recipe.grpo.max_completion_length
        names: dict[str, Any] = {}
        exec(task.program, names)
        for case in task.tests["cases"]:
            assert names["f"](*case["args"]) == case["expected"], task


def test_tests_tell_tasks_apart() -> None:
    """Where two tasks have one meaning, as `a times b` and `b times a`, both answers are right."""
    seen: dict[str, str] = {}
    for task in draw_tasks(0):
        values = str([case["expected"] for case in task.tests["cases"]])
        names: dict[str, Any] = {}
        exec(task.program, names)
        many = str([names["f"](a, b) for a in (-9, -4, -1, 1, 3, 6, 8) for b in (-7, 2, 5, 11)])
        assert seen.setdefault(values, many) == many, task


def test_the_spec_of_every_sample_is_one_of_the_code_verifier() -> None:
    data = load_data(read_recipe(RECIPE))
    assert not set(data.train["prompt"]) & set(data.heldout["prompt"])
    for row in data.heldout:
        CodeSpec.model_validate({"tests": row["tests"], "limits": {"cpu_seconds": 1}})
