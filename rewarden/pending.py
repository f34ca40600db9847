"""A batch of rewards that the verifiers are at work on, and the breaker that asks again.

Only samples whose verifier failed or did not answer are asked for again, and only they make the
breaker give up: golds at fault and undecided answers are the data's business, and are warned of.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeVar

from rewarden.batches import is_unknown

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Future

    from rewarden.contracts import Sample, Verdict
    from rewarden.rewards import Rewards

logger = logging.getLogger(__name__)

LONGEST_PAUSE_SECONDS: Final = 10.0
LAST_CHANCE_SECONDS: Final = 5.0
"""What a verifier gets to answer in when patience has run out before it was asked again."""

T = TypeVar("T")


@dataclass(frozen=True)
class Breaker:
    """When to ask again, and when to give up."""

    max_unscored_fraction: float = 0.2
    patience_seconds: float = 60.0
    pause_seconds: float = 1.0
    """The first pause; each one after it is twice as long, up to `LONGEST_PAUSE_SECONDS`."""


@dataclass(frozen=True)
class RewardBatch:
    """What one batch earned. The lists of a term have one entry a completion, in order."""

    names: list[str]
    scores: list[list[float | None]]
    """Per term: 0..1, or None, and then in every term."""
    verdicts: list[list[Verdict]]
    """Per term."""
    latency_seconds: float
    """From the hand-over of the completions until all verdicts were there."""
    wait_seconds: float
    """How much of that the caller spent waiting."""
    retries: int

    @property
    def unscored_fraction(self) -> float:
        """The part of the completions that earned neither reward nor punishment."""
        return _fraction([score is None for score in self.scores[0]])

    @property
    def cached_fraction(self) -> float:
        """The part of the verdicts that an earlier check of the same answer decided."""
        return _fraction([verdict.cached for term in self.verdicts for verdict in term])


@dataclass(frozen=True)
class Answer:
    """The verdicts on what was asked, and when they were there (`time.monotonic`)."""

    verdicts: list[Verdict]
    at: float


class PendingRewards:
    """A batch on its way: all samples of the first term, then all of the second, and so on.

    A sample that could not be made is None, and has its verdict already.
    """

    def __init__(
        self,
        rewards: Rewards,
        samples: Sequence[Sample | None],
        verdicts: list[Verdict | None],
        timeout_seconds: float,
    ) -> None:
        self._rewards = rewards
        self._samples = samples
        self._verdicts = verdicts
        self._submitted_at = self._answered_at = time.monotonic()
        self._retries = 0
        self._result: RewardBatch | None = None
        live = rewards.connected()
        self._answer: Future[Answer] = live.thread.submit(
            live.ask, self._asked(self._open()), timeout_seconds
        )

    def result(self) -> RewardBatch:
        """Wait for the verdicts and turn them into scores. A second call gives the same."""
        if self._result is None:
            began = time.monotonic()
            self.first_verdicts()
            given_up = self._retry_until_scored()
            verdicts = [verdict for verdict in self._verdicts if verdict is not None]
            self._result = RewardBatch(
                names=[term.name for term in self._rewards.terms],
                scores=self._scores(verdicts, given_up=given_up),
                verdicts=self._by_term(verdicts),
                latency_seconds=self._answered_at - self._submitted_at,
                wait_seconds=time.monotonic() - began,
                retries=self._retries,
            )
        return self._result

    def first_verdicts(self) -> list[list[Verdict]]:
        """Wait for what the verifiers said when they were asked first; per term."""
        places = self._open()
        if places:
            self._take(places, self._answer.result())
        return self._by_term([verdict for verdict in self._verdicts if verdict is not None])

    def _open(self) -> list[int]:
        return [place for place, verdict in enumerate(self._verdicts) if verdict is None]

    def _asked(self, places: Sequence[int]) -> list[Sample]:
        return [s for place in places if (s := self._samples[place]) is not None]

    def _take(self, places: Sequence[int], answer: Answer) -> None:
        for place, verdict in zip(places, answer.verdicts, strict=True):
            self._verdicts[place] = verdict
        self._answered_at = answer.at

    def _retry_until_scored(self) -> bool:
        """Ask again while that may help; say whether it was given up."""
        breaker = self._rewards.breaker
        pause = breaker.pause_seconds
        while self._fraction(self._failed()) > breaker.max_unscored_fraction:
            left = self._seconds_left()
            if left <= 0 and self._retries:
                self._rewards.stopped = self._obituary(self._failed())
                return True
            logger.warning("asking again: %s", self._commonest(self._failed()))
            time.sleep(min(pause, max(left, 0.0)))
            pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
            self._ask_again(self._failed(), max(self._seconds_left(), LAST_CHANCE_SECONDS))
        return self._misses_a_verifier() or self._warn_of_unscored()

    def _seconds_left(self) -> float:
        """How much patience is left."""
        patience = self._rewards.breaker.patience_seconds
        return self._submitted_at + patience - time.monotonic()

    def _ask_again(self, places: list[int], timeout_seconds: float) -> None:
        seconds = min(timeout_seconds, self._rewards.timeout_seconds)
        self._take(places, self._rewards.connected().ask(self._asked(places), seconds))
        self._retries += 1

    def _misses_a_verifier(self) -> bool:
        """Give up at once where a verifier does not exist: no waiting brings it about."""
        missing = [v.reason for v in self._verdicts if v and is_unknown(v)]
        if missing:
            self._rewards.stopped = missing[0]
        return bool(missing)

    def _warn_of_unscored(self) -> bool:
        unscored = [p for p, v in enumerate(self._verdicts) if v and v.score is None]
        if self._fraction(unscored) > self._rewards.breaker.max_unscored_fraction:
            logger.warning("much of a batch is unscored: %s", self._commonest(unscored))
        return False

    def _failed(self) -> list[int]:
        return [p for p, v in enumerate(self._verdicts) if v and v.outcome.is_retryable]

    def _fraction(self, places: list[int]) -> float:
        """Say which part of the completions these samples are of."""
        completions = len(self._samples) // len(self._rewards.terms)
        return len({place % completions for place in places}) / completions if completions else 0.0

    def _scores(self, verdicts: list[Verdict], *, given_up: bool) -> list[list[float | None]]:
        terms = self._by_term([verdict.score for verdict in verdicts])
        paid = [not given_up and None not in row for row in zip(*terms, strict=True)]
        return [
            [score if pay else None for score, pay in zip(term, paid, strict=True)]
            for term in terms
        ]

    def _by_term(self, items: list[T]) -> list[list[T]]:
        terms = len(self._rewards.terms)
        size = len(items) // terms
        return [items[term * size : (term + 1) * size] for term in range(terms)]

    def _commonest(self, places: list[int]) -> str:
        verdicts = [v for place in places if (v := self._verdicts[place])]
        reasons = [f"{verdict.verifier}: {verdict.reason}" for verdict in verdicts]
        return max(set(reasons), key=reasons.count)

    def _obituary(self, places: list[int]) -> str:
        seconds = time.monotonic() - self._submitted_at
        return (
            f"More than {self._rewards.breaker.max_unscored_fraction:.0%} of a batch could not be "
            f"scored for {seconds:.0f} s. {self._commonest(places)}"
        )


def _fraction(flags: Sequence[bool]) -> float:
    return sum(flags) / len(flags) if flags else 0.0
