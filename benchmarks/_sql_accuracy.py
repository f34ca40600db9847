"""Whether rewrites of a gold are paid by the SQL verifier, and near misses are not.

Each gold is compared with itself, with five equivalent rewrites, and with its mutants. A mutant
counts as different where it is refused, or differs on one of 100 databases that the verifier has
not seen; those that are paid all the same are the rate.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Final

from sqlglot import exp
from sqlglot.optimizer import optimize

from rewarden.contracts import Outcome
from services.sql.compare import Options, compare
from services.sql.instances.mutants import mutants
from services.sql.instances.roles import read_roles
from services.sql.instances.rows import make_rows
from services.sql.judge import Judge
from services.sql.parse import parse
from services.sql.results import DatabaseError, QueryError
from services.sql.shape import expected_rows, shape
from services.sql.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks._sql_data import Sample
    from services.sql.engines.engine import Scratch, Table

UNSEEN: Final = 100


@dataclass(slots=True)
class Accuracy:
    """How many were tried, and what became of them."""

    golds: int = 0
    itself: int = 0
    rewrites: int = 0
    right: int = 0
    different: int = 0
    paid: int = 0
    odd: list[str] = field(default_factory=list)
    """Rewrites that were refused, and near misses that were paid."""


def measure(sample: Sample, total: Accuracy) -> None:
    """Add what is found on one database to the total."""
    with tempfile.TemporaryDirectory() as folder:
        judge, store = Judge(Path(folder)), Store(Path(folder))
        key = store.key("sqlite", sample.statements)
        tables = store.open("sqlite", key).tables()
        scratch = store.engine("sqlite").scratch(store.place("sqlite", key))
        judge.register(sample.name, "sqlite", sample.statements)
        for gold in sample.golds:
            _measure_gold(judge, sample.name, gold, tables, scratch, total)
        scratch.close()


def _measure_gold(
    judge: Judge, database: str, gold: str, tables: list[Table], scratch: Scratch, total: Accuracy
) -> None:
    spec = {"query": gold, "database": database, "timeout_seconds": 10}

    def is_paid(text: str) -> bool:
        return judge.judge(spec, text).outcome is Outcome.CORRECT

    total.golds += 1
    total.itself += is_paid(gold + " --")
    for text in rewrites(gold, tables):
        total.rewrites += 1
        if is_paid(text):
            total.right += 1
        else:
            total.odd.append(f"refused: {text} | {judge.judge(spec, text).reason}")
    tree = parse(gold, "sqlite")
    columns = [c.name for t in tables for c in t.columns]
    for mutant in mutants(tree, "sqlite", columns) if tree is not None else ():
        if not is_paid(mutant):
            total.different += 1
        elif differs(gold, mutant, scratch, tables):
            total.different += 1
            total.paid += 1
            total.odd.append(f"paid: {gold} | {mutant}")


def rewrites(gold: str, tables: list[Table]) -> Iterator[str]:
    """Yield five queries that say the same."""
    tree = parse(gold, "sqlite")
    if not isinstance(tree, exp.Query):
        return
    schema = {t.name: {c.name: c.type or "text" for c in t.columns} for t in tables}
    yield optimize(tree.copy(), schema=schema, dialect="sqlite").sql(dialect="sqlite")
    yield f"WITH answer AS ({gold}) SELECT * FROM answer{_again(tree)}"
    yield f"SELECT * FROM ({gold}) AS answer{_again(tree)}"
    yield tree.sql(dialect="sqlite", pretty=True).lower() if "'" not in gold else gold + " ;"
    renamed = tree.copy()
    for table in renamed.find_all(exp.Table):
        if not table.alias and not renamed.find(exp.Union) and not renamed.find(exp.Subquery):
            table.set("alias", exp.TableAlias(this=exp.to_identifier("renamed")))
            break
    yield renamed.sql(dialect="sqlite")


def _again(tree: exp.Query) -> str:
    """Order the outer query as the inner one, where that is by an output column."""
    order = tree.args.get("order")
    if order is None:
        return ""
    by = order.expressions[0]
    names = [column.alias_or_name for column in tree.selects]
    return f" ORDER BY {by.sql(dialect='sqlite')}" if by.this.name in names else ""


def differs(gold: str, mutant: str, scratch: Scratch, tables: list[Table]) -> bool:
    """Whether the mutant is another query, by databases that the verifier has not seen."""
    tree = parse(gold, "sqlite")
    if tree is None:
        return False
    roles = read_roles([tree])
    for number in range(UNSEEN):
        try:
            scratch.fill(make_rows(tables, roles, Random(10_000 + number)))
            result = scratch.run(gold, 1)
            expected = expected_rows(
                shape(gold, "sqlite"), result, lambda q: scratch.run(q, 1), None
            )
            other = scratch.run(mutant, 1)
        except (DatabaseError, QueryError):
            continue
        if compare(expected, other.rows, other.width, Options()).equal is False:
            return True
    return False
