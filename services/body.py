"""Reading the body of `POST /v1/verify`, whatever was sent."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from fastapi import HTTPException
from pydantic import ValidationError

from rewarden.contracts import MAX_REQUEST_BYTES, VerifyRequest, mended

if TYPE_CHECKING:
    from fastapi import Request

MAX_ERRORS: Final = 20
"""Places named in one refusal; a batch may be wrong in thousands."""


async def read_request(request: Request) -> VerifyRequest:
    """Read and validate the body; an HTTPException with status 413 or 422 says what is wrong."""
    body = await _read_bounded(request)
    try:
        return _validate(body)
    except ValidationError as error:
        if any(e["loc"] == ("samples",) and e["type"] == "too_long" for e in error.errors()):
            raise HTTPException(413, "At most 4,096 samples fit in one request.") from error
        raise HTTPException(422, _places(error)) from error


async def _read_bounded(request: Request) -> bytes:
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
        if error.errors(include_input=False)[0]["type"] != "json_invalid":
            raise
        # The fast parser refuses lone surrogates, which one bad completion brings to a whole
        # batch; the standard library reads them.
        try:
            return VerifyRequest.model_validate(mended(json.loads(body)))
        except (UnicodeDecodeError, json.JSONDecodeError, RecursionError):
            raise error from None


def _places(error: ValidationError) -> list[dict[str, Any]]:
    """FastAPI's own shape, without the input: it may be large, and is the caller's to keep."""
    found = error.errors(include_url=False, include_input=False, include_context=False)
    return [
        {"loc": ["body", *_names(place["loc"])], "msg": place["msg"], "type": place["type"]}
        for place in found[:MAX_ERRORS]
    ]


def _names(place: tuple[int | str, ...]) -> list[int | str]:
    """Leave out what pydantic says of a union's members: `str`, `list[ChatMessage]`."""
    return [part for part in place if part not in {"str", "list[ChatMessage]"}]
