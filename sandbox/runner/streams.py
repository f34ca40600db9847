"""The supervisor's ends of a run's streams: none of them ever waits for the program."""

from __future__ import annotations

import os
import select
import socket
from contextlib import suppress
from typing import Final

_CHUNK: Final = 1 << 16
_MAX_LINE_BYTES: Final = 1024 * 1024 + 4096


class BabbleError(RuntimeError):
    """The program answered more than it was asked, or without end."""


class Feed:
    """Standard input."""

    events: Final = select.EPOLLOUT

    def __init__(self, descriptor: int, content: bytes) -> None:
        os.set_blocking(descriptor, False)
        self.descriptor = descriptor
        self._rest = memoryview(content)

    def react(self) -> bool:
        """Write what there is room for; whether there is more."""
        try:
            while self._rest:
                self._rest = self._rest[os.write(self.descriptor, self._rest[: 4 * _CHUNK]) :]
        except BlockingIOError:
            return True
        except BrokenPipeError:  # it does not read on, which is its business
            return False
        return False

    def close(self) -> None:
        """Let the program read to an end."""
        os.close(self.descriptor)


class Output:
    """Standard output or error, of which no more than so much is kept."""

    events: Final = select.EPOLLIN

    def __init__(self, descriptor: int, limit_bytes: int) -> None:
        os.set_blocking(descriptor, False)
        self.descriptor = descriptor
        self.content = bytearray()
        self.is_truncated = False
        self._limit = limit_bytes

    def react(self) -> bool:
        """Read what is there; whether there may be more."""
        try:
            data = os.read(self.descriptor, _CHUNK)
        except BlockingIOError:
            return True
        room = self._limit - len(self.content)
        self.content += data[:room]
        self.is_truncated = self.is_truncated or len(data) > room
        return bool(data)

    def read_to_the_end(self) -> None:
        """Take what is left when every writer is dead."""
        while not self.is_truncated and self.react():
            pass

    def close(self) -> None:
        """Let go."""
        os.close(self.descriptor)


class Calls:
    """The socket on which a program is called: a line there, a line back."""

    def __init__(self, end: socket.socket) -> None:
        end.setblocking(False)
        self._end = end
        self.descriptor = end.fileno()
        self.answers: list[bytes] = []
        self._open = 0
        self._unsent = bytearray()
        self._line = bytearray()

    @property
    def events(self) -> int:
        """What to wait for."""
        return select.EPOLLIN | (select.EPOLLOUT if self._unsent else 0)

    def put(self, line: bytes) -> None:
        """Send a call, now or when there is room."""
        self._open += 1
        self._unsent += line
        self._flush()

    def end(self) -> None:
        """There are no more calls."""
        with suppress(OSError):
            self._end.shutdown(socket.SHUT_WR)

    def react(self) -> bool:
        """Send and read what is possible; whether the program may still answer."""
        self._flush()
        try:
            data = self._end.recv(_CHUNK)
        except BlockingIOError:
            return True
        except OSError:  # it ended with calls unread
            return False
        *lines, rest = (bytes(self._line) + data).split(b"\n")
        self._line = bytearray(rest)
        self._open -= len(lines)
        if self._open < 0 or len(rest) > _MAX_LINE_BYTES:
            raise BabbleError
        self.answers += lines
        return bool(data)

    def read_to_the_end(self) -> None:
        """Take what is left when the program is dead."""
        with suppress(BabbleError):
            while self.react():
                pass

    def close(self) -> None:
        """Let go."""
        self._end.close()

    def _flush(self) -> None:
        try:
            while self._unsent:
                del self._unsent[: self._end.send(self._unsent)]
        except BlockingIOError:
            return
        except OSError:  # it is ending, or has closed its end
            self._unsent.clear()
