"""One worker process: checks the samples it is sent, one after the other, until it is told to go.

A frame is a length (four bytes) and JSON in UTF-8, where lone surrogates pass. A job is a line
`[spec, text]` a sample; its answer `[leaving, [answer, …]]` covers the first sample and as many
more as were done within `JOB_SECONDS`; whoever sent the job sends the rest again. An answer is
`[kind, seconds, …]`, seconds of CPU time, where the kind is one of

    judged   followed by the members of the judgement
    spent    the CPU time of one sample is used up
    memory   the memory is used up
    failed   the judge raised; the cause is logged

`[leaving]` is true after an interruption. It may have come anywhere, in the middle of a change to
a cache or to a setting of a library, so this interpreter judges nothing any more.

Nothing here stops C code that does not return: the parent does, by the mark in shared memory.
"""

from __future__ import annotations

import json
import logging
import resource
import time
from struct import Struct
from typing import TYPE_CHECKING, Any, Final, Protocol

from pydantic_core import from_json, to_json

from rewarden.contracts import Outcome
from services.math.workers.budget import Budget, BudgetSpentError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from socket import socket

logger = logging.getLogger(__name__)

HEAD: Final = Struct("!I")
JOB_SECONDS: Final = 0.01
"""A job ends after this much wall time, so that a slow sample does not hold up those after it."""
MARK_BITS: Final = 48
"""The mark is one number, so that it is read in one piece: the place of the sample under way in
its job, and in the low bits the CPU clock of the process (in microseconds) when it began."""
READY: Final = b"[false, []]"
"""The first frame of a worker."""

_LAST_RESORT_SECONDS: Final = 2
_write: Final = json.JSONEncoder(ensure_ascii=False).encode


class Judging(Protocol):
    """What is run: `services.math.judge.Judge`, or a test's own."""

    def judge(self, spec: object, text: str) -> Sequence[Any]:
        """Return outcome, reason, details and whether it was known, all fit for JSON."""
        ...


class Worker:
    """The loop of one process."""

    def __init__(
        self, judge: Judging, connection: socket, mark: memoryview, budget_seconds: float
    ) -> None:
        self._judge = judge
        self._connection = connection
        self._mark = mark
        self._seconds = budget_seconds
        self._budget = Budget()
        self._worn = False
        self._cpu_hard = resource.getrlimit(resource.RLIMIT_CPU)[1]

    def run(self) -> None:
        """Answer jobs until the other end is closed, or this process is worn."""
        self._budget.install()
        self._send(READY)
        stream = self._connection.makefile("rb")
        while not self._worn:
            head = stream.read(HEAD.size)
            if len(head) < HEAD.size:
                return
            job = stream.read(*HEAD.unpack(head))
            self._send(self._answer_job(job.split(b"\n")))

    def _send(self, body: bytes) -> None:
        self._connection.sendall(HEAD.pack(len(body)) + body)

    def _answer_job(self, lines: list[bytes]) -> bytes:
        answers: list[bytes] = []
        ends = time.perf_counter() + JOB_SECONDS
        for place, line in enumerate(lines):
            answers.append(self._answer(place, line))
            if self._worn or time.perf_counter() > ends:
                break
        return b"[%b, [%b]]" % (b"true" if self._worn else b"false", b", ".join(answers))

    def _answer(self, place: int, line: bytes) -> bytes:
        began = time.thread_time_ns()
        self._begin(place)
        try:
            answer = self._check(line, began)
        except BudgetSpentError:
            answer = _json("spent", began)
        except MemoryError:
            self._worn = True
            answer = _json("memory", began)
        except Exception:
            logger.exception("the check of a sample failed")
            answer = _json("spent" if self._budget.spent else "failed", began)
        self._mark[0] = 0
        self._worn = self._worn or self._budget.spent
        return answer

    def _check(self, line: bytes, began: int) -> bytes:
        with self._budget.limit(self._seconds):
            spec, text = _read(line)
            outcome, reason, details, cached = self._judge.judge(spec, text)
        if Outcome(outcome) is not Outcome.UNDECIDED and self._budget.spent:
            # What caught the interruption went on from there: it may leave open, not decide.
            raise BudgetSpentError
        return _json("judged", began, outcome, reason, details, cached)

    def _begin(self, place: int) -> None:
        # The clock that the parent can read. While a limit is set the kernel moves it by ticks.
        began = time.process_time_ns()
        # The kernel ends what runs on although parent and nursery are gone.
        soft = int(began / 1e9 + self._seconds) + _LAST_RESORT_SECONDS
        if self._cpu_hard == resource.RLIM_INFINITY or soft <= self._cpu_hard:
            resource.setrlimit(resource.RLIMIT_CPU, (soft, self._cpu_hard))
        self._mark[0] = place << MARK_BITS | began // 1_000


# pydantic's JSON is three times as fast as Python's, but refuses lone surrogates, integers of
# thousands of digits and deep nesting.
def _read(line: bytes) -> list[Any]:
    try:
        read: list[Any] = from_json(line)
    except ValueError:
        read = json.loads(line.decode("utf-8", "surrogatepass"))
    return read


def _json(kind: str, began: int, *rest: object) -> bytes:
    seconds = (time.thread_time_ns() - began) / 1e9
    try:
        return to_json([kind, seconds, *rest])
    except ValueError:
        return _write([kind, seconds, *rest]).encode("utf-8", "surrogatepass")
