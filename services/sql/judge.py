"""The whole check of one prediction, in one thread: read, extract, run on every database, compare.

Nothing here knows of processes, HTTP or queues. What may take long is announced to a `Clock`, so
that whoever watches knows whose time it is: ours, the gold's or the prediction's.
"""

from __future__ import annotations

from base64 import b64decode
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from rewarden.contracts import Outcome, mended
from services.sql.extract import MAX_COMPLETION_CHARS, Found, extract
from services.sql.gold import Gold, GoldError, Golds
from services.sql.parse import error_place, transpile
from services.sql.profiles import Progress, partial_score, reward
from services.sql.results import DatabaseError, EngineError, Failure, GoneError, QueryError
from services.sql.show import cell_text, shown_difference, shown_sql
from services.sql.spec import MAX_SQL_BYTES, SqlSpec
from services.sql.store import DISK_BYTES, Store
from services.sql.trial import OWN_SECONDS, Clock, Trial, Trials, Unwatched
from services.verifier import read_spec

if TYPE_CHECKING:
    from collections.abc import Callable

    from services.sql.compare import Comparison
    from services.sql.store import Registered

GOLD_SECONDS: Final = 30.0
"""CPU time to build the databases of a gold, run it and generate more of them."""
MAX_JUDGED: Final = 256
_OUTCOMES: Final = {
    Failure.ERROR: Outcome.INCORRECT,
    Failure.REFUSED: Outcome.REJECTED,
    Failure.TIMEOUT: Outcome.TIMEOUT,
    Failure.RESOURCE: Outcome.RESOURCE_LIMIT,
    Failure.ENGINE: Outcome.VERIFIER_ERROR,
}


class Judgement(NamedTuple):
    """What a verdict says, before it is one; every member can be written as JSON."""

    outcome: Outcome
    reason: str
    details: dict[str, Any]
    cached: bool = False
    score: float | None = None
    """For `PARTIAL` alone."""


class Judge:
    """Checks predictions one after the other, and remembers golds and what it has judged."""

    def __init__(
        self, root: Path, clock: Clock | None = None, disk_bytes: int = DISK_BYTES
    ) -> None:
        self._store = Store(root, disk_bytes)
        self._golds = Golds(self._store)
        self._clock = clock or Unwatched()
        self._trials = Trials(self._store, self._clock)

    def judge(self, spec: object, text: str) -> Judgement:
        """Check the SQL of the completion `text` against the (unread) `spec`."""
        read = read_spec(SqlSpec, spec)
        if isinstance(read, str):
            return Judgement(Outcome.BAD_SPEC, read, {})
        gold = self._gold(read)
        if isinstance(gold, Judgement):
            return gold
        if len(text) > MAX_COMPLETION_CHARS:
            reason = f"The completion is longer than {MAX_COMPLETION_CHARS:,} characters."
            return Judgement(Outcome.REJECTED, reason, {})
        found = extract(mended(text))
        if found is None:
            return _graded(read, Outcome.NO_ANSWER, "No SQL was found.", {}, Progress())
        known = gold.judged.get(found.sql)
        if known is None or known.details.get("strategy") != found.strategy:
            known = self._judged_again(read, gold, found)
            if known.outcome.is_scored and known.outcome is not Outcome.TIMEOUT:
                gold.judged[found.sql] = known._replace(cached=True)
            if len(gold.judged) > MAX_JUDGED:
                gold.judged.pop(next(iter(gold.judged)))
        return known

    def audit(self, spec: object) -> Judgement:
        """Look at a gold alone: `correct` and its audit, or what is wrong with it."""
        read = read_spec(SqlSpec, spec)
        if isinstance(read, str):
            return Judgement(Outcome.BAD_SPEC, read, {})
        gold = self._gold(read)
        if isinstance(gold, Judgement):
            return gold
        return Judgement(Outcome.CORRECT, "The gold can be used.", dict(gold.audit))

    def register(self, name: str, engine: str, statements: str) -> Judgement:
        """Build a database and name it: `correct`, or `bad_spec` with what is wrong."""
        return self._registered(engine, lambda: self._store.register(name, engine, statements))

    def register_file(self, name: str, engine: str, content: str) -> Judgement:
        """Keep a database file, given in base 64, and name it."""
        try:
            decoded = b64decode(content, validate=True)
        except ValueError:
            return Judgement(Outcome.BAD_SPEC, "The file is not given in base 64.", {})
        return self._registered(engine, lambda: self._store.register_file(name, engine, decoded))

    def _registered(self, engine: str, register: Callable[[], Registered]) -> Judgement:
        try:
            with self._clock.phase("gold", GOLD_SECONDS, is_wall=False):
                registered = register()
                tables = self._store.open(*registered).tables()
        except KeyError:
            return Judgement(Outcome.BAD_SPEC, f"There is no engine '{engine}'.", {})
        except DatabaseError as error:
            return Judgement(Outcome.BAD_SPEC, f"The database cannot be used: {error}.", {})
        except EngineError as error:
            return Judgement(Outcome.VERIFIER_ERROR, f"The engine failed: {error}.", {})
        columns = {t.name: [c.name for c in t.columns] for t in tables}
        details = mended(registered._asdict() | {"tables": columns})
        return Judgement(Outcome.CORRECT, "The database is registered.", details)

    def clear(self) -> Judgement:
        """Delete every database."""
        return _cleared(self._store)

    def sweep(self, folder: str) -> Judgement:
        """Delete every database of another store, whose process is gone."""
        return _cleared(Store(Path(folder)))

    def _gold(self, spec: SqlSpec) -> Gold | Judgement:
        try:
            with self._clock.phase("gold", GOLD_SECONDS, is_wall=False):
                return self._golds.get(spec)
        except GoldError as error:
            return Judgement(Outcome.BAD_SPEC, mended(str(error)), {})
        except EngineError as error:
            return Judgement(Outcome.VERIFIER_ERROR, f"The engine failed: {error}.", {})

    def _judged_again(self, spec: SqlSpec, gold: Gold, found: Found) -> Judgement:
        """Judge it, once more if another process made room meanwhile."""
        try:
            return self._judged(spec, gold, found)
        except GoneError:
            self._golds.forget(spec)
        again = self._gold(spec)
        if isinstance(again, Judgement):
            return again
        try:
            return self._judged(spec, again, found)
        except GoneError as error:
            return Judgement(Outcome.VERIFIER_ERROR, f"A database is gone: {error}.", {})

    def _judged(self, spec: SqlSpec, gold: Gold, found: Found) -> Judgement:
        details: dict[str, Any] = {"sql": shown_sql(found.sql), "strategy": found.strategy}
        if not found.is_closed:
            details["flags"] = ["unclosed"]
        sql = _runnable(spec, found, details)
        if isinstance(sql, Judgement):
            return sql
        trial = Trial(sql, set(range(len(gold.instances[0].expected))))
        trial.is_graded = spec.profile == "graded"
        details["gold"] = gold.audit
        details["databases"] = trial.databases
        try:
            difference = self._trials.run(spec, gold, trial)
        except QueryError as error:
            return self._failed(spec, error, details, trial)
        details["tables"] = sorted(trial.tables)
        if difference is not None:
            return _differs(spec, difference, trial, details)
        if gold.reads_tables and not trial.tables:
            reason = "The query reads no table: it writes its rows down."
            progress = Progress(is_found=True, is_parsed=True)
            return _graded(spec, Outcome.INCORRECT, reason, details, progress)
        count = len(trial.databases)
        reason = f"The same rows on {count} database{'s' if count > 1 else ''}."
        return _graded(spec, Outcome.CORRECT, reason, details, _RAN)

    def _failed(
        self, spec: SqlSpec, error: QueryError, details: dict[str, Any], trial: Trial
    ) -> Judgement:
        said = cell_text(error.said)
        details["failure"] = error.failure
        details["said"] = said
        outcome = _OUTCOMES[error.failure]
        if outcome is not Outcome.INCORRECT:
            reason = f"The query was stopped: {said}."
            return _graded(spec, outcome, reason, details, Progress(is_found=True))
        with self._clock.phase("own", OWN_SECONDS, is_wall=False):
            place = error_place(trial.sql, spec.engine)
        if place is not None:
            details["failure"] = "parse_error"
            details["place"] = mended(place)
        reason = f"The query does not run: {said}."
        progress = Progress(True, place is None, is_run=bool(trial.databases))
        return _graded(spec, outcome, reason, details, progress)


