"""The toy recipe on the embedded default, and on a Redis queue with services elsewhere."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.running_service import ROOT, running

if TYPE_CHECKING:
    from pathlib import Path

    from tests.redis_server import RedisServer

STEPS = 3


def short_recipe(folder: Path) -> Path:
    recipe = yaml.safe_load((ROOT / "trainer/recipes/toy.yaml").read_text())
    recipe["warmup"]["steps"] = 20
    recipe["grpo"] |= {"max_steps": STEPS, "per_device_train_batch_size": 32}
    recipe["evaluation"] |= {"prompts": 16, "samples": 2}
    path = folder / "short.yaml"
    path.write_text(yaml.safe_dump(recipe))
    return path


def run(recipe: Path, output: Path, *options: str) -> dict[str, Any]:
    """Train, and return what was paid: all that depends on the verifiers."""
    command = [sys.executable, "-m", "trainer", "run", str(recipe), "--output", str(output)]
    subprocess.run([*command, *options], cwd=ROOT, check=True, timeout=600)
    lines = (output / "metrics.jsonl").read_text().splitlines()
    summary = json.loads((output / "summary.json").read_text())
    return {
        "rewards": [json.loads(line)["reward"] for line in lines],
        "scores": [json.loads(line)["scores"] for line in lines],
        "before": summary["before"],
        "after": summary["after"],
        "unscored_fraction": summary["unscored_fraction"],
    }


@pytest.mark.slow
@pytest.mark.redis
def test_rewards_are_the_same_embedded_and_through_redis(
    redis_server: RedisServer, tmp_path: Path
) -> None:
    recipe = short_recipe(tmp_path)
    embedded = run(recipe, tmp_path / "embedded")
    queue = ("--queue", redis_server.url)
    with running("math", *queue), running("format", *queue):
        queued = run(recipe, tmp_path / "queued", *queue)
    assert embedded == queued
    assert len(queued["rewards"]) == STEPS
    assert queued["unscored_fraction"] < 0.2
    assert any(score["format"] > 0 for score in queued["scores"])


@pytest.mark.slow
@pytest.mark.redis
def test_a_queue_that_nobody_serves_is_refused_before_anything_is_written(
    redis_server: RedisServer, tmp_path: Path
) -> None:
    output = tmp_path / "run"
    command = [sys.executable, "-m", "trainer", "run", str(short_recipe(tmp_path))]
    command += ["--output", str(output), "--queue", redis_server.url]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "python -m services" in done.stderr
    assert not output.exists()
