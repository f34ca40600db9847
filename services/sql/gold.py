"""Prepare a gold: run it on every database, generate further ones, and say what is wrong with it.

What is prepared is kept for as long as this process runs; the generated databases are kept in the
store, where every worker finds them.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from services.sql.audit import audit_of
from services.sql.compare import Expected, Options, compare, plain
from services.sql.instances.generate import Chosen, Generator
from services.sql.parse import transpile
from services.sql.results import DatabaseError, EngineError, Failure, GoneError, QueryError, Result
from services.sql.shape import Shape, expected_rows, shape
from services.sql.store import Store, digest
from services.sql.values import Tolerance

if TYPE_CHECKING:
    from services.sql.engines.engine import Database
    from services.sql.spec import SqlSpec

MAX_REMEMBERED: Final = 1_024
SEEN_SECONDS: Final = 60.0


class GoldError(Exception):
    """A gold, or its database, that nothing can be compared with; the message says why."""


@dataclass(slots=True)
class Instance:
    """One database, and what may be answered on it."""

    name: str
    key: str
    expected: list[Expected]
    """One for each gold."""


@dataclass(slots=True)
class Gold:
    """A gold that predictions can be compared with."""

    engine: str
    options: Options
    instances: list[Instance]
    reads_tables: bool
    audit: dict[str, Any]
    judged: dict[str, Any] = field(default_factory=dict)
    """What predictions came to, by their text."""
    seen: float = field(default_factory=time.monotonic)
    """When its databases were last known to be there."""


class Golds:
    """Prepares golds and remembers them."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[str, Gold] = {}

    def get(self, spec: SqlSpec) -> Gold:
        """Return the gold; a `GoldError` if it is not usable."""
        key = spec.model_dump_json()
        gold = self._known.pop(key, None)
        if gold is None or self._is_gone(gold):
            gold = _prepare_again(spec, self._store)
        self._known[key] = gold
        if len(self._known) > MAX_REMEMBERED:
            self._known.pop(next(iter(self._known)))
        return gold

    def _is_gone(self, gold: Gold) -> bool:
        """Look, now and then, whether its databases are still there; they count as used by that."""
        now = time.monotonic()
        if now - gold.seen < SEEN_SECONDS:
            return False
        gold.seen = now
        return not self._store.has(gold.engine, [i.key for i in gold.instances])

    def forget(self, spec: SqlSpec) -> None:
        """Prepare it anew when it is asked for next."""
        gold = self._known.pop(spec.model_dump_json(), None)
        for instance in gold.instances if gold else ():
            self._store.leave(spec.engine, instance.key)


def options_of(spec: SqlSpec) -> Options:
    """Return how results are compared."""
    tolerance = Tolerance(spec.rel_tol, spec.abs_tol, spec.decimals, spec.types == "lenient")
    return Options(tolerance, spec.columns, spec.rows_as == "set")


def _prepare_again(spec: SqlSpec, store: Store) -> Gold:
    """Prepare it, once more if a database is deleted meanwhile."""
    try:
        return _prepare(spec, store)
    except GoneError:
        return _prepare(spec, store)


def _prepare(spec: SqlSpec, store: Store) -> Gold:
    options = options_of(spec)
    spec = _translated(spec)
    try:
        keys = _given(spec, store)
        databases = [store.open(spec.engine, key) for key in keys]
    except GoneError:
        raise
    except DatabaseError as error:
        msg = f"The database cannot be used: {error}."
        raise GoldError(msg) from error
    names = ["given", *(f"instance {n}" for n in range(1, len(keys)))]
    if spec.rows is not None:
        return _of_rows(spec, options, keys[0])
    shapes = [shape(sql, spec.engine) for sql in spec.golds]
    gold = Gold(spec.engine, options, [], reads_tables=False, audit={})
    results = []
    for name, key, database in zip(names, keys, databases, strict=True):
        results.append(_add(gold, spec, shapes, name, key, database))
    chosen = _generate(spec, store, gold, shapes, databases[0]) if spec.generate else None
    for number, key in enumerate(chosen["keys"] if chosen else [], 1):
        try:
            database = store.open(spec.engine, key)
            results.append(_add(gold, spec, shapes, f"generated {number}", key, database))
        except GoldError:  # it ran there when it was generated; now time is short
            continue
    repeatable = _is_repeatable(spec, gold, databases[0])
    gold.audit = audit_of(spec, gold, results, shapes, chosen, is_repeatable=repeatable)
    if gold.audit["vacuous"] and not spec.allow_vacuous:
        msg = "The gold query returns no rows on any database, so that nothing can be told."
        raise GoldError(msg)
    return gold


def _translated(spec: SqlSpec) -> SqlSpec:
    if spec.transpile_from is None or spec.query is None:
        return spec
    golds = [transpile(sql, spec.transpile_from, spec.engine) for sql in spec.golds]
    if None in golds:
        msg = f"A gold query cannot be translated from {spec.transpile_from}."
        raise GoldError(msg)
    return spec.model_copy(update={"query": golds[0], "alternatives": golds[1:]})


