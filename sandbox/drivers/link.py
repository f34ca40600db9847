"""The service's end of a slot: frames there and back, and whether anybody is still there.

Frames are taken in by a task of their own, so a wait for one may be given up at any moment without
losing the place in the stream.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from sandbox.driver import CellBrokenError
from sandbox.runner import frames

if TYPE_CHECKING:
    from pathlib import Path

SILENCE_SECONDS: Final = 20.0
"""A supervisor sends something every second while it runs a job; beyond this it is broken."""
_BUFFER_BYTES: Final = 1 << 20
_CHUNK: Final = 1 << 18

Frame = tuple[dict[str, Any], bytes]


class Link:
    """A connection to one supervisor."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        self._frames: asyncio.Queue[Frame | None] = asyncio.Queue()
        self._fault = ""
        self._task = asyncio.create_task(self._take_in(reader))

    @property
    def is_broken(self) -> bool:
        """Whether nothing can come any more."""
        return self._task.done()

    def send(self, kind: str, body: bytes = b"", **header: object) -> None:
        """Send a frame; that the other end is gone shows when the answer is waited for."""
        if not self._writer.is_closing():  # uvloop raises then, where asyncio does not
            self._writer.write(frames.pack(kind, body, **header))

    async def receive(self) -> Frame:
        """Wait for the next frame that is news."""
        while True:
            try:
                async with asyncio.timeout(SILENCE_SECONDS):
                    frame = await self._frames.get()
            except TimeoutError as error:
                raise CellBrokenError("the supervisor of the slot is silent") from error
            if frame is None:
                self._frames.put_nowait(None)  # for whoever asks next
                raise CellBrokenError(self._fault or "the slot's container has ended")
            if frame[0]["kind"] != "beat":
                return frame

    async def ask(self, kind: str, answer: str, body: bytes = b"", **header: object) -> Frame:
        """Send a frame and wait for its answer."""
        self.send(kind, body, **header)
        return await self.await_answer(answer)

    async def await_answer(self, kind: str) -> Frame:
        """Wait for a frame of a kind; what belongs to an earlier run is passed over."""
        while True:
            frame = await self.receive()
            if frame[0]["kind"] == kind:
                return frame

    async def close(self) -> None:
        """Hang up, on which the container ends."""
        self._writer.close()
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task
        with suppress(OSError):
            await self._writer.wait_closed()

    async def _take_in(self, reader: asyncio.StreamReader) -> None:
        received = frames.Reader()
        try:
            while data := await reader.read(_CHUNK):
                received.feed(data)
                while frame := received.next():
                    if frame[0]["kind"] == "broken":
                        self._fault = f"the slot cannot work: {frame[0]['why']}"
                    self._frames.put_nowait(frame)
            self._writer.close()
        except OSError:
            self._writer.close()
        except frames.FrameError as error:
            self._fault = f"the slot does not speak as agreed: {error}"
        finally:
            self._frames.put_nowait(None)


async def accept(path: Path) -> tuple[asyncio.Server, asyncio.Future[Link]]:
    """Listen for one supervisor, on a path that is not there; the future is its link."""
    loop = asyncio.get_running_loop()
    first: asyncio.Future[Link] = loop.create_future()

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if first.done():
            writer.close()
        else:
            first.set_result(Link(reader, writer))

    server = await asyncio.start_unix_server(connected, path, limit=_BUFFER_BYTES)
    return server, first
