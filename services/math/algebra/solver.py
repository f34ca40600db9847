"""Solve relations in one symbol over the real numbers, with absolute values too.

Linear ones are solved exactly; quotients of polynomials by the signs between their roots, which
`services.math.algebra.symbolic` finds. What is covered and what is not: see
`services.math.algebra.inequality`, which reads the relations.
"""

from __future__ import annotations

from fractions import Fraction
from math import prod
from typing import TYPE_CHECKING, Final

from services.math.algebra import realset, symbolic
from services.math.algebra.realset import EMPTY, INFINITY, REALS, RealSet, exact, rational
from services.math.tree import (
    Call,
    Constant,
    Number,
    Power,
    Product,
    Sum,
    Symbol,
    Value,
    children,
    walk,
)

if TYPE_CHECKING:
    from services.math.algebra.realset import Order

_Term = tuple[Fraction, Value]

_MAX_MODULI: Final = 4
_MIRRORED: Final = {"=": "=", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<="}
_SPLIT: Final = {"=": ("<=", ">="), "!=": ("<", ">")}
_UNREAL_CALLS: Final = frozenset({"pm", "mp"})
_UNREAL_CONSTANTS: Final = frozenset({"i", "infinity"})


class UndecidedError(Exception):
    """A set or relation that this module cannot read."""


def known(reals: RealSet | None) -> RealSet:
    """Insist on a set; None is one whose ends have no known order."""
    if reals is None:
        raise UndecidedError
    return reals


def check_real(value: Value) -> None:
    """Refuse what is surely no single real number, and powers of 0."""
    for node in walk(value):
        if isinstance(node, Constant) and node.name in _UNREAL_CONSTANTS:
            raise UndecidedError
        if isinstance(node, Call) and node.name in _UNREAL_CALLS:
            raise UndecidedError
        if isinstance(node, Power) and rational(node.base) == 0:
            raise UndecidedError


class Solver:
    """Solves relations in one symbol; raises `UndecidedError` where it cannot."""

    def __init__(self, symbol: Symbol, order: Order) -> None:
        self._symbol = symbol
        self._order = order
        self._is_equation = False

    def solve(self, left: Value, operator: str, right: Value) -> RealSet:
        """Return the numbers for which `left operator right` holds."""
        for a, b in ((left, right), (right, left)):
            if realset.is_infinite(a):
                return self._solve_bound(a, b, operator if a is left else _MIRRORED[operator])
        check_real(left)
        check_real(right)
        if sum(map(_is_modulus, (*walk(left), *walk(right)))) > _MAX_MODULI:
            raise UndecidedError
        self._is_equation = operator == "="
        terms = [*_terms(left, Fraction(1)), *_terms(right, Fraction(-1))]
        return self._solve_terms(terms, operator)

    def _solve_bound(self, infinite: Value, other: Value, operator: str) -> RealSet:
        """Solve `infinity > x` and the like, which only says that x is a number."""
        if other != self._symbol or operator == "=":
            raise UndecidedError
        is_true = operator == "!=" or (infinite == INFINITY) == (operator in {">", ">="})
        return REALS if is_true else EMPTY

    def _solve_terms(self, terms: list[_Term], operator: str) -> RealSet:
        """Solve `terms operator 0`. `k |f| + R` is the greater of `k f + R` and `-k f + R`."""
        at = next((i for i, (_, value) in enumerate(terms) if _is_modulus(value)), None)
        if at is None:
            return self._solve_sum(terms, operator)
        if operator in _SPLIT:
            first, second = (self._solve_terms(terms, part) for part in _SPLIT[operator])
            return self._joined(first, second, is_union=operator == "!=")
        scale, modulus = terms[at]
        (inner,) = children(modulus)
        rest = terms[:at] + terms[at + 1 :]
        plus, minus = (
            self._solve_terms([*rest, *_terms(inner, sign * scale)], operator) for sign in (1, -1)
        )
        return self._joined(plus, minus, is_union=(scale > 0) == (operator in {">", ">="}))

    def _joined(self, a: RealSet, b: RealSet, *, is_union: bool) -> RealSet:
        join = realset.union if is_union else realset.intersection
        return known(join(a, b, self._order))

    def _solve_sum(self, terms: list[_Term], operator: str) -> RealSet:
        slope = sum((scale for scale, value in terms if value == self._symbol), Fraction())
        rest = [(scale, value) for scale, value in terms if value != self._symbol]
        if any(self._symbol in walk(value) for _, value in rest):
            return self._solve_by_signs(_sum_of(terms), operator)
        if not slope:
            return self._solve_constant(_sum_of([term for term in rest if term[0]]), operator)
        end = _sum_of([(-scale / slope, value) for scale, value in rest if scale])
        return realset.by_signs([end], [slope < 0, slope > 0], operator)

    def _solve_constant(self, value: Value, operator: str) -> RealSet:
        """Solve `0 x > 1`: all numbers do, or none."""
        if not isinstance(value, Number):
            raise UndecidedError
        if value.value:
            return realset.by_signs([], [value.value > 0], operator)
        return REALS if operator in {"=", "<=", ">="} else EMPTY

    def _solve_by_signs(self, value: Value, operator: str) -> RealSet:
        """Solve `top / bottom operator 0` by the signs between the roots of both."""
        signs = symbolic.signs(value, self._symbol)
        if signs is None or self._is_equation:
            raise UndecidedError
        line = realset.of(map(realset.point, signs.edges), self._order)
        if len(line.intervals) < len(signs.edges) or not line.is_ordered:
            raise UndecidedError
        edges = [at.low for at in line.intervals]
        positive = [signs.is_positive_at_end]
        for edge in reversed(edges):
            positive.insert(0, positive[0] != (signs.edges[edge] % 2 == 1))
        return realset.by_signs(edges, positive, operator, signs.poles)


def _terms(value: Value, scale: Fraction) -> list[_Term]:
    """Return the terms of a value times a number, each with its rational factor taken out."""
    if isinstance(value, Sum):
        return [term for part in value.terms for term in _terms(part, scale)]
    number = rational(value)
    if number is not None:
        return [(scale * number, Number(1))]
    if not isinstance(value, Product):
        return [(scale, value)]
    numbers = [rational(factor) for factor in value.factors]
    others = [f for f, number in zip(value.factors, numbers, strict=True) if number is None]
    scale = prod((number for number in numbers if number is not None), start=scale)
    return _terms(others[0], scale) if len(others) == 1 else [(scale, Product(tuple(others)))]


def _is_modulus(value: Value) -> bool:
    return isinstance(value, Call) and value.name == "abs" and len(value.arguments) == 1


def _sum_of(terms: list[_Term]) -> Value:
    constant = sum((scale for scale, value in terms if value == Number(1)), Fraction())
    others = [(scale, value) for scale, value in terms if value != Number(1)]
    parts = [v if scale == 1 else Product((exact(scale), v)) for scale, v in others]
    if constant or not parts:
        parts.append(exact(constant))
    return parts[0] if len(parts) == 1 else Sum(tuple(parts))