def _given(spec: SqlSpec, store: Store) -> list[str]:
    if spec.database is not None:
        registered = store.named(spec.database)
        if registered.engine != spec.engine:
            msg = f"'{spec.database}' is a database of {registered.engine}, not of {spec.engine}"
            raise DatabaseError(msg)
        first = registered.key
    else:
        first = store.key(spec.engine, spec.schema_sql or "")
    return [first, *(store.key(spec.engine, sql) for sql in spec.instances)]


def _of_rows(spec: SqlSpec, options: Options, key: str) -> Gold:
    rows = [tuple(row) for row in spec.rows or ()]
    if not rows and not spec.allow_vacuous:
        msg = "The gold has no rows, so that nothing can be told."
        raise GoldError(msg)
    width = len(rows[0]) if rows else 0
    expected = plain(rows, width, is_ordered=bool(spec.ordered))
    audit: dict[str, Any] = {"vacuous": not rows, "warnings": [], "instances": 1}
    # Given rows are no constant: a prediction that reads nothing wrote them down.
    return Gold(spec.engine, options, [Instance("given", key, [expected])], True, audit)


def _add(
    gold: Gold, spec: SqlSpec, shapes: list[Shape], name: str, key: str, database: Database
) -> Result:
    """Run the golds on one database; return the result of the first."""
    expected: list[Expected] = []
    results: list[Result] = []

    def run(sql: str) -> Result:
        return database.run(sql, spec.timeout_seconds)

    for sql, its_shape in zip(spec.golds, shapes, strict=True):
        result = _run_gold(database, sql, name, spec)
        results.append(result)
        try:
            expected.append(expected_rows(its_shape, result, run, spec.ordered))
        except QueryError:  # without its LIMIT it is too much
            unknown = Shape(its_shape.is_ordered, its_shape.is_cut)
            expected.append(expected_rows(unknown, result, run, spec.ordered))
    gold.instances.append(Instance(name, key, expected))
    gold.reads_tables = gold.reads_tables or all(result.tables for result in results)
    return results[0]


def _run_gold(database: Database, sql: str, name: str, spec: SqlSpec) -> Result:
    try:
        return database.run(sql, spec.timeout_seconds)
    except QueryError as error:
        if error.failure is Failure.ENGINE:
            raise EngineError(error.said) from error
        msg = f"The gold query does not run on the {name} database: {error.said}."
        raise GoldError(msg) from error


def _generate(
    spec: SqlSpec, store: Store, gold: Gold, shapes: list[Shape], database: Database
) -> dict[str, Any] | None:
    """Generate databases, unless they are in the store; None where it cannot be done."""
    keys = [instance.key for instance in gold.instances]
    name = digest(
        "1",
        keys,
        spec.golds,
        spec.model_dump(exclude={"query", "schema_sql", "timeout_seconds", "profile"}),
    )
    path = store.gold_path(name)
    for again in (False, True):
        with store.making(path, again=again) as made:
            if made is not None:
                chosen = _choose(spec, store, gold, shapes, database, name)
                made.write_text(json.dumps(chosen), encoding="utf-8")
        read: dict[str, Any] | None = json.loads(path.read_text(encoding="utf-8"))
        if read is None or store.opens(spec.engine, read["keys"]):
            return read
    msg = "they were deleted to make room"
    raise GoneError(msg)


def _choose(
    spec: SqlSpec,
    store: Store,
    gold: Gold,
    shapes: list[Shape],
    database: Database,
    name: str,
) -> dict[str, Any] | None:
    tables = database.tables()
    if not tables or not gold.reads_tables:
        return None
    engine = store.engine(spec.engine)
    try:
        scratch = engine.scratch(store.place(spec.engine, gold.instances[0].key))
    except DatabaseError:
        return None
    try:
        generator = Generator(
            scratch,
            tables,
            golds=spec.golds,
            shape=shapes[0],
            engine=spec.engine,
            options=gold.options,
            ordered=spec.ordered,
        )
        runners = [store.open(spec.engine, instance.key) for instance in gold.instances]
        given = [
            (i.expected[0], lambda sql, d=d: d.run(sql, 0.1))
            for i, d in zip(gold.instances, runners, strict=True)
        ]
        chosen: Chosen = generator.choose(given)  # type: ignore[arg-type]
        keys = []
        for number, rows in enumerate(chosen.rows):
            key = digest(name, number)
            scratch.fill(rows)
            with store.making_database(spec.engine, key) as made:
                if made is not None:
                    scratch.save(made)
            keys.append(key)
    finally:
        scratch.close()
    return {
        "keys": keys,
        "mutants": chosen.mutants,
        "killed": chosen.killed,
        "killed_by_given": chosen.killed_by_given,
    }


def _is_repeatable(spec: SqlSpec, gold: Gold, database: Database) -> bool:
    """Whether the gold, run once more, gives a result that is right by the first one."""
    result = _run_gold(database, spec.golds[0], "given", spec)
    expected = gold.instances[0].expected[0]
    return compare(expected, result.rows, result.width, gold.options).equal is not False
