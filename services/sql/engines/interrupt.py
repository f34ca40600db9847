"""Interrupt calls into C after so much CPU time of this process, by a thread that looks on."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LOOK_SECONDS: Final = 0.02


class Fuse:
    """One call that may take so long."""

    def __init__(self, interrupt: Callable[[], None], seconds: float) -> None:
        self.has_fired = False
        self._interrupt = interrupt
        self._ends = time.process_time() + seconds

    def look(self) -> None:
        """Interrupt the call if its time is used up."""
        if time.process_time() > self._ends:
            self.has_fired = True
            self._interrupt()


class Interrupter:
    """The thread; it starts with the first call, and sleeps while there is none.

    One call at a time. To start a thread for each would double the time of small ones.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._fuse: Fuse | None = None
        self._has_fuse = threading.Event()
        self._thread: threading.Thread | None = None

    @contextmanager
    def after(self, interrupt: Callable[[], None], seconds: float) -> Iterator[Fuse]:
        """Have the body interrupted after so much time, and not what comes after it."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._look_on, daemon=True)
            self._thread.start()
        fuse = Fuse(interrupt, seconds)
        with self._lock:
            self._fuse = fuse
        self._has_fuse.set()
        try:
            yield fuse
        finally:
            with self._lock:
                self._fuse = None

    def _look_on(self) -> None:
        while True:
            self._has_fuse.wait()
            time.sleep(LOOK_SECONDS)
            with self._lock:
                if self._fuse is None:
                    self._has_fuse.clear()
                else:
                    self._fuse.look()
