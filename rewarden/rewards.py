"""Verdicts turned into rewards for a trainer: one batch call for all reward functions.

A sample that could not be scored in one term is None in every term. GRPO trainers add up what is
there: a None in one function alone would punish the sample as if it had earned 0, while None in
all of them leaves it out of its group.

Nothing here raises while a run is going on. When more than a fifth of a batch comes back unscored,
the breaker pauses and asks again for those samples whose verifier was at fault; when that has not
helped for `patience_seconds`, it gives up: every score of the batch is None and `Rewards.stopped`
says why, for the trainer to save a checkpoint and end.
"""

from __future__ import annotations

import logging
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from pydantic import BaseModel, ConfigDict, Field

from rewarden.client import TIMEOUT_SECONDS, Client
from rewarden.contracts import Outcome, Sample, Verdict, VerifierName, mended
from rewarden.errors import ConfigurationError, RewardenError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from concurrent.futures import Future

    Completion = str | Sequence[Mapping[str, Any]]

logger = logging.getLogger(__name__)

PROBE_SECONDS: Final = 15.0
LONGEST_PAUSE_SECONDS: Final = 10.0
LAST_CHANCE_SECONDS: Final = 5.0
"""What a verifier gets to answer in when patience has run out before it was asked again."""


class RewardTerm(BaseModel):
    """One reward function: which verifier pays, how much, and for what."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    name: str = Field(min_length=1)
    verifier: VerifierName
    weight: float = 1.0
    """What a score of 1 is worth, next to the other terms."""
    spec: dict[str, Any] = Field(default_factory=dict)
    """Fields of the verifier's spec that are the same for every sample."""
    columns: dict[str, str] = Field(default_factory=dict)
    """Fields of the spec that come from the data set: field of the spec -> column."""


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


class Rewards:
    """Pays completions through verifiers. Pickles; connections are made where it is used.

    `url` is that of a service, of the gateway or of the queue, as for `Client`.
    """

    def __init__(
        self,
        terms: Sequence[RewardTerm],
        url: str,
        *,
        api_key: str | None = None,
        timeout_seconds: float = TIMEOUT_SECONDS,
        breaker: Breaker | None = None,
    ) -> None:
        if not terms:
            msg = "rewards need at least one term"
            raise ConfigurationError(msg)
        self.terms = tuple(terms)
        self.url = url
        self.api_key = api_key
        self.timeout_seconds = timeout_seconds
        self.breaker = breaker or Breaker()
        self.stopped: str | None = None
        """Why the breaker gave up, once it has."""
        self._live: _Live | None = None

    def submit(
        self, completions: Sequence[Completion], columns: Mapping[str, Sequence[Any]]
    ) -> PendingRewards:
        """Hand the completions to the verifiers and return at once.

        `columns` are the data set's, each with one entry a completion.
        """
        samples = self._samples(completions, columns)
        return PendingRewards(self, samples, self.connected().submit(samples))

    def score(
        self, completions: Sequence[Completion], columns: Mapping[str, Sequence[Any]]
    ) -> RewardBatch:
        """Submit and wait."""
        return self.submit(completions, columns).result()

    def probe(self) -> dict[str, str]:
        """Ask every verifier for a verdict; return what each said.

        Raises `ConfigurationError` naming the one that did not answer, and what to do.
        """
        names = sorted({term.verifier for term in self.terms})
        samples = [Sample(verifier=name, completion="") for name in names]
        try:
            verdicts = self.connected().client.verify(samples, timeout_seconds=PROBE_SECONDS)
        except RewardenError as error:
            msg = (
                f"No verifier can be reached at {self.url} ({error}); "
                "start the services, or correct the address."
            )
            raise ConfigurationError(msg) from error
        for name, verdict in zip(names, verdicts, strict=True):
            if verdict.outcome.is_retryable or "available" in verdict.details:
                msg = (
                    f"The {name} verifier does not answer at {self.url}: {verdict.reason} "
                    f"Start it with `python -m services {name}`, or correct the reward's name."
                )
                raise ConfigurationError(msg)
        return {name: v.reason for name, v in zip(names, verdicts, strict=True)}

    def close(self) -> None:
        """Close connections; a batch under way is abandoned."""
        if self._live is not None:
            self._live.close()
            self._live = None

    def connected(self) -> _Live:
        """Connect on first use: a `Rewards` may have been made in another process."""
        if self._live is None:
            self._live = _Live(Client(self.url, api_key=self.api_key), self.timeout_seconds)
        return self._live

    def _samples(
        self, completions: Sequence[Completion], columns: Mapping[str, Sequence[Any]]
    ) -> list[Sample]:
        """One sample a term and completion: all of the first term, then all of the second, and so on."""
        return [
            Sample.model_validate(
                {
                    "verifier": term.verifier,
                    "completion": mended(completion),
                    "spec": term.spec
                    | {key: columns[column][i] for key, column in term.columns.items()},
                }
            )
            for term in self.terms
            for i, completion in enumerate(completions)
        ]

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_live": None}


