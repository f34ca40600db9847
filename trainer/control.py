"""What is paid for a score: the score itself, or, in a control run, a random number.

The control shows that a rise in accuracy comes from the verdicts and not from training as such:
the verifiers are asked all the same, so the accuracy that is plotted stays the true one.
"""

from __future__ import annotations

import random
from typing import Protocol

Scores = list[list[float | None]]
"""One list a reward term, one score a sample."""


class Payment(Protocol):
    """Turns the verifiers' scores into what the policy is paid."""

    def __call__(self, scores: Scores) -> Scores:
        """Return as many numbers in the same order; what was not scored stays None."""
        ...


def pay_scores(scores: Scores) -> Scores:
    """Pay what the verifiers said."""
    return scores


class RandomPayment:
    """Pays a uniform random number for every sample that was scored."""

    def __init__(self, seed: int, rank: int = 0) -> None:
        # Ranks draw different numbers: equal ones would tie groups together.
        self._rng = random.Random(f"{seed}-{rank}")  # noqa: S311 - a control, not a secret

    def __call__(self, scores: Scores) -> Scores:
        """Draw anew for every sample and term."""
        return [[None if s is None else self._rng.random() for s in term] for term in scores]
