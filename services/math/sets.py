"""Compare sets of numbers: intervals, unions, inequalities and their solutions."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Final

from services.math import lists
from services.math.algebra import inequality, realset
from services.math.algebra.inequality import NotASet
from services.math.relations import difference, factor_between
from services.math.tree import (
    VALUES,
    Builder,
    Combination,
    Constant,
    Either,
    NamedSet,
    Quantity,
    Relation,
    Sequence,
)
from services.math.values import UNKNOWN, Finding, order, same_value

if TYPE_CHECKING:
    from services.math.structure import Matcher
    from services.math.tree import Tree, Value

_COMPARISONS: Final = frozenset(("<", ">", "<=", ">=", "!=", "in", "notin"))
_REVERSED: Final = {">": "<", ">=": "<=", "<": "<", "<=": "<=", "!=": "!="}
_NO: Final = Finding(False, "structural")


class ValueOrder:
    """The order of two ends of intervals, by the tiers that compare values."""

    def __init__(self, matcher: Matcher) -> None:
        self._spec = matcher.spec

    def equal(self, first: Value, second: Value) -> bool | None:
        """Whether both are one value."""
        return same_value(first, second, self._spec).same

    def less(self, first: Value, second: Value) -> bool | None:
        """Whether the first is the smaller one."""
        if first == Constant("infinity"):
            return False
        found = order(first, second)
        return None if found is None else found < 0


def same_set(matcher: Matcher, gold: Tree, answer: Tree) -> Finding | None:
    """Compare where at least one side can only be a set."""
    pairs = matcher.spec.answer_type == "interval"
    if not (_is_set(gold) or _is_set(answer) or (pairs and _is_pair(gold, answer))):
        return None
    if isinstance(gold, (*VALUES, Quantity)) or isinstance(answer, (*VALUES, Quantity)):
        return _under_condition(matcher, gold, answer)
    solved = _same_reals(matcher, gold, answer)
    return _same_as_written(matcher, gold, answer) if solved is None else solved


def _under_condition(matcher: Matcher, gold: Tree, answer: Tree) -> Finding:
    r"""Leave open what a condition on the unknown is added to: `x + 1, x \ne 1`."""
    value, listed = (answer, gold) if isinstance(gold, Sequence) else (gold, answer)
    if not isinstance(listed, Sequence) or listed.left or is_comparison(listed.items[0]):
        return _NO
    if not all(map(is_comparison, listed.items[1:])):
        return _NO
    return _NO if matcher.match(value, listed.items[0]).same is False else UNKNOWN


def _is_pair(gold: Tree, answer: Tree) -> bool:
    return isinstance(gold, Sequence) and isinstance(answer, Sequence)


def _is_set(tree: Tree) -> bool:
    if isinstance(tree, Sequence):
        is_interval = (tree.left, tree.right) in (("(", "]"), ("[", ")"))
        return is_interval or (not tree.left and any(is_comparison(i) for i in tree.items))
    return isinstance(tree, Combination | NamedSet | Builder | Either) or is_comparison(tree)


def is_comparison(tree: Tree) -> bool:
    """Whether it is an inequality, or says what set something is in."""
    return isinstance(tree, Relation) and not _COMPARISONS.isdisjoint(tree.operators)


def _same_reals(matcher: Matcher, gold: Tree, answer: Tree) -> Finding | None:
    """Compare as subsets of the reals; None where one of them is not read as such."""
    by_value = ValueOrder(matcher)
    wanted = inequality.from_tree(gold, by_value)
    given = inequality.from_tree(answer, by_value)
    if isinstance(wanted, NotASet) or isinstance(given, NotASet):
        return _NO
    if wanted is None or given is None:
        return None
    same = realset.same(wanted.reals, given.reals, by_value)
    if same and wanted.symbol and given.symbol and wanted.symbol != given.symbol:
        return UNKNOWN  # another name for the same unknown, or another unknown
    return None if same is None else Finding(same, "structural")


def _same_as_written(matcher: Matcher, gold: Tree, answer: Tree) -> Finding:
    """Compare the parts as they are written; only what has the same form can be told apart."""
    if isinstance(gold, Relation) and isinstance(answer, Relation):
        return _same_inequality(gold, answer)
    if isinstance(gold, Sequence) and isinstance(answer, Sequence):
        if (gold.left, gold.right) == (answer.left, answer.right):
            return lists.in_order(matcher, gold.items, answer.items)
        return _NO if gold.left and answer.left else UNKNOWN
    parts = _parts(gold), _parts(answer)
    is_same_kind = type(gold) is type(answer) and _operator(gold) == _operator(answer)
    if is_same_kind and parts[0] and parts[1]:
        found = lists.in_any_order(matcher, parts[0], parts[1], repeats=True)
        return found if found.same else UNKNOWN
    both_named = isinstance(gold, NamedSet) and isinstance(answer, NamedSet)
    return _NO if both_named else UNKNOWN


def _operator(tree: Tree) -> str:
    return tree.operator if isinstance(tree, Combination) else ""


def _parts(tree: Tree) -> tuple[Tree, ...]:
    if isinstance(tree, Builder):
        return (tree.head, *tree.conditions)
    if isinstance(tree, Combination):
        return tree.parts if tree.operator != "difference" else ()
    return tree.parts if isinstance(tree, Either) else ()


def _same_inequality(gold: Relation, answer: Relation) -> Finding:
    """Compare inequalities in several unknowns, up to a positive factor."""
    wanted, given = _oriented(gold), _oriented(answer)
    if wanted is None or given is None:
        return UNKNOWN
    if wanted[0] != given[0]:
        return _NO
    factor = factor_between(wanted[1], given[1])
    if not isinstance(factor, Fraction):
        return UNKNOWN
    return Finding(factor > 0 or (factor != 0 and wanted[0] == "!="), "symbolic")


def _oriented(relation: Relation) -> tuple[str, Value] | None:
    """Return the relation as `<`, `<=` or `!=` of a difference and zero."""
    operator = relation.operators[0]
    if operator not in _REVERSED or len(relation.operators) != 1:
        return None
    if operator.startswith(">"):
        relation = Relation(relation.operands[::-1], (_REVERSED[operator],))
    found = difference(relation)
    return None if found is None else (_REVERSED[operator], found)
