"""The queue's other end: takes chunks off a verifier's stream, and answers them.

A message is acknowledged in the step that writes its verdicts, so a worker that dies loses
nothing: what it held is claimed by a living one. While a chunk is being verified its message is
touched, so that slow work is never taken for a dead worker's.

Not here yet: chunks that kill every worker they meet come back for ever; nothing bounds a stream.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import time
import uuid
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

import redis.asyncio
from redis.exceptions import RedisError, ResponseError

from rewarden import keys
from rewarden.batches import (
    Message,
    answer_unreadable,
    decode_message,
    encode_reply,
    expired,
)
from rewarden.errors import ProtocolError
from rewarden.local import LANES
from rewarden.queue import connect

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from rewarden.batches import Capability
    from rewarden.contracts import Verdict
    from rewarden.local import Handler

    Entry = tuple[bytes, dict[bytes, bytes]]

logger = logging.getLogger(__name__)

READ_SECONDS: Final = 2.0
"""One blocking read, and so the longest that a lane takes to notice that it is to stop."""
READ_COUNT: Final = 4
"""Messages taken in one read. The first is answered before the last is looked at."""
DEAD_AFTER_SECONDS: Final = 15.0
"""A message that nobody has touched for this long belonged to a worker that is gone."""
YOUNG_SECONDS: Final = float(keys.HEARTBEAT_TTL_SECONDS)
RECONNECT_SECONDS: Final = 0.5

ANSWER: Final = """
if redis.call('XACK', KEYS[1], ARGV[1], ARGV[2]) == 1 then
    redis.call('XDEL', KEYS[1], ARGV[2])
    redis.call('RPUSH', KEYS[2], ARGV[3])
    redis.call('EXPIRE', KEYS[2], ARGV[4])
