"""Functions that nothing more is known of: generators keyed by a name and its arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from services.math.algebra.polynomial import (
    Atom,
    Ring,
    generators,
    spelled,
)
from services.math.algebra.quotient import (
    Quotient,
    flatten,
)

Function = Callable[[Ring, list[Quotient]], Quotient | None]
"""Returns the value of a function of these arguments; None where it has no exact form."""

REAL: Final = frozenset({"abs", "floor", "sign", "factorial", "min", "max", "gcd", "lcm", "mod"})
"""Functions that are real for real numbers; of others, only calls with symbols are taken as real,
because those are compared where everything is real."""

COMPLEX: Final = frozenset({"conj", "re", "im"})
"""Functions that say that their argument is not real."""


def opaque(ring: Ring, name: str, arguments: list[Quotient]) -> Quotient:
    """Return a function that nothing is known of, as a generator."""
    flat = [flatten(ring, each) for each in arguments]
    generator = f"c{name if name.isidentifier() else repr(name)}({','.join(map(spelled, flat))})"
    if generator not in ring.atoms:
        symbols = frozenset().union(*(ring.symbols(each) for each in flat))
        real = all(ring.atom(each).real for each in set().union(*map(generators, flat)))
        real = real and name not in COMPLEX and (bool(symbols) or name in REAL)
        inside = flat[0] if name in ("arcsin", "arctan") else {}
        ring.atoms[generator] = Atom(False, False, real, symbols, inside)
    return Quotient({((generator, 1),): 1})
