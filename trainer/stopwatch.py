"""Where the seconds of a training step went."""

from __future__ import annotations

from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class Stopwatch:
    """Adds up named laps until they are taken."""

    def __init__(self) -> None:
        self._seconds: dict[str, float] = {}

    @contextmanager
    def lap(self, name: str) -> Iterator[None]:
        """Add the time that the block takes to `name`."""
        begun = perf_counter()
        try:
            yield
        finally:
            self._seconds[name] = self._seconds.get(name, 0.0) + perf_counter() - begun

    def take(self) -> dict[str, float]:
        """Return the laps so far and start over."""
        taken, self._seconds = self._seconds, {}
        return taken
