"""A run in progress, for the launchers: like `execution`, with a process tree that is theirs alone.

Whoever made the tree knows how to begin and to kill it (`Tree`). The frames that are
spoken with the service during a run, and the one that ends it, are those of the supervisor.
"""

from __future__ import annotations

import select
import time
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from sandbox.runner import descriptors, frames
from sandbox.runner.guard import Budget, Guard
from sandbox.runner.streams import BabbleError, Calls, Feed, Output

if TYPE_CHECKING:
    import socket

    from sandbox.runner.metering import Group

_CHUNK: Final = 1 << 16
_BEAT_SECONDS: Final = 1.0


class Order(NamedTuple):
    """What the service wants to be run; from the header of its frame."""

    argv: list[str]
    environment: dict[str, str]
    is_called: bool
    cpu_seconds: float
    wall_seconds: float
    memory_bytes: int
    processes: int
    output_bytes: int
    disk_bytes: int
    files: int

    @classmethod
    def read(cls, header: dict[str, Any]) -> Order:
        """Take what is needed of a supervisor's order."""
        return cls(**{name: header[name] for name in cls._fields})


class Ending(NamedTuple):
    """How the main process ended."""

    wait_status: int | None
    cpu_seconds: float = 0.0
    """Of the tree, as its parent saw it; where the group knows better, nothing."""
    fault: str = ""
    """Why the program never began; ours to answer for."""


class Channel(Protocol):
    """The way to the service: a socket, or what looks like one."""

    def recv(self, size: int, /) -> bytes:
        """Wait for bytes; none at the end."""
        ...

    def sendall(self, data: bytes, /) -> None:
        """Send bytes."""
        ...

    def fileno(self) -> int:
        """Return a descriptor that is readable when something comes."""
        ...


class Tree(Protocol):
    """The processes of a run."""

    watch: int
    """Readable when the main process has ended."""
    streams: tuple[int, int, int]
    """Our ends of standard input, output and error; whoever watches closes them."""
    calls: socket.socket

    def release(self, order: Order) -> None:
        """Let the program begin."""
        ...

    def kill(self) -> None:
        """Kill all of it; may be called again."""
        ...

    def finish(self) -> Ending:
        """Kill what is left, wait until nothing is, and let go; may be called again."""
        ...


class Watch:
    """Watches one tree from its begin to its end."""

    def __init__(
        self,
        tree: Tree,
        group: Group,
        order: Order,
        service: Channel,
        reader: frames.Reader,
    ) -> None:
        """Watch a tree that is not released yet; `reader` may hold what came after the order."""
        self._tree = tree
        self._group = group
        self._service = service
        self._budget = Budget(order.cpu_seconds, order.wall_seconds)
        self._guard = Guard(group, self._budget)
        self._frames = reader
        self._poll = select.epoll()
        self._outputs = [Output(end, order.output_bytes) for end in tree.streams[1:]]
        self._streams: dict[int, Feed | Output | Calls] = {}
        self._calls = Calls(tree.calls) if order.is_called else None
        self._cause = ""
        self._is_over = False
        self._beaten = time.monotonic()

    def run(self, stdin: bytes) -> bytes:
        """Watch to the end, and return the frame that tells of it."""
        guard = self._guard
        try:
            self._begin(stdin)
            while not self._is_over:
                self._turn(guard)
            ending = self._tree.finish()
            wall_seconds = guard.wall_seconds
            self._read_to_the_end()
        except BaseException:
            self._tree.kill()
            self._tree.finish()
            raise
        finally:
            for stream in self._streams.values():
                stream.close()
            self._poll.close()
        cpu_seconds = max(guard.cpu_seconds, ending.cpu_seconds)
        cause = self._cause or guard.look_back()
        if not cause and cpu_seconds > self._budget.cpu_seconds:
            cause = "cpu"
        return self._told(ending, cause, cpu_seconds, wall_seconds)

    def _begin(self, stdin: bytes) -> None:
        streams: list[Feed | Output | Calls] = [Feed(self._tree.streams[0], stdin), *self._outputs]
        if self._calls is not None:
            streams.append(self._calls)
        for stream in streams:
            self._streams[stream.descriptor] = stream
            self._poll.register(stream.descriptor, stream.events)
        for descriptor in (self._tree.watch, self._service.fileno()):
            self._poll.register(descriptor, select.EPOLLIN)
        self._obey_all()

    def _turn(self, guard: Guard) -> None:
        for descriptor, _ in self._poll.poll(guard.next_look_seconds()):
            if descriptor == self._tree.watch:
                self._is_over = True
            elif descriptor == self._service.fileno():
                self._hear()
            elif descriptor in self._streams:
                self._move(self._streams[descriptor])
        if not self._is_over and not self._cause and (limit := guard.look()):
            self._stop(limit)
        if time.monotonic() - self._beaten > _BEAT_SECONDS:
            self._beaten = time.monotonic()
            self._service.sendall(frames.pack("beat"))

    def _stop(self, cause: str) -> None:
        self._cause = self._cause or cause
        self._tree.kill()

    def _move(self, stream: Feed | Output | Calls) -> None:
        try:
            goes_on = stream.react()
        except BabbleError:
            self._stop("babble")
            goes_on = False
        if isinstance(stream, Output) and stream.is_truncated:
            self._stop("output")
        self._pass_answers()
        if goes_on:
            self._poll.modify(stream.descriptor, stream.events)
        else:
            self._poll.unregister(stream.descriptor)
            del self._streams[stream.descriptor]
            stream.close()

    def _pass_answers(self) -> None:
        if self._calls is not None:
            for line in self._calls.answers:
                self._service.sendall(frames.pack("answer", line))
            self._calls.answers.clear()

    def _hear(self) -> None:
        """Obey the service; an order may cross with the end of what it is about."""
        data = self._service.recv(_CHUNK)
        if not data:
            raise descriptors.HungUpError("the service is gone")
        self._frames.feed(data)
        self._obey_all()

    def _obey_all(self) -> None:
        while frame := self._frames.next():
            self._obey(frame[0]["kind"], frame[1])

    def _obey(self, kind: str, body: bytes) -> None:
        calls = self._calls
        if kind == "stop":
            self._stop("stopped")
        elif calls is None or calls.descriptor not in self._streams:
            return
        elif kind == "call":
            calls.put(body)
            self._poll.modify(calls.descriptor, calls.events)
        elif kind == "last":
            calls.end()

    def _read_to_the_end(self) -> None:
        """No process is left that could write more."""
        for stream in self._streams.values():
            if not isinstance(stream, Feed):
                stream.read_to_the_end()
        self._pass_answers()
        if not self._cause and any(output.is_truncated for output in self._outputs):
            self._cause = "output"

    def _told(self, ending: Ending, cause: str, cpu: float, wall: float) -> bytes:
        out, err = self._outputs
        measured: dict[str, Any] = {
            "stdout_bytes": len(out.content),
            "truncated": [out.is_truncated, err.is_truncated],
            "wait_status": ending.wait_status,
            "fault": ending.fault,
            "cause": cause,
            "cpu_seconds": cpu,
            "wall_seconds": wall,
            "peak_memory_bytes": self._group.peak_memory_bytes(),
            "process_limit_hits": self._group.process_limit_hits(),
            "network_attempts": 0,
        }
        return frames.pack("ended", out.content + err.content, **measured)