def _cleared(store: Store) -> Judgement:
    try:
        store.clear()
    except (DatabaseError, EngineError) as error:
        return Judgement(Outcome.VERIFIER_ERROR, f"Not all is deleted: {error}.", {})
    return Judgement(Outcome.CORRECT, "All databases are deleted.", {})


_RAN: Final = Progress(is_found=True, is_parsed=True, is_run=True)


def _runnable(spec: SqlSpec, found: Found, details: dict[str, Any]) -> str | Judgement:
    """Return the query in the dialect of the engine, or why it is not run."""
    if found.rival is not None:
        reason = "The completion ends on two different queries."
        return Judgement(Outcome.NO_ANSWER, reason, details | {"rival": shown_sql(found.rival)})
    if len(found.sql.encode("utf-8", "surrogatepass")) > MAX_SQL_BYTES:
        reason = f"The query is longer than {MAX_SQL_BYTES:,} bytes."
        return Judgement(Outcome.REJECTED, reason, details)
    if spec.transpile_from is None:
        return found.sql
    sql = transpile(found.sql, spec.transpile_from, spec.engine)
    if sql is None:
        place = mended(error_place(found.sql, spec.transpile_from))
        details |= {"failure": "parse_error", "place": place}
        reason = f"The query cannot be translated from {spec.transpile_from}."
        return _graded(spec, Outcome.INCORRECT, reason, details, Progress(is_found=True))
    return sql


def _differs(
    spec: SqlSpec, difference: Comparison, trial: Trial, details: dict[str, Any]
) -> Judgement:
    if difference.equal is None:
        return Judgement(Outcome.UNDECIDED, f"Not decided: {difference.reason}.", details)
    name = trial.databases[-1]["name"]
    details["difference"] = shown_difference(difference, name)
    reason = f"On the {name} database: {difference.reason}."
    progress = _RAN._replace(overlap=trial.overlap)
    return _graded(spec, Outcome.INCORRECT, reason, details, progress)


def _graded(
    spec: SqlSpec, outcome: Outcome, reason: str, details: dict[str, Any], progress: Progress
) -> Judgement:
    its_reward = reward(spec.profile, outcome, progress)
    if its_reward is not None:
        details["reward"] = its_reward
    if outcome is Outcome.INCORRECT:
        score = partial_score(spec.profile, progress)
        if score > 0:
            return Judgement(Outcome.PARTIAL, reason, details, score=score)
    return Judgement(outcome, reason, details)
