r"""Compare lists: tuples in order, sets in none, `\pm`, alternatives, systems of equations."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from services.math.tree import (
    VALUES,
    Call,
    Either,
    NamedSet,
    Number,
    Power,
    Product,
    Relation,
    Sequence,
    Sum,
    Symbol,
    negative,
    walk,
)
from services.math.values import UNKNOWN, Finding

if TYPE_CHECKING:
    from collections.abc import Iterable

    from services.math.structure import Matcher
    from services.math.tree import Tree, Value

MAX_LEFT_OVER: Final = 64
"""Items without a twin on the other side, each of which is compared with each."""
_NO: Final = Finding(False, "structural")
_SIGNS: Final = {"pm": (1, -1), "mp": (-1, 1)}


# -- one form for what is written in several ways


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
    return _expanded_relation(tree) if isinstance(tree, Relation) else tree


def _members(relation: Relation) -> Tree:
    r"""`x \in \{1, 2\}` says that x is 1 or 2; of an interval, it is an inequality."""
    name, members = relation.operands
    is_set = isinstance(members, Sequence) and members.left == "{"
    return members if is_set and isinstance(name, Symbol) else relation


def _is_list_of_values(parts: tuple[Tree, ...]) -> bool:
    return not any(_is_inequality(part) for part in parts)


def _is_inequality(tree: Tree) -> bool:
    return isinstance(tree, Relation) and not {"<", ">", "<=", ">=", "!="}.isdisjoint(
        tree.operators
    )


def _plain_sequence(tree: Sequence) -> Tree:
    items = tree.items
    if not tree.left:
        kept = tuple(item for item in items if not _is_condition(item))
        items = kept or items
        items = _without_common_name(items)
    if tree.left in ("", "{") and any(_has_sign(item) for item in items):
        items = tuple(part for item in items for part in _parts(plain(item)))
    if len(items) == 1 and not tree.left:
        return plain(items[0])
    return tree if items is tree.items else replace(tree, items=items)


def _parts(tree: Tree) -> tuple[Tree, ...]:
    return tree.items if isinstance(tree, Sequence) and not tree.left else (tree,)


def _is_condition(tree: Tree) -> bool:
    """Whether it only tells where a variable comes from: `k in Z`."""
    if not isinstance(tree, Relation) or tree.operators != ("in",):
        return False
    return isinstance(tree.operands[1], NamedSet)


def _without_common_name(items: tuple[Tree, ...]) -> tuple[Tree, ...]:
    """`x = 1, x = 2` and `x = 1, 2` are the values 1 and 2."""
    names = [_name(item) for item in items]
    if names[0] is None or any(name not in (None, names[0]) for name in names):
        return items
    if len(items) > 1 and None in names and any(name is not None for name in names[1:]):
        return items
    if len(items) == 1:
        return items
    return tuple(
        item.operands[1] if isinstance(item, Relation) and name else item
        for item, name in zip(items, names, strict=True)
    )


def _name(item: Tree) -> Tree | None:
    if isinstance(item, Relation) and item.operators == ("=",):
        return item.operands[0] if isinstance(item.operands[0], Symbol) else None
    return None


def _has_sign(tree: Tree) -> bool:
    if isinstance(tree, Relation):
        return any(_has_sign(operand) for operand in tree.operands)
    return isinstance(tree, VALUES) and any(
        isinstance(node, Call) and node.name in _SIGNS for node in walk(tree)
    )


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
    upper, lower = (_with_sign(value, place) for place in (0, 1))
    return [upper, lower]


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


# -- comparing


def same_list(matcher: Matcher, gold: Tree, answer: Tree) -> Finding | None:
    """Compare where at least one side is a list."""
    if isinstance(gold, Sequence) and isinstance(answer, Sequence):
        return _same_lists(matcher, gold, answer)
    if isinstance(gold, Sequence):
        return _one_item(matcher, gold, answer, gold_is_list=True)
    if isinstance(answer, Sequence):
        return _one_item(matcher, answer, gold, gold_is_list=False)
    return None


def _one_item(matcher: Matcher, items: Sequence, other: Tree, *, gold_is_list: bool) -> Finding:
    if len(items.items) != 1:
        what = "several values are expected" if gold_is_list else "the answer is several values"
        return Finding(False, "structural", what)
    pair = (items.items[0], other) if gold_is_list else (other, items.items[0])
    return matcher.match(*pair)


def _same_lists(matcher: Matcher, gold: Sequence, answer: Sequence) -> Finding:
    kind = matcher.spec.answer_type
    if kind == "set":
        return in_any_order(matcher, gold.items, answer.items, repeats=False)
    if kind == "tuple" or _is_ordered(gold, answer):
        return in_order(matcher, gold.items, answer.items)
    lefts = {gold.left, answer.left}
    if "{" in lefts:
        return _same_sets(matcher, gold, answer, lefts)
    if lefts == {""}:
        return _same_bare_lists(matcher, gold, answer)
    if "" in lefts:
        return _bare_or_tuple(matcher, gold, answer)
    return _NO  # brackets that differ around two items: intervals


def _is_ordered(gold: Sequence, answer: Sequence) -> bool:
    """Whether both are tuples: the same brackets, or more items than an interval has."""
    if "" in (gold.left, answer.left) or "{" in (gold.left, answer.left):
        return False
    is_same = (_bracket(gold), gold.right) == (_bracket(answer), answer.right)
    angled = "<" in (gold.left, answer.left)
    return is_same or angled or len(gold.items) != 2 or len(answer.items) != 2


def _bracket(sequence: Sequence) -> str:
    return sequence.left


def _same_sets(matcher: Matcher, gold: Sequence, answer: Sequence, lefts: set[str]) -> Finding:
    if lefts <= {"{", ""}:
        if any(_is_system(side.items) for side in (gold, answer)):
            return UNKNOWN  # what x and y are is no set
        return in_any_order(matcher, gold.items, answer.items, repeats=False)
    if "[" in lefts and in_any_order(matcher, gold.items, answer.items, repeats=False).same:
        return UNKNOWN  # a list in brackets, as a program writes it
    return Finding(False, "structural", "a set is no tuple")


def _is_system(items: tuple[Tree, ...]) -> bool:
    names = {_name(item) for item in items}
    return None not in names and len(names) > 1


def _same_bare_lists(matcher: Matcher, gold: Sequence, answer: Sequence) -> Finding:
    if by_name := _same_system(matcher, gold.items, answer.items):
        return by_name
    found = in_any_order(matcher, gold.items, answer.items, repeats=True)
    if found.same is False and len(gold.items) != len(answer.items):
        once = in_any_order(matcher, gold.items, answer.items, repeats=False)
        return UNKNOWN if once.same is not False else found
    return found


def _same_system(
    matcher: Matcher, gold: tuple[Tree, ...], answer: tuple[Tree, ...]
) -> Finding | None:
    """Compare values that have names by their names; None where the names are not the same."""
    wanted, given = ({_name(item): item for item in items} for items in (gold, answer))
    if None in wanted or len(wanted) < len(gold) or len(given) < len(answer):
        return None
    if wanted.keys() != given.keys():
        return None
    return in_order(matcher, wanted.values(), [given[name] for name in wanted])


def _bare_or_tuple(matcher: Matcher, gold: Sequence, answer: Sequence) -> Finding:
    """Compare a bare list with a tuple; `x = 2, y = 3` with `(2, 3)` as well."""
    wanted, given = _unnamed(gold.items), _unnamed(answer.items)
    found = in_order(matcher, wanted, given)
    if found.same is False and in_any_order(matcher, wanted, given, repeats=True).same:
        return UNKNOWN
    return found


def _unnamed(items: tuple[Tree, ...]) -> tuple[Tree, ...]:
    if not all(_name(item) for item in items):
        return items
    return tuple(item.operands[1] for item in items if isinstance(item, Relation))


def in_order(matcher: Matcher, wanted: Iterable[Tree], given: Iterable[Tree]) -> Finding:
    """Compare item by item."""
    wanted, given = tuple(wanted), tuple(given)
    if len(wanted) != len(given):
        return Finding(False, "structural", f"{_count(wanted)} expected and not {len(given)}")
    is_open = False
    for left, right in zip(wanted, given, strict=True):
        found = matcher.match(left, right)
        if found.same is False:
            return Finding(False, "structural", found.why)
        is_open |= found.same is None
    return UNKNOWN if is_open else Finding(True, "structural")


def in_any_order(
    matcher: Matcher, wanted: Iterable[Tree], given: Iterable[Tree], *, repeats: bool
) -> Finding:
    """Compare as sets, or, where `repeats` count, as multisets."""
    gold, answer = list(wanted), list(given)
    if not repeats:
        gold, answer = _once(matcher, gold), _once(matcher, answer)
    if len(gold) != len(answer):
        return Finding(False, "structural", f"{_count(gold)} expected and not {len(answer)}")
    gold, answer = _without_twins(gold, answer)
    if len(gold) > MAX_LEFT_OVER:
        return _NO if all(isinstance(i, Number) for i in gold + answer) else UNKNOWN
    is_open = False
    for item in gold:
        findings = [matcher.match(item, other).same for other in answer]
        if True in findings:
            del answer[findings.index(True)]
        elif None in findings:
            is_open = True
        else:
            return _NO
    return UNKNOWN if is_open else Finding(True, "structural")


def _count(items: tuple[Tree, ...] | list[Tree]) -> str:
    return "1 item is" if len(items) == 1 else f"{len(items)} items are"


def _key(item: Tree) -> object:
    return Fraction(item.value) if isinstance(item, Number) else item


def _once(matcher: Matcher, items: list[Tree]) -> list[Tree]:
    """Leave out repeats."""
    distinct = list({_key(item): item for item in items}.values())
    if len(distinct) > MAX_LEFT_OVER or all(isinstance(item, Number) for item in distinct):
        return distinct
    kept: list[Tree] = []
    for item in distinct:
        if not any(matcher.match(other, item).same for other in kept):
            kept.append(item)
    return kept


def _without_twins(gold: list[Tree], answer: list[Tree]) -> tuple[list[Tree], list[Tree]]:
    """Leave out the pairs that are written alike: a set may be large."""
    places: dict[object, list[int]] = {}
    for place, item in enumerate(answer):
        places.setdefault(_key(item), []).append(place)
    left = []
    taken = set()
    for item in gold:
        if twins := places.get(_key(item)):
            taken.add(twins.pop())
        else:
            left.append(item)
    return left, [item for place, item in enumerate(answer) if place not in taken]
