"""What is known of one training step: a line of `metrics.jsonl`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


class _Metrics(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class VerifierMetrics(_Metrics):
    """How the verifiers served this step's batch."""

    latency_seconds: float
    """From handing over the completions to having all verdicts."""
    unscored_fraction: float
    cached_fraction: float
    retries: float


class GroupMetrics(_Metrics):
    """Fractions of the groups whose rewards do not differ, and which teach nothing."""

    all_right: float
    all_wrong: float


class StepSeconds(_Metrics):
    """Wall time; `optimise` is what is left of `total`."""

    generate: float = 0.0
    reward_wait: float = 0.0
    optimise: float = 0.0
    total: float = 0.0


class StepMetrics(_Metrics):
    """One optimiser step. Null is a mean over nothing."""

    step: int
    epoch: float | None
    loss: float | None
    learning_rate: float | None
    grad_norm: float | None
    kl: float | None
    entropy: float | None
    reward: float | None
    """Mean of the weighted sum that was paid."""
    paid: dict[str, float | None]
    """Mean paid per reward term, before its weight: random in a control run."""
    scores: dict[str, float | None]
    """Mean of the verifier's scores per reward term."""
    accuracy: float | None
    """Fraction of the scored completions that are right."""
    completion_length: float | None
    """Mean, in tokens."""
    truncated_fraction: float | None
    groups: GroupMetrics
    verifier: VerifierMetrics
    seconds: StepSeconds


def from_trl_logs(
    step: int, logs: Mapping[str, Any], terms: Sequence[str], seconds: StepSeconds
) -> StepMetrics:
    """Gather TRL's flat log of a step, with what `RewardenTrainer` added, into our shape."""
    verifier = {name: _known(logs, f"verifier/{name}") for name in VerifierMetrics.model_fields}
    groups = {name: _known(logs, f"groups/{name}") for name in GroupMetrics.model_fields}
    plain = ("epoch", "loss", "learning_rate", "grad_norm", "kl", "entropy", "reward", "accuracy")
    return StepMetrics(
        step=step,
        **{name: _number(logs, name) for name in plain},
        paid={name: _number(logs, f"rewards/{name}/mean") for name in terms},
        scores={name: _number(logs, f"scores/{name}") for name in terms},
        completion_length=_number(logs, "completions/mean_length"),
        truncated_fraction=_number(logs, "completions/clipped_ratio"),
        groups=GroupMetrics.model_validate(groups),
        verifier=VerifierMetrics.model_validate(verifier),
        seconds=seconds,
    )


def read_metrics(path: Path) -> list[StepMetrics]:
    """Read `metrics.jsonl` back."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [StepMetrics.model_validate_json(line) for line in lines]


def _number(logs: Mapping[str, Any], name: str) -> float | None:
    value = logs.get(name)
    return None if value is None or not math.isfinite(value) else float(value)


def _known(logs: Mapping[str, Any], name: str) -> float:
    return _number(logs, name) or 0.0
