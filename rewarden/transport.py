"""How samples travel: one method, so that HTTP, the queue and a test double are interchangeable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

import httpx
from pydantic import ValidationError

from rewarden.batches import spans
from rewarden.contracts import MAX_REQUEST_BYTES, MAX_SAMPLES, VerifyRequest, VerifyResponse
from rewarden.errors import (
    ConfigurationError,
    ProtocolError,
    RequestRefusedError,
    ServiceBusyError,
    TransportError,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rewarden.contracts import Sample, Verdict

REQUEST_CHARACTERS: Final = MAX_REQUEST_BYTES // 8
"""Text in one request. A character takes up to six bytes of JSON, and specs take some too."""
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
    """`POST /v1/verify`; a batch beyond the limits of a request is sent in parts."""

    def __init__(
        self, url: str, api_key: str | None = None, transport: httpx.BaseTransport | None = None
    ) -> None:
        self._http = httpx.Client(
            base_url=url, headers=_headers(api_key), limits=_limits(), transport=transport
        )

    def verify(self, samples: Sequence[Sample], timeout_seconds: float) -> list[Verdict]:
        """Have `samples` checked."""
        verdicts: list[Verdict] = []
        for part in _parts(samples):
            try:
                response = self._http.post(
                    "/v1/verify",
                    content=_encode(part, timeout_seconds),
                    timeout=timeout_seconds + GRACE_SECONDS,
                )
            except httpx.TransportError as error:
                raise _no_answer(self._http.base_url, error) from error
            verdicts += _decode(response, len(part))
        return verdicts

    def close(self) -> None:
        """Close connections."""
        self._http.close()


class AsyncHttpTransport:
    """`HttpTransport` for asynchronous code."""

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
        verdicts: list[Verdict] = []
        for part in _parts(samples):
            try:
                response = await self._http.post(
                    "/v1/verify",
                    content=_encode(part, timeout_seconds),
                    timeout=timeout_seconds + GRACE_SECONDS,
                )
            except httpx.TransportError as error:
                raise _no_answer(self._http.base_url, error) from error
            verdicts += _decode(response, len(part))
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


def _parts(samples: Sequence[Sample]) -> Iterator[Sequence[Sample]]:
    lengths = (len(sample.text) for sample in samples)
    for start, stop in spans(lengths, MAX_SAMPLES, REQUEST_CHARACTERS):
        yield samples[start:stop]


def _encode(samples: Sequence[Sample], timeout_seconds: float) -> str:
    request = VerifyRequest(samples=list(samples), timeout_seconds=timeout_seconds)
    return request.model_dump_json(exclude_defaults=True)


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


def _no_answer(url: httpx.URL, error: httpx.TransportError) -> TransportError:
    return TransportError(f"no answer from {url}: {type(error).__name__} {error}")
