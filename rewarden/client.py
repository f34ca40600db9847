"""The clients: `Client` for synchronous code, `AsyncClient` for asynchronous code.

Both take the address of a service, of the gateway, or of the queue, and answer a batch with one
`Verdict` a sample, in order. An exception (`rewarden.errors`) means that no verdicts could be had
at all; a sample that could not be scored is a verdict whose score is null.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final, Self

from rewarden.contracts import MAX_TIMEOUT_SECONDS
from rewarden.errors import ConfigurationError, TransportError
from rewarden.transport import open_async_transport, open_transport

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rewarden.contracts import Sample, Verdict
    from rewarden.transport import AsyncTransport, Transport

TIMEOUT_SECONDS: Final = 120.0
COALESCE_SAMPLES: Final = 64
COALESCE_SECONDS: Final = 0.002


class Client:
    """Checks batches of samples. May be used from several threads.

    `url`: `http://host:8080` of a service or the gateway, or `redis://host:6379/0` of the queue.
    """

    def __init__(
        self, url: str, *, api_key: str | None = None, transport: Transport | None = None
    ) -> None:
        self._transport = transport or open_transport(url, api_key)

    def verify(
        self, samples: Sequence[Sample], *, timeout_seconds: float = TIMEOUT_SECONDS
    ) -> list[Verdict]:
        """Return one verdict a sample, in order."""
        _check(timeout_seconds)
        return self._transport.verify(samples, timeout_seconds) if samples else []

    def verify_one(self, sample: Sample, *, timeout_seconds: float = TIMEOUT_SECONDS) -> Verdict:
        """Return the verdict on one sample. For more than one, `verify` is many times faster."""
        return self.verify([sample], timeout_seconds=timeout_seconds)[0]

    def close(self) -> None:
        """Close connections."""
        self._transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncClient:
    """`Client` for one event loop. Single calls made at the same time travel together."""

    def __init__(
        self, url: str, *, api_key: str | None = None, transport: AsyncTransport | None = None
    ) -> None:
        self._transport = transport or open_async_transport(url, api_key)
        self._waiting: list[tuple[Sample, asyncio.Future[Verdict]]] = []
        self._flushes: set[asyncio.Task[None]] = set()
        self._timer: asyncio.TimerHandle | None = None

    async def verify(
        self, samples: Sequence[Sample], *, timeout_seconds: float = TIMEOUT_SECONDS
    ) -> list[Verdict]:
        """Return one verdict a sample, in order."""
        _check(timeout_seconds)
        return await self._transport.verify(samples, timeout_seconds) if samples else []

    async def verify_one(self, sample: Sample) -> Verdict:
        """Return the verdict on one sample.

        Calls that are made within two milliseconds of each other, at most 64, become one batch,
        with the default time limit.
        """
        loop = asyncio.get_running_loop()
        verdict: asyncio.Future[Verdict] = loop.create_future()
        self._waiting.append((sample, verdict))
        if len(self._waiting) >= COALESCE_SAMPLES:
            self._flush()
        elif self._timer is None:
            self._timer = loop.call_later(COALESCE_SECONDS, self._flush)
        return await verdict

    def _flush(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        waiting, self._waiting = self._waiting, []
        task = asyncio.get_running_loop().create_task(self._settle(waiting))
        self._flushes.add(task)
        task.add_done_callback(self._flushes.discard)

    async def _settle(self, waiting: list[tuple[Sample, asyncio.Future[Verdict]]]) -> None:
        try:
            verdicts = await self.verify([sample for sample, _ in waiting])
            settled = list(zip(waiting, verdicts, strict=True))
        except BaseException as error:
            for _, future in waiting:
                if not future.done():
                    future.set_exception(_for_callers(error))
            if not isinstance(error, Exception):
                raise
            return
        for (_, future), verdict in settled:
            if not future.done():
                future.set_result(verdict)

    async def aclose(self) -> None:
        """Wait for what is under way, and close connections."""
        if self._waiting:
            self._flush()
        await asyncio.gather(*self._flushes)
        await self._transport.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


def _for_callers(error: BaseException) -> Exception:
    """Every caller gets what went wrong, whatever it was, but is not itself cancelled by it."""
    if isinstance(error, Exception):
        return error
    return TransportError(f"the batch was given up: {type(error).__name__}")


def _check(timeout_seconds: float) -> None:
    if not 0 < timeout_seconds <= MAX_TIMEOUT_SECONDS:
        msg = f"timeout_seconds is {timeout_seconds}, and must be over 0 and at most 3600"
        raise ConfigurationError(msg)
