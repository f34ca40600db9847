"""TRL: reward functions for `GRPOTrainer`, all paid out of one batch call.

::

    paid = TrlRewards(Rewards(terms, "redis://localhost:6379/0"))
    GRPOTrainer(..., reward_funcs=paid.functions, callbacks=[paid.callback],
                args=GRPOConfig(reward_weights=paid.weights, ...))

TRL calls the functions one after another with the same lists. The first call sends the batch and
waits; the others take their part of it. A sample that could not be scored is None in each. When the
verifiers stay dead, the callback has the trainer save a checkpoint and end.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments

    from rewarden.rewards import PendingRewards, RewardBatch, Rewards

    RewardFunction = Callable[..., list[float | None]]

logger = logging.getLogger(__name__)


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

    @property
    def callback(self) -> TrainerCallback:
        """Ends the training, with a checkpoint, once `rewards.stopped` is set."""
        from transformers import TrainerCallback

        rewards = self.rewards

        class StopWithoutVerifiers(TrainerCallback):
            def on_step_end(
                self,
                args: TrainingArguments,
                state: TrainerState,
                control: TrainerControl,
                **_: object,
            ) -> None:
                if rewards.stopped:
                    logger.error("training ends here: %s", rewards.stopped)
                    control.should_save = control.should_training_stop = True

        return StopWithoutVerifiers()

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
