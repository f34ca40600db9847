"""What happens around TRL's steps: metrics are written, progress is shown, a lost run is ended."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any

from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments

from trainer.metrics import StepMetrics, StepSeconds, from_trl_logs

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from trainer.grpo import RewardenTrainer
    from trainer.stopwatch import Stopwatch


class MetricsWriter(TrainerCallback):
    """Times each step, writes its line to `metrics.jsonl` and passes it on."""

    def __init__(
        self,
        path: Path,
        terms: Sequence[str],
        stopwatch: Stopwatch,
        on_step: Callable[[StepMetrics, int], None],
    ) -> None:
        self._path = path
        self._terms = terms
        self._stopwatch = stopwatch
        self._on_step = on_step
        self._begun = 0.0
        self._total = 0.0
        self.history: list[StepMetrics] = []

    def on_step_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: object
    ) -> None:
        """Start the clock of the step."""
        self._begun = perf_counter()

    def on_step_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: object
    ) -> None:
        """Stop it; the log of the step comes next."""
        self._total = perf_counter() - self._begun

    def on_log(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        logs: dict[str, Any] | None = None,
        **_: object,
    ) -> None:
        """Write the step down; the summary that ends TRL's training is not a step."""
        if logs is None or "loss" not in logs:
            return
        metrics = from_trl_logs(state.global_step, logs, self._terms, self._seconds())
        self.history.append(metrics)
        if state.is_world_process_zero:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(metrics.model_dump_json() + "\n")
            self._on_step(metrics, state.max_steps)

    def _seconds(self) -> StepSeconds:
        laps = self._stopwatch.take()
        generate, wait = laps.get("generate", 0.0), laps.get("reward_wait", 0.0)
        rest = max(self._total - generate - wait, 0.0)
        return StepSeconds(generate=generate, reward_wait=wait, optimise=rest, total=self._total)


class VerifierWatch(TrainerCallback):
    """Ends training after the step in which the breaker gave up."""

    def __init__(self) -> None:
        self.trainer: RewardenTrainer | None = None
        """Set once the trainer, which is built with its callbacks, is there."""

    def on_step_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: object
    ) -> None:
        """Ask TRL to stop; it leaves its loop with the weights as they are."""
        if self.trainer is not None and self.trainer.verifiers_lost:
            control.should_training_stop = True
