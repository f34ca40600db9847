"""How samples travel: one method, so that HTTP, the queue and a test double are interchangeable."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Final, Protocol

import httpx
from pydantic import TypeAdapter, ValidationError

from rewarden.batches import spans
from rewarden.contracts import MAX_REQUEST_BYTES, MAX_SAMPLES, Sample, VerifyResponse
from rewarden.errors import (
    ConfigurationError,
    ProtocolError,
    RequestRefusedError,
    ServiceBusyError,
    TransportError,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rewarden.contracts import Verdict

SAMPLE: Final = TypeAdapter(Sample)
ENVELOPE_BYTES: Final = 1_024
"""Left free in a request for what is around its samples."""
GRACE_SECONDS: Final = 10.0
"""How much longer than the service's own deadline its answer is waited for."""
KEEPALIVE_SECONDS: Final = 30.0
"""Shorter than the services' own limit, so that no request meets a connection being closed."""


class Transport(Protocol):
    """Carries a batch to verifiers and brings one verdict a sample, in order."""

    def verify(self, samples: Sequence[Sample], timeout_seconds: float) -> list[Verdict]:
        """Have `samples` checked; a `RewardenError` if no verdicts can be had."""
        ...

    def close(self) -> None:
        """Close connections."""
        ...


class AsyncTransport(Protocol):
    """`Transport` for asynchronous code."""

    async def verify(self, samples: Sequence[Sample], timeout_seconds: float) -> list[Verdict]:
        """Have `samples` checked; a `RewardenError` if no verdicts can be had."""
        ...

    async def aclose(self) -> None:
        """Close connections."""
        ...


class HttpTransport:
    """`POST /v1/verify`; a batch beyond the limits of a request is sent in parts.

    A service that trickles its answer can hold a call beyond its time: httpx times each read.
    """

    def __init__(
        self, url: str, api_key: str | None = None, transport: httpx.BaseTransport | None = None
    ) -> None:
        self._http = httpx.Client(
            base_url=url, headers=_headers(api_key), limits=_limits(), transport=transport
        )

    def verify(self, samples: Sequence[Sample], timeout_seconds: float) -> list[Verdict]:
        """Have `samples` checked."""
        stop = time.monotonic() + timeout_seconds
        verdicts: list[Verdict] = []
        for body, count in _requests(samples, stop):
            try:
                response = self._http.post("/v1/verify", content=body, timeout=_patience(stop))
            except httpx.TransportError as error:
                raise _no_answer(self._http.base_url, error) from error
            verdicts += _decode(response, count)
        return verdicts

    def close(self) -> None:
        """Close connections."""
        self._http.close()


class AsyncHttpTransport:
    """`HttpTransport` for asynchronous code, where the time limit holds for the whole answer."""

    def __init__(
        self,
        url: str,
        api_key: str | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._http = httpx.AsyncClient(
            base_url=url, headers=_headers(api_key), limits=_limits(), transport=transport
        )

    async def verify(self, samples: Sequence[Sample], timeout_seconds: float) -> list[Verdict]:
        """Have `samples` checked."""
        stop = time.monotonic() + timeout_seconds
        verdicts: list[Verdict] = []
        for body, count in _requests(samples, stop):
            try:
                async with asyncio.timeout(_patience(stop)):
                    response = await self._http.post("/v1/verify", content=body, timeout=None)
            except (httpx.TransportError, TimeoutError) as error:
                raise _no_answer(self._http.base_url, error) from error
            verdicts += _decode(response, count)
        return verdicts

    async def aclose(self) -> None:
        """Close connections."""
        await self._http.aclose()


def open_transport(url: str, api_key: str | None = None) -> Transport:
    """Choose by the scheme of `url`: http(s) for a service, redis(s) or unix for the queue."""
    if _is_http(url):
        return HttpTransport(url, api_key)
    from rewarden.queue import RedisQueue

    return RedisQueue(url)


def open_async_transport(url: str, api_key: str | None = None) -> AsyncTransport:
    """`open_transport` for asynchronous code."""
    if _is_http(url):
        return AsyncHttpTransport(url, api_key)
    from rewarden.queue import AsyncRedisQueue

    return AsyncRedisQueue(url)


def _is_http(url: str) -> bool:
    scheme = url.partition("://")[0]
    if scheme not in {"http", "https", "redis", "rediss", "unix"}:
        msg = f"'{url}' is not an address of a service (http://…) or of a queue (redis://…)"
        raise ConfigurationError(msg)
    return scheme.startswith("http")


def _headers(api_key: str | None) -> dict[str, str]:
    headers = {"Content-Type": "application/json"}
    return headers | {"X-API-Key": api_key} if api_key else headers


def _limits() -> httpx.Limits:
    return httpx.Limits(keepalive_expiry=KEEPALIVE_SECONDS)


def _requests(samples: Sequence[Sample], stop: float) -> Iterator[tuple[bytes, int]]:
    """Give the bodies that carry the batch, each with the number of its samples.

    The time that is left at `stop` is counted when a body is asked for: they go one by one.
    """
    written = [SAMPLE.dump_json(sample, exclude_defaults=True) for sample in samples]
    sizes = (len(sample) + 1 for sample in written)
    for start, end in spans(sizes, MAX_SAMPLES, MAX_REQUEST_BYTES - ENVELOPE_BYTES):
        seconds = max(stop - time.monotonic(), 0.001)
        yield (
            b'{"timeout_seconds":%.3f,"samples":[%b]}' % (seconds, b",".join(written[start:end])),
            end - start,
        )


def _patience(stop: float) -> float:
    return max(stop - time.monotonic(), 0) + GRACE_SECONDS


def _decode(response: httpx.Response, expected: int) -> list[Verdict]:
    if response.status_code in {429, 502, 503, 504}:
        wait = response.headers.get("Retry-After", "")
        message = f"{response.url} is busy or not ready (HTTP {response.status_code})"
        raise ServiceBusyError(message, float(wait) if wait.isdigit() else 1.0)
    if response.is_error:
        msg = f"{response.url} refused the request (HTTP {response.status_code}): {response.text[:500]}"
        raise RequestRefusedError(msg)
    try:
        verdicts = VerifyResponse.model_validate_json(response.content).verdicts
    except ValidationError as error:
        msg = f"{response.url} did not answer in the contract: {error.errors()[0]['msg']}"
        raise ProtocolError(msg) from error
    if len(verdicts) != expected:
        msg = f"{response.url} gave {len(verdicts)} verdicts for {expected} samples"
        raise ProtocolError(msg)
    return verdicts


def _no_answer(url: httpx.URL, error: Exception) -> TransportError:
    return TransportError(f"no answer from {url}: {type(error).__name__} {error}")
