r"""Read sets of real numbers: intervals, sets joined by union and the like, solved inequalities.

Covered: `(1, 2]`, `\{1, 2\}`, `R`, the empty set, unions, intersections and differences,
`\{x \mid x > 3\}`, `x \in [0, 1)`, and relations in one symbol, with absolute values too. Linear
ones are solved exactly (`2x > \pi`). Quotients of polynomials with rational coefficients, of
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
from functools import reduce
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from services.math.algebra import realset
from services.math.algebra.realset import EMPTY, REALS, Interval, RealSet, exact, rational
from services.math.algebra.solver import Solver, UndecidedError, check_real, known
from services.math.tree import (
    VALUES,
    Builder,
    Combination,
    Either,
    NamedSet,
    Number,
    Relation,
    Sequence,
    Symbol,
    Tree,
    Value,
    children,
    walk,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from services.math.algebra.realset import Order

_Operation = Callable[[RealSet, RealSet], RealSet]

_MAX_NODES: Final = 300
_MAX_DEPTH: Final = 40
_COMPARISONS: Final = frozenset({"=", "!=", "<", ">", "<=", ">="})


class NotASet:
    """The tree is no set and no relation, but a value, a point, a list of values or text."""


@dataclass(frozen=True, slots=True)
class Solution:
    """A set of real numbers, and the unknown that it was solved for, if there is one."""

    symbol: str | None
    reals: RealSet


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
    except UndecidedError:
        return None


def _check_size(tree: Tree) -> None:
    waiting = [(tree, 0)]
    seen = 0
    while waiting:
        node, depth = waiting.pop()
        seen += 1
        if seen > _MAX_NODES or depth > _MAX_DEPTH:
            raise UndecidedError
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


class _Reader:
    """Reads trees of checked size; raises `UndecidedError` where it cannot."""

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
            raise UndecidedError
        found = self._joined(parts, self._intersection)
        if isinstance(found, Solution) and found.reals == EMPTY:
            raise UndecidedError
        return found

    def _read_set(self, tree: Tree) -> RealSet:
        """Read what must be a set without an unknown."""
        if isinstance(tree, NamedSet):
            return known({"R": REALS, "empty": EMPTY}.get(tree.name))
        if isinstance(tree, Combination):
            operation = {
                "union": self._union,
                "intersection": self._intersection,
                "difference": self._difference,
            }[tree.operator]
            return reduce(operation, [self._read_set(part) for part in tree.parts])
        found = self.read(tree, pairs_are_sets=True)
        if isinstance(found, NotASet) or found.symbol is not None:
            raise UndecidedError
        return found.reals

    def _union(self, a: RealSet, b: RealSet) -> RealSet:
        return realset.union(a, b, self._order)

    def _intersection(self, a: RealSet, b: RealSet) -> RealSet:
        return known(realset.intersection(a, b, self._order))

    def _difference(self, a: RealSet, b: RealSet) -> RealSet:
        return known(realset.difference(a, b, self._order))

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
                raise UndecidedError
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
            raise UndecidedError
        return Solution(None, found)

    def _read_list(self, items: tuple[Tree, ...], *, pairs_are_sets: bool) -> Solution | NotASet:
        parts = [self.read(item, pairs_are_sets=pairs_are_sets) for item in items]
        found = self._joined(parts, self._union)
        if isinstance(found, NotASet):
            return found
        if found.symbol is None:
            raise UndecidedError
        sets = [part.reals for part in parts if isinstance(part, Solution) and part.reals != REALS]
        common = reduce(self._intersection, sets, REALS)
        if len(sets) > 1 and any(realset.same(common, part, self._order) for part in sets):
            raise UndecidedError
        return found if common == EMPTY else Solution(found.symbol, common)

    def _joined(self, parts: list[Solution | NotASet], operation: _Operation) -> Solution | NotASet:
        """Join what is about one unknown, or about none."""
        found = [part for part in parts if isinstance(part, Solution)]
        if not found:
            return NotASet()
        if len(found) < len(parts) or len({part.symbol for part in found}) > 1:
            raise UndecidedError
        return Solution(found[0].symbol, reduce(operation, [part.reals for part in found]))

    def _read_builder(self, tree: Builder) -> RealSet:
        is_typed = isinstance(tree.head, Relation)
        head = tree.head.operands[0] if isinstance(tree.head, Relation) else tree.head
        if not isinstance(head, Symbol):
            raise UndecidedError
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
            raise UndecidedError
        return found.reals

    def _read_relation(self, tree: Relation) -> Solution:
        if tree.operators in {("in",), ("notin",)}:
            return self._read_membership(tree)
        operands = [operand for operand in tree.operands if isinstance(operand, VALUES)]
        if len(operands) < len(tree.operands) or not _COMPARISONS.issuperset(tree.operators):
            raise UndecidedError
        symbol = _unknown(operands)
        sets = [
            Solver(symbol, self._order).solve(left, operator, right)
            for (left, right), operator in zip(pairwise(operands), tree.operators, strict=True)
        ]
        return Solution(symbol.name, reduce(self._intersection, sets))

    def _read_membership(self, tree: Relation) -> Solution:
        unknown, where = tree.operands
        if not isinstance(unknown, Symbol):
            raise UndecidedError
        reals = self._read_set(where)
        if tree.operators == ("notin",):
            reals = self._difference(REALS, reals)
        return Solution(unknown.name, reals)


def _unknown(operands: Iterable[Value]) -> Symbol:
    symbols = {node for value in operands for node in walk(value) if isinstance(node, Symbol)}
    if len(symbols) != 1:
        raise UndecidedError
    return symbols.pop()


def _end(value: Value) -> Value:
    """Return the end of an interval, computed where it is rational."""
    if isinstance(value, Number | Symbol) or realset.is_infinite(value):
        return value
    check_real(value)
    number = rational(value)
    return value if number is None else exact(number)
