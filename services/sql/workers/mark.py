"""What a worker is doing, in memory that it shares with the service.

Five numbers: a count that is odd while they change, the phase, the clock when it began and how
long it may take (microseconds), and whether that clock is the wall's.
"""

from __future__ import annotations

import time
from struct import Struct
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    import mmap

MARK: Final = Struct("=QQQQQ")
MARK_BYTES: Final = MARK.size
PHASES: Final = ("idle", "own", "gold", "prediction")


class Phase(NamedTuple):
    """A phase that is under way."""

    name: str
    began_micros: int
    limit_micros: int
    is_wall: bool


class Mark:
    """One end of the mark."""

    def __init__(self, memory: mmap.mmap) -> None:
        self._memory = memory
        self._cells = memoryview(memory).cast("Q")

    def write(self, name: str, seconds: float, *, is_wall: bool) -> None:
        """Begin a phase now, with so many seconds."""
        began = time.monotonic_ns() if is_wall else time.process_time_ns()
        cells = self._cells
        cells[0] += 1
        cells[1] = PHASES.index(name)
        cells[2] = began // 1_000
        cells[3] = int(seconds * 1e6)
        cells[4] = is_wall
        cells[0] += 1

    def read(self) -> Phase | None:
        """Return the phase; None while it changes."""
        cells = self._cells
        count = cells[0]
        phase = Phase(PHASES[cells[1]], cells[2], cells[3], bool(cells[4]))
        return None if count % 2 or cells[0] != count else phase

    def close(self) -> None:
        """Give the memory back."""
        self._cells.release()
        self._memory.close()
