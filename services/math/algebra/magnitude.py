"""How large a value can become, told from its tree before anything is computed."""

from __future__ import annotations

from math import exp2, inf
from typing import TYPE_CHECKING, Final

from services.math import tree

if TYPE_CHECKING:
    from services.math.tree import Value

MAX_SIZE: Final = 30_000
"""Bits of the largest value that sympy is given."""
MAX_STEPS: Final = 1_000
"""Terms of the longest sum that sympy is given."""
_MAX_LOG_SIZE: Final = 99  # more than is allowed, and not too much for a float


def size_of(value: Value, symbol: float) -> float:
    """Return about how many bits the value can take, where a symbol takes so many.

    Infinite as soon as it is more than sympy is given.
    """
    if isinstance(value, tree.Number):
        size: float = value.value.numerator.bit_length() + value.value.denominator.bit_length()
    elif isinstance(value, tree.Symbol | tree.Constant):
        size = symbol
    else:
        sizes = [size_of(part, symbol) for part in tree.children(value)]
        size = sum(sizes)
        if isinstance(value, tree.Call):
            size = _size_of_call(value.name, sizes)
        elif isinstance(value, tree.Power) and isinstance(value.exponent, tree.Number):
            size = sizes[0] * max(1.0, abs(float(value.exponent.value)))
        elif isinstance(value, tree.Power):
            size = sizes[0] * exp2(min(sizes[1], _MAX_LOG_SIZE))
    return inf if size > MAX_SIZE else size


def _size_of_call(name: str, sizes: list[float]) -> float:
    if name == "prod":
        return sizes[0] * MAX_STEPS
    if name in {"exp", "sinh", "cosh", "tanh", "coth", "sech", "csch"}:
        return exp2(min(sizes[0], _MAX_LOG_SIZE))
    if name in {"factorial", "binom"}:
        return sizes[0] * exp2(min(sizes[0 if name == "factorial" else -1], _MAX_LOG_SIZE))
    return sum(sizes)
