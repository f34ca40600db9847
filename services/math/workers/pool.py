"""Checks in worker processes, so that no sample can hang or blow up the service.

What is covered: a check that uses more CPU time than its budget, in Python or in one call into C;
that uses up its memory; that ends, crashes or stops its process; a service that is killed. Each
costs its sample the score, never a neighbour and never a place in the pool. What is not: a check
that comes to a wrong answer.

Samples wait in one line, whoever asked. A free worker takes its share of the line, and hands back
what it did not get to (`services.math.workers.worker`). Waiting is free: CPU time alone counts. Everything
runs on one event loop, and a clock ticks there only while samples are out.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from rewarden.contracts import Outcome
from services.math.workers.crew import PATIENCE_SECONDS, Nursery, PoolError, Worker
from services.math.workers.questions import FAILED, Answer, Line, Question

if TYPE_CHECKING:
    from collections.abc import Sequence

logger = logging.getLogger(__name__)

JUDGE: Final = "services.math.judge:Judge"
BUDGET_SECONDS: Final = 1.0
MEMORY_BYTES: Final = 512 * 1024 * 1024
MAX_WORKERS: Final = 8
"""More make a service no faster: one event loop feeds them all."""
GRACE_SECONDS: Final = 0.1
"""CPU time beyond the budget, in which a worker may still find out by itself."""
MAX_LOSSES: Final = 2
"""Workers that one sample may cost."""
WATCH_SECONDS: Final = 0.025
RETRY_SECONDS: Final = 1.0


@dataclass(slots=True, eq=False)
class _Job:
    """What one worker is busy with."""

    questions: list[Question]
    overrun: tuple[int, float] | None = None
    """The place of a sample that was stopped, and the CPU seconds it had used."""
    is_stopped: bool = False
    """Whether its worker was killed for it."""
    cpu_micros: int = 0
    still_ticks: int = 0


class Pool:
    """A fixed number of workers: one that is gone is replaced."""

    def __init__(
        self,
        judge: str = JUDGE,
        *,
        workers: int | None = None,
        budget_seconds: float = BUDGET_SECONDS,
        memory_bytes: int = MEMORY_BYTES,
        stall_seconds: float = PATIENCE_SECONDS,
    ) -> None:
        """`workers` is one a core, and 8 at most, unless given; `memory_bytes` is the address space of each.

        A busy worker that uses no CPU time for `stall_seconds` (wall time) is replaced.
        """
        self._size = workers or min(len(os.sched_getaffinity(0)), MAX_WORKERS)
        self._budget_seconds = budget_seconds
        self._still_ticks = stall_seconds / WATCH_SECONDS
        self._nursery = Nursery(judge, budget_seconds, memory_bytes)
        self._line = Line()
        self._idle: list[Worker] = []
        self._busy: dict[Worker, _Job] = {}
        self._leaving: dict[Worker, Question | None] = {}
        self._replacing: set[asyncio.Task[None]] = set()
        self._watch: asyncio.TimerHandle | None = None
        self._is_open = False
        self._spent_reason = f"Not decided within {budget_seconds:g} s of CPU time."
        self._memory_reason = f"Not decided within {memory_bytes // 2**20} MB of memory."

    @property
    def pids(self) -> list[int]:
        """The workers that take jobs."""
        return [worker.pid for worker in (*self._idle, *self._busy)]

    async def start(self) -> None:
        """Start every worker and wait until all are ready; a `PoolError` if they cannot be had."""
        self._is_open = True
        try:
            for _ in range(self._size):
                self._employ(await self._nursery.fork(), None)
        except BaseException:
            await self.close()
            raise

    async def judge(self, asked: Sequence[tuple[object, str]]) -> list[Answer]:
        """Return the answers to pairs of spec and text, in order.

        A `PoolError` if the pool is not open, or cannot get a single worker.
        """
        if not self._is_open:
            msg = "the math verifier is not running"
            raise PoolError(msg)
        if not asked:
            return []
        batch = self._line.join(asked)
        self._dispatch()
        await batch.done
        return batch.answers

    async def close(self) -> None:
        """End every process, and wait for it. Who still waits for an answer gets a `PoolError`."""
        self._is_open = False
        for task in self._replacing:
            task.cancel()
        await asyncio.gather(*self._replacing, return_exceptions=True)
        self._line.fail(PoolError("the math verifier was stopped"))
        workers = [*self._idle, *self._busy, *self._leaving]
        for state in (self._idle, self._busy, self._leaving):
            state.clear()
        await asyncio.gather(*(worker.close() for worker in workers))
        await self._nursery.close()

    def _employ(self, worker: Worker, suspect: Question | None) -> None:
        """Give a new worker its first job: the question that the last one ended on."""
        worker.attach(self._answered, self._lost)
        if suspect is not None and suspect.batch.is_wanted:
            self._ask(worker, [suspect])
        else:
            self._idle.append(worker)
        self._dispatch()

    def _dispatch(self) -> None:
        while self._idle and (questions := self._line.take(self._size)):
            self._ask(self._idle.pop(), questions)

    def _ask(self, worker: Worker, questions: list[Question]) -> None:
        self._busy[worker] = _Job(questions)
        worker.ask(b"\n".join(question.line for question in questions))
        self._watch_on()

    def _answered(self, worker: Worker, frame: bytes) -> None:
        leaving, answers = json.loads(frame.decode("utf-8", "surrogatepass"))
        read = [(answer[0], self._read(*answer)) for answer in answers]
        job = self._busy.pop(worker)  # not before: a frame that cannot be read is a worker lost
        suspect = None
        for question, (kind, answer) in zip(job.questions, read, strict=False):
            if kind == "memory" and _has_another_chance(question):
                suspect = question
            else:
                question.settle(answer)
        self._line.put_back(job.questions[len(answers) :])
        if leaving or job.is_stopped:
            self._leaving[worker] = suspect
            worker.kill()
        else:
            self._idle.append(worker)
        self._dispatch()

    def _read(self, kind: str, seconds: float, *judgement: Any) -> Answer:  # noqa: ANN401 - JSON
        if kind == "judged":
            outcome, reason, details, cached = judgement
            return Answer(Outcome(outcome), reason, details, cached, seconds)
        if kind == "spent":
            return Answer.without(Outcome.UNDECIDED, self._spent_reason, seconds)
        if kind == "memory":
            return Answer.without(Outcome.UNDECIDED, self._memory_reason, seconds)
        return FAILED._replace(seconds=seconds)

    def _lost(self, worker: Worker) -> None:
        """Replace a worker that has ended, for whatever reason."""
        if not self._is_open:
            return  # `close` has it still on its list
        job = self._busy.pop(worker, None)
        suspect = self._leaving.pop(worker, None)
        if job is not None:
            suspect = self._suspect(worker, job)
        elif worker in self._idle:
            self._idle.remove(worker)
        task = asyncio.get_running_loop().create_task(self._replace(worker, suspect))
        self._replacing.add(task)
        task.add_done_callback(self._replacing.discard)

    def _suspect(self, worker: Worker, job: _Job) -> Question | None:
        """Find the question that a worker ended on, and put the others back."""
        place, seconds = job.overrun or (worker.place() or 0, 0.0)
        question = job.questions.pop(place)
        self._line.put_back(job.questions)
        if job.overrun:
            answer = Answer.without(Outcome.UNDECIDED, self._spent_reason, seconds)
        elif _has_another_chance(question):
            return question
        else:
            logger.error("a sample ended its worker process twice")
            reason = "The check ended its worker process twice."
            answer = Answer.without(Outcome.VERIFIER_ERROR, reason)
        question.settle(answer)
        return None

    async def _replace(self, lost: Worker, suspect: Question | None) -> None:
        try:
            self._employ(await self._fork(), suspect)
        finally:
            await lost.close()

    async def _fork(self) -> Worker:
        while True:
            try:
                return await self._nursery.fork()
            except PoolError as error:
                logger.exception("a worker of the math verifier could not be replaced")
                if not self._idle and not self._busy:
                    self._line.fail(error)
            await asyncio.sleep(RETRY_SECONDS)

    def _tick(self) -> None:
        self._watch = None
        for worker, job in self._busy.items():
            self._check(worker, job)
        if self._busy:
            self._watch_on()

    def _watch_on(self) -> None:
        if self._watch is None:
            self._watch = asyncio.get_running_loop().call_later(WATCH_SECONDS, self._tick)

    def _check(self, worker: Worker, job: _Job) -> None:
        """Kill a worker whose sample is over its budget, or that does not move at all."""
        spent = worker.spent()
        if spent and spent[1] > self._budget_seconds + GRACE_SECONDS:
            job.overrun = spent
        cpu_micros = worker.cpu_micros()
        # Ticks and not a clock, which also runs while this process itself is stopped.
        job.still_ticks = job.still_ticks + 1 if cpu_micros == job.cpu_micros else 0
        job.cpu_micros = cpu_micros
        if job.overrun or job.still_ticks > self._still_ticks:
            job.is_stopped = True
            worker.kill()


def _has_another_chance(question: Question) -> bool:
    """Count the worker as lost; in a new one, memory that earlier samples took is free again."""
    question.losses += 1
    return question.losses < MAX_LOSSES
