"""The line in front of the slots: whoever came first gets the next slot, and nobody overtakes."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rewarden.errors import ServiceBusyError

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(slots=True, eq=False)
class Slot:
    """A place for one job at a time."""

    number: int
    jobs: int = 0
    """How many it has had since it was new."""
    is_suspect: bool = False
    """Whether something went wrong that a fresh one would not carry on."""


Ticket = asyncio.Future[Slot]
"""A place in the line; its result is the slot."""


class Line:
    """Free slots on one side, tickets on the other; one of the two is always empty."""

    def __init__(self, slots: Iterable[Slot], max_waiting: int) -> None:
        self._free = deque(slots)
        self._waiting: deque[Ticket] = deque()
        self._max_waiting = max_waiting

    @property
    def free(self) -> int:
        """How many slots nobody uses."""
        return len(self._free)

    @property
    def waiting(self) -> int:
        """How many tickets have no slot yet."""
        return len(self._waiting)

    def join(self) -> Ticket:
        """Take the last place in the line; `ServiceBusyError` if it is as long as it may be."""
        ticket: Ticket = asyncio.get_running_loop().create_future()
        if self._free:
            ticket.set_result(self._free.popleft())
        elif len(self._waiting) >= self._max_waiting:
            msg = f"{len(self._waiting)} jobs are waiting already, as many as may"
            raise ServiceBusyError(msg)
        else:
            self._waiting.append(ticket)
        return ticket

    def leave(self, ticket: Ticket) -> None:
        """Give up a ticket, and the slot that it may have got."""
        if ticket in self._waiting:
            self._waiting.remove(ticket)
        if not ticket.done():
            ticket.cancel()
        elif not ticket.cancelled() and ticket.exception() is None:
            self.give(ticket.result())

    def give(self, slot: Slot) -> None:
        """Hand a slot to the first in the line, or keep it for the next."""
        while self._waiting:
            ticket = self._waiting.popleft()
            if not ticket.done():  # whoever held it may just have been cancelled
                ticket.set_result(slot)
                return
        self._free.append(slot)

    def disappoint(self, error: Exception) -> None:
        """Tell all who wait that there will be no slot."""
        while self._waiting:
            ticket = self._waiting.popleft()
            if not ticket.done():
                ticket.set_exception(error)
