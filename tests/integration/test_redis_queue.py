"""The queue on a real Redis: order, deadlines, and what happens when something dies."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import redis

from rewarden import batches, keys
from rewarden.client import AsyncClient, Client
from rewarden.contracts import Outcome, Sample
from rewarden.errors import TransportError
from services import consumer as consumer_module
from services.app import create_app
from tests.puppet import PuppetSpec, PuppetVerifier

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.redis_server import RedisServer

pytestmark = pytest.mark.redis
ROOT = Path(__file__).parents[2]


@contextlib.asynccontextmanager
async def service(url: str) -> AsyncIterator[PuppetVerifier]:
    verifier = PuppetVerifier()
    app = create_app("puppet", {"puppet": PuppetSpec}, verifiers=[verifier], queue_url=url)
    async with app.router.lifespan_context(app):
        yield verifier


def puppets(*orders: str) -> list[Sample]:
    return [Sample(completion=order, id=order, verifier="puppet") for order in orders]


def leftovers(server: RedisServer) -> dict[str, Any]:
    """What a finished batch must not leave behind."""
    with server.client() as client:
        stream = keys.stream("puppet")
        return {
            "waiting": client.xlen(stream),
            "pending": client.xpending(stream, keys.GROUP)["pending"],
            "dead": client.xlen(keys.dead("puppet")),
        }


NOTHING = {"waiting": 0, "pending": 0, "dead": 0}


async def test_a_batch_comes_back_whole_and_in_order(redis_server: RedisServer) -> None:
    async with service(redis_server.url), AsyncClient(redis_server.url) as client:
        samples = puppets(*(["correct", "incorrect", "raise", "partial", "bad_spec"] * 60))
        verdicts = await client.verify(samples)
    assert [verdict.id for verdict in verdicts] == [sample.id for sample in samples]
    told = ["verifier_error" if s.text == "raise" else s.text for s in samples]
    assert [verdict.outcome for verdict in verdicts] == told
    assert leftovers(redis_server) == NOTHING


async def test_sync_and_async_clients_and_many_batches_at_once(redis_server: RedisServer) -> None:
    async with service(redis_server.url), AsyncClient(redis_server.url) as client:
        with Client(redis_server.url) as blocking:
            batches = [puppets(*(f"{n}-{i}" for i in range(n))) for n in range(1, 30)]
            found = await asyncio.gather(
                *(client.verify(batch) for batch in batches),
                *(asyncio.to_thread(blocking.verify, batch) for batch in batches),
            )
    for batch, verdicts in zip(batches * 2, found, strict=True):
        assert [verdict.reason for verdict in verdicts] == [sample.text for sample in batch]


async def test_without_a_worker_the_batch_expires_in_time(redis_server: RedisServer) -> None:
    async with AsyncClient(redis_server.url) as client:
        began = time.monotonic()
        verdicts = await client.verify(puppets("correct") * 5, timeout_seconds=0.5)
    assert time.monotonic() - began < 3
    assert {verdict.outcome for verdict in verdicts} == {Outcome.EXPIRED}


async def test_a_chunk_past_its_deadline_is_dropped_unrun(redis_server: RedisServer) -> None:
    async with AsyncClient(redis_server.url) as client:
        await client.verify(puppets("correct"), timeout_seconds=0.2)
        async with service(redis_server.url) as verifier:
            await client.verify(puppets("incorrect"))
            assert verifier.seen == ["incorrect"]
    assert leftovers(redis_server) == NOTHING


async def test_the_chunks_of_a_trainer_that_is_gone_are_dropped_unrun(
    redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with AsyncClient(redis_server.url) as gone, AsyncClient(redis_server.url) as client:
        abandoned = asyncio.create_task(gone.verify(puppets("correct")))
        await asyncio.sleep(0.3)
        abandoned.cancel()
        monkeypatch.setattr(consumer_module, "YOUNG_SECONDS", 0.0)
        with redis_server.client() as raw:
            raw.delete(*raw.keys("rewarden:trainer:*"))
        async with service(redis_server.url) as verifier:
            await client.verify(puppets("incorrect"))
            assert verifier.seen == ["incorrect"]
    assert leftovers(redis_server) == NOTHING


async def test_a_message_out_of_contract_goes_to_the_dead_stream(
    redis_server: RedisServer,
) -> None:
    async with service(redis_server.url), AsyncClient(redis_server.url) as client:
        with redis_server.client() as raw:
            raw.xadd(keys.stream("puppet"), {"hello": "world"})
        assert (await client.verify(puppets("correct")))[0].score == 1
        with redis_server.client() as raw:
            (_, fields) = raw.xrange(keys.dead("puppet"))[0]
        assert fields["hello"] == "world"
    assert leftovers(redis_server) == {"waiting": 0, "pending": 0, "dead": 1}


async def test_a_chunk_that_cannot_be_read_is_answered_at_once(
    redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with service(redis_server.url), AsyncClient(redis_server.url) as client:
        await client.verify(puppets("correct"))
        monkeypatch.setattr(batches, "CONTRACT_VERSION", 2)  # as a newer trainer would send it
        verdicts = await client.verify(puppets("correct", "partial"), timeout_seconds=60)
    assert [verdict.outcome for verdict in verdicts] == [Outcome.VERIFIER_ERROR] * 2
    assert leftovers(redis_server) == {"waiting": 0, "pending": 0, "dead": 1}


async def test_an_error_of_one_command_is_told_at_once_and_sends_nothing_twice(
    redis_server: RedisServer,
) -> None:
    async with service(redis_server.url) as verifier, AsyncClient(redis_server.url) as client:
        with redis_server.client() as raw:
            raw.set(keys.stream("broken"), "not a stream")
        broken = Sample(completion="", verifier="broken")
        with pytest.raises(TransportError, match="WRONGTYPE"):
            await client.verify([*puppets("correct"), broken], timeout_seconds=60)
        await client.verify(puppets("partial"))
        assert sorted(verifier.seen) == ["correct", "partial"]


async def test_a_full_redis_is_waited_for_and_nothing_is_sent_twice(
    redis_server: RedisServer,
) -> None:
    async with service(redis_server.url) as verifier, AsyncClient(redis_server.url) as client:
        await client.verify(puppets("correct"))
        with redis_server.client() as raw:
            raw.config_set("maxmemory", "1")
            batch = asyncio.create_task(client.verify(puppets("partial"), timeout_seconds=60))
            await asyncio.sleep(1.5)
            raw.config_set("maxmemory", "0")
        assert (await batch)[0].outcome is Outcome.PARTIAL
        assert verifier.seen == ["correct", "partial"]


async def test_verdicts_are_kept_as_long_as_their_batch_may_take(
    redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keys, "REPLY_TTL_SECONDS", 3)
    async with service(redis_server.url), AsyncClient(redis_server.url) as client:
        # Nobody serves `absent`, and the client waits for it first.
        absent = Sample(completion="", verifier="absent")
        samples = [absent, *puppets("correct")]
        verdicts = await client.verify(samples, timeout_seconds=8)
    assert [v.outcome for v in verdicts] == [Outcome.EXPIRED, Outcome.CORRECT]


WORKER = """
import asyncio, sys
from services.app import create_app
from tests.puppet import PuppetSpec, PuppetVerifier
async def main():
    app = create_app("puppet", {"puppet": PuppetSpec}, verifiers=[PuppetVerifier()], queue_url=sys.argv[1])
    async with app.router.lifespan_context(app):
        await asyncio.sleep(600)
