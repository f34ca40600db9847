r"""Compare lists: tuples in order, sets in none, `\pm`, alternatives, systems of equations."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Final, NamedTuple

from services.math.language.vocabulary import KNOWN_FUNCTIONS
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
    Text,
    calls,
    negative,
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
    return len({_name(part) for part in parts} - {None}) <= 1  # x = 1 or y = 2 is no list


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


def _name(item: Tree) -> Tree | None:
    if isinstance(item, Relation) and item.operators == ("=",):
        name = item.operands[0]
        is_function = isinstance(name, Call) and name.name not in KNOWN_FUNCTIONS
        return name if isinstance(name, Symbol) or is_function else None
    return None


def _has_sign(tree: Tree) -> bool:
    if isinstance(tree, Relation):
        return any(_has_sign(operand) for operand in tree.operands)
    return isinstance(tree, VALUES) and any(call.name in _SIGNS for call in calls(tree))


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
    """Compare a list with what is none: it may hold one item only, or the same one again."""
    parts = list(items.items)
    if len(parts) > 1 and not items.left:
        parts = _once(matcher, parts)
    if not gold_is_list and any(isinstance(part, Text) and " " in part.words for part in parts):
        return UNKNOWN  # an answer and a remark: "5, as required"
    is_remarked = len(parts) > 1 and all(isinstance(part, Relation) for part in parts[1:])
    if not gold_is_list and is_remarked and not isinstance(parts[0], Relation):
        return UNKNOWN if matcher.match(other, parts[0]).same is not False else _NO
    if len(parts) != 1 or matcher.is_inside:
        what = "several values are expected" if gold_is_list else "the answer is several values"
        return Finding(False, "structural", what)
    pair = (parts[0], other) if gold_is_list else (other, parts[0])
    return matcher.match(*pair)


def _same_lists(matcher: Matcher, gold: Sequence, answer: Sequence) -> Finding:
    kind = matcher.spec.answer_type
    if kind == "set":
        return in_any_order(matcher, gold.items, answer.items, repeats=False)
    if kind == "tuple":
        return _same_tuples(matcher, gold, answer)
    if _is_ordered(gold, answer):
        return in_order(matcher, gold.items, answer.items)
    if "{" in (gold.left, answer.left):
        return _same_sets(matcher, gold, answer)
    if gold.left and answer.left:
        return _NO  # brackets that differ around two items: intervals
    return (_bare_or_tuple if gold.left or answer.left else _same_bare_lists)(matcher, gold, answer)


def _same_tuples(matcher: Matcher, gold: Sequence, answer: Sequence) -> Finding:
    """Compare in order; what is in braces claims to have none."""
    found = in_order(matcher, gold.items, answer.items)
    return UNKNOWN if found.same and (gold.left == "{") != (answer.left == "{") else found


def _is_ordered(gold: Sequence, answer: Sequence) -> bool:
    """Whether both are tuples: the same brackets, or more items than an interval has."""
    if "" in (gold.left, answer.left) or "{" in (gold.left, answer.left):
        return False
    is_same = (_bracket(gold), gold.right) == (_bracket(answer), answer.right)
    angled = "<" in (gold.left, answer.left)
    return is_same or angled or len(gold.items) != 2 or len(answer.items) != 2


def _bracket(sequence: Sequence) -> str:
    return sequence.left


def _same_sets(matcher: Matcher, gold: Sequence, answer: Sequence) -> Finding:
    lefts = {gold.left, answer.left}
    wanted, given = _Named.read(gold.items), _Named.read(answer.items)
    if wanted.is_system or given.is_system:
        return UNKNOWN  # what x and y are is no set
    found = in_any_order(matcher, wanted.values, given.values, repeats=False)
    if lefts <= {"{", ""}:
        return found
    if "[" in lefts and found.same:
        return UNKNOWN  # a list in brackets, as a program writes it
    return Finding(False, "structural", "a set is no tuple")


def _first(pair: tuple[str, Tree]) -> str:
    return pair[0]


class _Named(NamedTuple):
    """The items of a bare list: values, and the names that they are given."""

    names: tuple[Tree | None, ...]
    values: tuple[Tree, ...]

    @classmethod
    def read(cls, items: tuple[Tree, ...]) -> _Named:
        """Part names and values; `x = 1, 2` gives its name to all."""
        names = [_name(item) for item in items]
        if names[1:] and not any(names[1:]):
            names = names[:1] * len(names)
        values = tuple(
            item.operands[1] if isinstance(item, Relation) and _name(item) else item
            for item in items
        )
        return cls(tuple(names), values)

    @property
    def by_name(self) -> tuple[Tree, ...]:
        """The values in the order of their names, where all have one of their own."""
        names = [name.name for name in self.names if isinstance(name, Symbol | Call)]
        if len(set(names)) < len(self.values):
            return self.values
        return tuple(value for _, value in sorted(zip(names, self.values, strict=True), key=_first))

    @property
    def is_system(self) -> bool:
        """Whether it says of several names what they are: `x = 1, y = 2`."""
        return None not in self.names and len(set(self.names)) > 1

    @property
    def is_mixed(self) -> bool:
        """Whether some of the items have a name, and others have none."""
        return None in self.names and len(set(self.names)) > 1


def _same_bare_lists(matcher: Matcher, gold: Sequence, answer: Sequence) -> Finding:
    wanted, given = _Named.read(gold.items), _Named.read(answer.items)
    if wanted.is_system or given.is_system:
        return _same_systems(matcher, wanted, given)
    if wanted.is_mixed or given.is_mixed:
        return in_any_order(matcher, gold.items, answer.items, repeats=True)
    found = in_any_order(matcher, wanted.values, given.values, repeats=True)
    if found.same and wanted.names[0] and given.names[0] and wanted.names[0] != given.names[0]:
        return UNKNOWN  # another name for the unknown
    if found.same is False and len(gold.items) != len(answer.items):
        once = in_any_order(matcher, wanted.values, given.values, repeats=False)
        return UNKNOWN if once.same is not False else found
    return found


def _same_systems(matcher: Matcher, wanted: _Named, given: _Named) -> Finding:
    """Compare values by their names; bare values are taken in the order of the names."""
    if wanted.is_system and given.is_system:
        if set(wanted.names) != set(given.names):
            found = in_order(matcher, wanted.values, given.values)
            return UNKNOWN if found.same else _NO
        if len(wanted.names) != len(given.names):
            return _NO
        pairs = dict(zip(given.names, given.values, strict=True))
        return in_order(matcher, wanted.values, [pairs[name] for name in wanted.names])
    other = given if wanted.is_system else wanted
    if other.names[0] is not None:
        return _same_roots(matcher, wanted, given)
    return _by_place(matcher, wanted, given)


def _same_roots(matcher: Matcher, wanted: _Named, given: _Named) -> Finding:
    """Compare `x = 1, x = 2` with `x_1 = 1, x_2 = 2`; other names have other values."""
    stems = {_stem(name) for name in (*wanted.names, *given.names)}
    if len(stems) > 1 or None in stems:
        return _NO
    return in_any_order(matcher, wanted.values, given.values, repeats=True)


def _stem(name: Tree | None) -> str | None:
    return name.name.partition("_")[0] if isinstance(name, Symbol) else None


def _by_place(matcher: Matcher, wanted: _Named, given: _Named) -> Finding:
    """Compare named values with bare ones, which are in the order of the alphabet."""
    found = in_order(matcher, wanted.by_name, given.by_name)
    if found.same is False and in_order(matcher, wanted.values, given.values).same:
        return UNKNOWN
    return found


def _bare_or_tuple(matcher: Matcher, gold: Sequence, answer: Sequence) -> Finding:
    """Compare a bare list with a tuple; `x = 2, y = 3` with `(2, 3)` as well."""
    wanted, given = _Named.read(gold.items), _Named.read(answer.items)
    for side in (wanted, given):
        if not side.is_system and side.names[0] is not None:
            return _NO  # two values of one name are no point
    if gold.left == "[" and len(gold.items) == 2 and not given.is_system:
        return UNKNOWN  # the ends of an interval
    found = _by_place(matcher, wanted, given)
    in_another_order = in_any_order(matcher, wanted.values, given.values, repeats=True)
    is_system = wanted.is_system or given.is_system
    if found.same is False and in_another_order.same and not is_system:
        return UNKNOWN
    return found


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
