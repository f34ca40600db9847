"""TRL's GRPOTrainer, paid by verifiers that are asked while it computes.

Three of its methods are hooked (TRL 1.16). Completions go to the verifiers at the end of
`_generate`; the log-probabilities of the old and of the reference policy are computed next; only
`_calculate_rewards` waits for the verdicts. Each rank has its own slice judged, as TRL does with
its reward functions, and what follows is computed from the gathered scores on every rank alike.

A sample that could not be scored is NaN in every term, so TRL leaves it out of its group's mean
and gives it no advantage.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from accelerate.utils import gather  # type: ignore[import-untyped]
from trl.trainer.grpo_trainer import GRPOTrainer

from rewarden.integrations.trl import TrlRewards
from trainer.groups import count_groups

if TYPE_CHECKING:
    from collections.abc import Callable

    from rewarden.rewards import PendingRewards, RewardBatch, Rewards
    from trainer.control import Payment, Scores
    from trainer.stopwatch import Stopwatch

    OnBatch = Callable[[int, list[Any], list[Any], RewardBatch], None]
    """Called with the step, the prompts, the completions and the verdicts of this rank."""


class RewardenTrainer(GRPOTrainer):
    """A GRPOTrainer whose rewards are `rewards`, asked for early and awaited late."""

    def __init__(
        self,
        *,
        rewards: Rewards,
        payment: Payment,
        accuracy_term: int,
        stopwatch: Stopwatch,
        on_batch: OnBatch,
        **kwargs: Any,  # noqa: ANN401 - GRPOTrainer's own
    ) -> None:
        # TRL takes names and weights from the functions; `_calculate_rewards` never calls them.
        functions: list[Any] = [*TrlRewards(rewards).functions]
        super().__init__(reward_funcs=functions, **kwargs)
        self._rewards = rewards
        self._payment = payment
        self._accuracy_term = accuracy_term
        self._stopwatch = stopwatch
        self._on_batch = on_batch
        self._rows: list[dict[str, Any]] = []
        self._pending: PendingRewards | None = None
        self.verifiers_lost = False
        """Whether the breaker of any rank gave up."""

    def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
        self._rows = inputs
        output: dict[str, Any] = super()._generate_and_score_completions(inputs)
        return output

    def _generate(self, prompts: list[Any]) -> tuple[Any, ...]:
        with self._stopwatch.lap("generate"):
            generated: tuple[Any, ...] = super()._generate(prompts)
        completions = generated[3]
        names = [name for name in self._rows[0] if name != "prompt"]
        columns = {name: [row[name] for row in self._rows] for name in names}
        self._pending = self._rewards.submit(completions, columns)
        return generated

    def _calculate_rewards(
        self,
        inputs: list[dict[str, Any]],
        prompts: list[Any],
        completions: list[Any],
        completion_ids_list: list[list[int]],
    ) -> torch.Tensor:
        if self._pending is None:
            raise RuntimeError("rewards were asked for before completions were generated")
        with self._stopwatch.lap("reward_wait"):
            batch = self._pending.result()
        self._pending = None
        self._on_batch(self.state.global_step, prompts, completions, batch)
        self._note_service(batch)
        self._note_scores(gather(self._matrix(batch.scores)))
        lost = torch.tensor([self._rewards.stopped is not None], device=self.accelerator.device)
        self.verifiers_lost = bool(gather(lost).any())
        paid: torch.Tensor = gather(self._matrix(self._payment(batch.scores)))
        return paid

    def _matrix(self, scores: Scores) -> torch.Tensor:
        """Lay the scores out as TRL does: (samples, terms), NaN where there is none."""
        rows = [[torch.nan if s is None else s for s in row] for row in zip(*scores, strict=True)]
        return torch.tensor(rows, dtype=torch.float32, device=self.accelerator.device)

    def _note_service(self, batch: RewardBatch) -> None:
        self._log_metric("verifier/latency_seconds", batch.latency_seconds)
        self._log_metric("verifier/unscored_fraction", batch.unscored_fraction)
        self._log_metric("verifier/cached_fraction", batch.cached_fraction)
        self._log_metric("verifier/retries", float(batch.retries))

    def _note_scores(self, scores: torch.Tensor) -> None:
        """Log what the verifiers said of all ranks' samples, paid or not."""
        for name, mean in zip(self.reward_func_names, scores.nanmean(dim=0).tolist(), strict=True):
            self._log_metric(f"scores/{name}", mean)
        judged = scores[:, self._accuracy_term]
        right = judged[~judged.isnan()] == 1.0
        self._log_metric("accuracy", right.float().mean().item())
        totals = scores @ self.reward_weights.to(scores.device)
        size: Any = self.num_generations  # typed as optional, though set by now
        groups = count_groups(totals.reshape(-1, size), judged.reshape(-1, size))
        self._log_metric("groups/all_right", groups.all_right)
        self._log_metric("groups/all_wrong", groups.all_wrong)
