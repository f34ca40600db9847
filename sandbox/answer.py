"""The answer to a job, written while the job runs; hanging up ends the job."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from fastapi import Response
from fastapi.responses import JSONResponse

from sandbox.events import Event, result_of, write_event, write_result

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from sandbox.progress import Progress

LINES: Final = "application/x-ndjson"
MAX_RESULT_BYTES: Final = 64 * 1024 * 1024
"""Of output in one `JobResult`, which is whole in memory; lines have no such limit."""


class JobAnswer(Response):
    """Lines as they come; or one `JobResult`, if JSON is accepted and lines are not."""

    def __init__(self, progress: Progress, accept: str) -> None:
        super().__init__()
        self._progress = progress
        self._is_whole = "application/json" in accept and LINES not in accept

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Write the answer until it is whole, or nobody is there to read it."""
        writing = asyncio.create_task(self._write(scope, receive, send))
        leaving = asyncio.create_task(_wait_until_gone(receive))
        try:
            await asyncio.wait({writing, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._progress.abandon()
            writing.cancel()
            leaving.cancel()
            ends = await asyncio.gather(writing, leaving, return_exceptions=True)
        for end in ends:
            if isinstance(end, Exception):
                raise end

    async def _write(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._is_whole:
            await (await self._whole())(scope, receive, send)
        else:
            await self._write_lines(send)

    async def _write_lines(self, send: Send) -> None:
        headers = [(b"content-type", LINES.encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        async for event in self._progress:
            line = write_event(event)
            await send({"type": "http.response.body", "body": line, "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    async def _whole(self) -> Response:
        events: list[Event] = []
        size = 0
        async for event in self._progress:
            events.append(event)
            size += _output_bytes(event)
            if size > MAX_RESULT_BYTES:
                said = f"There is more output than {MAX_RESULT_BYTES} bytes: accept {LINES}."
                return JSONResponse({"detail": said}, 406)
        return Response(write_result(result_of(events)), media_type="application/json")


def _output_bytes(event: Event) -> int:
    seen = getattr(event, "observation", None)
    return len(seen.stdout) + len(seen.stderr) if seen else 0


async def _wait_until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
