"""The application that every service is: one factory, the same routes.

`POST /v1/verify`, `GET /v1/spec`, `/healthz`, `/readyz`, `/metrics`, `/version`, OpenAPI at
`/docs`; and the operations that its verifiers have. A service of verifiers answers over HTTP itself
and, when a queue is given, serves the queue as well; the gateway has no verifiers and hands every
batch to the queue.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Protocol

from fastapi import APIRouter, Depends, FastAPI, HTTPException, Request, Response
from fastapi.openapi.utils import get_openapi
from fastapi.responses import JSONResponse, PlainTextResponse

from rewarden.batches import Capability, is_unknown
from rewarden.contracts import CONTRACT_VERSION, Health, VerifyRequest, VerifyResponse
from rewarden.errors import RewardenError, TransportError
from rewarden.local import Handler, LocalQueue
from services.body import read_request
from services.consumer import Consumer
from services.metrics import Metrics
from services.operations import operations_router
from services.verifier import judge

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

    from pydantic import BaseModel

    from rewarden.contracts import Sample, Verdict
    from services.verifier import Verifier

PING_SECONDS = 2.0
REFERENCES = "#/components/schemas/{model}"


class Door(Protocol):
    """Where the batches of `/v1/verify` go: `LocalQueue`, or the gateway's."""

    async def verify(self, samples: Sequence[Sample], timeout_seconds: float) -> list[Verdict]:
        """Return one verdict a sample, in order."""
        ...

    async def ping(self) -> None:
        """Raise `TransportError` unless batches can be taken."""
        ...

    async def aclose(self) -> None:
        """Close connections."""
        ...


class Service:
    """What an app serves, and the state that lives as long as it does."""

    def __init__(
        self, verifiers: Sequence[Verifier], queue_url: str | None, door: Door | None
    ) -> None:
        self.metrics = Metrics()
        self._verifiers = verifiers
        handlers = {v.name: Handler(partial(self._judge, v), v.chunk_size) for v in verifiers}
        self.door: Door = door or LocalQueue(handlers)
        self._consumers = (
            {v.name: _consumer(queue_url, v, handlers[v.name]) for v in verifiers}
            if queue_url
            else {}
        )
        self._started = False

    @asynccontextmanager
    async def running(self, _: FastAPI) -> AsyncIterator[None]:
        """Start everything, in order, and stop it in reverse."""
        async with AsyncExitStack() as stack:
            stack.push_async_callback(self.door.aclose)
            for verifier in self._verifiers:
                await verifier.start()
                stack.push_async_callback(verifier.close)
            for consumer in self._consumers.values():
                consumer.start()
                stack.push_async_callback(consumer.stop)
            self._started = True
            yield
            self._started = False

    async def checks(self) -> dict[str, str]:
        """Say of each part "ok", or what is wrong with it."""
        found = {"verifiers": "ok" if self._started else "starting or stopping"}
        try:
            async with asyncio.timeout(PING_SECONDS):
                await self.door.ping()
        except (TransportError, TimeoutError) as error:
            found["queue"] = str(error) or f"no answer within {PING_SECONDS} s"
        for name, consumer in self._consumers.items():
            found[f"queue:{name}"] = consumer.problem or "ok"
        return found

    async def verify(self, samples: Sequence[Sample], timeout_seconds: float) -> list[Verdict]:
        """Return one verdict a sample, in order."""
        verdicts = await self.door.verify(samples, timeout_seconds)
        if not self._verifiers:  # those that are here count for themselves, for both doors
            # The names of verifiers that there are not are the caller's, and without end.
            self.metrics.count([v for v in verdicts if not is_unknown(v)])
        return verdicts

    async def _judge(self, verifier: Verifier, samples: Sequence[Sample]) -> list[Verdict]:
        began = time.perf_counter()
        verdicts = await judge(verifier, samples)
        self.metrics.time_chunk(verifier.name, time.perf_counter() - began)
        self.metrics.count(verdicts)
        return verdicts


def _consumer(queue_url: str, verifier: Verifier, handler: Handler) -> Consumer:
    capability = Capability(chunk_size=verifier.chunk_size, version=verifier.version)
    return Consumer(queue_url, verifier.name, handler, capability)


