"""What a query does with the columns it names: which constants they meet, and what they join.

Columns are told by name alone, whatever table they are of: the worst that comes of a mix-up is a
value in a column where it tells nothing apart.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sqlglot import exp

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Constant = int | float | str

_COMPARING = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Like, exp.ILike, exp.Is)


@dataclass(slots=True)
class Roles:
    """What is known of columns, by their names in lower case."""

    constants: dict[str, set[Constant]] = field(default_factory=dict)
    aggregated: set[str] = field(default_factory=set)
    linked: set[str] = field(default_factory=set)
    """Compared with another column, or grouped by."""
    pairs: set[frozenset[str]] = field(default_factory=set)
    """Two columns that are compared, each as `table.column`, or `.column` of an unknown table."""
    mentioned: set[str] = field(default_factory=set)

    def may_be_null(self, name: str, *, has_nulls: bool) -> bool:
        """Whether NULL is put in a nullable column.

        Not where a NULL says what few authors think of: what joins, or is grouped by, or is merely
        returned, is NULL only if it is so in the data that the gold was written for.
        """
        if has_nulls:
            return True
        if name in self.linked:
            return False
        return name in self.constants or name in self.aggregated or name not in self.mentioned


def read_roles(trees: Iterable[exp.Expression]) -> Roles:
    """Read the queries."""
    roles = Roles()
    for tree in trees:
        names = {
            table.alias_or_name.lower(): table.name.lower() for table in tree.find_all(exp.Table)
        }
        for node in tree.walk():
            _read(node, roles, names)
    return roles


def _read(node: Any, roles: Roles, names: dict[str, str]) -> None:  # noqa: ANN401 - a node
    if isinstance(node, exp.Column):
        roles.mentioned.add(node.name.lower())
    elif isinstance(node, _COMPARING):
        _read_comparison(node, roles, names)
    elif isinstance(node, exp.Between | exp.In):
        parts = node.expressions or [node.args.get("low"), node.args.get("high")]
        for column in _columns(node.this):
            roles.constants.setdefault(column.name.lower(), set()).update(_constants(parts))
            if node.args.get("query") is not None:
                roles.linked.add(column.name.lower())
    elif isinstance(node, exp.AggFunc):
        roles.aggregated.update(column.name.lower() for column in _columns(node))
    elif isinstance(node, exp.Group | exp.PartitionedByProperty):
        roles.linked.update(column.name.lower() for column in _columns(node))
    elif isinstance(node, exp.Join) and node.args.get("using"):
        roles.linked.update(name.name.lower() for name in node.args["using"])


def _read_comparison(node: exp.Expression, roles: Roles, names: dict[str, str]) -> None:
    left, right = list(_columns(node.this)), list(_columns(node.expression))
    for column, other in ((c, node.expression) for c in left):
        roles.constants.setdefault(column.name.lower(), set()).update(_constants([other]))
    for column, other in ((c, node.this) for c in right):
        roles.constants.setdefault(column.name.lower(), set()).update(_constants([other]))
    if isinstance(node.this, exp.Column) and isinstance(node.expression, exp.Column):
        roles.linked.update(c.name.lower() for c in (*left, *right))
        roles.pairs.add(frozenset(_full_name(c, names) for c in (left[0], right[0])))


def _full_name(column: exp.Column, names: dict[str, str]) -> str:
    return f"{names.get(column.table.lower(), '')}.{column.name.lower()}"


def _columns(node: Any) -> Iterator[exp.Column]:  # noqa: ANN401 - a node or None
    """Yield the columns of an expression, not those of queries within."""
    if node is None or isinstance(node, exp.Query):
        return
    if isinstance(node, exp.Column):
        yield node
        return
    for child in node.iter_expressions():
        yield from _columns(child)


def _constants(nodes: Iterable[exp.Expression | None]) -> Iterator[Constant]:
    for node in nodes:
        if node is None or isinstance(node, exp.Query):
            continue
        for literal in node.find_all(exp.Literal):
            if literal.is_string:
                yield literal.this
            else:
                sign = -1 if isinstance(literal.parent, exp.Neg) else 1
                try:
                    yield sign * (int(literal.this) if literal.is_int else float(literal.this))
                except ValueError:
                    continue
