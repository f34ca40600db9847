"""Reading the body of `POST /v1/jobs`, whatever was sent."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from fastapi import HTTPException
from pydantic import ValidationError

from sandbox.jobs import Job
from sandbox.names import fault_of_name, same_place

if TYPE_CHECKING:
    from fastapi import Request
    from pydantic_core import ErrorDetails

    from sandbox.jobs import Run

MAX_REQUEST_BYTES: Final = 64 * 1024 * 1024
LARGE_BYTES: Final = 256 * 1024
"""Bodies beyond this are read in a thread, so that they hold up no other job."""
MAX_ARGV_BYTES: Final = 64 * 1024
"""Of one run; the kernel takes no argument beyond 128 KiB."""
CALLABLE: Final = frozenset({"python", "javascript"})
MAX_ERRORS_TOLD: Final = 20
"""Places named in one refusal."""
MAX_ERRORS_READ: Final = 5_000
"""A body may be wrong in a million places; to look at each would take minutes."""


async def read_job(request: Request) -> Job:
    """Read and validate the body; an HTTPException with status 413, 415 or 422 says what is wrong."""
    kind = request.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        # Any web page may post other kinds to a service on loopback, and no preflight asks first.
        raise HTTPException(415, "The Content-Type must be application/json.")
    body = await _read_bounded(request)
    if len(body) > LARGE_BYTES:
        return await asyncio.to_thread(_validate, body)
    return _validate(body)


def refusal(loc: list[str | int], message: str, kind: str = "value_error") -> HTTPException:
    """Make the 422 that names one place in the body."""
    return HTTPException(422, [{"loc": ["body", *loc], "msg": message, "type": kind}])


async def _read_bounded(request: Request) -> bytes:
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > MAX_REQUEST_BYTES:
            raise HTTPException(413, f"A request has at most {MAX_REQUEST_BYTES} bytes.")
    return bytes(body)


def _validate(body: bytes) -> Job:
    try:
        job = Job.model_validate_json(body)
    except ValidationError as error:
        raise _malformed(error) from error
    for number, run in enumerate(job.runs):
        _check_run(job, number, run)
    if job.files:
        _check_names(job, body)
    return job


def _check_run(job: Job, number: int, run: Run) -> None:
    if run.calls is not None and job.language not in CALLABLE:
        raise refusal(["runs", number, "calls"], f"A program in {job.language} cannot be called.")
    if any("\0" in argument for argument in run.argv):
        raise refusal(["runs", number, "argv"], "An argument holds a NUL.")
    if sum(len(argument.encode()) + 1 for argument in run.argv) > MAX_ARGV_BYTES:
        raise refusal(["runs", number, "argv"], f"Arguments have at most {MAX_ARGV_BYTES} bytes.")


def _check_names(job: Job, body: bytes) -> None:
    for name in job.files:
        if fault := fault_of_name(name):
            raise refusal(["files", name], fault)
    if clash := same_place(job.files):
        raise refusal(["files", clash[1]], f"'{clash[0]}' cannot be a folder as well.")
    # Of a name that is there twice, the parser kept the last and told nobody.
    if twice := _repeated_names(body) & job.files.keys():
        raise refusal(["files", min(twice)], "The name is there twice.")


def _repeated_names(body: bytes) -> set[str]:
    """Find the keys that any object of the body has twice."""
    found: set[str] = set()

    def look(pairs: list[tuple[str, Any]]) -> None:
        if len(pairs) > 1:
            found.update(name for name, count in Counter(n for n, _ in pairs).items() if count > 1)

    json.loads(body, object_pairs_hook=look, parse_int=float)
    return found


def _malformed(error: ValidationError) -> HTTPException:
    if error.error_count() > MAX_ERRORS_READ:
        return HTTPException(422, f"The body is wrong in {error.error_count()} places.")
    found = error.errors(include_url=False, include_input=False, include_context=False)
    return HTTPException(422, [_place(problem) for problem in found[:MAX_ERRORS_TOLD]])


def _place(problem: ErrorDetails) -> dict[str, Any]:
    """FastAPI's own shape, without the input: it may be large, and is the caller's to keep."""
    loc = ["body", *(part[:200] if isinstance(part, str) else part for part in problem["loc"])]
    return {"loc": loc, "msg": problem["msg"], "type": problem["type"]}
