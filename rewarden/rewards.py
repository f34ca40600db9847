"""Verdicts turned into rewards for a trainer: one batch call for all reward functions.

A sample that could not be scored in one term is None in every term. GRPO trainers add up what is
there: a None in one function alone would punish the sample as if it had earned 0, while None in
all of them leaves it out of its group.

No fault of a verifier, of the connection or of a single sample is raised while a run is going on.
When more than a fifth of a batch is unscored because verifiers fail or do not answer, the breaker
(`rewarden.pending`) pauses and asks again; when that does not help, every score of the batch is
None and `Rewards.stopped` says why, for the trainer to save a checkpoint and end.
"""

from __future__ import annotations

import logging
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rewarden.batches import is_unknown
from rewarden.client import Client
from rewarden.contracts import Outcome, Sample, Verdict, VerifierName, mended
from rewarden.errors import ConfigurationError, RewardenError
from rewarden.pending import Answer, Breaker, PendingRewards, RewardBatch

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Completion = str | Sequence[Mapping[str, Any]]

__all__ = ["Breaker", "PendingRewards", "RewardBatch", "RewardTerm", "Rewards"]

logger = logging.getLogger(__name__)

PROBE_SECONDS: Final = 15.0
TIMEOUT_SECONDS: Final = 60.0
"""No longer than the breaker's patience, so that a dead verifier is noticed in that time."""


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


class Rewards:
    """Pays completions through verifiers. Pickles; connections are made where it is used.

    `url` is that of a service, of the gateway or of the queue, as for `Client`. A verifier that is
    dead on the queue is noticed after the longer of `timeout_seconds` and the breaker's patience.
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
        self,
        completions: Sequence[Completion],
        columns: Mapping[str, Sequence[Any]],
        *,
        timeout_seconds: float | None = None,
    ) -> PendingRewards:
        """Hand the completions to the verifiers and return at once.

        `columns` are the data set's, each with one entry a completion. Raises `ConfigurationError`
        if one that a term asks for is not there.
        """
        _check_columns(self.terms, columns, len(completions))
        samples: list[Sample | None] = []
        verdicts: list[Verdict | None] = []
        for term in self.terms:
            for i, completion in enumerate(completions):
                made = _make_sample(term, completion, {c: columns[c][i] for c in columns_of(term)})
                samples.append(made if isinstance(made, Sample) else None)
                verdicts.append(made if isinstance(made, Verdict) else None)
        return PendingRewards(self, samples, verdicts, timeout_seconds or self.timeout_seconds)

    def score(
        self, completions: Sequence[Completion], columns: Mapping[str, Sequence[Any]]
    ) -> RewardBatch:
        """Submit and wait."""
        return self.submit(completions, columns).result()

    def probe(self, columns: Mapping[str, Sequence[Any]]) -> None:
        """Ask every verifier for verdicts on some rows of the data, before a run begins.

        Raises `ConfigurationError` naming the verifier that does not answer or does not exist, or
        the term whose spec it refuses for every row; and what to do.
        """
        rows = min((len(values) for values in columns.values()), default=1)
        pending = self.submit([""] * rows, columns, timeout_seconds=PROBE_SECONDS)
        for term, verdicts in zip(self.terms, pending.first_verdicts(), strict=True):
            self._check_probe(term, verdicts)

    def _check_probe(self, term: RewardTerm, verdicts: Sequence[Verdict]) -> None:
        for verdict in verdicts:
            if is_unknown(verdict):
                msg = f"reward '{term.name}': {verdict.reason} Correct its verifier's name."
                raise ConfigurationError(msg)
            if verdict.outcome.is_retryable:
                msg = (
                    f"The {term.verifier} verifier does not answer at {self.url}: {verdict.reason} "
                    f"Start it with `python -m services {term.verifier}`, or correct the address."
                )
                raise ConfigurationError(msg)
        if verdicts and all(verdict.outcome is Outcome.BAD_SPEC for verdict in verdicts):
            msg = f"The {term.verifier} verifier refuses reward '{term.name}': {verdicts[0].reason}"
            raise ConfigurationError(msg)

    def close(self) -> None:
        """Close connections; a batch under way is abandoned."""
        if self._live is not None:
            self._live.close()
            self._live = None

    def connected(self) -> _Live:
        """Connect on first use: a `Rewards` may have been made in another process."""
        if self._live is None:
            self._live = _Live(Client(self.url, api_key=self.api_key))
        return self._live

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_live": None}


class _Live:
    """What does not pickle: the connection, and the thread that waits on it."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.thread = ThreadPoolExecutor(1, thread_name_prefix="rewarden")

    def ask(self, samples: Sequence[Sample], timeout_seconds: float) -> Answer:
        """Get a verdict for every sample, `verifier_error` where none can be had."""
        try:
            verdicts = self.client.verify(samples, timeout_seconds=timeout_seconds)
        except RewardenError as error:
            verdicts = [_no_verdict(sample, str(error)) for sample in samples]
        except Exception as error:  # the trainer's loop must not die of a fault of ours
            logger.exception("asking for verdicts failed")
            verdicts = [_no_verdict(sample, type(error).__name__) for sample in samples]
        return Answer(verdicts, time.monotonic())

    def close(self) -> None:
        self.thread.shutdown(wait=False, cancel_futures=True)
        self.client.close()


def columns_of(term: RewardTerm) -> set[str]:
    """Name the columns of the data set that the term reads."""
    return set(term.columns.values())


def _check_columns(
    terms: Sequence[RewardTerm], columns: Mapping[str, Sequence[Any]], count: int
) -> None:
    for term in terms:
        for name in columns_of(term):
            if name not in columns:
                there = ", ".join(sorted(columns))
                msg = f"reward '{term.name}' reads the column '{name}'; the data has {there}"
                raise ConfigurationError(msg)
            if len(columns[name]) != count:
                msg = f"column '{name}' has {len(columns[name])} entries for {count} completions"
                raise ConfigurationError(msg)


def _make_sample(
    term: RewardTerm, completion: Completion, row: Mapping[str, Any]
) -> Sample | Verdict:
    """Make the sample, or the verdict on one that cannot be made."""
    spec = term.spec | {key: row[column] for key, column in term.columns.items()}
    try:
        return Sample.model_validate(
            {
                "verifier": term.verifier,
                "completion": mended(completion),
                "spec": spec,
            }
        )
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False)[0]
        reason = f"The sample is malformed at {problem['loc']}: {problem['msg']}"
        nothing = Sample(verifier=term.verifier, completion="")
        return Verdict.of(nothing, Outcome.BAD_SPEC, reason)


def _no_verdict(sample: Sample, why: str) -> Verdict:
    return Verdict.of(sample, Outcome.VERIFIER_ERROR, f"No verdict could be had: {why}")
