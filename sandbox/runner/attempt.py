"""One run, from its order to its end: streams are fed and drained, limits kept, calls passed on.

Nothing that the program writes is interpreted here. What it answers to a call is handed to the
service a line at a time, and only when a call is open; more than that ends the run.
"""

from __future__ import annotations

import marshal
import os
import select
import socket
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple

from sandbox.runner import descriptors, frames, isolation
from sandbox.runner.guard import Budget, Guard
from sandbox.runner.metering import Limits
from sandbox.runner.streams import BabbleError, Calls, Feed, Output

if TYPE_CHECKING:
    from collections.abc import Callable

    from sandbox.runner.network import Network
    from sandbox.runner.room import Start
    from sandbox.runner.service import Service

_BEAT_SECONDS: Final = 1.0


class Order(NamedTuple):
    """What the service wants to be run; the header of its frame."""

    argv: list[str]
    environment: dict[str, str] | None
    """None for what the warm interpreter was started with."""
    main: str | None
    """A Python file for the warm interpreter; None to execute `argv`."""
    is_called: bool
    """Whether descriptor 3 is a socket for calls."""
    cpu_seconds: float
    wall_seconds: float
    memory_bytes: int
    processes: int
    output_bytes: int
    disk_bytes: int
    files: int


class Attempt:
    """A run in progress."""

    def __init__(
        self, order: Order, start: Start, service: Service, network: Network, user: int
    ) -> None:
        self._order = order
        self._start = start
        self._service = service
        self._network = network
        self._user = user
        self._poll = select.epoll()
        self._streams: dict[int, Feed | Output | Calls] = {}
        self._outputs: list[Output] = []
        self._calls: Calls | None = None
        self._cause = ""
        self._is_over = False
        self._is_killed = False
        self._beaten = time.monotonic()

    def run(
        self, stdin: bytes, meanwhile: Callable[[], None], end: Callable[[Start], int]
    ) -> bytes:
        """Run to the end, and return the frame that tells of it.

        `meanwhile` is done as soon as the run has begun: it must be short. When the program has
        ended, `end` ends all that is left of the run, and returns the program's wait status.
        """
        self._start.group.change(Limits(self._order.memory_bytes, self._order.processes))
        guard = Guard(self._start.group, Budget(self._order.cpu_seconds, self._order.wall_seconds))
        try:
            self._begin(stdin)
            meanwhile()
            while not self._is_over:
                self._turn(guard)
            wall_seconds = guard.wall_seconds
            status = end(self._start)
            self._read_to_the_end()
        finally:
            for stream in self._streams.values():
                stream.close()
            self._poll.close()
        cause = self._cause or guard.look_back()
        return self._told(
            wait_status=None if self._is_killed else status,
            cause=cause,
            cpu_seconds=guard.cpu_seconds,
            wall_seconds=wall_seconds,
            network_attempts=self._network.count(),
        )

    def _begin(self, stdin: bytes) -> None:
        with isolation.owning_files_as(self._user):  # so that /dev/stdin can be opened
            (given_in, feed), (out, given_out), (err, given_err) = (os.pipe() for _ in range(3))
        given = [given_in, given_out, given_err]
        self._outputs = [Output(end, self._order.output_bytes) for end in (out, err)]
        streams: list[Feed | Output | Calls] = [Feed(feed, stdin), *self._outputs]
        if self._order.is_called:
            ours, theirs = socket.socketpair()
            given.append(theirs.detach())
            self._calls = Calls(ours)
            streams.append(self._calls)
        for descriptor in (self._start.watch, self._service.fileno()):
            self._poll.register(descriptor, select.EPOLLIN)
        for stream in streams:
            self._streams[stream.descriptor] = stream
            self._poll.register(stream.descriptor, stream.events)
        plan = os.memfd_create("plan")
        os.write(plan, marshal.dumps(self._order._asdict()))
        descriptors.send(self._start.control, b"go", [plan, *given])
        for descriptor in (plan, *given):
            os.close(descriptor)
        self._obey()  # what came together with the order

    def _turn(self, guard: Guard) -> None:
        for descriptor, _ in self._poll.poll(guard.next_look_seconds()):
            if descriptor == self._start.watch:
                self._is_over = True
            elif descriptor == self._service.fileno():
                self._hear()
            elif descriptor in self._streams:
                self._move(self._streams[descriptor])
        if not self._is_over and not self._cause and (limit := guard.look()):
            self._stop(limit)
        if time.monotonic() - self._beaten > _BEAT_SECONDS:
            self._beaten = time.monotonic()
            self._service.send(frames.pack("beat"))

    def _stop(self, cause: str) -> None:
        self._cause = self._cause or cause
        self._is_killed = True
        self._start.kill()

    def _move(self, stream: Feed | Output | Calls) -> None:
        try:
            goes_on = stream.react()
        except BabbleError:
            self._stop("babble")
            goes_on = False
        if isinstance(stream, Output) and stream.is_truncated:
            self._stop("output")
        if isinstance(stream, Calls):
            self._pass_answers(stream)
        if goes_on:
            self._poll.modify(stream.descriptor, stream.events)
        else:
            self._poll.unregister(stream.descriptor)
            del self._streams[stream.descriptor]
            stream.close()

    def _pass_answers(self, calls: Calls) -> None:
        for line in calls.answers:
            self._service.send(frames.pack("answer", line))
        calls.answers.clear()

    def _hear(self) -> None:
        """Obey the service; an order may cross with the end of what it is about."""
        self._service.read()
        self._obey()

    def _obey(self) -> None:
        while frame := self._service.next():
            kind, calls = frame[0]["kind"], self._calls
            if kind == "stop":
                self._stop("stopped")
            elif calls is None or calls.descriptor not in self._streams:
                continue
            elif kind == "call":
                calls.put(frame[1])
                self._poll.modify(calls.descriptor, calls.events)
            elif kind == "last":
                calls.end()

    def _read_to_the_end(self) -> None:
        for stream in self._streams.values():
            if not isinstance(stream, Feed):
                stream.read_to_the_end()
        if self._calls is not None:
            self._pass_answers(self._calls)
        if not self._cause and any(output.is_truncated for output in self._outputs):
            self._cause = "output"

    def _told(self, **measured: float | str | None) -> bytes:
        out, err = self._outputs
        group = self._start.group
        return frames.pack(
            "ended",
            out.content + err.content,
            stdout_bytes=len(out.content),
            truncated=[out.is_truncated, err.is_truncated],
            fault=self._fault(),
            peak_memory_bytes=group.peak_memory_bytes(),
            process_limit_hits=group.process_limit_hits(),
            **measured,
        )

    def _fault(self) -> str:
        """Return what hindered us to begin the program; nothing if it began."""
        self._start.control.setblocking(False)
        with suppress(BlockingIOError, descriptors.HungUpError):
            word = descriptors.receive(self._start.control)[0]
            return word.decode(errors="replace")
        return ""
