"""How good the model is on held-out samples, judged by the verifiers that also pay.

Greedy accuracy, mean@k and pass@k count full scores of one reward term, out of all held-out samples:
one that could not be scored is not known to be right, and leaving it out would flatter the model.
`unscored_fraction` says how many those were.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

import torch

from trainer.generation import Completion, generate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from datasets import Dataset  # type: ignore[import-untyped]

    from rewarden.rewards import RewardBatch, Rewards
    from trainer.model import Policy
    from trainer.recipe import Recipe


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One pass over the held-out samples; fractions are 0..1, lengths are in tokens."""

    greedy: float
    mean_at_k: float
    pass_at_k: float
    completion_length: float
    """Mean over the sampled completions."""
    unscored_fraction: float
    prompts: int
    k: int

    def as_dict(self) -> dict[str, Any]:
        """Return the summary's form, where k stands in the names: `mean_at_4`."""
        return {
            "greedy": self.greedy,
            f"mean_at_{self.k}": self.mean_at_k,
            f"pass_at_{self.k}": self.pass_at_k,
            "completion_length": self.completion_length,
            "unscored_fraction": self.unscored_fraction,
            "prompts": self.prompts,
        }


def evaluate(
    policy: Policy,
    heldout: Dataset,
    rewards: Rewards,
    recipe: Recipe,
    on_greedy: Callable[[Sequence[Any], Sequence[str], RewardBatch], None],
) -> Evaluation:
    """Answer every held-out prompt once greedily and k times by sampling; judge each in a batch."""
    settings = recipe.evaluation
    greedy, _, batch = _answer(policy, heldout, rewards, recipe, temperature=None)
    on_greedy(list(heldout["prompt"]), [c.text for c in greedy], batch)
    k = settings.samples
    repeated = heldout.select([row for row in range(len(heldout)) for _ in range(k)])
    # Sampling has its own stream of random numbers: training is the same with or without it.
    with torch.random.fork_rng():
        torch.manual_seed(recipe.seed)
        sampled, right, sampled_batch = _answer(
            policy, repeated, rewards, recipe, temperature=settings.temperature
        )
    groups = [right[start : start + k] for start in range(0, len(right), k)]
    return Evaluation(
        greedy=fmean(judge_right(batch, recipe.accuracy_term)),
        mean_at_k=fmean(right),
        pass_at_k=fmean(any(group) for group in groups),
        completion_length=fmean(completion.length for completion in sampled),
        unscored_fraction=_unscored(batch, sampled_batch),
        prompts=len(heldout),
        k=k,
    )


def greedy_accuracy(policy: Policy, dataset: Dataset, rewards: Rewards, recipe: Recipe) -> float:
    """Answer every prompt greedily; return the fraction that is right."""
    _, right, _ = _answer(policy, dataset, rewards, recipe, temperature=None)
    return fmean(right)


def judge_right(batch: RewardBatch, term: int) -> list[bool]:
    """Say of each sample whether the term gave it a full score."""
    return [score == 1.0 for score in batch.scores[term]]


def _answer(
    policy: Policy,
    dataset: Dataset,
    rewards: Rewards,
    recipe: Recipe,
    *,
    temperature: float | None,
) -> tuple[list[Completion], list[bool], RewardBatch]:
    completions = generate(
        policy,
        list(dataset["prompt"]),
        max_new_tokens=recipe.grpo.max_completion_length,
        batch_size=recipe.evaluation.batch_size,
        temperature=temperature,
    )
    columns = {name: list(dataset[name]) for name in dataset.column_names if name != "prompt"}
    batch = rewards.score([completion.text for completion in completions], columns)
    return completions, judge_right(batch, recipe.accuracy_term), batch


def _unscored(*batches: RewardBatch) -> float:
    scores = [score for batch in batches for score in batch.scores[0]]
    return scores.count(None) / len(scores)
