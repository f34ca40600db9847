"""The main job in small: recipes are run for real, with the real verifiers in a child process."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
)

ROOT = Path(__file__).parents[2]
TOY = ROOT / "trainer" / "recipes" / "toy.yaml"
SHORT: dict[str, dict[str, Any]] = {
    "warmup": {"steps": 3, "batch_size": 8},
    "grpo": {"max_steps": 2, "per_device_train_batch_size": 16, "max_completion_length": 12},
    "evaluation": {"prompts": 4, "samples": 4},
}

pytestmark = pytest.mark.slow


def write_recipe(folder: Path, changes: dict[str, Any], source: Path = TOY) -> Path:
    recipe = yaml.safe_load(source.read_text(encoding="utf-8"))
    for section in (SHORT, changes):
        for name, fields in section.items():
            merged = isinstance(fields, dict) and "kind" not in fields and recipe.get(name)
            recipe[name] = {**recipe[name], **fields} if merged else fields
    path = folder / "recipe.yaml"
    path.write_text(yaml.safe_dump(recipe), encoding="utf-8")
    return path


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "trainer", "run", *map(str, arguments)]


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*arguments), cwd=ROOT, capture_output=True, text=True, timeout=300, check=False
    )


def read_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_run_leaves_everything_behind(tmp_path: Path) -> None:
    output = tmp_path / "run"
    done = run(write_recipe(tmp_path, {}), "--output", output)
    assert done.returncode == 0, done.stderr
    assert "greedy" in done.stdout
    assert done.stderr == ""

    summary = json.loads((output / "summary.json").read_text(encoding="utf-8"))
    for phase in ("before", "after"):
        assert {"greedy", "mean_at_4", "pass_at_4", "completion_length"} <= set(summary[phase])
    assert {"generate", "reward_wait", "optimise", "total"} <= set(summary["seconds"])
    assert (summary["unscored_fraction"], summary["seed"], summary["control"]) == (0.0, 0, False)
    assert summary["recipe"]["name"] == "toy"

    steps = read_lines(output / "metrics.jsonl")
    assert [step["step"] for step in steps] == [1, 2]
    assert steps[0]["verifier"]["latency_seconds"] > 0
    assert steps[0]["paid"] == steps[0]["scores"]
    samples = read_lines(output / "samples.jsonl")
    assert {sample["phase"] for sample in samples} == {"before", "train", "after"}
    assert set(samples[0]["verdicts"]) == {"correctness", "format"}
    assert not re.search(r"(src|href)\s*=|https?:", (output / "report.html").read_text("utf-8"))

    model = AutoModelForCausalLM.from_pretrained(output / "checkpoint")
    tokenizer = AutoTokenizer.from_pretrained(output / "checkpoint")
    prompt = tokenizer("12+34=", return_tensors="pt")["input_ids"]
    assert model.generate(prompt, max_new_tokens=3).shape[1] <= 9

    again = run(write_recipe(tmp_path, {}), "--output", output)
    assert again.returncode == 2
    assert "is not empty" in again.stderr


@pytest.mark.usefixtures("docker_engine")
@pytest.mark.parametrize(("name", "steps", "length"), [("toy_sql", 80, 64), ("toy_code", 60, 32)])
def test_queries_and_functions_are_paid_for_by_running_them(
    tmp_path: Path, name: str, steps: int, length: int
) -> None:
    output = tmp_path / "run"
    changes = {
        "warmup": {"steps": steps, "batch_size": 64},
        "grpo": {"max_completion_length": length},
        "evaluation": {"prompts": 16},
    }
    recipe = write_recipe(tmp_path, changes, TOY.with_name(f"{name}.yaml"))
    done = run(recipe, "--output", output)
    assert done.returncode == 0, done.stderr

    summary = json.loads((output / "summary.json").read_text(encoding="utf-8"))
    assert summary["before"]["greedy"] > 0
    assert summary["unscored_fraction"] == 0.0
    samples = read_lines(output / "samples.jsonl")
    outcomes = {sample["verdicts"]["correctness"]["outcome"] for sample in samples}
    assert {"correct", "incorrect"} <= outcomes


def test_the_same_seed_gives_the_same_rewards(tmp_path: Path) -> None:
    recipe = write_recipe(tmp_path, {})
    for name in ("one", "two"):
        assert run(recipe, "--output", tmp_path / name, "--seed", 5).returncode == 0
    one, two = (read_lines(tmp_path / name / "metrics.jsonl") for name in ("one", "two"))
    assert [step["scores"] for step in one] == [step["scores"] for step in two]
    assert [step["loss"] for step in one] == [step["loss"] for step in two]


def test_a_control_is_paid_at_random_and_judged_in_truth(tmp_path: Path) -> None:
    output = tmp_path / "run"
    assert run(write_recipe(tmp_path, {}), "--output", output, "--control").returncode == 0
    step = read_lines(output / "metrics.jsonl")[0]
    assert 0.2 < step["paid"]["correctness"] < 0.8
    assert step["scores"]["correctness"] == step["accuracy"] == 0.0


def test_a_pretrained_model_and_a_file_of_samples(tmp_path: Path) -> None:
    model, rows = tmp_path / "model", tmp_path / "rows.jsonl"
    save_word_model(model)
    lines = [json.dumps({"prompt": f"{n} + 1 = ?", "answer": str(n + 1)}) for n in range(12)]
    rows.write_text("\n".join(lines), encoding="utf-8")
    changes = {
        "model": {"kind": "pretrained", "name": str(model), "dtype": "float32"},
        "data": {"kind": "file", "path": str(rows)},
        "warmup": None,
        "grpo": {
            "per_device_train_batch_size": 2,
            "gradient_accumulation_steps": 4,
            "beta": 0.04,
        },
    }
    output = tmp_path / "run"
    done = run(write_recipe(tmp_path, changes), "--output", output)
    assert done.returncode == 0, done.stderr
    steps = read_lines(output / "metrics.jsonl")
    assert len(steps) == 2
    assert steps[0]["kl"] is not None


def test_dead_verifiers_end_the_run_with_a_checkpoint(tmp_path: Path) -> None:
    changes = {"grpo": {"max_steps": 500}, "rewards": {"patience_seconds": 1}}
    output = tmp_path / "run"
    trainer = subprocess.Popen(
        command(write_recipe(tmp_path, changes), "--output", output),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    guard = threading.Timer(240, trainer.kill)
    guard.start()
    while not (output / "metrics.jsonl").exists() and trainer.poll() is None:
        time.sleep(0.05)
    kill_children_of(trainer.pid)
    said, complaints = trainer.communicate()
    guard.cancel()
    assert trainer.returncode == 1, complaints
    assert "Ended early" in said
    assert "Traceback" not in said + complaints
    AutoModelForCausalLM.from_pretrained(output / "checkpoint")
    summary = json.loads((output / "summary.json").read_text(encoding="utf-8"))
    assert summary["after"] is None
    assert "could not be scored" in summary["stopped"]
    assert 0 < summary["steps"] < 500


def kill_children_of(pid: int) -> None:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split()
    for child in children:
        if b"services" in Path(f"/proc/{child}/cmdline").read_bytes():
            os.kill(int(child), signal.SIGKILL)


def save_word_model(folder: Path) -> None:
    words = ["<pad>", "</s>", "<unk>", *map(str, range(20)), "+", "=", "?", "\\boxed{", "}"]
    core = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, "<unk>"))
    core.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=core, eos_token="</s>", unk_token="<unk>", pad_token="<pad>"
    )
    tokenizer.save_pretrained(folder)
    config = LlamaConfig(
        vocab_size=len(words),
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        bos_token_id=None,
        eos_token_id=1,
        pad_token_id=0,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
