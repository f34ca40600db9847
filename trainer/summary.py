"""What a run came to: `summary.json`, and the table at its end."""

from __future__ import annotations

import json
import platform
from dataclasses import dataclass, field
from importlib.metadata import version
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final

from rich.table import Table

if TYPE_CHECKING:
    from pathlib import Path

    from trainer.evaluation import Evaluation
    from trainer.metrics import StepMetrics
    from trainer.recipe import Recipe

PACKAGES: Final = ("rewarden", "torch", "trl", "transformers", "datasets", "accelerate")


@dataclass
class Summary:
    """Filled in as the run goes on."""

    recipe: Recipe
    control: bool
    parameters: int = 0
    warmup_steps: int = 0
    before: Evaluation | None = None
    after: Evaluation | None = None
    """None where training stopped early, for want of verifiers."""
    history: list[StepMetrics] = field(default_factory=list)
    stopped: str | None = None
    """Why training stopped early."""
    seconds: dict[str, float] = field(default_factory=dict)
    """Wall time of whole stages: `warmup`, `evaluate` and `train`."""

    @property
    def unscored_fraction(self) -> float | None:
        """The part of all completions in training that could not be scored."""
        return _mean([step.verifier.unscored_fraction for step in self.history])

    def training_seconds(self) -> dict[str, float]:
        """Seconds of training by what they were spent on; `total` includes the rest of the loop."""
        names = ("generate", "reward_wait", "optimise")
        spent = {n: sum(getattr(step.seconds, n) for step in self.history) for n in names}
        return {**spent, "total": self.seconds.get("train", 0.0)}

    def as_dict(self) -> dict[str, Any]:
        """Return the content of `summary.json`; fractions are 0..1 and lengths are in tokens."""
        stages = {name: spent for name, spent in self.seconds.items() if name != "train"}
        return {
            "name": self.recipe.name,
            "seed": self.recipe.seed,
            "control": self.control,
            "warmup_steps": self.warmup_steps,
            "steps": len(self.history),
            "stopped": self.stopped,
            "parameters": self.parameters,
            "before": self.before.as_dict() if self.before else None,
            "after": self.after.as_dict() if self.after else None,
            "unscored_fraction": self.unscored_fraction,
            "verifier_latency_seconds": _mean([s.verifier.latency_seconds for s in self.history]),
            "seconds": _rounded(self.training_seconds() | stages),
            "recipe": self.recipe.resolved(),
            "versions": versions(),
        }

    def write(self, path: Path) -> None:
        """Write `summary.json`."""
        path.write_text(json.dumps(self.as_dict(), indent=2) + "\n", encoding="utf-8")


def versions() -> dict[str, str]:
    """Versions of what a result depends on."""
    return {"python": platform.python_version()} | {name: version(name) for name in PACKAGES}


def result_rows(summary: Summary) -> list[tuple[str, str, str]]:
    """Rows of what, before and after, for the table and the report."""
    k = summary.recipe.evaluation.samples
    both = (summary.before, summary.after)
    named = (("greedy", "greedy"), (f"mean@{k}", "mean_at_k"), (f"pass@{k}", "pass_at_k"))
    rows = [
        (name, *(_percent(getattr(one, member)) if one else "-" for one in both))
        for name, member in named
    ]
    lengths = (f"{one.completion_length:.1f} tokens" if one else "-" for one in both)
    return [*rows, ("completion length", *lengths)]  # type: ignore[list-item]


def seconds_rows(summary: Summary) -> list[tuple[str, str, str]]:
    """Rows of what, seconds and share of training."""
    spent = summary.training_seconds()
    total = spent["total"] or 1.0
    labels = {
        "generate": "generating",
        "reward_wait": "waiting for rewards",
        "optimise": "optimising",
        "total": "training in all",
    }
    return [(labels[n], f"{s:.1f} s", f"{s / total:.1%}") for n, s in spent.items()]


def result_table(summary: Summary) -> Table:
    """Draw the table that ends a run in the terminal."""
    table = Table(title=f"{summary.recipe.name}, seed {summary.recipe.seed}", title_justify="left")
    table.add_column("held-out" if summary.before else "")
    table.add_column("before", justify="right")
    table.add_column("after", justify="right", style="bold")
    for row in result_rows(summary):
        table.add_row(*row)
    table.add_section()
    for name, seconds, share in seconds_rows(summary):
        table.add_row(name, seconds, share)
    return table


def _percent(fraction: float | None) -> str:
    return "-" if fraction is None else f"{fraction:.1%}"


def _mean(values: list[float]) -> float | None:
    return fmean(values) if values else None


def _rounded(seconds: dict[str, float]) -> dict[str, float]:
    return {name: round(spent, 3) for name, spent in seconds.items()}
