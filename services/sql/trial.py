"""One prediction on its way through the databases of its gold: run, compare, and on to the next.

What may take long is announced to a `Clock`, so that whoever watches knows whose time it is: ours,
the gold's or the prediction's.
"""

from __future__ import annotations

import time
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Protocol

from services.sql.compare import Comparison, compare
from services.sql.profiles import overlap
from services.sql.results import DatabaseError, Failure, GoneError, QueryError, Result

if TYPE_CHECKING:
    from services.sql.engines.engine import Database
    from services.sql.gold import Gold, Instance
    from services.sql.spec import SqlSpec
    from services.sql.store import Store

OWN_SECONDS: Final = 10.0
"""CPU time for all that is neither gold nor prediction."""


class Clock(Protocol):
    """Is told whose time it is."""

    def phase(self, name: str, seconds: float, *, is_wall: bool) -> AbstractContextManager[None]:
        """Begin a phase that is to end within so many seconds of CPU time, or of wall time."""
        ...


class Unwatched:
    """A clock that nobody looks at."""

    def phase(self, _: str, __: float, *, is_wall: bool) -> AbstractContextManager[None]:
        """Let it run."""
        return nullcontext()


@dataclass(slots=True)
class Trial:
    """One prediction on its way through the databases."""

    sql: str
    alive: set[int]
    """The golds that it equals so far."""
    databases: list[dict[str, Any]] = field(default_factory=list)
    tables: set[str] = field(default_factory=set)
    doubts: dict[int, Comparison] = field(default_factory=dict)
    """Of those, the ones where that was left open somewhere."""
    is_graded: bool = False
    """Whether rows that are right earn something."""
    overlap: float = 0.0


class Trials:
    """Runs predictions one after the other."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def run(self, spec: SqlSpec, gold: Gold, trial: Trial) -> Comparison | None:
        """Run it on one database after the other; return where it was found to differ."""
        left = spec.timeout_seconds
        for instance in gold.instances:
            began = time.perf_counter()
            result, used = self._run(spec, instance, trial.sql, left)
            left = max(left - used, 0.001)
            trial.tables |= result.tables
            with self._clock.phase("own", OWN_SECONDS, is_wall=False):
                compared = _compare(gold, instance, result, trial)
            said = {"name": instance.name, "rows": len(result.rows), "equal": compared.equal}
            said["seconds"] = round(time.perf_counter() - began, 6)
            trial.databases.append(said)
            if compared.equal is False:
                return compared
        return None if trial.alive - trial.doubts.keys() else next(iter(trial.doubts.values()))

    def _run(
        self, spec: SqlSpec, instance: Instance, sql: str, seconds: float
    ) -> tuple[Result, float]:
        is_wall = spec.engine == "postgres"
        try:
            database = self._store.open(spec.engine, instance.key)
            database.get_ready()
        except GoneError:
            raise
        except DatabaseError as error:
            raise QueryError(Failure.ENGINE, str(error)) from error
        quick = database.quick_seconds
        if quick is not None and quick < seconds:
            try:
                return self._timed(database, sql, quick, is_wall=is_wall)
            except QueryError as error:
                if error.failure not in {Failure.TIMEOUT, Failure.ENGINE}:
                    raise
            with database.slow_lane():
                return self._timed(database, sql, seconds, is_wall=is_wall)
        try:
            return self._timed(database, sql, seconds, is_wall=is_wall)
        except QueryError as error:
            # The memory of a process is shared by all databases that it holds open.
            if error.failure is not Failure.RESOURCE:
                raise
            if not self._store.leave_others(spec.engine, instance.key):
                raise
        return self._timed(database, sql, seconds, is_wall=is_wall)

    def _timed(
        self, database: Database, sql: str, seconds: float, *, is_wall: bool
    ) -> tuple[Result, float]:
        """Run the query as its own phase; return its result and the time that it took."""
        clock = time.monotonic if is_wall else time.thread_time
        began = clock()
        with self._clock.phase("prediction", seconds, is_wall=is_wall):
            result = database.run(sql, seconds)
        return result, clock() - began


def _compare(gold: Gold, instance: Instance, result: Result, trial: Trial) -> Comparison:
    """Compare with every gold that is still possible; return the best comparison, or the first.

    One that cannot be decided stays possible, so that another database may decide it.
    """
    found: list[Comparison] = []
    alive = set()
    for number in sorted(trial.alive):
        expected = instance.expected[number]
        compared = compare(expected, result.rows, result.width, gold.options)
        found.append(compared)
        if compared.equal is not False:
            alive.add(number)
        if compared.equal is None:
            trial.doubts[number] = compared
        if trial.is_graded and not compared.equal:
            trial.overlap = max(trial.overlap, overlap(expected.rows, result.rows))
    trial.alive = alive
    if alive - trial.doubts.keys():
        return Comparison(True)
    return next((c for c in found if c.equal is None), found[0])
