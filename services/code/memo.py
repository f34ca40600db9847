"""Remembers judgements by content: groups repeat programs, and each is run once.

Whoever asks for what is being judged already waits for that. Faults of ours, and endings that a
clock decided, are not kept.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import TYPE_CHECKING, Final

from rewarden.contracts import Outcome

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from services.code.tally import Judgement

MAX_KEPT: Final = 4_096


class Memo:
    """Judgements by key; holds at most `size`, the longest unused one goes first."""

    def __init__(self, size: int = MAX_KEPT) -> None:
        self._size = size
        self._kept: OrderedDict[bytes, Judgement] = OrderedDict()
        self._under_way: dict[bytes, asyncio.Future[Judgement]] = {}

    async def get(
        self, key: bytes, judge: Callable[[], Awaitable[Judgement]]
    ) -> tuple[Judgement, bool]:
        """Return the judgement, and whether an earlier one was taken."""
        while True:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key], True
            if key not in self._under_way:
                return await self._judge(key, judge), False
            done = await asyncio.wait({self._under_way[key]})
            found = next(iter(done[0]))
            if not found.cancelled() and found.exception() is None:
                return found.result(), True

    async def _judge(self, key: bytes, judge: Callable[[], Awaitable[Judgement]]) -> Judgement:
        waiting: asyncio.Future[Judgement] = asyncio.get_running_loop().create_future()
        self._under_way[key] = waiting
        try:
            found = await judge()
        except BaseException:
            waiting.cancel()
            raise
        finally:
            del self._under_way[key]
        waiting.set_result(found)
        if found.is_repeatable and found.outcome is not Outcome.VERIFIER_ERROR:
            self._kept[key] = found
            if len(self._kept) > self._size:
                self._kept.popitem(last=False)
        return found
