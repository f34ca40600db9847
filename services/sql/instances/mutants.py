"""Near misses of a query: what a model might write instead, one fault each.

Changed comparisons and constants, lost or added DISTINCT, other joins, other aggregates, dropped
predicates, AND for OR, other columns, lost LIMIT and order, conditions that only a NULL fails. A
mutant may happen to be equivalent, or not to run at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sqlglot import exp
from sqlglot.errors import SqlglotError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    _Change = Callable[[exp.Expression], exp.Expression | None]
    """Changes a node in place and returns None, or returns what is to stand there instead."""

MAX_MUTANTS: Final = 80
_MAX_COLUMNS: Final = 8

_COMPARISONS: Final[dict[type[exp.Expression], tuple[type[exp.Expression], ...]]] = {
    exp.GT: (exp.GTE, exp.LT),
    exp.GTE: (exp.GT, exp.LTE),
    exp.LT: (exp.LTE, exp.GT),
    exp.LTE: (exp.LT, exp.GTE),
    exp.EQ: (exp.NEQ,),
    exp.NEQ: (exp.EQ,),
}
_AGGREGATES: Final[dict[type[exp.Expression], tuple[type[exp.Expression], ...]]] = {
    exp.Sum: (exp.Avg, exp.Max),
    exp.Avg: (exp.Sum, exp.Max),
    exp.Max: (exp.Min, exp.Sum),
    exp.Min: (exp.Max,),
}


def mutants(tree: exp.Expression, dialect: str, columns: Sequence[str] = ()) -> list[str]:
    """Return the SQL of at most `MAX_MUTANTS` mutants; `columns` are names to put for others."""
    written: dict[str, None] = {}
    original = tree.sql(dialect=dialect)
    for mutant in _all(tree, columns):
        try:
            sql = mutant.sql(dialect=dialect)
        except (SqlglotError, AttributeError, ValueError):  # it makes no sense to the generator
            continue
        if sql != original:
            written.setdefault(sql)
        if len(written) >= 4 * MAX_MUTANTS:
            break
    every = list(written)
    step = max(1, -(-len(every) // MAX_MUTANTS))  # of too many, some of each kind
    return every[::step]


def _all(tree: exp.Expression, columns: Sequence[str]) -> Iterator[exp.Expression]:
    count = sum(1 for _ in tree.walk())
    for place in range(count):
        node = _at(tree, place)
        for change in _changes(node, columns):
            copy = tree.copy()
            target = _at(copy, place)
            try:
                changed = change(target)
            except (AttributeError, LookupError, TypeError):  # a shape that this change is not for
                continue
            if changed is not None and target is copy:
                yield changed
            else:
                if changed is not None:
                    target.replace(changed)
                yield copy


def _at(tree: exp.Expression, place: int) -> Any:  # noqa: ANN401 - a node
    for number, node in enumerate(tree.walk()):
        if number == place:
            return node
    raise IndexError(place)


def _changes(node: exp.Expression, columns: Sequence[str]) -> Iterator[_Change]:
    for other in (*_COMPARISONS.get(type(node), ()), *_AGGREGATES.get(type(node), ())):
        yield lambda n, other=other: other(**n.args)  # type: ignore[misc]
    if isinstance(node, exp.Avg):
        yield _avg_over_all
    for kind, of_kind in _KINDS:
        if isinstance(node, kind):
            yield from of_kind(node, columns)
            return


def _avg_over_all(node: exp.Expression) -> exp.Expression:
    """Divide by the number of all rows, also of those without a value."""
    total = exp.Mul(this=exp.Sum(this=node.this.copy()), expression=exp.Literal.number("1.0"))
    return exp.paren(exp.Div(this=total, expression=exp.Count(this=exp.Star())))


def _of_connector(node: exp.Expression, _: Sequence[str]) -> Iterator[_Change]:
    swapped = exp.Or if isinstance(node, exp.And) else exp.And
    yield lambda n: n.this.copy()
    yield lambda n: n.expression.copy()
    yield lambda n: swapped(this=n.this.copy(), expression=n.expression.copy())


def _of_union(_: exp.Expression, __: Sequence[str]) -> Iterator[_Change]:
    yield lambda n: n.set("distinct", not n.args.get("distinct"))


def _of_wrapper(_: exp.Expression, __: Sequence[str]) -> Iterator[_Change]:
    yield lambda n: n.this.copy()


def _of_ordered(_: exp.Expression, __: Sequence[str]) -> Iterator[_Change]:
    def turn(n: exp.Expression) -> None:
        for part in ("desc", "nulls_first"):
            n.set(part, not n.args.get(part))

    yield turn


def _of_literal(node: exp.Expression, _: Sequence[str]) -> Iterator[_Change]:
    if node.is_string:
        text = node.this
        for other in dict.fromkeys((text.lower(), text.upper(), text + "x", "%" + text)):
            if other != text:
                yield lambda _, other=other: exp.Literal.string(other)  # type: ignore[misc]
    elif node.is_int and len(node.this) < 18:
        for other in (int(node.this) + 1, int(node.this) - 1):
            if other >= 0:
                yield lambda _, other=other: exp.Literal.number(other)  # type: ignore[misc]


def _of_select(node: exp.Expression, columns: Sequence[str]) -> Iterator[_Change]:
    is_distinct = node.args.get("distinct") is not None
    yield lambda n: n.set("distinct", None if is_distinct else exp.Distinct())
    for part in ("where", "having", "limit", "order", "offset"):
        if node.args.get(part) is not None:
            yield lambda n, part=part: n.set(part, None)  # type: ignore[misc]
    if _takes_first(node):
        yield _take_all_first
    for name in columns[:_MAX_COLUMNS] if node.args.get("from_", node.args.get("from")) else ():
        yield lambda n, name=name: _require(n, name)  # type: ignore[misc]
    if node.args.get("group") is not None:
        keys = node.args["group"].expressions
        for i in range(len(keys) if len(keys) > 1 else 0):
            yield lambda n, i=i: n.args["group"].set(  # type: ignore[misc]
                "expressions", [k for j, k in enumerate(n.args["group"].expressions) if j != i]
            )


def _takes_first(select: exp.Expression) -> bool:
    """Whether it takes the first rows by one column."""
    order = select.args.get("order")
    has_more = any(select.args.get(part) for part in ("group", "distinct", "offset"))
    return (
        order is not None
        and select.args.get("limit") is not None
        and not has_more
        and len(order.expressions) == 1
        and isinstance(order.expressions[0].this, exp.Column)
    )


def _take_all_first(select: exp.Expression) -> None:
    """Take every row that has the largest value, or the smallest, instead of so many."""
    by = select.args["order"].expressions[0]
    best = (exp.Max if by.args.get("desc") else exp.Min)(this=by.this.copy())
    inner = select.copy()
    inner.set("expressions", [best])
    for query in (select, inner):
        query.set("order", None)
        query.set("limit", None)
    met = exp.EQ(this=by.this.copy(), expression=exp.Subquery(this=inner))
    where = select.args.get("where")
    select.set("where", exp.Where(this=exp.and_(where.this, met) if where else met))


def _require(select: exp.Expression, name: str) -> None:
    """Add a condition that only a NULL does not meet."""
    met = exp.column(name).is_(exp.null()).not_()
    where = select.args.get("where")
    select.set("where", exp.Where(this=exp.and_(where.this, met) if where else met))


def _of_join(node: exp.Expression, _: Sequence[str]) -> Iterator[_Change]:
    def to_left(n: exp.Expression) -> None:
        n.set("kind", None)
        n.set("side", "LEFT")

    def to_inner(n: exp.Expression) -> None:
        n.set("kind", None)
        n.set("side", None)

    yield to_inner if node.args.get("side") else to_left


def _of_count(node: exp.Expression, columns: Sequence[str]) -> Iterator[_Change]:
    counted = node.this
    if isinstance(counted, exp.Distinct):
        yield lambda n: exp.Count(this=n.this.expressions[0].copy())
    elif isinstance(counted, exp.Star):
        for name in columns[:_MAX_COLUMNS]:
            yield lambda _, name=name: exp.Count(this=exp.column(name))  # type: ignore[misc]
    elif isinstance(counted, exp.Column):
        yield lambda _: exp.Count(this=exp.Star())
        yield lambda n: exp.Count(this=exp.Distinct(expressions=[n.this.copy()]))


def _of_column(node: exp.Expression, columns: Sequence[str]) -> Iterator[_Change]:
    for name in [c for c in columns if c.lower() != node.name.lower()][:2]:
        yield lambda n, name=name: n.set("this", exp.to_identifier(name))  # type: ignore[misc]


_KINDS: Final[
    tuple[tuple[Any, Callable[[exp.Expression, Sequence[str]], Iterator[_Change]]], ...]
] = (
    (exp.And | exp.Or, _of_connector),
    (exp.Literal, _of_literal),
    (exp.Select, _of_select),
    (exp.Join, _of_join),
    (exp.Count, _of_count),
    (exp.Union, _of_union),
    (exp.Not | exp.Paren, _of_wrapper),
    (exp.Ordered, _of_ordered),
    (exp.Column, _of_column),
)
