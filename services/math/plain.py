r"""Give one form to what is written in several ways: alternatives, `1 \pm 2`, `(x, y) = (1, 2)`, conditions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from services.math.language.vocabulary import KNOWN_FUNCTIONS
from services.math.tree import (
    VALUES,
    Call,
    Either,
    NamedSet,
    Power,
    Product,
    Relation,
    Sequence,
    Sum,
    Symbol,
    Text,
    calls,
    has_calls,
    negative,
)

if TYPE_CHECKING:
    from services.math.tree import Tree, Value

_SIGNS: Final = {"pm": (1, -1), "mp": (-1, 1)}


def plain(tree: Tree) -> Tree:
    """Turn alternatives and `1 ± 2` into bare lists, and drop conditions on a variable."""
    if isinstance(tree, VALUES):
        expanded = _both_signs(tree)
        return expanded[0] if len(expanded) == 1 else Sequence(tuple(expanded))
    if isinstance(tree, Relation) and tree.operators == ("in",):
        return _members(tree)
    if isinstance(tree, Either):
        return plain(Sequence(tree.parts)) if _is_list_of_values(tree.parts) else tree
    if isinstance(tree, Sequence):
        return _plain_sequence(tree)
    if isinstance(tree, Relation):
        return _system(tree) or _expanded_relation(tree)
    return tree


def _members(relation: Relation) -> Tree:
    r"""`x \in \{1, 2\}` says that x is 1 or 2; of an interval, it is an inequality."""
    name, members = relation.operands
    is_set = isinstance(members, Sequence) and members.left == "{"
    return members if is_set and isinstance(name, Symbol) else relation


def _is_list_of_values(parts: tuple[Tree, ...]) -> bool:
    for part in parts:
        is_group = isinstance(part, Sequence) and not part.left
        if is_group or is_inequality(part) or isinstance(part, Text):
            return False
    return len({name_of(part) for part in parts} - {None}) <= 1  # x = 1 or y = 2 is no list


def is_inequality(tree: Tree) -> bool:
    """Whether it is a relation of order, or says what something is not."""
    return isinstance(tree, Relation) and not {"<", ">", "<=", ">=", "!="}.isdisjoint(
        tree.operators
    )


def _plain_sequence(tree: Sequence) -> Tree:
    items = tree.items
    if not tree.left:
        kept = tuple(item for item in items if not _is_condition(item))
        items = kept or items
    if tree.left in ("", "{") and any(_has_sign(item) for item in items):
        items = tuple(part for item in items for part in parts(plain(item)))
    if len(items) == 1 and not tree.left:
        return plain(items[0])
    return tree if items is tree.items else replace(tree, items=items)


def parts(tree: Tree) -> tuple[Tree, ...]:
    """Return the items of a bare list, or the tree itself."""
    return tree.items if isinstance(tree, Sequence) and not tree.left else (tree,)


def conditions(tree: Tree) -> frozenset[str]:
    """Return the sets that a list says its variables come from, but for the real numbers."""
    items = tree.items if isinstance(tree, Sequence) and not tree.left else ()
    found = [
        item.operands[1] for item in items if isinstance(item, Relation) and _is_condition(item)
    ]
    return frozenset(named.name for named in found if isinstance(named, NamedSet))


def _is_condition(tree: Tree) -> bool:
    """Whether it only tells where a variable comes from: `k in Z`."""
    if not isinstance(tree, Relation) or tree.operators != ("in",):
        return False
    return isinstance(tree.operands[1], NamedSet)


def name_of(item: Tree) -> Tree | None:
    """Return the `x` of `x = 5`, and the `f(x)` of `f(x) = 2x`."""
    if isinstance(item, Relation) and item.operators == ("=",):
        name = item.operands[0]
        is_function = isinstance(name, Call) and name.name not in KNOWN_FUNCTIONS
        return name if isinstance(name, Symbol) or is_function else None
    return None


def _has_sign(tree: Tree) -> bool:
    if isinstance(tree, Relation):
        return any(_has_sign(operand) for operand in tree.operands)
    if not isinstance(tree, VALUES) or not has_calls(tree):
        return False
    return any(call.name in _SIGNS for call in calls(tree))


def _system(relation: Relation) -> Tree | None:
    """Return `(x, y) = (1, 2)` as `x = 1, y = 2`; None for what is none."""
    if relation.operators != ("=",):
        return None
    names, values = relation.operands
    if not (isinstance(names, Sequence) and isinstance(values, Sequence)):
        return None
    is_named = all(isinstance(name, Symbol) for name in names.items)
    if not is_named or not len(set(names.items)) == len(names.items) == len(values.items) > 1:
        return None
    pairs = zip(names.items, values.items, strict=True)
    return Sequence(tuple(Relation(pair, ("=",)) for pair in pairs))


def _expanded_relation(relation: Relation) -> Tree:
    r"""`x = \pm 2` is `x = 2` or `x = -2`, which is the list of both."""
    if relation.operators != ("=",) or not _has_sign(relation):
        return relation
    name, value = relation.operands
    if not isinstance(name, Symbol) or not isinstance(value, VALUES):
        return relation
    return Sequence(tuple(_both_signs(value)))


def _both_signs(value: Value) -> list[Value]:
    if not _has_sign(value):
        return [value]
    signs = [call.name for call in calls(value) if call.name in _SIGNS]
    if len(signs) > 1 and "mp" not in signs:
        return [value]  # two signs may go together or not
    return [_with_sign(value, place) for place in (0, 1)]


def _with_sign(value: Value, place: int) -> Value:
    """Return the value with the upper (0) or the lower (1) sign of each pair."""
    if isinstance(value, Call):
        inner = tuple(_with_sign(argument, place) for argument in value.arguments)
        if value.name not in _SIGNS:
            return Call(value.name, inner)
        return inner[0] if _SIGNS[value.name][place] > 0 else negative(inner[0])
    if isinstance(value, Sum):
        return Sum(tuple(_with_sign(term, place) for term in value.terms))
    if isinstance(value, Product):
        return Product(tuple(_with_sign(factor, place) for factor in value.factors))
    if isinstance(value, Power):
        return Power(_with_sign(value.base, place), _with_sign(value.exponent, place))
    return value
