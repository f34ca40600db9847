"""A judge that does as it is told, so that the pool can be seen to cope."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

from rewarden.contracts import Outcome
from services.sql.judge import Judgement
from services.sql.trial import Clock


class Puppet:
    """Reads the completion as an order: `spin PHASE`, `sleep PHASE`, `die PHASE`, `stumble PHASE` (which
    dies the first time) or any other."""

    def __init__(self, root: Path, clock: Clock, _: int) -> None:
        self._root = root
        self._clock = clock

    def judge(self, _: object, text: str) -> Judgement:
        verb, _, phase = text.partition(" ")
        with self._clock.phase(phase or "own", 0.2, is_wall=verb == "sleep"):
            getattr(self, f"_{verb}", lambda: None)()
        details: dict[str, Any] = {"pid": os.getpid()}
        return Judgement(Outcome.CORRECT, text, details)

    def _spin(self) -> None:
        sum(range(10**12))  # one call into C that looks at nothing

    def _sleep(self) -> None:
        time.sleep(60)

    def _die(self) -> None:
        os._exit(3)

    def _stumble(self) -> None:
        mark = self._root / "stumbled"
        if not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)

    def _raise(self) -> None:
        raise RuntimeError

    def _swell(self) -> None:
        bytearray(1 << 40)
