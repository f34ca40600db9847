"""What crosses the socket between the service and a supervisor: a header in JSON, and raw bytes.

A frame is two lengths of four bytes (big-endian), the header, and the body. Both ends are ours; the
bodies may hold what an untrusted program wrote, and are never looked into here.
"""

from __future__ import annotations

import json
import struct
from typing import Any, Final

PROTOCOL: Final = 2
"""Counts up with every change of what is said; images are built apart from the service."""
LENGTHS: Final = struct.Struct(">II")
MAX_HEADER_BYTES: Final = 16 * 1024 * 1024
MAX_BODY_BYTES: Final = 128 * 1024 * 1024


class FrameError(RuntimeError):
    """The other end does not speak this protocol."""


def pack(kind: str, body: bytes | bytearray = b"", **header: object) -> bytes:
    """Make a frame."""
    head = json.dumps({"kind": kind, **header}).encode()
    return b"".join((LENGTHS.pack(len(head), len(body)), head, body))


def lengths(prefix: bytes) -> tuple[int, int]:
    """Read the two lengths; `FrameError` if they are absurd."""
    head, body = LENGTHS.unpack(prefix)
    if head > MAX_HEADER_BYTES or body > MAX_BODY_BYTES:
        raise FrameError(f"a frame of {head} and {body} bytes")
    return head, body


def parse(head: bytes, body: bytes) -> tuple[dict[str, Any], bytes]:
    """Return a frame's header and body; `FrameError` if the header is none."""
    try:
        header = json.loads(head)
    except ValueError as error:
        raise FrameError("a header that is not JSON") from error
    if not isinstance(header, dict) or not isinstance(header.get("kind"), str):
        raise FrameError("a header without a kind")
    return header, body


class Reader:
    """Cuts what comes in, in pieces of any size, into frames."""

    def __init__(self) -> None:
        self._pending = bytearray()

    def feed(self, data: bytes) -> None:
        """Take what was read."""
        self._pending += data

    def next(self) -> tuple[dict[str, Any], bytes] | None:
        """Return the next frame's header and body, once all of it is there."""
        if len(self._pending) < LENGTHS.size:
            return None
        head, body = lengths(bytes(self._pending[: LENGTHS.size]))
        end = LENGTHS.size + head + body
        if len(self._pending) < end:
            return None
        header = bytes(self._pending[LENGTHS.size : LENGTHS.size + head])
        content = bytes(self._pending[LENGTHS.size + head : end])
        del self._pending[:end]
        return parse(header, content)
