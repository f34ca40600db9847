"""Checks in worker processes, so that no query can hang or blow up the service.

What is covered: a query that takes longer than its limit, inside SQLite or wherever it is; that
uses up its memory; that ends its process. Each costs its own sample, never a neighbour and never
a place in the pool. Where a query is merely slow, another worker takes its place; where as many are
slow as there are cores, they run at the lowest priority from then on, and leave when they are done.
So runaway queries, up to `MAX_SLOW` at a time, leave the others their share of the machine.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import time
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pydantic_core import to_jsonable_python

from rewarden.contracts import Outcome
from services.sql.workers.crew import Hand, Nursery, PoolError

if TYPE_CHECKING:
    from collections.abc import Coroutine, Sequence

    from services.sql.workers.nursery import Plan

logger = logging.getLogger(__name__)

MAX_WORKERS: Final = 8
SPARE_WORKERS: Final = 2
"""Workers beyond one a core: while a slow query is not yet known as one, others have a place."""
MAX_SLOW: Final = 32
SLOW_SECONDS: Final = 0.03
SLOW_GOLD_SECONDS: Final = 0.3
"""A gold that is new to a worker takes more time than a query, and is then known."""
WATCH_SECONDS: Final = 0.01
GRACE_SECONDS: Final = 0.1
"""Time beyond the limit, in which the engine may still find out by itself."""
WALL_GRACE_SECONDS: Final = 5.0
"""The same for a server, which ends a query in time, but may be long in saying so when it is busy."""
STARVED_FACTOR: Final = 30
"""Wall time, in limits, after which a query that got too little CPU time is left undecided."""


class Answer(NamedTuple):
    """What became of one question."""

    outcome: Outcome
    reason: str
    details: dict[str, Any]
    cached: bool = False
    score: float | None = None
    seconds: float = 0.0


class _Question(NamedTuple):
    line: bytes
    answer: asyncio.Future[Answer]
    deaths: int = 0
    """Workers that ended over it by themselves: the first may have been killed from outside."""


class Pool:
    """A number of workers; one that is gone is replaced."""

    def __init__(self, plan: Plan, workers: int | None = None) -> None:
        self._cores = min(len(os.sched_getaffinity(0)), MAX_WORKERS)
        self._size = workers or self._cores + SPARE_WORKERS
        self._nursery = Nursery(plan)
        self._line: deque[_Question] = deque()
        self._idle: list[asyncio.Future[None]] = []
        """Who waits for a question. The last one gets it: it is likely to know the gold."""
        self._hands: dict[Hand, float] = {}
        """All workers, each with the time when it began on its question (0: it has none)."""
        self._serving: set[asyncio.Task[None]] = set()
        self._changing: set[asyncio.Task[None]] = set()
        """What makes and ends workers; it is never cancelled, so that no process is forgotten."""
        self._watch: asyncio.Task[None] | None = None
        self._forking = 0
        self._is_open = False

    @property
    def pids(self) -> list[int]:
        """The workers there are."""
        return [hand.pid for hand in self._hands]

    async def start(self) -> None:
        """Start the workers; a `PoolError` if they cannot be had."""
        self._is_open = True
        try:
            for _ in range(self._size):
                self._employ(await self._nursery.fork())
        except BaseException:
            await self.close()
            raise
        self._watch = asyncio.get_running_loop().create_task(self._watch_on())

    async def ask(self, questions: Sequence[Sequence[Any]]) -> list[Answer]:
        """Return the answers to questions of the form `(kind, argument, …)`, in order."""
        if not self._is_open:
            msg = "the SQL verifier is not running"
            raise PoolError(msg)
        loop = asyncio.get_running_loop()
        asked = [
            _Question(json.dumps(q, default=to_jsonable_python).encode(), loop.create_future())
            for q in questions
        ]
        self._line.extend(asked)
        self._wake(len(asked))
        return list(await asyncio.gather(*(question.answer for question in asked)))

    async def close(self) -> None:
        """End every process, and wait for it. Who still waits for an answer gets a `PoolError`."""
        self._is_open = False
        if self._watch is not None:
            self._watch.cancel()
            await asyncio.gather(self._watch, return_exceptions=True)
        while self._changing or self._serving:
            for task in self._serving:
                task.cancel()
            await asyncio.gather(*self._serving, *self._changing, return_exceptions=True)
        for question in self._line:
            _fail(question, "the SQL verifier was stopped")
        self._line.clear()
        await self._nursery.close()

    def _employ(self, hand: Hand) -> None:
        self._hands[hand] = 0.0
        _run(self._serve(hand), self._serving)

    async def _serve(self, hand: Hand) -> None:
        """Have the worker answer questions until it is gone, or there are enough without it."""
        try:
            while not hand.has_made_way and self._quick() <= 2 * self._size:
                question = await self._next()
                if not question.answer.done() and not await self._answer(hand, question):
                    break
                hand.is_slow = False
        finally:
            self._hands.pop(hand, None)
            _run(hand.close(), self._changing)
        self._fill_up()

    def _quick(self) -> int:
        """Return how many workers there are, or are about to be, that are not slow."""
        return len(self._hands) - self._slow() + self._forking

    def _fill_up(self) -> None:
        if self._quick() < self._size:
            self._forking += 1
            _run(self._replace(), self._changing)

    async def _next(self) -> _Question:
        while not self._line:
            waiting = asyncio.get_running_loop().create_future()
            self._idle.append(waiting)
            await waiting
        return self._line.popleft()

    async def _answer(self, hand: Hand, question: _Question) -> bool:
        """Get one answer; whether the worker is still there."""
        self._hands[hand] = time.monotonic()
        try:
            goes_on, outcome, *rest = json.loads(await hand.ask(question.line))
            answer = Answer(Outcome(outcome), *rest)
            is_there = bool(goes_on)
        except EOFError:
            is_there = False
            lost = _of_lost(hand)
            if lost is None or (hand.stopped_in is None and not question.deaths):
                if lost is not None:
                    question = question._replace(deaths=1)
                self._line.appendleft(question)
                self._wake(1)
                return False
            answer = lost
        except BaseException:
            _fail(question, "the SQL verifier was stopped")
            raise
        finally:
            self._hands[hand] = 0.0
        if not question.answer.done():
            question.answer.set_result(answer)
        return is_there

    def _wake(self, count: int) -> None:
        while self._idle and count:
            waiting = self._idle.pop()
            if not waiting.done():  # it is where its worker was cancelled
                waiting.set_result(None)
                count -= 1

    async def _replace(self) -> None:
        try:
            while self._is_open:
                try:
                    hand = await self._nursery.fork()
                except PoolError:
                    logger.exception("a worker of the SQL verifier could not be replaced")
                    await asyncio.sleep(1)
                else:
                    if self._is_open:
                        self._employ(hand)
                    else:
                        await hand.close()
                    return
        finally:
            self._forking -= 1

    async def _watch_on(self) -> None:
        while True:
            await asyncio.sleep(WATCH_SECONDS)
            now = time.monotonic()
            for hand, began in list(self._hands.items()):
                if began:
                    self._check(hand, now - began)

    def _check(self, hand: Hand, seconds: float) -> None:
        phase = hand.phase()
        if phase is None or phase.name == "idle" or hand.stopped_in:
            return
        used = hand.used_micros(phase)
        may = SLOW_GOLD_SECONDS if phase.name == "gold" else SLOW_SECONDS
        if used > may * 1e6 and not hand.is_slow and self._slow() < MAX_SLOW:
            hand.is_slow = True
            self._fill_up()
        if hand.is_slow and not phase.is_wall and self._slow() >= self._cores:
            hand.make_way()  # fewer leave the others a core
        grace = WALL_GRACE_SECONDS if phase.is_wall else GRACE_SECONDS
        is_over = used > phase.limit_micros + grace * 1e6
        if is_over or seconds > STARVED_FACTOR * (phase.limit_micros / 1e6 + 1):
            hand.stopped_in = phase if is_over else phase._replace(name="own")
            hand.kill()

    def _slow(self) -> int:
        return sum(hand.is_slow for hand in self._hands)


def _run(coroutine: Coroutine[Any, Any, None], tasks: set[asyncio.Task[None]]) -> None:
    task = asyncio.get_running_loop().create_task(coroutine)
    tasks.add(task)
    task.add_done_callback(tasks.discard)


def _of_lost(hand: Hand) -> Answer | None:
    """Say what it means for its question that a worker is gone; None if it had not begun on it."""
    stopped = hand.stopped_in
    phase = stopped or hand.phase()
    name = phase.name if phase else "own"
    if name == "idle":
        return None
    if stopped is None:
        if name == "prediction":
            return Answer(Outcome.RESOURCE_LIMIT, "The query ended the process it ran in.", {})
        return Answer(Outcome.VERIFIER_ERROR, "The check ended its process.", {})
    if name == "prediction" and stopped.is_wall:
        # The server ends queries itself; that it did not come to it says nothing of this one.
        name = "server"
    return Answer(*_OVERDUE[name], {})


_OVERDUE: Final = {
    "prediction": (Outcome.TIMEOUT, "The query was stopped: the time is used up."),
    "server": (Outcome.VERIFIER_ERROR, "The server did not answer in time."),
    "gold": (Outcome.BAD_SPEC, "The gold or its database takes too long."),
    "own": (Outcome.UNDECIDED, "Not decided in the time there is."),
}
"""What it means that a worker was stopped in a phase."""


def _fail(question: _Question, said: str) -> None:
    if not question.answer.done():
        with suppress(asyncio.InvalidStateError):
            question.answer.set_exception(PoolError(said))