end
"""
"""Answers a chunk and acknowledges it, in one atomic step, unless somebody else has by now."""


class Consumer:
    """Serves one verifier's stream from this process until it is stopped."""

    def __init__(
        self, queue_url: str, verifier: str, handler: Handler, capability: Capability
    ) -> None:
        self._redis: redis.asyncio.Redis = connect(redis.asyncio, queue_url)
        self._answer_once = self._redis.register_script(ANSWER)
        self._verifier = verifier
        self._stream = keys.stream(verifier)
        self._handler = handler
        self._capability = capability
        self._stopping = False
        self._lanes: list[asyncio.Task[None]] = []
        self.problem: str | None = "not connected yet"
        """What keeps it from serving, if anything does."""

    def start(self) -> None:
        """Begin to serve on the running event loop; Redis may come later."""
        me = f"{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex[:8]}"
        for lane in range(LANES):
            task = asyncio.create_task(self._serve(f"{me}-{lane}"))
            task.add_done_callback(self._note_end)
            self._lanes.append(task)

    def _note_end(self, lane: asyncio.Task[None]) -> None:
        """Show a lane that ends before it is told to: that is a fault of ours."""
        if not lane.cancelled() and (error := lane.exception()):
            self.problem = f"a lane ended: {type(error).__name__}"
            logger.error("%s: a lane ended", self._verifier, exc_info=error)

    async def stop(self, grace_seconds: float = 10.0) -> None:
        """Finish what is being verified, and stop; what does not finish is left to others."""
        self._stopping = True
        if self._lanes:
            _, late = await asyncio.wait(self._lanes, timeout=grace_seconds)
            for lane in late:
                lane.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        await self._redis.aclose()

    async def _serve(self, consumer: str) -> None:
        registered, claimed_at = False, 0.0
        while not self._stopping:
            try:
                if not registered:
                    await self._register()
                    registered, self.problem = True, None
                if time.monotonic() - claimed_at > DEAD_AFTER_SECONDS / 2:
                    claimed_at = time.monotonic()
                    await self._handle(consumer, await self._claim(consumer))
                await self._handle(consumer, await self._read(consumer))
            except RedisError as error:
                # A stream or group that is gone (a restart, a flush) is made again.
                registered = False
                self._note_problem(f"{type(error).__name__}: {error}")
                await asyncio.sleep(RECONNECT_SECONDS)

    def _note_problem(self, problem: str) -> None:
        """Say a problem when it comes up, not each time it is met again."""
        if problem != self.problem:
            logger.warning("%s: queue: %s", self._verifier, problem)
        self.problem = problem

    async def _register(self) -> None:
        capability = self._capability.model_dump_json()
        await self._redis.hset(keys.CAPABILITIES, self._verifier, capability)
        try:
            await self._redis.xgroup_create(self._stream, keys.GROUP, id="0", mkstream=True)
        except ResponseError:
            groups = await self._redis.xinfo_groups(self._stream)
            if keys.GROUP.encode() not in [group["name"] for group in groups]:
                raise

    async def _read(self, consumer: str) -> list[Entry]:
        streams = await self._redis.xreadgroup(
            keys.GROUP,
            consumer,
            {self._stream: ">"},
            count=READ_COUNT,
            block=int(READ_SECONDS * 1000),
        )
        return [entry for _, entries in _pairs(streams) for entry in entries]

    async def _claim(self, consumer: str) -> list[Entry]:
        """Take over messages of workers that are gone."""
        reply = await self._redis.xautoclaim(
            self._stream,
            keys.GROUP,
            consumer,
            min_idle_time=int(DEAD_AFTER_SECONDS * 1000),
            count=READ_COUNT,
        )
        entries: list[Entry] = [entry for entry in reply[1] if entry[1]]
        if entries:
            logger.info("%s: took over %d chunks", self._verifier, len(entries))
        return entries

    async def _handle(self, consumer: str, entries: Sequence[Entry]) -> None:
        if not entries:
            return
        decoded = [(entry[0], await self._decode(entry)) for entry in entries]
        messages = [(entry_id, message) for entry_id, message in decoded if message]
        gone = await self._gone_trainers(messages)
        async with self._held(consumer, [entry_id for entry_id, _ in messages]):
            for entry_id, message in messages:
                if message.is_late or message.trainer_key in gone:
                    verdicts = expired(message.samples, self._verifier)
                else:
                    verdicts = await self._handler.verify(message.samples)
                await self._answer(entry_id, message, verdicts)

    async def _decode(self, entry: Entry) -> Message | None:
        """Read an entry; what is not in the contract goes to the dead stream."""
        entry_id, fields = entry
        try:
            return decode_message(fields)
        except ProtocolError as error:
            logger.error("%s: %s: %s", self._verifier, entry_id.decode(), error)
            await self._bury(entry_id, fields, str(error))
            return None

    async def _bury(self, entry_id: bytes, fields: dict[bytes, bytes], why: str) -> None:
        buried: Any = fields | {b"why": why.encode()}
        answer = answer_unreadable(fields)
        async with self._redis.pipeline(transaction=True) as pipe:
            pipe.xadd(keys.dead(self._verifier), buried)
            if answer:
                pipe.rpush(*answer)
                pipe.expire(answer[0], keys.REPLY_TTL_SECONDS)
            pipe.xack(self._stream, keys.GROUP, entry_id)
            pipe.xdel(self._stream, entry_id)
            await pipe.execute()

    async def _gone_trainers(self, messages: Sequence[tuple[bytes, Message]]) -> set[str]:
        """Say whose heartbeat has stopped. A young message needs no asking: one came with it."""
        born_before = (time.time() - YOUNG_SECONDS) * 1000
        trainers = sorted(
            {m.trainer_key for entry_id, m in messages if _milliseconds(entry_id) < born_before}
        )
        async with self._redis.pipeline(transaction=False) as pipe:
            for trainer in trainers:
                pipe.exists(trainer)
            alive = await pipe.execute()
        return {trainer for trainer, there in zip(trainers, alive, strict=True) if not there}

    async def _answer(self, entry_id: bytes, message: Message, verdicts: list[Verdict]) -> None:
        body = encode_reply(message.number, verdicts)
        # Other chunks of the batch may take as long as its deadline allows.
        keep_seconds = max(message.deadline_ms // 1000 - int(time.time()), 0)
        await self._answer_once(
            keys=[self._stream, message.reply_key],
            args=[keys.GROUP, entry_id, body, keep_seconds + keys.REPLY_TTL_SECONDS],
        )

    @asynccontextmanager
    async def _held(self, consumer: str, entry_ids: Sequence[bytes]) -> AsyncIterator[None]:
        """Show that the messages are being worked on for as long as they are."""
        touching = asyncio.create_task(self._touch(consumer, entry_ids))
        try:
            yield
        finally:
            touching.cancel()

    async def _touch(self, consumer: str, entry_ids: Sequence[bytes]) -> None:
        while True:
            await asyncio.sleep(DEAD_AFTER_SECONDS / 3)
            try:
                await self._redis.xclaim(
                    self._stream, keys.GROUP, consumer, 0, list(entry_ids), justid=True
                )
            except RedisError as error:
                logger.warning("%s: could not touch its chunks: %s", self._verifier, error)


def _milliseconds(entry_id: bytes) -> int:
    """When Redis took the entry in."""
    return int(entry_id.partition(b"-")[0])


def _pairs(streams: Any) -> Any:  # noqa: ANN401 - a list of pairs, or a dict where RESP3 is spoken
    return streams.items() if isinstance(streams, dict) else streams or ()
