"""Exact normal forms of values: equal forms are equal values.

`same` and `compare` answer True (proven equal), False (proven different) or None (not known).

Covered: rational functions of symbols; radicals of rational numbers; `i`; `pi` and `e`;
exponentials with any base; trigonometric and hyperbolic functions and their identities; logarithms
of positive numbers and of symbols; factorials and binomials; polynomial and geometric sums. Unknown
functions, roots and logarithms of sums are generators keyed by their arguments: equal arguments
give equal values, and nothing is proven different by them.

Two values are equal where both are defined and real: `(x^2-1)/(x-1)` is `x+1`. Nothing is assumed
of the sign of a symbol: `sqrt(x^2)` is `|x|`, and `ln(x^2)` against `2 ln x`, or `sqrt(x*y)`
against `sqrt(x)*sqrt(y)`, is None. `form(..., positive=True)` is a second reading, in which symbols
and radicands are positive and all of these are equal; a caller that takes its True must look at
other points too. Its False needs no more: different for positive symbols is different. Symbols
whose name begins with `z` or `w` may be complex.

`log` without a base keeps it open: `log 8 = 3 log 2` holds, `log 1000 = 3` is None. Values are
proven different on the assumption that `pi`, `e`, logarithms of primes and the like have no
algebraic relation (Schanuel's conjecture).

Errors: `TooLargeError`, `UndefinedError` (division by zero, infinity inside arithmetic). Infinity
on its own is a value.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Final, Literal

from services.math.algebra.elementary import logarithm
from services.math.algebra.polynomial import (
    ONE,
    TURN,
    Atom,
    Monomial,
    Polynomial,
    Rational,
    Ring,
    TooLargeError,
    UndefinedError,
    add,
    generators,
    multiply,
    times,
)
from services.math.algebra.quotient import (
    Quotient,
    constant,
    divide,
    number,
)
from services.math.algebra.reader import Reader
from services.math.tree import Number

if TYPE_CHECKING:
    from collections.abc import Iterable

    from services.math.tree import Value

__all__ = [
    "Form",
    "TooLargeError",
    "UndefinedError",
    "compare",
    "form",
    "is_free_of_symbols",
    "proportional",
    "rational",
    "same",
]

Base = Literal[10, "e"] | None
"""The base of a bare `log`; None where it stays open."""

_TERMS: Final = frozenset(ONE.items())


@dataclass(slots=True, unsafe_hash=True)
class Form:
    """A normal form; hashable, never changed, and equal only where the values are."""

    top: Final[frozenset[tuple[Monomial, Rational]]]
    bottom: Final[frozenset[tuple[Monomial, Rational]]] = _TERMS
    positive: Final[bool] = False
    atoms: Final[dict[str, Atom]] = field(default_factory=dict, compare=False, repr=False)


def form(value: Value, *, positive: bool = False, log_base: Base = None) -> Form:
    """Return the normal form of `value`."""
    if type(value) is Number:
        return Form(frozenset(number(value.value).top.items()), positive=positive)
    ring = Ring(positive)
    if log_base is not None:
        ring.unstated = ONE if log_base == "e" else logarithm(ring, number(10)).top
    top, bottom = Reader(ring).bound(value)
    return Form(frozenset(top.items()), _frozen(bottom), positive, ring.atoms)


def _frozen(bottom: Polynomial) -> frozenset[tuple[Monomial, Rational]]:
    return _TERMS if bottom is ONE else frozenset(bottom.items())


def compare(
    left: Value, right: Value, *, positive: bool = False, log_base: Base = None
) -> bool | None:
    """Say whether two values are equal; None where that is not known, or would take too long.

    Raises `UndefinedError` where one of them has no value.
    """
    try:
        forms = [form(each, positive=positive, log_base=log_base) for each in (left, right)]
        found = same(*forms)
        if found is None and not positive:
            forms = [form(each, positive=True, log_base=log_base) for each in (left, right)]
            found = False if same(*forms) is False else None
    except TooLargeError:
        return None
    return found


def same(left: Form, right: Form) -> bool | None:
    """Say whether two forms of the same reading have the same value, or None."""
    if left == right:
        return True
    if left.positive is not right.positive:
        return None
    if _is_in_symbols(left.top, right.top) and left.bottom == right.bottom == _TERMS:
        return False
    return _same_by_difference(left, right)


def _same_by_difference(left: Form, right: Form) -> bool | None:
    ring = _shared_ring(left, right)
    try:
        difference = add(
            multiply(ring, dict(left.top), _thawed(right)),
            multiply(ring, dict(right.top), _thawed(left)),
            -1,
        )
    except TooLargeError:
        return None
    if not difference:
        return True
    # A root that has cancelled out may have ruled positive symbols out: sqrt(-1-x)^2.
    if left.positive and not all(each.complete for each in ring.atoms.values()):
        return None
    return False if _independent(ring, difference) else None


def _is_in_symbols(*tops: Iterable[tuple[Monomial, Rational]]) -> bool:
    """Whether all are polynomials in symbols alone: unlike ones differ, and need no ring for that."""
    for top in tops:
        for monomial, _ in top:
            for generator, _ in monomial:
                if generator[0] != "$":
                    return False
    return True


def _shared_ring(left: Form, right: Form) -> Ring:
    if not left.atoms and not right.atoms:
        return Ring(left.positive)
    atoms = {**left.atoms, **right.atoms}
    reducible = any(each[0] == "R" or each == TURN for each in atoms)
    return Ring(left.positive, atoms, reducible=reducible)


def _thawed(value: Form) -> Polynomial:
    return ONE if value.bottom == _TERMS else dict(value.bottom)


def _independent(ring: Ring, polynomial: Polynomial) -> bool:
    """Say that a polynomial that is not zero has no hidden way of being zero."""
    names = generators(polynomial)
    if "b" in names and len({dict(each).get("b", 0) for each in polynomial}) > 1:
        return False
    return all(ring.atom(each).complete for each in names)


def rational(value: Form) -> Fraction | None:
    """Return the rational number that a form is, or None."""
    if value.bottom != _TERMS or len(value.top) > 1:
        return None
    for monomial, factor in value.top:
        return None if monomial else Fraction(factor)
    return Fraction(0)


def is_free_of_symbols(value: Form) -> bool:
    """Whether a form is a constant, at any depth."""
    ring = _shared_ring(value, value)
    return not (ring.symbols(dict(value.top)) | ring.symbols(dict(value.bottom)))


def proportional(left: Form, right: Form) -> Fraction | Form | None:
    """Return the constant k with `left = k * right` for the tops of two forms, or None.

    For equations, written as a form that is zero: what stands under a fraction bar does not matter,
    nor do factors that are never zero. k is a fraction wherever it is rational.
    """
    first, second = _zeros(dict(left.top)), _zeros(dict(right.top))
    if not first or not second:
        return Fraction(1) if not first and not second else None
    if _is_in_symbols(first.items(), second.items()):
        return _rational_factor(first, second)
    try:
        return _factor(_shared_ring(left, right), first, second)
    except TooLargeError:
        return None


def _rational_factor(first: Polynomial, second: Polynomial) -> Fraction | None:
    head = max(first)
    if len(first) != len(second) or head not in second:
        return None
    factor = Fraction(first[head]) / second[head]
    is_constant = all(second.get(each, 0) * factor == value for each, value in first.items())
    return factor if is_constant else None


def _zeros(top: Polynomial) -> Polynomial:
    """Clear denominators, and factors that are never zero."""
    tables = [dict(monomial) for monomial in top]
    shift: dict[str, Rational] = {}
    for generator in generators(top) - {"i"}:
        low = min(table.get(generator, 0) for table in tables)
        if low < 0 or (low and generator[0] in "pE"):
            shift[generator] = -low
    if not shift:
        return top
    return {times(tuple(sorted(shift.items())), each)[0]: value for each, value in top.items()}


def _factor(ring: Ring, first: Polynomial, second: Polynomial) -> Fraction | Form | None:
    heads = [_leading(ring, each) for each in (first, second)]
    if heads[0][0] != heads[1][0]:
        return None
    crossed = [multiply(ring, a, b[1]) for a, b in ((first, heads[1]), (second, heads[0]))]
    if crossed[0] != crossed[1]:
        return None
    top, bottom = divide(ring, heads[0][1], heads[1][1])
    known = constant(Quotient(top, bottom))
    if known is not None:
        return Fraction(known)
    return Form(frozenset(top.items()), _frozen(bottom), ring.positive, ring.atoms)


def _leading(ring: Ring, polynomial: Polynomial) -> tuple[Monomial, Polynomial]:
    """Return the largest part of the monomials that depends on symbols, and its coefficient."""
    grouped: dict[Monomial, Polynomial] = {}
    for monomial, factor in polynomial.items():
        parts: tuple[list[tuple[str, Rational]], ...] = ([], [])
        for pair in monomial:
            atom = ring.atom(pair[0])
            parts[1 if atom.complete and not atom.symbols else 0].append(pair)
        grouped.setdefault(tuple(parts[0]), {})[tuple(parts[1])] = factor
    head = max(grouped)
    return head, grouped[head]
