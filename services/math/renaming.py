"""Tell whether two answers differ only in names that an answer may choose: of constants, of whole numbers."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import permutations
from typing import TYPE_CHECKING, Final

from services.math.algebra import normal
from services.math.structure import Matcher
from services.math.tree import (
    VALUES,
    Combination,
    Either,
    NamedSet,
    Number,
    Relation,
    Sequence,
    Sum,
    Symbol,
    Value,
    negative,
    substituted,
    walk,
)
from services.math.values import form_of

if TYPE_CHECKING:
    from services.math.parse import Answer
    from services.math.spec import MathSpec
    from services.math.tree import Tree

_PARAMETERS: Final = frozenset(("k", "n", "m", "l", "C", "c", "K", "C_1", "c_1"))
"""Names that a question rarely gives, and an answer chooses."""
_CONSTANT: Final = re.compile(r"[CcKk](?:_?\d)?")
"""Names of constants of integration, where there may be several."""
_MAY_CHOOSE: Final = re.compile(r"[CcKknml]")
"""A letter of such a name is in at least one of the two, or there is nothing to look for."""
_MAX_RENAMED: Final = 3
_WHOLE: Final = frozenset(("k", "n", "m"))
"""Names of any whole number, where the answer says that they are."""
_SHIFTS: Final = (1, -1, 2, -2)
_SAYS_WHOLE: Final = re.compile(r"\\in\s*(?:\\mathbb|\\mathbf)?\s*\{?\s*Z|integer|整数|\u2124")


def _value_of(tree: Tree | None) -> Tree | None:
    """Return the value of `x = k pi, k in Z`."""
    if isinstance(tree, Sequence) and tree.items and not tree.left:
        tree = tree.items[0]
    is_named = isinstance(tree, Relation) and tree.operators == ("=",)
    return tree.operands[1] if is_named and isinstance(tree, Relation) else tree


def is_same_family(gold: Answer, answer: Answer, spec: MathSpec) -> bool:
    r"""Whether both say the same for all whole numbers: `4k + 1, k \in Z` and `4n - 3, n \in Z`.

    Each names its own whole number, so that neither the name nor where it begins says anything.
    """
    wanted, given = _family(gold.tree), _family(answer.tree)
    if wanted is None or given is None:
        return False
    (head, index), (other, name) = wanted, given
    steps = (Sum((index, Number(shift))) for shift in _SHIFTS)
    by: list[Value] = [index, negative(index)]
    for step in steps:
        by += [step, negative(step)]
    return any(Matcher(spec).match(head, _replaced(other, {name: each})).same for each in by)


def _family(tree: Tree | None) -> tuple[Tree, Symbol] | None:
    r"""Return the statement of `x = k pi, k \in Z`, and the k."""
    if not isinstance(tree, Sequence) or tree.left:
        return None
    indices = [name for item in tree.items if (name := _whole_number(item))]
    items = tuple(item for item in tree.items if _whole_number(item) is None)
    if len(indices) != 1 or not items:
        return None
    return (items[0] if len(items) == 1 else replace(tree, items=items)), indices[0]


def _whole_number(tree: Tree) -> Symbol | None:
    if not isinstance(tree, Relation) or tree.operators != ("in",):
        return None
    name, values = tree.operands
    return name if values == NamedSet("Z") and isinstance(name, Symbol) else None


def _replaced(tree: Tree, by: dict[Value, Value]) -> Tree:
    """Replace symbols in values, lists, relations and sets joined together."""
    if isinstance(tree, VALUES):
        return substituted(tree, by)
    if isinstance(tree, Sequence):
        return replace(tree, items=tuple(_replaced(item, by) for item in tree.items))
    if isinstance(tree, Relation):
        return replace(tree, operands=tuple(_replaced(each, by) for each in tree.operands))
    if isinstance(tree, Either | Combination):
        return replace(tree, parts=tuple(_replaced(part, by) for part in tree.parts))
    return tree


def is_renamed(gold: Answer, answer: Answer, spec: MathSpec) -> bool:
    """Whether the answer may be the gold one but for the name of a whole number or a constant."""
    if not (_MAY_CHOOSE.search(gold.raw) or _MAY_CHOOSE.search(answer.raw)):
        return False
    wanted, given = _value_of(gold.tree), _value_of(answer.tree)
    if not isinstance(wanted, VALUES) or not isinstance(given, VALUES):
        return False
    values = wanted, given
    free = [{node for node in walk(tree) if isinstance(node, Symbol)} for tree in values]
    common = free[0] & free[1]
    is_whole = _SAYS_WHOLE.search(gold.raw) or _SAYS_WHOLE.search(answer.raw)
    whole = {symbol for symbol in common if is_whole and symbol.name in _WHOLE}
    constants = [symbol for symbol in common if _CONSTANT.fullmatch(symbol.name)]
    if _is_exchanged(*values, whole, constants, spec) or _is_absorbed(*values, constants):
        return True
    return _has_other_names(*values, free, spec)


def _is_absorbed(gold: Value, answer: Value, constants: list[Symbol]) -> bool:
    """Whether the difference may be a part of the constant: `(x^3 + 1)/3 + C` and `x^3/3 + C`."""
    if len(constants) != 1 or not _is_added(constants[0], gold, answer):
        return False
    try:
        difference = form_of(Sum((gold, negative(answer))))
    except normal.TooLargeError:
        return False
    return normal.is_free_of_symbols(difference)


def _is_added(constant: Symbol, *values: Value) -> bool:
    """Whether the constant is a term of each value, which has other symbols as well."""
    for value in values:
        others = {node for node in walk(value) if isinstance(node, Symbol)} - {constant}
        if not isinstance(value, Sum) or constant not in value.terms or not others:
            return False
    return True


def _has_other_names(gold: Value, answer: Value, free: list[set[Symbol]], spec: MathSpec) -> bool:
    wanted, given = free[0] - free[1], free[1] - free[0]
    if len(wanted) != len(given) or not 1 <= len(wanted) <= _MAX_RENAMED:
        return False
    names = [{symbol.name for symbol in side} for side in (wanted, given)]
    is_free = all(side <= _PARAMETERS for side in names)
    if not is_free and not any(all(map(_CONSTANT.fullmatch, side)) for side in names):
        return False
    return any(
        Matcher(spec).match(gold, substituted(answer, dict(zip(order, wanted, strict=True)))).same
        is not False
        for order in permutations(given)
    )


def _is_exchanged(
    gold: Value, answer: Value, whole: set[Symbol], constants: list[Symbol], spec: MathSpec
) -> bool:
    """Whether another whole number for k makes them equal: `4k + 1` and `4k - 3`; no more is known.

    With several constants, one may stand in the place of another.
    """
    changes: list[dict[Value, Value]] = []
    for symbol in whole:
        steps = (Sum((symbol, Number(1))), Sum((symbol, Number(-1))), negative(symbol))
        changes += [{symbol: step} for step in steps]
    if 2 <= len(constants) <= _MAX_RENAMED:
        changes += [dict(zip(constants, order, strict=True)) for order in permutations(constants)]
    return any(Matcher(spec).match(gold, substituted(answer, by)).same for by in changes)
