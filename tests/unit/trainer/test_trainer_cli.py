"""The command line: mistakes are one sentence and leave nothing; checks train nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from rewarden.errors import ConfigurationError
from trainer.cli import main
from trainer.recipe_file import read_recipe

TOY = Path(__file__).parents[3] / "trainer" / "recipes" / "toy.yaml"


@pytest.fixture(autouse=True)
def _loud_libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Silence is for a process of its own; here it would reach the other tests."""
    monkeypatch.setattr("trainer.silence.silence_libraries", lambda: None)


def change_toy(folder: Path, changes: dict[str, Any]) -> Path:
    recipe = yaml.safe_load(TOY.read_text(encoding="utf-8")) | changes
    path = folder / "recipe.yaml"
    path.write_text(yaml.safe_dump(recipe), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("changes", "arguments", "sentence"),
    [
        ({"grpo": {"max_step": 1}}, [], "did you mean 'max_steps'"),
        ({"hardware": {"device": "cpu", "bf16": True}}, [], "asks for bf16"),
        ({"hardware": {"device": "cpu", "vllm": "colocate"}}, [], "asks for vLLM"),
        ({"model": {"kind": "pretrained", "name": "./no/model"}}, [], "correct model.name"),
        (
            {"data": {"kind": "file", "path": "no.json"}, "warmup": None},
            [],
            "does not exist; correct data.path",
        ),
        ({}, ["--queue", "http://127.0.0.1:9"], "verifier does not answer at http://127.0.0.1:9"),
        ({}, ["--queue", "carrier-pigeon"], "carrier-pigeon"),
        ({}, ["--seed", "-1"], "'seed' is not valid"),
    ],
)
def test_mistakes_are_said_and_nothing_is_left(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    changes: dict[str, Any],
    arguments: list[str],
    sentence: str,
) -> None:
    output = tmp_path / "run"
    recipe = change_toy(tmp_path, changes)
    assert main(["run", str(recipe), "--output", str(output), *arguments]) == 2
    complaint = capsys.readouterr().err
    assert sentence in complaint
    assert len(complaint.strip().splitlines()) == 1
    assert not output.exists()


def test_embedded_verifiers_that_do_not_start_leave_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(log: Path) -> None:
        log.touch()
        raise ConfigurationError("the embedded verifiers are broken; mend them")

    monkeypatch.setattr("trainer.preparation.embedded_services", refuse)
    output = tmp_path / "run"
    assert main(["run", str(TOY), "--output", str(output)]) == 2
    assert "mend them" in capsys.readouterr().err
    assert not output.exists()


def test_the_resolved_recipe_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(TOY), "--print-config", "--seed", "9"]) == 0
    printed = tmp_path / "printed.yaml"
    printed.write_text(capsys.readouterr().out, encoding="utf-8")
    assert read_recipe(printed) == read_recipe(TOY, seed=9)


def test_a_dry_run_tries_the_specs_of_the_rewards(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe = yaml.safe_load(TOY.read_text(encoding="utf-8"))
    recipe["rewards"]["terms"][1]["spec"] = {"template": "thinking_box"}
    path = tmp_path / "wrong.yaml"
    path.write_text(yaml.safe_dump(recipe), encoding="utf-8")
    assert main(["run", str(path), "--dry-run"]) == 2
    assert "refuses reward 'format'" in capsys.readouterr().err


def test_a_dry_run_asks_every_verifier_and_leaves_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "run"
    assert main(["run", str(TOY), "--output", str(output), "--dry-run"]) == 0
    assert "these verifiers answer: format, math" in capsys.readouterr().out
    assert not output.exists()
