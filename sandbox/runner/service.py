"""The supervisor's line to the service."""

from __future__ import annotations

import socket
from typing import Any, Final

from sandbox.runner import frames
from sandbox.runner.descriptors import HungUpError

_CHUNK: Final = 1 << 16
"""Small enough for the allocator to keep the memory: more would be mapped anew each time."""


class Service:
    """A connection on which frames come and go; `HungUpError` when the service is gone."""

    def __init__(self, place: str) -> None:
        """Call at a path; a number is that of a descriptor which is connected already."""
        if place.isdecimal():
            self._socket = socket.socket(fileno=int(place))
            self._socket.set_inheritable(False)
        else:
            self._socket = socket.socket(socket.AF_UNIX)
            self._socket.connect(place)
        self._frames = frames.Reader()

    def fileno(self) -> int:
        """Return what to wait on."""
        return self._socket.fileno()

    def read(self) -> None:
        """Read what is there, or wait for something."""
        try:
            data = self._socket.recv(_CHUNK)
        except ConnectionResetError:
            data = b""
        if not data:
            raise HungUpError("the service is gone")
        self._frames.feed(data)

    def next(self) -> tuple[dict[str, Any], bytes] | None:
        """Return a frame that has been read."""
        return self._frames.next()

    def wait(self) -> tuple[dict[str, Any], bytes]:
        """Wait for a frame."""
        while (frame := self._frames.next()) is None:
            self.read()
        return frame

    def send(self, frame: bytes) -> None:
        """Send a frame."""
        try:
            self._socket.sendall(frame)
        except (BrokenPipeError, ConnectionResetError) as error:
            raise HungUpError("the service is gone") from error
