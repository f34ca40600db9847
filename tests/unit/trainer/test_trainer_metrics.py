"""Metrics of a step, groups without a signal, the control's payment."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
import torch

from trainer.control import RandomPayment, pay_scores
from trainer.groups import count_groups
from trainer.metrics import StepSeconds, from_trl_logs, read_metrics
from trainer.stopwatch import Stopwatch

if TYPE_CHECKING:
    from pathlib import Path

NAN = float("nan")
LOGS = {
    "loss": 0.5,
    "entropy": 1.0,
    "reward": 1.5,
    "accuracy": NAN,
    "rewards/correctness/mean": 0.5,
    "scores/correctness": 0.25,
    "groups/all_wrong": 0.75,
    "verifier/latency_seconds": 0.01,
}


def test_trl_logs_take_our_shape(tmp_path: Path) -> None:
    metrics = from_trl_logs(3, LOGS, ["correctness"], StepSeconds(total=2.0))
    assert metrics.paid == {"correctness": 0.5}
    assert metrics.scores == {"correctness": 0.25}
    assert metrics.groups.all_wrong == 0.75
    assert metrics.accuracy is None, "a mean over nothing is null, which JSON has, not NaN"
    path = tmp_path / "metrics.jsonl"
    path.write_text(metrics.model_dump_json() + "\n", encoding="utf-8")
    assert read_metrics(path) == [metrics]


@pytest.mark.parametrize(
    ("totals", "judged", "right", "wrong"),
    [
        ([[3, 3], [1, 1]], [[1, 1], [0, 0]], 0.5, 0.5),
        ([[3, 1], [1, 0]], [[1, 0], [0, 0]], 0.0, 0.0),
        ([[3, NAN], [NAN, 0]], [[1, NAN], [NAN, 0]], 0.5, 0.5),
        ([[NAN, NAN]], [[NAN, NAN]], 0.0, 0.0),
        ([[1, 1]], [[0.5, 0.5]], 0.0, 1.0),
        ([[1, 1]], [[1, 0]], 0.0, 0.0),
    ],
)
def test_groups_without_a_signal(
    totals: list[list[float]], judged: list[list[float]], right: float, wrong: float
) -> None:
    fractions = count_groups(torch.tensor(totals).float(), torch.tensor(judged).float())
    assert (fractions.all_right, fractions.all_wrong) == (right, wrong)


def test_the_control_pays_by_seed_and_leaves_the_unscored_alone() -> None:
    scores: list[list[float | None]] = [[1.0, None, 0.0], [0.0, None, 1.0]]
    paid = RandomPayment(seed=1)(scores)
    assert paid == RandomPayment(seed=1)(scores)
    assert paid != RandomPayment(seed=1, rank=1)(scores)
    assert [term[1] for term in paid] == [None, None]
    assert all(0 <= value <= 1 for term in paid for value in term if value is not None)
    assert pay_scores(scores) == scores


def test_laps_add_up_until_taken() -> None:
    watch = Stopwatch()
    for _ in range(2):
        with watch.lap("wait"):
            time.sleep(0.01)
    assert watch.take()["wait"] >= 0.02
    assert watch.take() == {}