class _Live:
    """What does not pickle: the connection, and the thread that waits on it."""

    def __init__(self, client: Client, timeout_seconds: float) -> None:
        self.client = client
        self._timeout_seconds = timeout_seconds
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="rewarden")

    def submit(self, samples: Sequence[Sample]) -> Future[_Answer]:
        return self._thread.submit(self.ask, samples, self._timeout_seconds)

    def ask(self, samples: Sequence[Sample], timeout_seconds: float) -> _Answer:
        """Get a verdict for every sample, `verifier_error` where none can be had."""
        try:
            verdicts = self.client.verify(samples, timeout_seconds=timeout_seconds)
        except RewardenError as error:
            logger.warning("no verdicts: %s", error)
            verdicts = [_no_verdict(sample, str(error)) for sample in samples]
        except Exception as error:  # the trainer's loop must not die of a fault of ours
            logger.exception("asking for verdicts failed")
            verdicts = [_no_verdict(sample, type(error).__name__) for sample in samples]
        return _Answer(verdicts, time.monotonic())

    def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)
        self.client.close()


@dataclass
class _Answer:
    verdicts: list[Verdict]
    at: float
    retries: int = 0
    stopped: str | None = None


class PendingRewards:
    """A batch that the verifiers are at work on."""

    def __init__(self, rewards: Rewards, samples: list[Sample], answer: Future[_Answer]) -> None:
        self._rewards = rewards
        self._samples = samples
        self._answer = answer
        self._submitted_at = time.monotonic()

    def result(self) -> RewardBatch:
        """Wait for the verdicts and turn them into scores. Does not raise."""
        began = time.monotonic()
        answer = self._answer.result()
        self._retry(answer)
        return RewardBatch(
            names=[term.name for term in self._rewards.terms],
            scores=self._scores(answer),
            verdicts=self._by_term(answer.verdicts),
            latency_seconds=answer.at - self._submitted_at,
            wait_seconds=time.monotonic() - began,
            retries=answer.retries,
        )

    def _by_term(self, items: list[Any]) -> list[list[Any]]:
        terms = len(self._rewards.terms)
        size = len(items) // terms
        return [items[term * size : (term + 1) * size] for term in range(terms)]

    def _scores(self, answer: _Answer) -> list[list[float | None]]:
        terms = self._by_term([verdict.score for verdict in answer.verdicts])
        scored = [None not in row for row in zip(*terms, strict=True)]
        if answer.stopped:
            scored = [False] * len(scored)
        return [
            [score if paid else None for score, paid in zip(term, scored, strict=True)]
            for term in terms
        ]

    def _retry(self, answer: _Answer) -> None:
        breaker = self._rewards.breaker
        pause = breaker.pause_seconds
        while self._is_open(answer.verdicts):
            again = [i for i, v in enumerate(answer.verdicts) if v.outcome.is_retryable]
            if not again:
                logger.warning("a batch is largely unscored: %s", _commonest(answer.verdicts))
                return
            left = self._submitted_at + breaker.patience_seconds - time.monotonic()
            if left <= 0 and answer.retries:
                answer.stopped = self._rewards.stopped = _obituary(answer.verdicts, breaker)
                return
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
            self._ask_again(answer, again, max(left - pause, LAST_CHANCE_SECONDS))

    def _ask_again(self, answer: _Answer, places: list[int], timeout_seconds: float) -> None:
        samples = [self._samples[place] for place in places]
        retried = self._rewards.connected().ask(
            samples, min(timeout_seconds, self._rewards.timeout_seconds)
        )
        for place, verdict in zip(places, retried.verdicts, strict=True):
            answer.verdicts[place] = verdict
        answer.at = retried.at
        answer.retries += 1

    def _is_open(self, verdicts: list[Verdict]) -> bool:
        terms = self._by_term([verdict.score is None for verdict in verdicts])
        unscored = [any(row) for row in zip(*terms, strict=True)]
        return _fraction(unscored) > self._rewards.breaker.max_unscored_fraction


def _no_verdict(sample: Sample, why: str) -> Verdict:
    return Verdict.of(sample, Outcome.VERIFIER_ERROR, f"No verdict could be had: {why}")


def _fraction(flags: Sequence[bool]) -> float:
    return sum(flags) / len(flags) if flags else 0.0


def _commonest(verdicts: Sequence[Verdict]) -> str:
    reasons = [f"{v.verifier}: {v.reason}" for v in verdicts if v.score is None]
    return max(set(reasons), key=reasons.count)


def _obituary(verdicts: Sequence[Verdict], breaker: Breaker) -> str:
    return (
        f"More than {breaker.max_unscored_fraction:.0%} of a batch could not be scored for "
        f"{breaker.patience_seconds:.0f} s. {_commonest(verdicts)}"
    )
