"""TRL: reward functions for `GRPOTrainer`, all paid out of one batch call.

::

    paid = TrlRewards(Rewards(terms, "redis://localhost:6379/0"))
    GRPOTrainer(..., reward_funcs=paid.functions,
                args=GRPOConfig(reward_weights=paid.weights, ...))

TRL calls the functions one after another with the same lists. The first call sends the batch and
waits; the others take their part of it. A sample that could not be scored is None in each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rewarden.rewards import PendingRewards, RewardBatch, Rewards

    RewardFunction = Callable[..., list[float | None]]


class TrlRewards:
    """The terms of `rewards` as TRL's reward functions."""

    def __init__(self, rewards: Rewards) -> None:
        self.rewards = rewards
        self.last: RewardBatch | None = None
        """What the latest batch earned."""
        self._pending: tuple[Sequence[Any], PendingRewards] | None = None
        self._settled: Sequence[Any] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"last": None, "_pending": None, "_settled": None}

    @property
    def functions(self) -> list[RewardFunction]:
        """One function a term, called what the term is called."""
        return [_TermReward(self, place) for place in range(len(self.rewards.terms))]

    @property
    def weights(self) -> list[float]:
        """TRL's `reward_weights`."""
        return [term.weight for term in self.rewards.terms]

    def submit(self, completions: Sequence[Any], columns: Mapping[str, Sequence[Any]]) -> None:
        """Send the batch early, as soon as its completions exist."""
        self._pending = (completions, self.rewards.submit(completions, columns))

    def collect(
        self, completions: Sequence[Any], columns: Mapping[str, Sequence[Any]]
    ) -> RewardBatch:
        """Wait for the batch of `completions`, which is sent now unless it was submitted."""
        if self.last is not None and self._settled is completions:
            return self.last
        submitted, pending = self._pending or (None, None)
        if pending is None or submitted is not completions:
            pending = self.rewards.submit(completions, columns)
        self.last = pending.result()
        self._pending, self._settled = None, completions
        return self.last


class _TermReward:
    """One term as TRL calls it. A class, so that it pickles."""

    def __init__(self, paid: TrlRewards, place: int) -> None:
        self._paid = paid
        self._place = place
        self.__name__ = paid.rewards.terms[place].name

    def __call__(
        self,
        *,
        completions: Sequence[Any],
        **columns: Any,  # noqa: ANN401 - TRL's own
    ) -> list[float | None]:
        return self._paid.collect(completions, columns).scores[self._place]
