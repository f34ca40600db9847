from __future__ import annotations

from pathlib import Path

import pytest

from trainer import warmup
from trainer.model import load_policy
from trainer.preparation import prepare
from trainer.recipe_file import read_recipe

TOY = Path(__file__).parents[3] / "trainer/recipes/toy.yaml"


@pytest.mark.parametrize(
    ("goal", "accuracies", "checked_at", "taken"),
    [
        (None, [], [], 20),
        (0.4, [0.0, 0.1, 0.25, 0.3, 0.5], [4, 8, 12, 13, 14], 14),
        (0.4, [0.9], [4], 4),
        (1.0, [0.0] * 5, [4, 8, 12, 16, 20], 20),
    ],
)
def test_the_cold_start_ends_at_its_goal_and_looks_closer_when_it_is_near(
    goal: float | None, accuracies: list[float], checked_at: list[int], taken: int
) -> None:
    prepared = prepare(read_recipe(TOY, seed=0))
    policy = load_policy(prepared.recipe.model, prepared.tokenizer, "cpu")
    base = prepared.recipe.warmup
    assert base is not None
    settings = base.model_copy(update={"steps": 20, "until_accuracy": goal, "batch_size": 4})
    steps, checks, answers = [0], [], iter(accuracies)

    def progress() -> None:
        steps[0] += 1

    def accuracy() -> float:
        checks.append(steps[0])
        return next(answers)

    train = prepared.data.train.select(range(16))
    assert warmup.warm_up(policy, train, settings, 0, progress, accuracy) == taken
    assert checks == checked_at
