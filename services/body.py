"""Reading the body of `POST /v1/verify`, and of a verifier's own routes, whatever was sent."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, TypeVar

from fastapi import HTTPException
from pydantic import BaseModel, ValidationError

from rewarden.contracts import MAX_REQUEST_BYTES, MAX_SAMPLES, VerifyRequest, mended
from services.verifier import field_names

if TYPE_CHECKING:
    from fastapi import Request
    from pydantic_core import ErrorDetails

MAX_ERRORS_TOLD: Final = 20
"""Places named in one refusal."""
MAX_ERRORS_READ: Final = 5_000
"""A body may be wrong in a million places; to look at each would take minutes."""
MAX_INT_DIGITS: Final = 4_300
"""The longest number that Python converts by default."""

ModelT = TypeVar("ModelT", bound=BaseModel)


async def read_request(request: Request) -> VerifyRequest:
    """Read and validate the body; an HTTPException with status 413, 415 or 422 says what is wrong."""
    body = await _read_json(request)
    try:
        return _validate(body)
    except ValidationError as error:
        raise _refusal(error) from error


async def read_model(request: Request, model: type[ModelT]) -> ModelT:
    """Read a body that is one `model`; refuses as `read_request` does."""
    body = await _read_json(request)
    try:
        return model.model_validate_json(body)
    except ValidationError as error:
        raise _refusal(error) from error


async def _read_json(request: Request) -> bytes:
    kind = request.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        # Any web page may post other kinds to a service on loopback, and no preflight asks first.
        raise HTTPException(415, "The Content-Type must be application/json.")
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > MAX_REQUEST_BYTES:
            raise HTTPException(413, f"A request has at most {MAX_REQUEST_BYTES} bytes.")
    return bytes(body)


def _validate(body: bytes) -> VerifyRequest:
    try:
        return VerifyRequest.model_validate_json(body)
    except ValidationError as error:
        if not _is_invalid_json(error):
            raise
        # The fast parser refuses lone surrogates and very long numbers, which one bad sample
        # brings to a whole batch; the standard library reads them.
        try:
            read = json.loads(body, parse_int=_parse_int)
            return VerifyRequest.model_validate(_mended_completions(read))
        except ValidationError:
            raise
        except (ValueError, RecursionError):
            raise error from None


def _is_invalid_json(error: ValidationError) -> bool:
    return error.error_count() == 1 and error.errors()[0]["type"] == "json_invalid"


def _parse_int(digits: str) -> int | str:
    """Keep a number that Python will not convert as its digits."""
    return int(digits) if len(digits) <= MAX_INT_DIGITS else digits


def _mended_completions(body: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Mend what a model wrote; a spec that is damaged is to be found bad, not to be mended."""
    if not isinstance(body, dict) or not isinstance(body.get("samples"), list):
        return body
    return body | {"samples": [_mended_sample(sample) for sample in body["samples"]]}


def _mended_sample(sample: Any) -> Any:  # noqa: ANN401 - any JSON value
    if not isinstance(sample, dict):
        return sample
    whole = {key: mended(value) for key, value in sample.items() if key != "spec"}
    if "spec" in sample:
        intact = mended(sample["spec"]) == sample["spec"]
        whole["spec"] = sample["spec"] if intact else {"unreadable": "a lone surrogate"}
    return whole


def _refusal(error: ValidationError) -> HTTPException:
    if error.error_count() > MAX_ERRORS_READ:
        return HTTPException(422, f"The body is wrong in {error.error_count()} places.")
    found = error.errors(include_url=False, include_input=False, include_context=False)
    if any(e["loc"] == ("samples",) and e["type"] == "too_long" for e in found):
        return HTTPException(413, f"At most {MAX_SAMPLES} samples fit in one request.")
    return HTTPException(422, [_place(problem) for problem in found[:MAX_ERRORS_TOLD]])


def _place(problem: ErrorDetails) -> dict[str, Any]:
    """FastAPI's own shape, without the input: it may be large, and is the caller's to keep."""
    loc = ["body", *field_names(problem["loc"])]
    return {"loc": loc, "msg": problem["msg"], "type": problem["type"]}
