"""The queue as those who have samples see it: Redis Streams, for sync and for async code.

A batch goes out as one message a chunk on its verifier's stream, and its verdicts come back on a
list of its own by a blocking read; nothing polls. Delivery is at least once: chunks that are
unanswered when the connection breaks are sent again, and a second answer changes nothing. The
worker's side is `services.consumer`.

Limits: the deadline in a message is wall-clock time, so the machines' clocks should agree to
within a second. Needs Redis 6.2.
"""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from typing import TYPE_CHECKING, Any, Final, cast

import redis
import redis.asyncio
from redis.backoff import NoBackoff
from redis.exceptions import (
    AuthenticationError,
    ClusterDownError,
    ConnectionError as RedisConnectionError,
    MasterDownError,
    OutOfMemoryError,
    ReadOnlyError,
    RedisError,
    TimeoutError as RedisTimeoutError,
    TryAgainError,
)

from rewarden import keys
from rewarden.batches import Batch, Capability, decode_reply, encode_message
from rewarden.errors import ConfigurationError, TransportError

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from rewarden.batches import Chunk
    from rewarden.contracts import Sample, Verdict

    Command = tuple[str | int | float | bytes, ...]
    Step = list[Command] | float
    """Commands to send together, or seconds to pause; answered with their results or the error."""
    Steps = Generator[Step, list[Any] | RedisError, list[Verdict]]

logger = logging.getLogger(__name__)

WAIT_SLICE_SECONDS: Final = 5.0
"""One blocking read; between two of them the trainer's heartbeat is renewed."""
RECONNECT_SECONDS: Final = 0.5
PASSING: Final = (
    RedisConnectionError,  # also while Redis loads its data
    RedisTimeoutError,
    OutOfMemoryError,
    ReadOnlyError,
    ClusterDownError,
    MasterDownError,
    TryAgainError,
)
"""Errors that a restart, a failover or a shorter queue heals; after any other, give up at once."""


class RedisQueue:
    """The queue for synchronous code. One instance may serve several threads."""

    def __init__(self, url: str) -> None:
        self._redis: redis.Redis = connect(redis, url)
        self._exchange = _Exchange()

    def verify(self, samples: Sequence[Sample], timeout_seconds: float) -> list[Verdict]:
        """Have `samples` checked; one verdict each, in order, `expired` where none came in time.

        Raises `TransportError` if the samples could not be handed to Redis in that time.
        """
        steps = self._exchange.steps(samples, timeout_seconds)
        try:
            step = next(steps)
            while True:
                step = steps.send(self._take(step))
        except StopIteration as done:
            verdicts: list[Verdict] = done.value
            return verdicts

    def _take(self, step: Step) -> list[Any] | RedisError:
        if isinstance(step, float):
            time.sleep(step)
            return []
        pipe = self._redis.pipeline(transaction=False)
        for command in step:
            pipe.execute_command(*command)  # type: ignore[no-untyped-call]
        try:
            return pipe.execute(raise_on_error=False)
        except RedisError as error:
            return error

    def ping(self) -> None:
        """Raise `TransportError` unless Redis answers."""
        try:
            self._redis.ping()
        except RedisError as error:
            raise _unreachable(error) from error

    def close(self) -> None:
        """Close the connections."""
        self._redis.close()


class AsyncRedisQueue:
    """The queue for asynchronous code; see `RedisQueue`."""

    def __init__(self, url: str) -> None:
        self._redis: redis.asyncio.Redis = connect(redis.asyncio, url)
        self._exchange = _Exchange()

    async def verify(self, samples: Sequence[Sample], timeout_seconds: float) -> list[Verdict]:
        """Have `samples` checked; see `RedisQueue.verify`."""
        steps = self._exchange.steps(samples, timeout_seconds)
        try:
            step = next(steps)
            while True:
                step = steps.send(await self._take(step))
        except StopIteration as done:
            verdicts: list[Verdict] = done.value
            return verdicts

    async def _take(self, step: Step) -> list[Any] | RedisError:
        if isinstance(step, float):
            await asyncio.sleep(step)
            return []
        pipe = self._redis.pipeline(transaction=False)
        for command in step:
            pipe.execute_command(*command)
        try:
            return await pipe.execute(raise_on_error=False)
        except RedisError as error:
            return error

    async def ping(self) -> None:
        """Raise `TransportError` unless Redis answers."""
        try:
            await self._redis.ping()
        except RedisError as error:
            raise _unreachable(error) from error

    async def aclose(self) -> None:
        """Close the connections."""
        await self._redis.aclose()


