"""What the sandbox counts, for Prometheus. One registry a pool, so that two can share a process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

if TYPE_CHECKING:
    from collections.abc import Callable

    from sandbox.jobs import Observation

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)


class Metrics:
    """Counters of one pool."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._jobs = Counter(
            "rewarden_sandbox_jobs",
            "Jobs that are over: finished, abandoned, broken or stopped.",
            ["end"],
            registry=self._registry,
        )
        self._observations = Counter(
            "rewarden_sandbox_observations",
            "Observations of runs.",
            ["status"],
            registry=self._registry,
        )
        self._renewals = Counter(
            "rewarden_sandbox_renewals",
            "Slots replaced: worn after many jobs, or suspect after a fault.",
            ["why"],
            registry=self._registry,
        )
        self._refused = Counter(
            "rewarden_sandbox_refused", "Jobs refused as busy.", registry=self._registry
        )
        self._wait = Histogram(
            "rewarden_sandbox_wait_seconds",
            "Time that jobs waited for a slot.",
            buckets=SECONDS,
            registry=self._registry,
        )
        self._busy = Histogram(
            "rewarden_sandbox_job_seconds",
            "Time that jobs kept a slot.",
            buckets=SECONDS,
            registry=self._registry,
        )

    def gauge(self, name: str, description: str, read: Callable[[], float]) -> None:
        """Show a number that is read when somebody asks."""
        gauge = Gauge(f"rewarden_sandbox_{name}", description, registry=self._registry)
        gauge.set_function(read)

    def count_job(self, end: str, seconds: float) -> None:
        """Count a job that is over, and the time that it kept a slot."""
        self._jobs.labels(end).inc()
        self._busy.observe(seconds)

    def count_observation(self, observation: Observation) -> None:
        """Count an observation by its status."""
        self._observations.labels(observation.status.value).inc()

    def count_renewal(self, why: str) -> None:
        """Count a slot that is replaced."""
        self._renewals.labels(why).inc()

    def count_refused(self) -> None:
        """Count a job that was refused as busy."""
        self._refused.inc()

    def time_wait(self, seconds: float) -> None:
        """Note how long a job waited for its slot."""
        self._wait.observe(seconds)

    def exposition(self) -> bytes:
        """Return everything in Prometheus' text format."""
        return generate_latest(self._registry)
