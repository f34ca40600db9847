r"""Compare lists: tuples in order, sets in none, systems of equations."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Final, NamedTuple

from services.math.plain import name_of
from services.math.tree import (
    Call,
    Number,
    Relation,
    Sequence,
    Symbol,
    Text,
)
from services.math.values import UNKNOWN, Finding

if TYPE_CHECKING:
    from collections.abc import Iterable

    from services.math.structure import Matcher
    from services.math.tree import Tree

MAX_LEFT_OVER: Final = 64
"""Items without a twin on the other side, each of which is compared with each."""
_NO: Final = Finding(False, "structural")


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
    if (wanted.is_system or given.is_system) and len(_stems(wanted, given)) > 1:
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
        names = [name_of(item) for item in items]
        if names[1:] and not any(names[1:]):
            names = names[:1] * len(names)
        values = tuple(
            item.operands[1] if isinstance(item, Relation) and name_of(item) else item
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
    if len(_stems(wanted, given)) > 1:
        return _NO
    return in_any_order(matcher, wanted.values, given.values, repeats=True)


def _stems(*sides: _Named) -> set[str | None]:
    """Return the names without their numbers: `x` of `x_1` and `x_2`."""
    names = [name for side in sides for name in side.names if name is not None]
    return {n.name.partition("_")[0] if isinstance(n, Symbol) else None for n in names} or {None}


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
