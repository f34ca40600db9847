"""Choose databases on which near misses of the gold show: once per gold, never per prediction.

Forty small random databases are made, the mutants of the gold run on each, and a small set is
kept that tells the most of them apart. Databases on which the gold finds nothing are left aside,
unless it finds nothing anywhere: there, right and wrong queries alike return nothing.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Final

from services.sql.compare import Expected, Options, compare
from services.sql.instances.mutants import mutants
from services.sql.instances.roles import read_roles
from services.sql.instances.rows import Rows, make_rows
from services.sql.parse import parse
from services.sql.results import DatabaseError, Failure, QueryError
from services.sql.shape import Shape, expected_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlglot import exp

    from services.sql.engines.engine import Scratch, Table
    from services.sql.results import Result

CANDIDATES: Final = 40
MIN_KEPT: Final = 5
MAX_KEPT: Final = 5
GENERATE_SECONDS: Final = 1.5
"""CPU time, so that a busy machine makes the same databases; and wall time at last, for an engine
whose work is done elsewhere."""
PATIENCE_SECONDS: Final = 8.0
QUERY_SECONDS: Final = 0.1


@dataclass(slots=True)
class Chosen:
    """The rows of the databases that are kept, and how well all databases tell mutants apart."""

    rows: list[Rows] = field(default_factory=list)
    mutants: int = 0
    killed_by_given: int = 0
    killed: int = 0


@dataclass(slots=True)
class _Candidate:
    rows: Rows
    kills: set[int]
    size: int
    is_empty: bool


class Generator:
    """Makes databases for one gold."""

    def __init__(
        self,
        scratch: Scratch,
        tables: list[Table],
        *,
        golds: tuple[str, ...],
        shape: Shape,
        engine: str,
        options: Options,
        ordered: bool | None,
    ) -> None:
        self._scratch = scratch
        self._tables = tables
        self._golds = golds
        self._shape = shape
        self._options = options
        self._ordered = ordered
        trees: list[exp.Expression | None] = [parse(sql, engine) for sql in golds]
        self._roles = read_roles(tree for tree in trees if tree is not None)
        columns = [c.name for t in tables for c in t.columns]
        self._mutants = mutants(trees[0], engine, columns) if trees[0] is not None else []
        self._ends = time.thread_time() + GENERATE_SECONDS
        self._ends_at_last = time.monotonic() + PATIENCE_SECONDS

    def choose(self, given: list[tuple[Expected, Callable[[str], Result]]]) -> Chosen:
        """Return the rows to keep, next to the given databases and what runs queries there."""
        by_given: set[int] = set()
        for number, (expected, run) in enumerate(given):
            if not number:
                self._mutants = [sql for sql in self._mutants if _runs(sql, run)]
            by_given |= self._kills(expected, run)
        candidates = [c for c in map(self._try, range(CANDIDATES)) if c is not None]
        full = [c for c in candidates if not c.is_empty] or candidates
        kept, killed = _greedy(full, set(by_given))
        for candidate in sorted(full, key=lambda c: (-len(c.kills), -c.size)):
            if len(kept) >= MIN_KEPT:
                break
            if candidate not in kept:
                kept.append(candidate)
        return Chosen([c.rows for c in kept], len(self._mutants), len(by_given), len(killed))

    def _try(self, number: int) -> _Candidate | None:
        if self._is_late():
            return None
        rows = make_rows(self._tables, self._roles, Random(number))  # noqa: S311 - the same each time
        try:
            self._scratch.fill(rows)
            result = self._run(self._golds[0])
            for alternative in self._golds[1:]:
                self._run(alternative)
            expected = expected_rows(self._shape, result, self._run, self._ordered)
        except (DatabaseError, QueryError):
            return None
        kills = self._kills(expected, self._run)
        return _Candidate(rows, kills, len(result.rows), says_nothing(result))

    def _is_late(self) -> bool:
        return time.thread_time() > self._ends or time.monotonic() > self._ends_at_last

    def _run(self, sql: str) -> Result:
        return self._scratch.run(sql, QUERY_SECONDS)

    def _kills(self, expected: Expected, run: Callable[[str], Result]) -> set[int]:
        killed = set()
        for number, mutant in enumerate(self._mutants):
            if self._is_late():
                break
            try:
                result = run(mutant)
            except QueryError:
                killed.add(number)
                continue
            if compare(expected, result.rows, result.width, self._options).equal is False:
                killed.add(number)
        return killed


def _runs(sql: str, run: Callable[[str], Result]) -> bool:
    """Whether a mutant is a query at all; one that is not tells nothing about the databases."""
    try:
        run(sql)
    except QueryError as error:
        return error.failure is not Failure.ERROR
    return True


def says_nothing(result: Result) -> bool:
    """Whether there are no rows, or a single one that counts or sums up nothing."""
    return not result.rows or (
        len(result.rows) == 1 and all(cell is None or cell == 0 for cell in result.rows[0])
    )


def _greedy(candidates: list[_Candidate], killed: set[int]) -> tuple[list[_Candidate], set[int]]:
    kept: list[_Candidate] = []
    while len(kept) < MAX_KEPT and candidates:
        best = max(candidates, key=lambda c: (len(c.kills - killed), c.size))
        if not best.kills - killed:
            break
        kept.append(best)
        killed |= best.kills
    return kept, killed
