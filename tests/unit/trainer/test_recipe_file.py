"""Recipes: the shipped ones resolve, and what is wrong with one is said in a sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from rewarden.errors import ConfigurationError
from trainer.recipe import PretrainedModel, Recipe
from trainer.recipe_file import dump_recipe, read_recipe

RECIPES = Path(__file__).parents[3] / "trainer" / "recipes"


def minimal() -> dict[str, Any]:
    return {
        "name": "small",
        "model": {"kind": "tiny"},
        "data": {"kind": "addition"},
        "grpo": {"max_steps": 1},
        "rewards": {"terms": [{"name": "correctness", "verifier": "math"}]},
    }


def read(tmp_path: Path, content: dict[str, Any], seed: int | None = None) -> Recipe:
    path = tmp_path / "recipe.yaml"
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    return read_recipe(path, seed=seed)


@pytest.mark.parametrize("path", sorted(RECIPES.glob("*.yaml")), ids=lambda path: path.stem)
def test_shipped_recipes_resolve_and_read_back(path: Path, tmp_path: Path) -> None:
    recipe = read_recipe(path)
    again = tmp_path / "again.yaml"
    again.write_text(dump_recipe(recipe), encoding="utf-8")
    assert read_recipe(again) == recipe


def test_the_seeds_script_is_reproduced() -> None:
    recipe = read_recipe(RECIPES / "seed_llama3_8b.yaml")
    grpo = recipe.grpo
    assert isinstance(recipe.model, PretrainedModel)
    assert recipe.model.dtype == "bfloat16"
    assert recipe.hardware.bf16 is True
    assert (grpo.learning_rate, grpo.beta, grpo.num_train_epochs) == (1e-6, 0.04, 1)
    assert (grpo.per_device_train_batch_size, grpo.gradient_accumulation_steps) == (2, 4)
    assert (grpo.num_generations, grpo.max_completion_length) == (8, 512)
    assert {term.name: term.weight for term in recipe.rewards.terms} == {
        "correctness": 2.0,
        "format": 1.0,
    }


def test_the_seed_can_be_replaced(tmp_path: Path) -> None:
    assert read(tmp_path, minimal() | {"seed": 3}).seed == 3
    assert read(tmp_path, minimal() | {"seed": 3}, seed=7).seed == 7


def test_yaml_off_is_a_word(tmp_path: Path) -> None:
    path = tmp_path / "recipe.yaml"
    path.write_text(yaml.safe_dump(minimal()) + "hardware: {vllm: off}\n", encoding="utf-8")
    assert read_recipe(path).hardware.vllm == "off"


@pytest.mark.parametrize(
    ("place", "change", "sentence"),
    [
        ("grpo", {"max_step": 3}, "unknown key 'grpo.max_step'; did you mean 'max_steps'?"),
        ("data", {"digit": 3}, "unknown key 'data.digit'; did you mean 'digits'?"),
        ("model", {"zebra": 1}, "unknown key 'model.zebra'; remove it"),
        ("grpo", {"num_train_epochs": 1}, "grpo: give one of max_steps and num_train_epochs"),
        ("grpo", {"beta": -1}, "'grpo.beta' is not valid: input should be greater than"),
        ("grpo", {"per_device_train_batch_size": 6}, "do not divide into groups"),
        ("evaluation", {"accuracy": "speed"}, "must be one of the reward terms: correctness"),
        ("model", {"hidden_size": 30}, "must be an even multiple of num_attention_heads"),
    ],
)
def test_what_is_wrong_is_said(
    tmp_path: Path, place: str, change: dict[str, Any], sentence: str
) -> None:
    content = minimal()
    content[place] = content.get(place, {}) | change
    with pytest.raises(ConfigurationError) as caught:
        read(tmp_path, content)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_unknown_key_of_a_reward_term(tmp_path: Path) -> None:
    content = minimal()
    content["rewards"]["terms"][0]["wieght"] = 2
    with pytest.raises(
        ConfigurationError, match=r"rewards\.terms\.0\.wieght'; did you mean 'weight'"
    ):
        read(tmp_path, content)


def test_a_missing_section(tmp_path: Path) -> None:
    content = minimal()
    del content["grpo"]
    with pytest.raises(ConfigurationError, match="the key 'grpo' is missing"):
        read(tmp_path, content)


def test_warmup_needs_demonstrations(tmp_path: Path) -> None:
    content = minimal() | {"data": {"kind": "file", "path": "x.json"}, "warmup": {}}
    with pytest.raises(ConfigurationError, match=r"data\.demonstration_column"):
        read(tmp_path, content)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [("a: [", "is not valid YAML at line"), ("- 1", "is not a recipe"), ("", "is not a recipe")],
)
def test_files_that_are_no_recipe(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "recipe.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigurationError, match=sentence):
        read_recipe(path)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="give the path of a YAML file"):
        read_recipe(tmp_path / "none.yaml")
