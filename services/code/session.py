"""One program in the sandbox: asks for runs, and hands on what was observed, or whose fault it is.

A fault of the sandbox is a `SandboxFaultError`, and so never a failed test. What it says of a
program is data: nothing here takes an exit code, or a word that was printed, for a verdict.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import aclosing
from typing import TYPE_CHECKING, Final, Protocol

from rewarden.errors import RewardenError, ServiceBusyError
from sandbox.events import Compiled, Event, Observed
from sandbox.jobs import Job, Language, Limits, Observation, Run, Status
from services.code import telemetry

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

BUSY_TRIES: Final = 30
MAX_WAIT_SECONDS: Final = 5.0


class Executor(Protocol):
    """Whatever does jobs: `sandbox.client.SandboxClient`, or a stand-in."""

    def stream(self, job: Job) -> AsyncGenerator[Event, None]:
        """Do a job and give each event as it comes, `Ended` last; leaving it ends the job."""
        ...


class SandboxFaultError(Exception):
    """Nothing is known about the program, by a fault of ours."""


class CompileFailedError(Exception):
    """The program was not compiled; the observation says how that ended."""

    def __init__(self, observation: Observation) -> None:
        super().__init__(observation)
        self.observation = observation


class TimeUpError(Exception):
    """The program has used up the time of all tests together."""


class UndecidedError(Exception):
    """Nobody is at fault, and nothing is known: the message says why."""


class Session:
    """A program, the runs made of it, and what they used."""

    def __init__(
        self,
        executor: Executor,
        language: Language,
        source: bytes,
        files: dict[str, bytes],
        limits: Limits,
        total_seconds: float,
        *,
        program: bytes | None = None,
    ) -> None:
        """`program` is what is judged, where `source`, the main file, is ours."""
        self._executor = executor
        self._language: Language = language
        self._source = source
        self._files = files
        self._limits = limits
        self._total_seconds = total_seconds
        self.driver = ""
        self.wall_seconds = 0.0
        self._run_seconds = self._cpu_seconds = 0.0
        self.is_repeatable = True
        """Whether the same program would end in the same way again; not if a clock decided."""
        self.flags: Counter[str] = Counter(
            telemetry.flags_of_source(source if program is None else program)
        )

    async def observe(self, runs: Sequence[Run]) -> AsyncGenerator[Observation, None]:
        """Have the runs done and give each observation in order; leaving this ends them."""
        job = Job(
            language=self._language,
            source=self._source,
            files=self._files,
            runs=tuple(runs),
            limits=self._limits,
        )
        told = 0
        async with aclosing(self._patiently(job)) as events:
            async for event in events:
                if isinstance(event, Observed):
                    told += 1
                    yield self._checked(event.observation)
                elif isinstance(event, Compiled):
                    self._check_compiled(event.compiled)
                else:
                    self.driver = event.driver
        if told != len(runs):
            raise SandboxFaultError(f"the sandbox told of {told} of {len(runs)} runs")

    async def _patiently(self, job: Job) -> AsyncGenerator[Event, None]:
        """Wait for a sandbox that is busy; of a job that has begun, nothing is done again."""
        for _ in range(BUSY_TRIES):
            try:
                async with aclosing(self._executor.stream(job)) as events:
                    async for event in events:
                        yield event
            except ServiceBusyError as error:
                await asyncio.sleep(min(error.retry_after_seconds, MAX_WAIT_SECONDS))
            except RewardenError as error:
                raise SandboxFaultError(str(error)) from error
            else:
                return
        raise SandboxFaultError("the sandbox stayed busy")

    def _checked(self, seen: Observation) -> Observation:
        if seen.status in (Status.SANDBOX_ERROR, Status.NOT_RUN):
            raise SandboxFaultError(seen.detail or f"a run was {seen.status}")
        self.flags.update(telemetry.flags_of_run(seen))
        self._spend(seen)
        return seen

    def _check_compiled(self, seen: Observation) -> None:
        if seen.status in (Status.SANDBOX_ERROR, Status.NOT_RUN):
            raise SandboxFaultError(seen.detail or "the program was not compiled")
        self.wall_seconds += seen.wall_seconds
        if seen.status is not Status.EXITED or seen.exit_code != 0:
            raise CompileFailedError(seen)

    def _spend(self, seen: Observation) -> None:
        self.wall_seconds += seen.wall_seconds
        self._run_seconds += seen.wall_seconds
        self._cpu_seconds += seen.cpu_seconds
        slept = seen.cpu_seconds < self._limits.cpu_seconds
        if seen.status is Status.TIMEOUT and slept:
            self.is_repeatable = False
        if self._run_seconds > self._total_seconds:
            self.is_repeatable = False
            if self._cpu_seconds < self._run_seconds / 2:
                raise UndecidedError("its tests took too long, and it had no CPU for half of that")
            raise TimeUpError
