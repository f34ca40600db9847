"""What stops a numeric computation, and how much work it may do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

Approximation = Any
"""A real or complex number of mpmath's, or one of its contexts: it has no types."""

MAX_MAGNITUDE: Final = 1 << 20
"""Bits before or after the point of a value."""
MAX_WORK: Final = 100_000
"""For one comparison, all points together; a plain node is one."""


class OutOfBoundsError(ValueError):
    """A number of astronomical size."""


class SkipError(Exception):
    """Not defined, or not real, at this point. Never leaves `services.math.algebra.numeric`."""


class UnknownError(Exception):
    """Out of reach. Never leaves `services.math.algebra.numeric`."""


@dataclass(slots=True)
class Work:
    """What is left of the budget."""

    left: int = MAX_WORK

    def spend(self, amount: int) -> None:
        """Take a part; raise `UnknownError` where there is not enough."""
        self.left -= amount
        if self.left < 0:
            raise UnknownError