def create_app(
    name: str,
    specs: Mapping[str, type[BaseModel]],
    *,
    verifiers: Sequence[Verifier] = (),
    queue_url: str | None = None,
    door: Door | None = None,
    api_keys: frozenset[str] = frozenset(),
) -> FastAPI:
    """Make the app of the service `name`.

    `specs` maps each verifier that can be asked for to the model of its spec. `door` replaces the
    app's own `verifiers`, for the gateway.
    """
    service = Service(verifiers, queue_url, door)
    app = FastAPI(title=f"rewarden {name}", version=version("rewarden"), lifespan=service.running)
    app.include_router(_probes(name, service, verifiers))
    keyed = [Depends(_key_check(api_keys))]
    app.include_router(_v1(service, specs), dependencies=keyed)
    app.include_router(operations_router(verifiers), dependencies=keyed)
    app.openapi = partial(_openapi, app)  # type: ignore[method-assign]
    return app


def _v1(service: Service, specs: Mapping[str, type[BaseModel]]) -> APIRouter:
    no_key: dict[int | str, dict[str, Any]] = {
        401: {"description": "No known key in the X-API-Key header."}
    }
    router = APIRouter(prefix="/v1", tags=["v1"], responses=no_key)
    schemas = {name: model.model_json_schema() for name, model in specs.items()}

    @router.post(
        "/verify",
        responses={
            200: {"model": VerifyResponse},
            413: {"description": "Too many samples, or too large a body."},
            415: {"description": "The body is not declared to be JSON."},
            422: {"description": "The envelope is malformed; the answer names the place."},
            503: {"description": "The queue cannot be reached."},
        },
        openapi_extra={
            "requestBody": {
                "required": True,
                "content": {
                    "application/json": {
                        "schema": {"$ref": REFERENCES.format(model="VerifyRequest")}
                    }
                },
            }
        },
    )
    async def verify(request: Request) -> Response:
        """Check a batch: one verdict a sample, in the order of the request."""
        asked = await read_request(request)
        try:
            verdicts = await service.verify(asked.samples, asked.timeout_seconds)
        except RewardenError as error:
            raise HTTPException(503, str(error), {"Retry-After": "1"}) from error
        body = VerifyResponse.model_construct(verdicts=verdicts).model_dump_json()
        return Response(body, media_type="application/json")

    @router.get("/spec")
    async def spec() -> dict[str, Any]:
        """Return the JSON schema of the spec; where several verifiers are served, of each."""
        return next(iter(schemas.values())) if len(schemas) == 1 else schemas

    return router


def _probes(name: str, service: Service, verifiers: Sequence[Verifier]) -> APIRouter:
    router = APIRouter(tags=["probes"])

    @router.get("/healthz")
    async def healthz() -> Health:
        """Say that the process lives."""
        return Health(status="ok")

    @router.get("/readyz", responses={200: {"model": Health}, 503: {"model": Health}})
    async def readyz() -> Response:
        """Say whether batches can be served now, and if not, what is missing."""
        checks = await service.checks()
        ready = all(found == "ok" for found in checks.values())
        health = Health(status="ok" if ready else "unready", checks=checks)
        return JSONResponse(health.model_dump(), 200 if ready else 503)

    @router.get("/metrics", response_class=PlainTextResponse)
    async def metrics() -> Response:
        """Return the counters in Prometheus' text format."""
        return Response(service.metrics.exposition(), media_type="text/plain; version=0.0.4")

    @router.get("/version")
    async def versions() -> dict[str, Any]:
        """Return the versions of the package, of the contract and of each verifier."""
        return {
            "service": name,
            "version": version("rewarden"),
            "contract": CONTRACT_VERSION,
            "verifiers": {verifier.name: verifier.version for verifier in verifiers},
        }

    return router


def _key_check(api_keys: frozenset[str]) -> Any:  # noqa: ANN401 - a FastAPI dependency
    async def check(request: Request) -> None:
        given = request.headers.get("X-API-Key", "").encode()
        known = [secrets.compare_digest(given, key.encode()) for key in api_keys]
        if api_keys and not any(known):
            raise HTTPException(401, "The X-API-Key header is missing or holds no known key.")

    return check


def _openapi(app: FastAPI) -> dict[str, Any]:
    """FastAPI's schema, and the body of `/v1/verify`, which the route reads by itself."""
    if app.openapi_schema is None:
        schema = get_openapi(title=app.title, version=app.version, routes=app.routes)
        request = VerifyRequest.model_json_schema(ref_template=REFERENCES)
        models = request.pop("$defs") | {"VerifyRequest": request}
        schema["components"]["schemas"] |= models
        app.openapi_schema = schema
    return app.openapi_schema
