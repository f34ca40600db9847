"""Compare two trees part by part: the kinds on the two sides decide how.

Each comparer looks at what it is made for and passes on the rest (returns None): relations, sets,
lists, matrices, quantities, ratios, other bases, texts. What no comparer takes has no meaning in
common, and is different.

Conventions. A bare list is in no order, like a set; next to a tuple it is in that one's. A point is
no set. `x = 5` is 5 next to a value, and an equation next to an equation; two names for one value
are left open. `1 ± 2` is both values. A condition such as `k in Z` beside an answer is not compared.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Final

from services.math import lists, plain, quantities, relations, sets
from services.math.language.words import NEGATIONS
from services.math.tree import (
    VALUES,
    Constant,
    Either,
    Matrix,
    NamedSet,
    Number,
    Sequence,
    Sum,
    Symbol,
    Text,
    Value,
    substituted,
    walk,
)
from services.math.values import UNKNOWN, Finding, same_value

if TYPE_CHECKING:
    from collections.abc import Callable

    from services.math.spec import MathSpec
    from services.math.tree import Tree

_SETS_IN_WORDS: Final = {
    "all real numbers": "R",
    "all reals": "R",
    "the set of all real numbers": "R",
    "all real x": "R",
    "all integers": "Z",
    "empty set": "empty",
    "the empty set": "empty",
    "no solution": "empty",
    "no solutions": "empty",
    "no real solution": "empty",
    "no real solutions": "empty",
    "there is no solution": "empty",
    "there are no solutions": "empty",
    "no solution exists": "empty",
    "none": "empty",
    "无解": "empty",
}
_ENDLESS: Final = frozenset(("infinite", "infinitely many", "infinity", "无数", "无数个", "无穷多"))
_SAME_WORDS: Final = (
    frozenset(("yes", "true", "correct", "t", "y", "是", "对", "正确")),
    frozenset(("no", "false", "incorrect", "f", "n", "否", "错", "错误", "不是")),
    frozenset(("dne", "does not exist", "limit does not exist", "undefined", "no limit", "不存在")),
    _ENDLESS,
    frozenset(("diverges", "divergent", "series diverges", "series is divergent", "发散")),
    frozenset(("converges", "convergent", "series converges", "series is convergent", "收敛")),
    frozenset(("impossible", "not possible", "it is impossible", "不可能")),
    frozenset(("odd", "odd function", "奇函数", "奇数")),
    frozenset(("even", "even function", "偶函数", "偶数")),
)


_BASIS: Final = (Constant("i"), Symbol("j"), Symbol("k"))
_NO: Final = Finding(False, "structural")


class Matcher:
    """Compares trees under the options of one spec."""

    def __init__(self, spec: MathSpec) -> None:
        self.spec = spec
        self._depth = 0

    def match(self, gold: Tree, answer: Tree) -> Finding:
        """Return whether the answer says what the gold one says."""
        self._depth += 1
        found = self._match(gold, answer)
        self._depth -= 1
        if found.same and plain.conditions(gold) != plain.conditions(answer):
            return self._under_conditions(gold, answer, found)
        return found

    @property
    def is_inside(self) -> bool:
        """Whether what is compared is a part of a list."""
        return self._depth > 1

    def _match(self, gold: Tree, answer: Tree) -> Finding:
        if gold == answer:
            return Finding(True, "structural")
        if isinstance(gold, Sequence) and gold.left in ("(", "[") and isinstance(answer, Either):
            return UNKNOWN  # "0 or 1" for an interval, or a point
        gold, answer = self._plain(gold), self._plain(answer)
        if isinstance(gold, VALUES) and isinstance(answer, VALUES):
            return same_value(gold, answer, self.spec)
        for compare in _COMPARERS:
            found = compare(self, gold, answer)
            if found is not None:
                return found
        return Finding(False, "structural")

    def _under_conditions(self, gold: Tree, answer: Tree, found: Finding) -> Finding:
        """Forgive one side that leaves out where k comes from, but not whole numbers for all."""
        wanted, given = plain.conditions(gold), plain.conditions(answer)
        is_set = any(plain.is_inequality(item) for item in plain.parts(gold) + plain.parts(answer))
        is_odd = bool(wanted | given) and (wanted | given) != {"Z"}
        return UNKNOWN if is_set or is_odd or (wanted and given) else found

    def _plain(self, tree: Tree) -> Tree:
        """Give what is written in several ways one form."""
        if isinstance(tree, Text) and tree.words in _SETS_IN_WORDS:
            return NamedSet(_SETS_IN_WORDS[tree.words])
        return plain.plain(tree)


def _same_matrix(matcher: Matcher, gold: Tree, answer: Tree) -> Finding | None:
    """Compare matrices; one row or column of numbers is a vector, which a tuple is too."""
    if not (isinstance(gold, Matrix) or isinstance(answer, Matrix)):
        return None
    wanted, given = _rows(gold), _rows(answer)
    if wanted is None or given is None:
        return _same_vector(matcher, _vector(gold), _vector(answer))
    if (len(wanted), len(wanted[0])) != (len(given), len(given[0])):
        why = f"a {len(wanted)} by {len(wanted[0])} matrix is expected"
        return Finding(False, "structural", why)
    return lists.in_order(matcher, chain(*wanted), chain(*given))


def _same_vector(
    matcher: Matcher, wanted: tuple[Tree, ...] | None, given: tuple[Tree, ...] | None
) -> Finding:
    return lists.in_order(matcher, wanted, given) if wanted and given else _NO


def _rows(tree: Tree) -> tuple[tuple[Tree, ...], ...] | None:
    """Return the rows of a matrix, or of a tuple of tuples."""
    if isinstance(tree, Matrix):
        return tree.rows
    if not isinstance(tree, Sequence) or tree.left not in ("(", "["):
        return None
    rows = tuple(item.items for item in tree.items if isinstance(item, Sequence) and item.left)
    is_matrix = len(rows) == len(tree.items) > 0 and len({len(row) for row in rows}) == 1
    return rows if is_matrix and rows[0] else None


def _vector(tree: Tree) -> tuple[Tree, ...] | None:
    if isinstance(tree, Matrix):
        is_vector = 1 in (len(tree.rows), len(tree.rows[0]))
        return tuple(chain(*tree.rows)) if is_vector else None
    is_tuple = isinstance(tree, Sequence) and tree.left != "{"
    return tree.items if is_tuple and isinstance(tree, Sequence) else None


def _same_components(matcher: Matcher, gold: Tree, answer: Tree) -> Finding | None:
    """Compare `3i + 4j` with `(3, 4)`."""
    if isinstance(gold, VALUES) == isinstance(answer, VALUES):
        return None
    value, other = (gold, answer) if isinstance(gold, VALUES) else (answer, gold)
    given = _vector(other)
    if given is None or not isinstance(value, VALUES) or not 2 <= len(given) <= 3:
        return None
    parts = _components(value, len(given))
    if parts is None:
        return None
    pair = (parts, given) if value is gold else (given, parts)
    return lists.in_order(matcher, *pair)


def _components(value: Value, count: int) -> tuple[Value, ...] | None:
    """Return the factors of i, j and k; None where the value is no sum of multiples of them."""
    terms = value.terms if isinstance(value, Sum) else (value,)
    found = [[base for base in _BASIS if base in walk(term)] for term in terms]
    bases = {base for each in found for base in each}
    is_vector = all(len(each) == 1 for each in found) and bases != {_BASIS[0]}
    if not is_vector or (count == 2 and _BASIS[2] in bases):
        return None
    parts = []
    for one in _BASIS[:count]:
        by: dict[Value, Value] = {base: Number(int(base == one)) for base in _BASIS}
        parts.append(substituted(value, by))
    return tuple(parts)


def _same_text(matcher: Matcher, gold: Tree, answer: Tree) -> Finding | None:
    """Compare words; some words have the same meaning, and none the meaning of a number."""
    texts = [tree.words if isinstance(tree, Text) else None for tree in (gold, answer)]
    if texts == [None, None]:
        return None
    wanted, given = texts
    if wanted is None or given is None:
        other = answer if given is None else gold
        is_open = isinstance(other, NamedSet) or (
            other == Constant("infinity") and (wanted or given) in _ENDLESS
        )
        return UNKNOWN if is_open else _NO
    if wanted == given:
        return Finding(True, "normalised")
    return UNKNOWN if _may_mean_the_same(wanted, given) else Finding(False, "normalised")


def _may_mean_the_same(wanted: str, given: str) -> bool:
    """Whether the words may be synonyms, a translation, or say more of the same."""
    if wanted.isascii() != given.isascii():
        return True
    return any({wanted, given} <= words for words in _SAME_WORDS) or _contains(wanted, given)


def _same_named_set(_: Matcher, gold: Tree, answer: Tree) -> Finding | None:
    r"""Take a plain R for a gold `\mathbb{R}`: an answer without blackboard letters to write it."""
    if isinstance(gold, NamedSet) and isinstance(answer, Symbol):
        return Finding(gold.name == answer.name, "structural")
    return None


def _contains(first: str, second: str) -> bool:
    """Whether one text is the other and more words: "a circle", "circle of radius one"."""
    if min(len(first), len(second)) > 2 and (first.startswith(second) or second.startswith(first)):
        return True  # Mon, Monday
    short, long = sorted((set(first.split()), set(second.split())), key=len)
    return short <= long and NEGATIONS.isdisjoint(long - short)


_COMPARERS: Final[tuple[Callable[[Matcher, Tree, Tree], Finding | None], ...]] = (
    relations.same_relation,
    _same_named_set,
    sets.same_set,
    _same_components,
    _same_matrix,
    lists.same_list,
    quantities.same_quantity,
    quantities.same_ratio,
    quantities.same_based,
    _same_text,
)
