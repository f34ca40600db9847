"""The HTTP side of the sandbox.

`POST /v1/jobs`, `GET /v1/languages`, `/healthz`, `/readyz`, `/metrics`, `/version`, OpenAPI at
`/docs`. A job's answer is a line of JSON for each thing that comes to pass, as it does
(`sandbox.events`); whoever asks for `application/json` gets one `JobResult` at the end instead.
Hanging up ends the job.
"""

from __future__ import annotations

import secrets
from contextlib import asynccontextmanager
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final, Literal

from fastapi import APIRouter, Depends, FastAPI, HTTPException, Request, Response
from fastapi.openapi.utils import get_openapi
from fastapi.responses import JSONResponse, PlainTextResponse
from pydantic import BaseModel

from rewarden.errors import ServiceBusyError
from sandbox.answer import LINES, JobAnswer
from sandbox.jobs import Job, JobResult
from sandbox.request import read_job, refusal
from sandbox.toolchains import Toolchains

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from sandbox.pool import Pool

REFERENCES: Final = "#/components/schemas/{model}"


class Health(BaseModel):
    """Whether the process lives."""

    status: Literal["ok"] = "ok"


class Slots(BaseModel):
    """What the slots are doing."""

    total: int
    free: int
    busy: int
    renewing: int


class Readiness(BaseModel):
    """Whether jobs can be served now, and by what."""

    status: Literal["ok", "unready"]
    driver: str
    """How programs are kept apart."""
    refused: dict[str, str]
    """Why drivers that would have come first are not used."""
    slots: Slots
    waiting: int
    """Jobs that have no slot yet."""
    problem: str = ""
    """Why it is unready."""


class Service:
    """What the app serves, and the state that lives as long as it does."""

    def __init__(self, pool: Pool, refused: Mapping[str, str]) -> None:
        self.pool = pool
        self.toolchains = Toolchains(pool.driver)
        self._refused = dict(refused)

    @asynccontextmanager
    async def running(self, _: FastAPI) -> AsyncIterator[None]:
        """Serve, and end everything afterwards."""
        yield
        await self.pool.close()

    def readiness(self) -> Readiness:
        """Look at the slots."""
        state = self.pool.state()
        return Readiness(
            status="unready" if state.problem else "ok",
            driver=self.pool.driver.name,
            refused=self._refused,
            slots=Slots(
                total=state.total, free=state.free, busy=state.busy, renewing=state.renewing
            ),
            waiting=state.waiting,
            problem=state.problem,
        )


def create_app(
    pool: Pool,
    *,
    refused: Mapping[str, str] | None = None,
    api_keys: frozenset[str] = frozenset(),
) -> FastAPI:
    """Make the app around a pool, which it closes in the end.

    `refused` says why other drivers are not used.
    """
    service = Service(pool, refused or {})
    app = FastAPI(title="rewarden sandbox", version=version("rewarden"), lifespan=service.running)
    app.include_router(_probes(service))
    app.include_router(_v1(service), dependencies=[Depends(_key_check(api_keys))])
    app.add_exception_handler(ServiceBusyError, _refuse_as_busy)
    app.openapi = partial(_openapi, app)  # type: ignore[method-assign]
    return app


def _v1(service: Service) -> APIRouter:
    no_key: dict[int | str, dict[str, Any]] = {
        401: {"description": "No known key in the X-API-Key header."}
    }
    router = APIRouter(prefix="/v1", tags=["v1"], responses=no_key | _BUSY)

    @router.post("/jobs", responses=_JOB_RESPONSES, openapi_extra=_JOB_REQUEST)
    async def jobs(request: Request) -> Response:
        """Run a program: an observation for each of its runs, in order."""
        job = await read_job(request)
        if fault := await service.toolchains.fault(job.language):
            raise refusal(["language"], fault)
        return JobAnswer(service.pool.submit(job), request.headers.get("Accept", ""))

    @router.get("/languages")
    async def languages() -> dict[str, str]:
        """Return the languages that there are, each with the version of its toolchain."""
        return await service.toolchains.versions()

    return router


def _probes(service: Service) -> APIRouter:
    router = APIRouter(tags=["probes"])

    @router.get("/healthz")
    async def healthz() -> Health:
        """Say that the process lives."""
        return Health()

    @router.get("/readyz", responses={200: {"model": Readiness}, 503: {"model": Readiness}})
    async def readyz() -> Response:
        """Say whether jobs can be served now, by which driver, and why not by another."""
        found = service.readiness()
        return JSONResponse(found.model_dump(), 200 if found.status == "ok" else 503)

    @router.get("/metrics", response_class=PlainTextResponse)
    async def metrics() -> Response:
        """Return the counters in Prometheus' text format."""
        body = service.pool.metrics.exposition()
        return Response(body, media_type="text/plain; version=0.0.4")

    @router.get("/version")
    async def versions() -> dict[str, str]:
        """Return the version of the package, and the driver."""
        return {
            "service": "sandbox",
            "version": version("rewarden"),
            "driver": service.pool.driver.name,
        }

    return router


_JOB_RESPONSES: Final[dict[int | str, dict[str, Any]]] = {
    200: {
        "description": "Lines of JSON, each an event; or one `JobResult`, where JSON is accepted.",
        "content": {
            LINES: {"schema": {"type": "string"}},
            "application/json": {"schema": {"$ref": REFERENCES.format(model="JobResult")}},
        },
    },
    413: {"description": "Too large a body."},
    415: {"description": "The body is not declared to be JSON."},
    422: {"description": "The job is malformed; the answer names the place."},
    406: {"description": "The observations are too large for one `JobResult`."},
}
_BUSY: Final[dict[int | str, dict[str, Any]]] = {
    503: {"description": "Too many jobs wait already, or nothing works now."}
}
_JOB_REQUEST: Final = {
    "requestBody": {
        "required": True,
        "content": {"application/json": {"schema": {"$ref": REFERENCES.format(model="Job")}}},
    }
}


async def _refuse_as_busy(_: Request, error: Exception) -> Response:
    wait = error.retry_after_seconds if isinstance(error, ServiceBusyError) else 1
    return JSONResponse({"detail": str(error)}, 503, {"Retry-After": str(round(wait))})


def _key_check(api_keys: frozenset[str]) -> Any:  # noqa: ANN401 - a FastAPI dependency
    async def check(request: Request) -> None:
        given = request.headers.get("X-API-Key", "").encode()
        known = [secrets.compare_digest(given, key.encode()) for key in api_keys]
        if api_keys and not any(known):
            raise HTTPException(401, "The X-API-Key header is missing or holds no known key.")

    return check


def _openapi(app: FastAPI) -> dict[str, Any]:
    """FastAPI's schema, and the models that the route of jobs reads and writes by itself."""
    if app.openapi_schema is None:
        schema = get_openapi(title=app.title, version=app.version, routes=app.routes)
        for model in (Job, JobResult):
            described = model.model_json_schema(ref_template=REFERENCES)
            schema["components"]["schemas"] |= described.pop("$defs", {})
            schema["components"]["schemas"][model.__name__] = described
        app.openapi_schema = schema
    return app.openapi_schema
