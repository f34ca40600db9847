"""Places for jobs, given out in turn to the batches that wait: a large batch never keeps out a small one."""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


class Turns:
    """So many places; whoever waits gets the next one that is free, one batch after the other."""

    def __init__(self, places: int) -> None:
        self._free = places
        # In the order of their turns; none is empty.
        self._waiting: dict[object, deque[asyncio.Future[None]]] = {}

    @asynccontextmanager
    async def place(self, batch: object) -> AsyncIterator[None]:
        """Wait for a place and hold it; `batch` is anything that tells batches apart."""
        if self._free:
            self._free -= 1
        else:
            await self._wait(batch)
        try:
            yield
        finally:
            self._leave()

    async def _wait(self, batch: object) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        line = self._waiting.setdefault(batch, deque())
        line.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():
                self._leave()  # the place was given in the same moment
            raise

    def _leave(self) -> None:
        while self._waiting:
            batch = next(iter(self._waiting))
            line = self._waiting.pop(batch)
            turn = line.popleft()
            if line:
                self._waiting[batch] = line  # behind the others
            if not turn.done():  # nobody has given up waiting
                turn.set_result(None)
                return
        self._free += 1
