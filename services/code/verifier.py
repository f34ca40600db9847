"""The code verifier: extract -> run in the sandbox -> compare outside, and a verdict that explains.

`details.trust` says how far apart tests and program were kept: `high`, where what is expected stays
in this process; `proxied`, where trusted tests run in a sandbox of their own; `low`, in one process,
only where the spec allows it. The check itself is `services.code.judge`.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, ClassVar, Final

from rewarden.contracts import Outcome, Sample, Verdict
from rewarden.errors import ConfigurationError
from sandbox.embedded import embedded_sandbox
from services.code.extract import Extracted, extract
from services.code.judge import judge_program
from services.code.lines import MAX_JOBS, Lines
from services.code.memo import Memo
from services.code.spec import CodeSpec
from services.code.tally import Judgement
from services.code.turns import Turns
from services.verifier import read_spec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import BaseModel

    from services.code.session import Executor

logger = logging.getLogger(__name__)

ADDRESS: Final = "REWARDEN_SANDBOX_URL"


class CodeVerifier:
    """Runs programs against tests, in the sandbox at an address or in one of its own."""

    name: ClassVar[str] = "code"
    version: ClassVar[str] = "1"
    spec_model: ClassVar[type[BaseModel]] = CodeSpec
    chunk_size: ClassVar[int] = 8

    def __init__(self, executor: Executor | None = None, sandbox: str | None = None) -> None:
        """Use an executor of the caller's, or the sandbox at an address.

        Without either, the address is `REWARDEN_SANDBOX_URL`; without that, the first program
        starts a sandbox in a child process. Where none can start, samples are `verifier_error`.
        """
        self._executor = executor
        self._sandbox = sandbox
        self._client: Lines | None = None
        self._child = ExitStack()
        self._memo = Memo()
        self._turns = Turns(MAX_JOBS)
        self._starting = asyncio.Lock()
        self._is_open = False

    async def start(self) -> None:
        """Connect to the sandbox if it has an address; one of its own waits for a program.

        Most of those who run every verifier in one process never send it one.
        """
        self._is_open = True
        if self._executor is None and (address := self._sandbox or os.environ.get(ADDRESS)):
            self._connect(address)

    async def verify(self, samples: Sequence[Sample]) -> list[Verdict]:
        """Judge the samples, many at a time; batches take turns."""
        batch = object()
        return list(await asyncio.gather(*(self._verify(sample, batch) for sample in samples)))

    def _connect(self, address: str) -> Executor:
        self._client = Lines(address, os.environ.get("REWARDEN_SANDBOX_KEY"))
        self._executor = self._client
        return self._executor

    async def _sandboxed(self) -> Executor:
        """Return the executor, once it is there; a `ConfigurationError` if none can start."""
        async with self._starting:
            if self._executor is not None:
                return self._executor
            if not self._is_open:
                msg = "the verifier is not started"
                raise RuntimeError(msg)
            entered = self._child.enter_context
            return self._connect(await asyncio.to_thread(lambda: entered(embedded_sandbox())))

    async def close(self) -> None:
        """Leave the sandbox, and end it if it is ours."""
        async with self._starting:
            self._is_open = False
        if self._client is not None:
            await self._client.aclose()
            self._client = self._executor = None
        await asyncio.to_thread(self._child.close)

    async def _verify(self, sample: Sample, batch: object) -> Verdict:
        spec = read_spec(CodeSpec, sample.spec)
        if isinstance(spec, str):
            return self._verdict(sample, Judgement(Outcome.BAD_SPEC, spec))
        found = extract(sample.text, spec.language)
        if found is None:
            said = f"The completion holds no program in {spec.language}."
            return self._verdict(sample, Judgement(Outcome.NO_ANSWER, said, 0.0))
        if spec.reference is not None:
            fault = await self._fault_of_reference(spec, spec.reference, batch)
            if fault is not None:
                return self._verdict(sample, fault)
        judgement, cached = await self._judge(spec, found.code, batch)
        return self._verdict(sample, judgement, found, cached=cached)

    async def _fault_of_reference(
        self, spec: CodeSpec, reference: str, batch: object
    ) -> Judgement | None:
        found, _ = await self._judge(spec, reference, batch)
        if found.outcome is Outcome.CORRECT:
            return None
        if found.outcome in (Outcome.VERIFIER_ERROR, Outcome.BAD_SPEC):
            return found
        reason = f"The reference solution does not pass the tests. {found.reason}"
        return Judgement(Outcome.BAD_SPEC, reason, details={"reference": found.details})

    async def _judge(self, spec: CodeSpec, code: str, batch: object) -> tuple[Judgement, bool]:
        async def judge() -> Judgement:
            try:
                executor = await self._sandboxed()
            except ConfigurationError as error:
                logger.exception("no sandbox")
                return Judgement(Outcome.VERIFIER_ERROR, f"There is no sandbox: {error}.")
            async with self._turns.place(batch):
                return await judge_program(executor, spec, code)

        return await self._memo.get(_key(spec, code), judge)

    def _verdict(
        self,
        sample: Sample,
        found: Judgement,
        extracted: Extracted | None = None,
        *,
        cached: bool = False,
    ) -> Verdict:
        details: dict[str, Any] = dict(found.details)
        if extracted is not None and extracted.is_contested:
            details["several_programs"] = True
        if extracted is not None and extracted.is_unclosed:
            details["unclosed_fence"] = True
        return Verdict.of(
            sample,
            found.outcome,
            found.reason,
            verifier=self.name,
            score=found.score if found.outcome is Outcome.PARTIAL else None,
            details=details,
            elapsed_seconds=0.0 if cached else found.seconds,
            cached=cached,
        )


def _key(spec: CodeSpec, code: str) -> bytes:
    # With low trust the reference says how many tests there are; else it decides nothing here.
    said = spec.model_dump_json(exclude=None if spec.allow_low_trust else {"reference"})
    return hashlib.sha256(f"{len(said)} {said}{code}".encode("utf-8", "replace")).digest()
