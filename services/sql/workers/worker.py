"""One worker process: answers what it is asked, one after the other, until the other end closes.

A frame is a length (four bytes) and JSON in ASCII. A question is `[kind, argument, …]`, kind the
name of a method of the judge; its answer is `[goes_on, outcome, reason, details, cached, score,
seconds]`: whether the process goes on, and seconds of CPU time. The worker says in shared memory what it is doing (`services.sql.workers.mark`);
to stop it is up to the service.
"""

from __future__ import annotations

import json
import logging
import os
import resource
import time
from contextlib import contextmanager
from struct import Struct
from typing import TYPE_CHECKING, Any, Final, Protocol

from pydantic_core import to_jsonable_python

from rewarden.contracts import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator
    from socket import socket

    from services.sql.workers.mark import Mark

logger = logging.getLogger(__name__)

HEAD: Final = Struct("!I")
READY: Final = b"[]"
_LAST_RESORT_SECONDS: Final = 3
_KINDS: Final = ("judge", "audit", "register", "register_file", "clear", "sweep")


class Judging(Protocol):
    """What is run: `services.sql.judge.Judge`, or a test's own."""

    def judge(self, spec: object, text: str) -> Any:  # noqa: ANN401 - a judgement
        """Return outcome, reason, details, whether it was known, and a partial score."""
        ...


class MarkClock:
    """The clock of a judge that writes to the mark."""

    def __init__(self, mark: Mark) -> None:
        self._mark = mark
        self._cpu_hard = resource.getrlimit(resource.RLIMIT_CPU)[1]

    @contextmanager
    def phase(self, name: str, seconds: float, *, is_wall: bool) -> Iterator[None]:
        """Begin a phase; what follows it is our own time."""
        # The kernel ends what runs on although the service is gone.
        soft = int(time.process_time() + seconds) + _LAST_RESORT_SECONDS
        if self._cpu_hard == resource.RLIM_INFINITY or soft <= self._cpu_hard:
            resource.setrlimit(resource.RLIMIT_CPU, (soft, self._cpu_hard))
        self._mark.write(name, seconds, is_wall=is_wall)
        try:
            yield
        finally:
            self._mark.write("own", OWN_SECONDS, is_wall=False)


OWN_SECONDS: Final = 10.0


class Worker:
    """The loop of one process."""

    def __init__(self, judge: Judging, connection: socket, mark: Mark) -> None:
        self._judge = judge
        self._connection = connection
        self._mark = mark

    def run(self) -> None:
        """Answer until the other end is closed, or memory has run out."""
        self._mark.write("idle", 0, is_wall=False)
        self._send(READY)
        stream = self._connection.makefile("rb")
        while len(head := stream.read(HEAD.size)) == HEAD.size:
            question = stream.read(*HEAD.unpack(head))
            if not self._answer(question):
                return

    def _send(self, body: bytes) -> None:
        self._connection.sendall(HEAD.pack(len(body)) + body)

    def _answer(self, question: bytes) -> bool:
        """Answer; whether this process can go on."""
        began = time.thread_time_ns()
        self._mark.write("own", OWN_SECONDS, is_wall=False)
        can_go_on = True
        try:
            kind, *arguments = json.loads(question)
            method = getattr(self._judge, _KINDS[_KINDS.index(kind)])
            judgement = list(method(*arguments))
        except MemoryError:
            can_go_on = False
            # It may be ours that ran out, so that nothing is said about the prediction.
            judgement = [Outcome.UNDECIDED, "The memory of the check ran out.", {}, False, None]
        except Exception:
            logger.exception("the check of a sample failed")
            judgement = _failed()
        seconds = (time.thread_time_ns() - began) / 1e9
        self._mark.write("idle", 0, is_wall=False)
        self._send(
            json.dumps([can_go_on, *judgement, seconds], default=to_jsonable_python).encode()
        )
        return can_go_on


def _failed() -> list[Any]:
    reason = "The SQL verifier failed on this sample; its log has the cause."
    return [Outcome.VERIFIER_ERROR, reason, {}, False, None]


def end() -> None:
    """Leave at once: nothing here is worth the time of an orderly end."""
    os._exit(0)
