"""Several clients of one sandbox as one: what a client spends on a job grows with its open jobs."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING, Final

from sandbox.client import SandboxClient

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from sandbox.events import Event
    from sandbox.jobs import Job

JOBS_A_LINE: Final = 16
MAX_JOBS: Final = 64
"""Jobs under way at a time; the sandbox has a line of its own for those it has no slot for."""


class Lines:
    """Clients of one sandbox, of which the first with room does a job."""

    def __init__(self, address: str, api_key: str | None) -> None:
        """`address` is http(s)://… or unix:/path/of/socket."""
        self._address, self._api_key = address, api_key
        self._clients = [SandboxClient(address, api_key)]
        self._open = [0]

    async def stream(self, job: Job) -> AsyncGenerator[Event, None]:
        """Have a job done, and give each event as it comes, `Ended` last."""
        line = self._line()
        self._open[line] += 1
        try:
            async with aclosing(self._clients[line].stream(job)) as events:
                async for event in events:
                    yield event
        finally:
            self._open[line] -= 1

    def _line(self) -> int:
        for line, count in enumerate(self._open):
            if count < JOBS_A_LINE:
                return line
        self._clients.append(SandboxClient(self._address, self._api_key))
        self._open.append(0)
        return len(self._open) - 1

    async def aclose(self) -> None:
        """Close connections."""
        for client in self._clients:
            await client.aclose()
