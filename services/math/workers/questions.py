"""What waits for a worker: the samples of each caller, and the answers that came so far."""

from __future__ import annotations

import asyncio
import json
import logging
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pydantic_core import to_json, to_jsonable_python

from rewarden.contracts import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

logger = logging.getLogger(__name__)

MAX_JOB_BYTES: Final = 1 << 20
MAX_JOB_SAMPLES: Final = 32

# As it is, not in ASCII: two lone surrogates side by side would be read as one character.
_write: Final = json.JSONEncoder(ensure_ascii=False, default=to_jsonable_python).encode


class Answer(NamedTuple):
    """What became of one question."""

    outcome: Outcome
    reason: str
    details: dict[str, Any]
    cached: bool
    seconds: float
    """CPU time of the check."""

    @classmethod
    def without(cls, outcome: Outcome, reason: str, seconds: float = 0.0) -> Answer:
        """Make the answer where no check came to its end."""
        return cls(outcome, reason, {}, cached=False, seconds=seconds)


FAILED: Final = Answer.without(
    Outcome.VERIFIER_ERROR, "The math verifier failed on this sample; its log has the cause."
)


class Batch:
    """The questions of one caller."""

    def __init__(self, size: int) -> None:
        self.answers: list[Answer] = [FAILED] * size
        self.left = size
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    @property
    def is_wanted(self) -> bool:
        """Whether the caller still waits."""
        return not self.done.done()

    def put(self, place: int, answer: Answer) -> None:
        """Keep one answer; with the last one the batch is done."""
        self.answers[place] = answer
        self.left -= 1
        if not self.left and self.is_wanted:
            self.done.set_result(None)


class Question:
    """One sample on its way. It is in the line or in one job, never in both."""

    __slots__ = ("_line", "_spec", "_text", "batch", "losses", "number", "place")

    def __init__(self, number: int, batch: Batch, place: int, spec: object, text: str) -> None:
        self.number = number
        self.batch = batch
        self.place = place
        self.losses = 0
        """Workers that ended on it."""
        self._spec = spec
        self._text = text
        self._line: bytes | None = None

    @property
    def line(self) -> bytes:
        """The line of a job that asks it."""
        if self._line is None:
            self._line = _written([self._spec, self._text])
        return self._line

    def settle(self, answer: Answer) -> None:
        """Hand the answer to the caller."""
        self.batch.put(self.place, answer)


class Line:
    """Questions that wait, first come first served."""

    def __init__(self) -> None:
        self._waiting: list[tuple[int, Question]] = []  # a heap, by arrival
        self._arrivals = 0
        self._open: set[Batch] = set()

    def join(self, asked: Sequence[tuple[object, str]]) -> Batch:
        """Put the pairs of spec and text at the end."""
        batch = Batch(len(asked))
        self._open.add(batch)
        batch.done.add_done_callback(lambda _: self._open.discard(batch))
        for place, pair in enumerate(asked):
            self._arrivals += 1
            heappush(self._waiting, (self._arrivals, Question(self._arrivals, batch, place, *pair)))
        return batch

    def put_back(self, questions: Iterable[Question]) -> None:
        """Put questions that were taken back to where they stood."""
        for question in questions:
            if question.batch.is_wanted:
                heappush(self._waiting, (question.number, question))

    def take(self, sharers: int) -> list[Question]:
        """Take a fair share for one of `sharers` workers; nothing if nobody waits.

        A question that a worker ended on is taken alone.
        """
        size = min(MAX_JOB_SAMPLES, -(-len(self._waiting) // sharers))
        taken: list[Question] = []
        taken_bytes = 0
        while self._waiting and len(taken) < size and taken_bytes < MAX_JOB_BYTES:
            if taken and self._waiting[0][1].losses:
                break
            question = heappop(self._waiting)[1]
            if question.batch.is_wanted and _is_writable(question):
                taken.append(question)
                taken_bytes += len(question.line)
                if question.losses:
                    break
        return taken

    def fail(self, error: Exception) -> None:
        """Send every caller away, also those whose questions are out."""
        for batch in self._open:
            if batch.is_wanted:
                batch.done.set_exception(error)
        self._waiting.clear()


def _written(pair: list[object]) -> bytes:
    try:
        return to_json(pair, inf_nan_mode="constants")  # three times as fast
    except ValueError:  # a lone surrogate
        return _write(pair).encode("utf-8", "surrogatepass")


def _is_writable(question: Question) -> bool:
    try:
        return bool(question.line)
    except (TypeError, ValueError, RecursionError):
        logger.exception("a spec that JSON cannot write")
        question.settle(FAILED)
        return False
