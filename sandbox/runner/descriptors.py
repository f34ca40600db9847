"""Short messages with open files attached, between the processes of a slot."""

from __future__ import annotations

import select
import socket
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

MESSAGE_BYTES: Final = 256
_MOST: Final = 8


class HungUpError(RuntimeError):
    """The other process is gone."""


def pair() -> tuple[socket.socket, socket.socket]:
    """Make two ends that keep messages whole."""
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def send(end: socket.socket, message: bytes, descriptors: Sequence[int] = ()) -> None:
    """Send a message of at most `MESSAGE_BYTES`, with copies of open files."""
    try:
        socket.send_fds(end, [message], descriptors)
    except (BrokenPipeError, ConnectionResetError) as error:
        raise HungUpError("the other process is gone") from error


def receive(end: socket.socket) -> tuple[bytes, list[int]]:
    """Wait for a message and what is attached to it."""
    try:
        message, descriptors, _, _ = socket.recv_fds(end, MESSAGE_BYTES, _MOST)
    except ConnectionResetError as error:
        raise HungUpError("the other process is gone") from error
    if not message:
        raise HungUpError("the other process is gone")
    return message, descriptors


def check(end: socket.socket) -> None:
    """Raise `HungUpError` if the other process is gone; it has nothing to say now."""
    waiting = select.poll()
    waiting.register(end, select.POLLIN)
    if waiting.poll(0):
        raise HungUpError("the other process is gone")


def await_readable(descriptor: int, seconds: float) -> None:
    """Wait until something can be read; `TimeoutError` if that takes too long."""
    waiting = select.poll()
    waiting.register(descriptor, select.POLLIN)
    if not waiting.poll(seconds * 1000):
        raise TimeoutError(f"nothing came within {seconds:g} s")