class _Exchange:
    """What is said to Redis for one batch, and in which order. No I/O."""

    def __init__(self) -> None:
        self._sizes: dict[str, int] = {}
        self._heartbeat = keys.heartbeat(uuid.uuid4().hex)

    def steps(self, samples: Sequence[Sample], timeout_seconds: float) -> Steps:
        """Yield step after step, take the results of each, and return the verdicts."""
        stop = time.time() + timeout_seconds
        yield from self._learn_sizes(samples, stop)
        batch = Batch(samples, self._sizes, stop - time.time())
        unsent = batch.open
        while batch.open and batch.seconds_left > 0:
            if unsent:
                results = yield self._send(batch, unsent)
                error, unsent = _unsent(results, unsent)
            else:
                results = yield self._wait(batch)
                error = _error(results)
                # What was lost with the connection is not known: all of it is sent again.
                unsent = batch.open if error else []
                if error is None:
                    _absorb(batch, cast("list[Any]", results))
            if error:
                yield from _pause(error, stop, lost=bool(unsent))
        return batch.verdicts()

    def _learn_sizes(
        self, samples: Sequence[Sample], stop: float
    ) -> Generator[Step, list[Any] | RedisError, None]:
        names = {s.verifier for s in samples if s.verifier is not None} - self._sizes.keys()
        while names:
            results = yield [("HMGET", keys.CAPABILITIES, *names)]
            if error := _error(results):
                yield from _pause(error, stop, lost=True)
                continue
            for name, told in zip(names, cast("list[Any]", results)[0], strict=True):
                if told is not None:
                    self._sizes[name] = Capability.model_validate_json(told).chunk_size
            return

    def _beat(self) -> Command:
        return ("SET", self._heartbeat, 1, "EX", keys.HEARTBEAT_TTL_SECONDS)

    def _send(self, batch: Batch, chunks: Sequence[Chunk]) -> list[Command]:
        adds: list[Command] = []
        for chunk in chunks:
            fields = encode_message(batch, chunk, self._heartbeat)
            flat = (part for field in fields.items() for part in field)
            adds.append(("XADD", keys.stream(chunk.verifier), "*", *flat))
        return [self._beat(), *adds]

    def _wait(self, batch: Batch) -> list[Command]:
        """Wait for one verifier's next answer, and take what the others have sent meanwhile.

        All must answer, so it does not matter which is waited for; and one command cannot wait
        for several where they are in different slots of a cluster.
        """
        lists = [keys.reply(verifier, batch.id) for verifier in batch.open_verifiers]
        seconds = min(WAIT_SLICE_SECONDS, max(batch.seconds_left, 0.01))
        take: list[Command] = [("LPOP", key, 1_024) for key in lists]
        return [("BLPOP", lists[0], round(seconds, 3)), self._beat(), *take]


def _unsent(
    results: list[Any] | RedisError, chunks: list[Chunk]
) -> tuple[RedisError | None, list[Chunk]]:
    """Which of `chunks` Redis did not take, and why."""
    if isinstance(results, RedisError):
        return results, chunks
    refused = [
        (chunk, result)
        for chunk, result in zip(chunks, results[1:], strict=True)
        if isinstance(result, RedisError)
    ]
    return (refused[0][1] if refused else None), [chunk for chunk, _ in refused]


def _error(results: list[Any] | RedisError) -> RedisError | None:
    """Find the error of a step, or of its first command: the others can be done without."""
    first = results if isinstance(results, RedisError) else results[0]
    return first if isinstance(first, RedisError) else None


def _absorb(batch: Batch, results: list[Any]) -> None:
    first, _, *lists = results
    bodies = [first[1]] if first else []
    bodies += [body for found in lists if isinstance(found, list) for body in found]
    for body in bodies:
        reply = decode_reply(body)
        batch.answer(reply.chunk, reply.verdicts)


def _pause(
    error: RedisError, stop: float, *, lost: bool
) -> Generator[Step, list[Any] | RedisError, None]:
    """Go on while there is time, if time can help.

    Samples that never reached Redis have no verdict: that is an error.
    """
    hopeless = not isinstance(error, PASSING) or isinstance(error, AuthenticationError)
    if hopeless or (lost and time.time() + RECONNECT_SECONDS >= stop):
        raise _unreachable(error) from error
    # Whoever waits is told of what comes of it; that it is tried again is only of interest.
    logger.info("queue: %s; trying again", error)
    yield RECONNECT_SECONDS


def connect(library: Any, url: str) -> Any:  # noqa: ANN401 - `redis` or `redis.asyncio`
    """Make a client, which connects when it is used.

    It does not retry by itself, since only its user knows what may be sent twice.
    """
    try:
        return library.Redis.from_url(
            url,
            socket_connect_timeout=5,
            socket_timeout=3 * WAIT_SLICE_SECONDS,
            socket_keepalive=True,
            retry=library.retry.Retry(NoBackoff(), 0),
        )
    except ValueError as error:
        msg = f"'{url}' is not a queue address; write it like redis://host:6379/0"
        raise ConfigurationError(msg) from error


def _unreachable(error: RedisError) -> TransportError:
    return TransportError(f"no answer from Redis: {error}")
