"""The SQL verifier: extract -> run on every database -> compare, and a verdict that explains itself.

What is covered, and what is not, is in `docs/sql.md`. The check itself is `services.sql.judge`. It
runs in worker processes (`services.sql.workers.pool`), each of which can be killed.
"""

from __future__ import annotations

import asyncio
import logging
import shutil
from typing import TYPE_CHECKING, Any, ClassVar, Final

from rewarden.contracts import Outcome, Sample, Verdict
from services.sql.lease import Lease, abandoned
from services.sql.operations import DatabaseRequest, Finding, GoldRequest
from services.sql.settings import SqlSettings
from services.sql.spec import SqlSpec
from services.sql.workers.crew import PoolError
from services.sql.workers.nursery import Plan
from services.sql.workers.pool import Pool
from services.verifier import Operation

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pydantic import BaseModel

    from services.sql.workers.pool import Answer

logger = logging.getLogger(__name__)

JUDGE: Final = "services.sql.judge:Judge"
MAX_SENT_CHARS: Final = 1_100_000
"""More than the judge reads, so that it refuses a text cut to this."""


class SqlVerifier:
    """Runs a query and compares its rows with those of the gold one."""

    name: ClassVar[str] = "sql"
    version: ClassVar[str] = "1"
    spec_model: ClassVar[type[BaseModel]] = SqlSpec
    chunk_size: ClassVar[int] = 32

    def __init__(
        self,
        *,
        settings: SqlSettings | None = None,
        workers: int | None = None,
        folder: Path | None = None,
        judge: str = JUDGE,
    ) -> None:
        """Read the settings from the environment unless given; the rest goes before them."""
        self._settings = settings or SqlSettings()
        self._folder = folder or self._settings.folder
        self._lease: Lease | None = None
        self._workers = workers or self._settings.workers
        self._judge = judge
        self._pool: Pool | None = None

    async def start(self) -> None:
        """Start the workers; returns when all of them are ready."""
        if self._folder is None:
            self._lease = Lease()
        mega = 1024**2
        plan = Plan(
            self._judge,
            str(self._lease.folder if self._lease else self._folder),
            self._settings.memory_mb * mega,
            self._settings.disk_mb * mega,
        )
        self._pool = Pool(plan, self._workers)
        await self._pool.start()
        if self._lease:
            for folder in abandoned():
                await self._sweep(folder)

    async def verify(self, samples: Sequence[Sample]) -> list[Verdict]:
        """Have the samples judged by the workers, together with those of other callers."""
        asked = [("judge", sample.spec, sample.text[:MAX_SENT_CHARS]) for sample in samples]
        answers = await self._ask(asked)
        return [self._verdict(s, answer) for s, answer in zip(samples, answers, strict=True)]

    @property
    def operations(self) -> Sequence[Operation]:
        """Registering databases, and auditing golds."""
        return (
            Operation(
                "databases",
                DatabaseRequest,
                Finding,
                self.register,
                "Build a database once, and give it a name for specs.",
            ),
            Operation(
                "golds",
                GoldRequest,
                Finding,
                self.audit,
                "Say whether a gold can be used, and prepare it.",
            ),
        )

    async def register(self, request: DatabaseRequest) -> Finding:
        """Build a database and name it; a `PoolError` if there are no workers."""
        if (request.schema_sql is None) == (request.file is None):
            reason = "Give either 'schema_sql' or 'file'."
            return Finding(usable=False, reason=reason, details={})
        kind = "register" if request.file is None else "register_file"
        source = request.file or request.schema_sql or ""
        if not source or source.isspace():
            return Finding(usable=False, reason="The database is blank.", details={})
        return _finding((await self._ask([(kind, request.name, request.engine, source)]))[0])

    async def audit(self, request: GoldRequest) -> Finding:
        """Look at a gold alone; prepares it, too, so that the first prediction need not wait."""
        return _finding((await self._ask([("audit", request.spec)]))[0])

    async def close(self) -> None:
        """End the workers, and wait until they are gone."""
        if self._pool is not None:
            if self._lease and _has_postgres(self._lease.folder):
                await self._ask([("clear",)])
            await self._pool.close()
            self._pool = None
        if self._lease is not None:
            self._lease.close()
            self._lease = None

    async def _sweep(self, folder: Path) -> None:
        """Delete what a service left behind that was killed."""
        if _has_postgres(folder):  # those databases are not in the folder
            swept = (await self._ask([("sweep", str(folder))]))[0]
            if swept.outcome is not Outcome.CORRECT:
                logger.warning("%s is left as it is: %s", folder, swept.reason)
                return
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)

    async def _ask(self, asked: list[Any]) -> list[Answer]:
        if self._pool is None:
            msg = "the SQL verifier is not running"
            raise PoolError(msg)
        return await self._pool.ask(asked)

    def _verdict(self, sample: Sample, answer: Answer) -> Verdict:
        return Verdict.of(
            sample,
            answer.outcome,
            answer.reason,
            verifier=self.name,
            score=answer.score if answer.outcome is Outcome.PARTIAL else None,
            details=answer.details,
            elapsed_seconds=answer.seconds,
            cached=answer.cached,
        )


def _finding(answer: Answer) -> Finding:
    is_usable = answer.outcome is Outcome.CORRECT
    return Finding(usable=is_usable, reason=answer.reason, details=answer.details)


def _has_postgres(folder: Path) -> bool:
    return any((folder / "databases").glob("*.postgres*"))
