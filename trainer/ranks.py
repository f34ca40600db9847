"""Which of several processes this one is, under `torchrun` or `accelerate launch`."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from trainer.hardware import Hardware


@dataclass(frozen=True, slots=True)
class Rank:
    """The place of this process among its peers; alone, it is rank 0."""

    index: int
    local_index: int

    @classmethod
    def from_environment(cls) -> Self:
        """Read what the launcher set."""
        return cls(int(os.environ.get("RANK", "0")), int(os.environ.get("LOCAL_RANK", "0")))

    @property
    def is_main(self) -> bool:
        """Whether this process is the one that writes and speaks."""
        return self.index == 0

    def device(self, hardware: Hardware) -> str:
        """Name the device that is this process's own."""
        return "cpu" if hardware.device == "cpu" else f"cuda:{self.local_index}"
