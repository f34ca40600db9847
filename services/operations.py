"""The routes that verifiers bring along: `POST /v1/<operation>`, described by its own models.

They are served by the process that has the verifier, and not by the gateway: what they do is done
in the place where that verifier keeps it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from fastapi import APIRouter, HTTPException, Request, Response

from rewarden.errors import RewardenError
from services.body import read_model
from services.verifier import Operating

if TYPE_CHECKING:
    from collections.abc import Sequence

    from services.verifier import Operation, Verifier

_RESPONSES: Final[dict[int | str, dict[str, Any]]] = {
    401: {"description": "No known key in the X-API-Key header."},
    413: {"description": "Too large a body."},
    415: {"description": "The body is not declared to be JSON."},
    422: {"description": "The body is malformed; the answer names the place."},
    503: {"description": "It cannot be done now."},
}


def operations_router(verifiers: Sequence[Verifier]) -> APIRouter:
    """Return the routes of all operations that these verifiers have."""
    router = APIRouter(prefix="/v1", tags=["v1"], responses=_RESPONSES)
    for verifier in verifiers:
        for operation in verifier.operations if isinstance(verifier, Operating) else ():
            _add(router, operation)
    return router


def _add(router: APIRouter, operation: Operation) -> None:
    async def call(request: Request) -> Response:
        asked = await read_model(request, operation.request)
        try:
            reply = await operation.run(asked)
        except RewardenError as error:
            raise HTTPException(503, str(error), {"Retry-After": "1"}) from error
        return Response(reply.model_dump_json(), media_type="application/json")

    body = {"schema": operation.request.model_json_schema()}
    router.post(
        f"/{operation.name}",
        name=operation.name,
        summary=operation.summary,
        responses={200: {"model": operation.reply}},
        openapi_extra={"requestBody": {"required": True, "content": {"application/json": body}}},
    )(call)
