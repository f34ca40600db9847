r"""Read sets of real numbers: intervals, sets joined by union and the like, solved inequalities.

Covered: `(1, 2]`, `\{1, 2\}`, `R`, the empty set, unions, intersections and differences,
`\{x \mid x > 3\}`, `x \in [0, 1)`, and relations in one symbol, with absolute values too. Linear
ones are solved here, exactly (`2x > \pi`). Quotients of polynomials with rational coefficients, of
degree 6 at most when multiplied out, are solved by the signs between their roots, which
`services.math.algebra.symbolic` finds (`x^2 < 4`, `(x-1)/(x+2) \ge 0`, `x^3 > 2`).

Not covered, and so None: several symbols, `sin x > 0`, `\sqrt x < 2`, `2^x > 8`, cubics without a
rational root, sets of integers (`x \in Z`), approximate relations, and equations that are not
linear, since what solves those may not be real. Points of a set and ends of an interval may hold
symbols, which `services.math.algebra.realset` can only compare as they are written.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING, Final

from services.math.algebra import realset, symbolic
from services.math.algebra.realset import EMPTY, INFINITY, REALS, Interval, RealSet, exact, rational
from services.math.tree import (
    VALUES,
    Builder,
    Call,
    Combination,
    Constant,
    Either,
    NamedSet,
    Number,
    Power,
    Product,
    Relation,
    Sequence,
    Sum,
    Symbol,
    Tree,
    Value,
    children,
    walk,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from services.math.algebra.realset import Order

_Term = tuple[Fraction, Value]
_Operation = Callable[[RealSet, RealSet], RealSet]

_MAX_NODES: Final = 300
_MAX_DEPTH: Final = 40
_MAX_MODULI: Final = 4
_COMPARISONS: Final = frozenset({"=", "!=", "<", ">", "<=", ">="})
_MIRRORED: Final = {"=": "=", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<="}
_SPLIT: Final = {"=": ("<=", ">="), "!=": ("<", ">")}
_UNREAL_CALLS: Final = frozenset({"pm", "mp"})
_UNREAL_CONSTANTS: Final = frozenset({"i", "infinity"})


class NotASet:
    """The tree is no set and no relation, but a value, a point, a list of values or text."""


@dataclass(frozen=True, slots=True)
class Solution:
    """A set of real numbers, and the unknown that it was solved for, if there is one."""

    symbol: str | None
    reals: RealSet


class _UndecidedError(Exception):
    """A set or relation that this module cannot read."""


def from_tree(
    tree: Tree, order: Order, *, pairs_are_intervals: bool = True
) -> Solution | NotASet | None:
    """Read a tree as a set of real numbers; None for a set that cannot be read.

    `(a, b)` is an interval only where `pairs_are_intervals` or where a set must stand, as in a
    union. A pair whose ends are known not to ascend is a point, and so `NotASet`; with other
    brackets it is undecided, since an empty set was hardly meant.

    A list of relations is read as "and", or where nothing satisfies all of them as "or". It is
    undecided where one of them follows from another, which gives no hint at what was meant.
    """
    try:
        _check_size(tree)
        return _Reader(order).read(tree, pairs_are_sets=pairs_are_intervals)
    except _UndecidedError:
        return None


def _check_size(tree: Tree) -> None:
    waiting = [(tree, 0)]
    seen = 0
    while waiting:
        node, depth = waiting.pop()
        seen += 1
        if seen > _MAX_NODES or depth > _MAX_DEPTH:
            raise _UndecidedError
        waiting.extend((part, depth + 1) for part in _parts(node))


def _parts(tree: Tree) -> tuple[Tree, ...]:
    if isinstance(tree, VALUES):
        return children(tree)
    if isinstance(tree, Sequence):
        return tree.items
    if isinstance(tree, Relation):
        return tree.operands
    if isinstance(tree, Builder):
        return (tree.head, *tree.conditions)
    return tree.parts if isinstance(tree, Either | Combination) else ()


def _known(reals: RealSet | None) -> RealSet:
    if reals is None:
        raise _UndecidedError
    return reals


class _Reader:
    """Reads trees of checked size; raises `_UndecidedError` where it cannot."""

    def __init__(self, order: Order) -> None:
        self._order = order

    def read(self, tree: Tree, *, pairs_are_sets: bool) -> Solution | NotASet:
        if isinstance(tree, Sequence):
            return self._read_sequence(tree, pairs_are_sets=pairs_are_sets)
        if isinstance(tree, Relation):
            return self._read_relation(tree)
        if isinstance(tree, Either):
            parts = [self.read(part, pairs_are_sets=pairs_are_sets) for part in tree.parts]
            return self._joined(parts, self._union)
        if isinstance(tree, Builder):
            return Solution(None, self._read_builder(tree))
        if isinstance(tree, NamedSet | Combination):
            return self._read_conjunction(tree) or Solution(None, self._read_set(tree))
        return NotASet()

    def _read_conjunction(self, tree: NamedSet | Combination) -> Solution | NotASet | None:
        """Read `x > 2 and x < 5`; who joins what nothing satisfies with "and" may mean "or"."""
        if isinstance(tree, NamedSet) or not any(isinstance(p, Relation) for p in tree.parts):
            return None
        parts = [self.read(part, pairs_are_sets=True) for part in tree.parts]
        if tree.operator != "intersection":
            raise _UndecidedError
        found = self._joined(parts, self._intersection)
        if isinstance(found, Solution) and found.reals == EMPTY:
            raise _UndecidedError
        return found

    def _read_set(self, tree: Tree) -> RealSet:
        """Read what must be a set without an unknown."""
        if isinstance(tree, NamedSet):
            return _known({"R": REALS, "empty": EMPTY}.get(tree.name))
        if isinstance(tree, Combination):
            operation = {
                "union": self._union,
                "intersection": self._intersection,
                "difference": self._difference,
            }[tree.operator]
            return reduce(operation, [self._read_set(part) for part in tree.parts])
        found = self.read(tree, pairs_are_sets=True)
        if isinstance(found, NotASet) or found.symbol is not None:
            raise _UndecidedError
        return found.reals

    def _union(self, a: RealSet, b: RealSet) -> RealSet:
        return realset.union(a, b, self._order)

    def _intersection(self, a: RealSet, b: RealSet) -> RealSet:
        return _known(realset.intersection(a, b, self._order))

    def _difference(self, a: RealSet, b: RealSet) -> RealSet:
        return _known(realset.difference(a, b, self._order))

    def _read_sequence(self, tree: Sequence, *, pairs_are_sets: bool) -> Solution | NotASet:
        if tree.left == "":
            return self._read_list(tree.items, pairs_are_sets=pairs_are_sets)
        if len(tree.items) == 1 and isinstance(tree.items[0], Relation):
            return self._read_relation(tree.items[0])
        values = [item for item in tree.items if isinstance(item, VALUES)]
        if len(values) < len(tree.items):
            return NotASet()
        if tree.left == "{":
            points = [realset.point(_end(value)) for value in values]
            if any(realset.is_infinite(at.low) for at in points):
                raise _UndecidedError
            return Solution(None, realset.of(points, self._order))
        is_pair = tree.left == "(" and tree.right == ")"
        if len(values) != 2 or tree.left not in "([" or (is_pair and not pairs_are_sets):
            return NotASet()
        interval = Interval(_end(values[0]), _end(values[1]), tree.left == "[", tree.right == "]")
        return self._read_interval(interval, is_pair=is_pair)

    def _read_interval(self, interval: Interval, *, is_pair: bool) -> Solution | NotASet:
        found = realset.of([interval], self._order)
        if found == EMPTY and is_pair:
            return NotASet()
        closed = Interval(interval.low, interval.high, low_closed=True, high_closed=True)
        if found == EMPTY and realset.of([closed], self._order) == EMPTY:
            raise _UndecidedError
        return Solution(None, found)

    def _read_list(self, items: tuple[Tree, ...], *, pairs_are_sets: bool) -> Solution | NotASet:
        parts = [self.read(item, pairs_are_sets=pairs_are_sets) for item in items]
        found = self._joined(parts, self._union)
        if isinstance(found, NotASet):
            return found
        if found.symbol is None:
            raise _UndecidedError
        sets = [part.reals for part in parts if isinstance(part, Solution) and part.reals != REALS]
        common = reduce(self._intersection, sets, REALS)
        if len(sets) > 1 and any(realset.same(common, part, self._order) for part in sets):
            raise _UndecidedError
        return found if common == EMPTY else Solution(found.symbol, common)

    def _joined(self, parts: list[Solution | NotASet], operation: _Operation) -> Solution | NotASet:
        """Join what is about one unknown, or about none."""
        found = [part for part in parts if isinstance(part, Solution)]
        if not found:
            return NotASet()
        if len(found) < len(parts) or len({part.symbol for part in found}) > 1:
            raise _UndecidedError
        return Solution(found[0].symbol, reduce(operation, [part.reals for part in found]))

    def _read_builder(self, tree: Builder) -> RealSet:
        is_typed = isinstance(tree.head, Relation)
        head = tree.head.operands[0] if isinstance(tree.head, Relation) else tree.head
        if not isinstance(head, Symbol):
            raise _UndecidedError
        conditions = (tree.head, *tree.conditions) if is_typed else tree.conditions
        return reduce(
            self._intersection, [self._read_condition(part, head) for part in conditions], REALS
        )

    def _read_condition(self, tree: Tree, head: Symbol) -> RealSet:
        if isinstance(tree, Sequence) and tree.left == "":
            parts = [self._read_condition(item, head) for item in tree.items]
            return reduce(self._intersection, parts, REALS)
        found = self.read(tree, pairs_are_sets=True)
        if isinstance(found, NotASet) or found.symbol != head.name:
            raise _UndecidedError
        return found.reals

    def _read_relation(self, tree: Relation) -> Solution:
        if tree.operators in {("in",), ("notin",)}:
            return self._read_membership(tree)
        operands = [operand for operand in tree.operands if isinstance(operand, VALUES)]
        if len(operands) < len(tree.operands) or not _COMPARISONS.issuperset(tree.operators):
            raise _UndecidedError
        symbol = _unknown(operands)
        sets = [
            _Solver(symbol, self._order).solve(left, operator, right)
            for (left, right), operator in zip(pairwise(operands), tree.operators, strict=True)
        ]
        return Solution(symbol.name, reduce(self._intersection, sets))

    def _read_membership(self, tree: Relation) -> Solution:
        unknown, where = tree.operands
        if not isinstance(unknown, Symbol):
            raise _UndecidedError
        reals = self._read_set(where)
        if tree.operators == ("notin",):
            reals = self._difference(REALS, reals)
        return Solution(unknown.name, reals)


def _unknown(operands: Iterable[Value]) -> Symbol:
    symbols = {node for value in operands for node in walk(value) if isinstance(node, Symbol)}
    if len(symbols) != 1:
        raise _UndecidedError
    return symbols.pop()


def _end(value: Value) -> Value:
    """Return the end of an interval, computed where it is rational."""
    if isinstance(value, Number | Symbol) or realset.is_infinite(value):
        return value
    _check_real(value)
    number = rational(value)
    return value if number is None else exact(number)


def _check_real(value: Value) -> None:
    """Refuse what is surely no single real number, and powers of 0."""
    for node in walk(value):
        if isinstance(node, Constant) and node.name in _UNREAL_CONSTANTS:
            raise _UndecidedError
        if isinstance(node, Call) and node.name in _UNREAL_CALLS:
            raise _UndecidedError
        if isinstance(node, Power) and rational(node.base) == 0:
            raise _UndecidedError


class _Solver:
    """Solves relations in one symbol; raises `_UndecidedError` where it cannot."""

    def __init__(self, symbol: Symbol, order: Order) -> None:
        self._symbol = symbol
        self._order = order
        self._is_equation = False

    def solve(self, left: Value, operator: str, right: Value) -> RealSet:
        for a, b in ((left, right), (right, left)):
            if realset.is_infinite(a):
                return self._solve_bound(a, b, operator if a is left else _MIRRORED[operator])
        _check_real(left)
        _check_real(right)
        if sum(map(_is_modulus, (*walk(left), *walk(right)))) > _MAX_MODULI:
            raise _UndecidedError
        self._is_equation = operator == "="
        terms = [*_terms(left, Fraction(1)), *_terms(right, Fraction(-1))]
        return self._solve_terms(terms, operator)

    def _solve_bound(self, infinite: Value, other: Value, operator: str) -> RealSet:
        """Solve `infinity > x` and the like, which only says that x is a number."""
        if other != self._symbol or operator == "=":
            raise _UndecidedError
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
        return _known(join(a, b, self._order))

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
            raise _UndecidedError
        if value.value:
            return realset.by_signs([], [value.value > 0], operator)
        return REALS if operator in {"=", "<=", ">="} else EMPTY

    def _solve_by_signs(self, value: Value, operator: str) -> RealSet:
        """Solve `top / bottom operator 0` by the signs between the roots of both."""
        signs = symbolic.signs(value, self._symbol)
        if signs is None or self._is_equation:
            raise _UndecidedError
        line = realset.of(map(realset.point, signs.edges), self._order)
        if len(line.intervals) < len(signs.edges) or not line.is_ordered:
            raise _UndecidedError
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
