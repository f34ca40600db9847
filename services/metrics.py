"""What a service counts, for Prometheus. One registry an app, so that two can share a process."""

from __future__ import annotations

from collections import Counter as Tally
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rewarden.contracts import Verdict


class Metrics:
    """Counters of one service."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._verdicts = Counter(
            "rewarden_verdicts", "Verdicts given.", ["verifier", "outcome"], registry=self._registry
        )
        self._cached = Counter(
            "rewarden_verdicts_cached",
            "Verdicts that an earlier check of the same answer decided.",
            ["verifier"],
            registry=self._registry,
        )
        self._flags = Counter(
            "rewarden_code_flags",
            "Verdicts on programs that showed a sign of reward hacking.",
            ["flag"],
            registry=self._registry,
        )
        self._seconds = Histogram(
            "rewarden_chunk_seconds",
            "Time to verify one chunk of samples.",
            ["verifier"],
            registry=self._registry,
        )

    def count(self, verdicts: Sequence[Verdict]) -> None:
        """Count verdicts by verifier and outcome, and the flags of programs."""
        given = Tally((verdict.verifier, verdict.outcome) for verdict in verdicts)
        for (verifier, outcome), number in given.items():
            self._verdicts.labels(verifier, outcome.value).inc(number)
        cached = Tally(verdict.verifier for verdict in verdicts if verdict.cached)
        for verifier, number in cached.items():
            self._cached.labels(verifier).inc(number)

        flags = Tally(
            flag
            for verdict in verdicts
            if verdict.verifier == "code"
            for flag in verdict.details.get("flags", ())
        )
        for flag, number in flags.items():
            self._flags.labels(flag).inc(number)

    def time_chunk(self, verifier: str, seconds: float) -> None:
        """Note how long one chunk took."""
        self._seconds.labels(verifier).observe(seconds)

    def exposition(self) -> bytes:
        """Return everything in Prometheus' text format."""
        return generate_latest(self._registry)
