"""A stand-in for the sandbox that does as it is told, and short ways to write specs for it."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import sys
from collections.abc import AsyncGenerator, Callable
from typing import Any

from rewarden.contracts import Sample, Verdict
from sandbox.events import Compiled, Ended, Event, Observed
from sandbox.jobs import Job, Observation, Returned, Run, Status
from sandbox.runner import values
from services.code.verifier import CodeVerifier

Observe = Callable[[Job, Run], Observation]
ADD = "def add(a, b):\n    return a + b\n"
SUM = "print(sum(map(int, input().split())))"


def _call(names: dict[str, Any], call: Any) -> Returned:
    try:
        found = names[call.entry_point]
        args = [values.decode(one) for one in call.args]
        return Returned(value=values.encode(found(*args, **call.kwargs)))
    except (LookupError, TypeError, ValueError) as error:
        return Returned(exception=type(error).__name__, message=str(error))


def really(job: Job, run: Run) -> Observation:
    names: dict[str, Any] = {}
    program = compile(job.source, "main.py", "exec")
    if run.calls is None:
        out = io.StringIO()
        stdin, sys.stdin = sys.stdin, io.StringIO(run.stdin.decode())
        try:
            with contextlib.redirect_stdout(out):
                exec(program, names)
        finally:
            sys.stdin = stdin
        return Observation(status=Status.EXITED, exit_code=0, stdout=out.getvalue().encode())
    exec(program, names)
    returned = []
    for call in run.calls:
        returned.append(_call(names, call))
        if returned[-1].exception:
            break
    return Observation(status=Status.EXITED, exit_code=0, returned=tuple(returned))


def always(status: Status, **more: Any) -> Observe:
    return lambda job, run: Observation(status=status, **more)


class Puppet:
    """Does every job as it is told."""

    def __init__(self, observe: Observe = really, compiled: Observation | None = None) -> None:
        self._observe = observe
        self._compiled = compiled
        self.jobs: list[Job] = []
        self.runs = 0
        self.faults: list[Exception] = []

    async def stream(self, job: Job) -> AsyncGenerator[Event, None]:
        self.jobs.append(job)
        await asyncio.sleep(0)
        if self.faults:
            raise self.faults.pop(0)
        if self._compiled:
            yield Compiled(compiled=self._compiled)
        for number, run in enumerate(job.runs):
            self.runs += 1
            yield Observed(run=number, observation=self._observe(job, run))
        yield Ended(end=len(job.runs), driver="puppet")


def function(*cases: tuple[list[Any], Any], **more: Any) -> dict[str, Any]:
    listed = [{"args": args, "expected": expected} for args, expected in cases]
    return {"tests": {"kind": "function", "entry_point": "add", "cases": listed}, **more}


def stdio(*cases: tuple[str, str], **more: Any) -> dict[str, Any]:
    listed = [{"stdin": stdin, "stdout": stdout} for stdin, stdout in cases]
    return {"tests": {"kind": "stdio", "cases": listed}, **more}


def suite(code: str, **more: Any) -> dict[str, Any]:
    return {"tests": {"kind": "assert", "code": code, "entry_point": "add"}, **more}


THREE = function(([1, 2], 3), ([-5, 5], 0), ([10, 20], 30))


async def check(
    spec: dict[str, Any], completion: str = ADD, puppet: Puppet | None = None
) -> Verdict:
    verifier = CodeVerifier(puppet or Puppet())
    await verifier.start()
    verdicts = await verifier.verify([Sample(id="x", completion=completion, spec=spec)])
    await verifier.close()
    json.dumps(verdicts[0].details)
    assert verdicts[0].id == "x"
    return verdicts[0]
