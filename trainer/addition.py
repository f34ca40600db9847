"""The toy task: sums of two numbers without a carry, and how to work one out step by step."""

from __future__ import annotations

import random
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sum:
    """Two numbers of as many digits, no pair of which adds up to ten."""

    left: int
    right: int

    @property
    def prompt(self) -> str:
        """What the model is asked."""
        return f"{self.left}+{self.right}="

    @property
    def answer(self) -> str:
        """The gold answer."""
        return str(self.left + self.right)

    @property
    def demonstration(self) -> str:
        """A worked solution in the form that the format verifier asks for."""
        pairs = zip(str(self.left), str(self.right), strict=True)
        steps = " ".join(f"{a}+{b}={int(a) + int(b)}" for a, b in pairs)
        return f"<thinking>{steps}</thinking> \\boxed{{{self.answer}}}"


def draw_sums(count: int, digits: int, seed: int) -> list[Sum]:
    """Draw `count` different sums; fewer, where there are not so many."""
    rng = random.Random(seed)  # noqa: S311 - a data set, not a secret
    wanted = min(count, count_sums(digits))
    drawn: dict[Sum, None] = {}
    while len(drawn) < wanted:
        drawn[_draw(digits, rng)] = None
    return list(drawn)


def count_sums(digits: int) -> int:
    """Count the sums there are: 36 leading pairs of digits, 55 for every other place."""
    return int(36 * 55 ** (digits - 1))


def _draw(digits: int, rng: random.Random) -> Sum:
    left = right = 0
    for place in range(digits):
        low = 1 if place == 0 else 0
        # Rejection keeps every pair equally likely.
        a, b = rng.randint(low, 9), rng.randint(low, 9)
        while a + b > 9:
            a, b = rng.randint(low, 9), rng.randint(low, 9)
        left, right = 10 * left + a, 10 * right + b
    return Sum(left, right)
