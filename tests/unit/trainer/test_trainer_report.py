"""The report stands alone, and shows what it should."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from trainer.evaluation import Evaluation
from trainer.metrics import StepSeconds, from_trl_logs
from trainer.recipe_file import read_recipe
from trainer.report import write_report
from trainer.run_folder import RunFolder
from trainer.summary import Summary

TOY = Path(__file__).parents[3] / "trainer" / "recipes" / "toy.yaml"
LOGS = {"loss": 0.1, "accuracy": 0.5, "rewards/correctness/mean": 0.5, "entropy": 0.3}


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder(tmp_path, made=False)


def summary(steps: int) -> Summary:
    seconds = StepSeconds(generate=1, reward_wait=0.1, optimise=0.9, total=2)
    history = [
        from_trl_logs(step, LOGS, ["correctness", "format"], seconds)
        for step in range(1, steps + 1)
    ]
    evaluation = Evaluation(0.5, 0.25, 0.75, 44.0, 0.0, 100, 4)
    return Summary(
        read_recipe(TOY),
        control=False,
        parameters=84_000,
        before=evaluation,
        after=evaluation,
        history=history,
        seconds={"train": 2.0 * steps},
    )


def sample(phase: str, completion: str) -> str:
    verdict = {"outcome": "incorrect", "score": 0.0, "reason": "It is not.", "cached": False}
    return json.dumps(
        {
            "phase": phase,
            "step": 0,
            "prompt": "1+1=",
            "completion": completion,
            "verdicts": {"correctness": verdict},
        }
    )


@pytest.mark.parametrize("steps", [1, 60])
def test_the_page_stands_alone(folder: RunFolder, steps: int) -> None:
    folder.samples.write_text(sample("before", "<b>3</b>") + "\n", encoding="utf-8")
    write_report(folder, summary(steps))
    page = folder.report.read_text(encoding="utf-8")
    assert "http" not in page
    assert "<script" not in page
    assert page.count("<svg") == 6
    assert "&lt;b&gt;3&lt;/b&gt;" in page, "what a model writes is text, never markup"
    assert "correctness: incorrect" in page


def test_a_run_that_ended_early_has_a_page(folder: RunFolder) -> None:
    stopped = summary(0)
    stopped.after = None
    stopped.stopped = "The math verifier is gone."
    write_report(folder, stopped)
    assert "The math verifier is gone." in folder.report.read_text(encoding="utf-8")


def test_the_summary_has_what_others_read(folder: RunFolder) -> None:
    summary(4).write(folder.summary)
    written = json.loads(folder.summary.read_text(encoding="utf-8"))
    assert written["before"]["greedy"] == 0.5
    assert written["after"]["mean_at_4"] == 0.25
    assert written["after"]["pass_at_4"] == 0.75
    assert written["unscored_fraction"] == 0.0
    assert written["seconds"] == {
        "generate": 4.0,
        "reward_wait": pytest.approx(0.4),
        "optimise": pytest.approx(3.6),
        "total": 8.0,
    }
