"""The toy task for code: a function of two numbers told in words, to be written in one line."""

from __future__ import annotations

import operator
import random
from itertools import product
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

_SCALES: Final = {
    "": "{0}",
    "minus ": "-{0}",
    "twice ": "2*{0}",
    "thrice ": "3*{0}",
    "square of ": "{0}*{0}",
}
_SCALED: Final[dict[str, Callable[[int], int]]] = {
    "": lambda x: x,
    "minus ": operator.neg,
    "twice ": lambda x: 2 * x,
    "thrice ": lambda x: 3 * x,
    "square of ": lambda x: x * x,
}
_SIGNS: Final = {"plus": "+", "minus": "-", "times": "*", "mod": "%"}
_JOINED: Final[dict[str, Callable[[int, int], int]]] = {
    "plus": operator.add,
    "minus": operator.sub,
    "times": operator.mul,
    "mod": operator.mod,
}
_OPERANDS: Final = ("a", "b", *"23456789")
_INPUTS: Final = ((23, 13), (10, 26), (8, 21), (27, -7))
"""No two tasks give the same values for all of them, unless they do everywhere."""


class Task(NamedTuple):
    """A scaled operand, a sign, and a second operand."""

    scale: str
    first: str
    sign: str
    second: str

    @property
    def prompt(self) -> str:
        """What the model is asked."""
        return f"{self.scale}{self.first} {self.sign} {self.second}?"

    @property
    def program(self) -> str:
        """A right answer."""
        first = _SCALES[self.scale].format(self.first)
        return f"f=lambda a,b:{first}{_SIGNS[self.sign]}{self.second}"

    @property
    def tests(self) -> dict[str, Any]:
        """Calls of `f`, and what they must return, as the code verifier takes them."""
        cases = [{"args": [a, b], "expected": self._value(a, b)} for a, b in _INPUTS]
        return {"kind": "function", "entry_point": "f", "cases": cases}

    def _value(self, a: int, b: int) -> int:
        known = {"a": a, "b": b} | {digit: int(digit) for digit in _OPERANDS[2:]}
        return _JOINED[self.sign](_SCALED[self.scale](known[self.first]), known[self.second])


def draw_tasks(seed: int) -> list[Task]:
    """Return every task there is, in an order of the seed."""
    tasks = [Task(*parts) for parts in product(_SCALES, "ab", _SIGNS, _OPERANDS)]
    random.Random(seed).shuffle(tasks)  # noqa: S311 - a data set, not a secret
    return tasks
