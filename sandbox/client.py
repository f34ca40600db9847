"""The client of the sandbox service, over HTTP or a unix socket.

Errors are those of `rewarden.errors`: `ServiceBusyError` when the service asks to come back later,
`RequestRefusedError` when the job itself is at fault, `TransportError` when no whole answer came
(of what was not told, nothing is known), `ProtocolError` when what came is not an answer. Leaving
a call, by a time limit or by cancelling it, ends the job.
"""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING, Final, Self

import httpx
from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from rewarden.errors import (
    ConfigurationError,
    ProtocolError,
    RequestRefusedError,
    ServiceBusyError,
    TransportError,
)
from sandbox.events import Compiled, Ended, Event, Observed, read_event, result_of

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from types import TracebackType

    from sandbox.jobs import Job, JobResult

CONNECT_SECONDS: Final = 10.0
KEEPALIVE_SECONDS: Final = 30.0
"""Shorter than the service's own limit, so that no job meets a connection being closed."""
JOBS: Final = "/v1/jobs"
_VERSIONS: Final = TypeAdapter(dict[str, str])


class SandboxClient:
    """Gives jobs to one sandbox service; made for many calls at a time."""

    def __init__(
        self,
        address: str,
        api_key: str | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """`address` is http(s)://… or unix:/path/of/socket."""
        url, socket = _split(address)
        limits = httpx.Limits(keepalive_expiry=KEEPALIVE_SECONDS)
        if transport is None and socket is not None:
            transport = httpx.AsyncHTTPTransport(uds=socket, limits=limits)
        self._http = httpx.AsyncClient(
            base_url=url,
            headers={"X-API-Key": api_key} if api_key else None,
            limits=limits,
            # A job may wait in line for as long as it takes: the caller sets the time limit.
            timeout=httpx.Timeout(None, connect=CONNECT_SECONDS),
            transport=transport,
            trust_env=False,
        )
        self._address = address

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def run(self, job: Job) -> JobResult:
        """Have a job done, and return an observation of each of its runs, in order."""
        async with aclosing(self.stream(job)) as events:
            seen = [event async for event in events]
        return result_of(seen)

    async def stream(self, job: Job) -> AsyncGenerator[Event, None]:
        """Have a job done, and give each event as it comes; the last one is `Ended`."""
        body = _write(job)
        headers = {"Content-Type": "application/json", "Accept": "application/x-ndjson"}
        told, end = 0, None
        try:
            async with self._http.stream("POST", JOBS, content=body, headers=headers) as response:
                await self._check(response)
                async for line in _lines(response):
                    event = self._read(line, told, len(job.runs))
                    told += isinstance(event, Observed)
                    if isinstance(event, Ended):
                        end = event  # read on, as a connection is used again only after its end
                    else:
                        yield event
        except httpx.TransportError as error:
            if end is None:
                raise self._no_answer(error) from error
        if end is None:
            msg = f"the answer of {self._address} broke off after {told} runs"
            raise TransportError(msg)
        yield end

    async def languages(self) -> dict[str, str]:
        """Return the languages that there are, each with the version of its toolchain."""
        try:
            response = await self._http.get("/v1/languages")
        except httpx.TransportError as error:
            raise self._no_answer(error) from error
        await self._check(response)
        try:
            return _VERSIONS.validate_json(response.content)
        except ValidationError as error:
            raise self._out_of_contract(error) from error

    async def aclose(self) -> None:
        """Close connections."""
        await self._http.aclose()

    async def _check(self, response: httpx.Response) -> None:
        if response.is_success:
            return
        said = (await response.aread()).decode(errors="replace")[:500]
        if response.status_code in {429, 502, 503, 504}:
            wait = response.headers.get("Retry-After", "")
            msg = f"{self._address} is busy or not ready (HTTP {response.status_code}): {said}"
            raise ServiceBusyError(msg, float(wait) if wait.isdigit() else 1.0)
        msg = f"{self._address} refused the job (HTTP {response.status_code}): {said}"
        raise RequestRefusedError(msg)

    def _read(self, line: bytes, told: int, runs: int) -> Event:
        try:
            event = read_event(line)
        except ValidationError as error:
            raise self._out_of_contract(error) from error
        is_next = False
        match event:
            case Observed():
                is_next = event.run == told < runs
            case Ended():
                is_next = event.end == told == runs
            case Compiled():
                is_next = told == 0
        if not is_next:
            msg = f"{self._address} told of {told} of {runs} runs, and went on with {line[:100]!r}"
            raise ProtocolError(msg)
        return event

    def _no_answer(self, error: httpx.TransportError) -> TransportError:
        return TransportError(f"no answer from {self._address}: {type(error).__name__} {error}")

    def _out_of_contract(self, error: ValidationError) -> ProtocolError:
        said = error.errors()[0]["msg"]
        return ProtocolError(f"{self._address} did not answer in the contract: {said}")


def _write(job: Job) -> bytes:
    try:
        return job.model_dump_json(exclude_defaults=True).encode()
    except PydanticSerializationError as error:
        msg = f"the arguments of a call cannot be sent: {error}"
        raise RequestRefusedError(msg) from error


async def _lines(response: httpx.Response) -> AsyncGenerator[bytes, None]:
    """Cut at line feeds alone; text may hold what httpx takes for an end of line."""
    parts: list[bytes] = []
    async for chunk in response.aiter_bytes():
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            yield b"".join([*parts, end])
            parts.clear()
        if rest:
            parts.append(rest)


def _split(address: str) -> tuple[str, str | None]:
    scheme, _, rest = address.partition(":")
    if scheme in {"http", "https"} and rest.startswith("//"):
        return address, None
    if scheme == "unix" and rest:
        return "http://sandbox", rest.removeprefix("//")
    msg = f"'{address}' is not an address of a sandbox (http://… or unix:/path)"
    raise ConfigurationError(msg)