asyncio.run(main())
"""


def start_worker(server: RedisServer) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", WORKER, server.url], cwd=ROOT)


def wait_until_held(server: RedisServer) -> None:
    """Wait until some worker has taken a chunk and not answered it yet."""
    with server.client() as raw:
        for _ in range(400):
            with contextlib.suppress(redis.ResponseError):
                if raw.xpending(keys.stream("puppet"), keys.GROUP)["pending"]:
                    return
            time.sleep(0.05)
    pytest.fail("no worker took the chunk")


async def test_what_a_killed_worker_held_is_done_by_another(
    redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consumer_module, "DEAD_AFTER_SECONDS", 2.0)
    doomed = await asyncio.to_thread(start_worker, redis_server)
    try:
        async with AsyncClient(redis_server.url) as client:
            batch = asyncio.create_task(client.verify(puppets("sleep 3", *(["partial"] * 40))))
            await asyncio.to_thread(wait_until_held, redis_server)
            os.kill(doomed.pid, signal.SIGKILL)
            async with service(redis_server.url):
                verdicts = await batch
    finally:
        doomed.kill()
        doomed.wait()
    assert [v.outcome for v in verdicts] == [Outcome.CORRECT] + [Outcome.PARTIAL] * 40
    assert leftovers(redis_server) == NOTHING


async def test_slow_work_is_not_taken_for_a_dead_workers(
    redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consumer_module, "DEAD_AFTER_SECONDS", 0.6)
    async with service(redis_server.url) as one, service(redis_server.url) as two:
        async with AsyncClient(redis_server.url) as client:
            await client.verify(puppets("sleep 2.5"))
        assert one.seen + two.seen == ["sleep 2.5"]


async def test_redis_may_be_killed_and_come_back(redis_server: RedisServer) -> None:
    async with service(redis_server.url), AsyncClient(redis_server.url) as client:
        await client.verify(puppets("correct"))
        batch = asyncio.create_task(client.verify(puppets("sleep 1", *(["partial"] * 40))))
        await asyncio.sleep(0.4)
        await asyncio.to_thread(redis_server.kill)
        await asyncio.sleep(0.5)
        await asyncio.to_thread(redis_server.start)
        verdicts = await batch
    assert [v.outcome for v in verdicts] == [Outcome.CORRECT] + [Outcome.PARTIAL] * 40


async def test_a_flushed_redis_is_set_up_again(redis_server: RedisServer) -> None:
    async with service(redis_server.url), AsyncClient(redis_server.url) as client:
        await client.verify(puppets("correct"))
        with redis_server.client() as raw:
            raw.flushall()
        assert (await client.verify(puppets("correct"), timeout_seconds=20))[0].score == 1


def test_an_unreachable_redis_is_an_error_in_time_and_said_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with Client("redis://127.0.0.1:9/0") as client, pytest.raises(TransportError, match="Redis"):
        client.verify(puppets("correct"), timeout_seconds=2)
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


async def test_stopping_a_service_finishes_what_it_holds(redis_server: RedisServer) -> None:
    async with AsyncClient(redis_server.url) as client:
        async with service(redis_server.url):
            batch = asyncio.create_task(client.verify(puppets("sleep 1")))
            await asyncio.sleep(0.5)
        assert (await batch)[0].outcome is Outcome.CORRECT


def test_one_client_serves_several_threads(redis_server: RedisServer) -> None:
    found: dict[int, list[str]] = {}

    def ask(client: Client, n: int) -> None:
        samples = puppets(*(f"{n}-{i}" for i in range(20)))
        found[n] = [verdict.reason for verdict in client.verify(samples)]

    worker = start_worker(redis_server)
    try:
        with Client(redis_server.url) as client:
            threads = [threading.Thread(target=ask, args=(client, n)) for n in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
    finally:
        worker.kill()
        worker.wait()
    assert found == {n: [f"{n}-{i}" for i in range(20)] for n in range(8)}
