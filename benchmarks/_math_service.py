"""The math verifier's worker processes, and its service in a process of its own, measured."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import statistics
import subprocess
import sys
import time
from typing import TYPE_CHECKING, NamedTuple

import httpx

from benchmarks._math_corpus import chain_of_thought, mixed
from benchmarks._trivial import wait_until_ready
from rewarden.contracts import Sample, VerifyRequest
from services.math.verifier import MathVerifier

if TYPE_CHECKING:
    from collections.abc import Iterator

BATCH = 256
BATCHES = 24
CALLERS = 4
"""As many as the service has tasks on its queue: while one batch ends, the next is under way."""
ROUNDS = 5


class Http(NamedTuple):
    """What a client of the service sees."""

    milliseconds: float
    """A sample, in a batch of 256."""
    first_seconds: float
    """From ready to the first verdict."""


def batches(seed: int) -> list[list[Sample]]:
    """Make batches of which every second sample is a long completion, no gold twice."""
    half = BATCH * BATCHES // 2
    items = zip(chain_of_thought(half, seed), mixed(half // 8, seed), strict=True)
    samples = [
        Sample(id=f"{place}", completion=item.completion, spec={"answer": item.gold})
        for place, pair in enumerate(items)
        for item in pair
    ]
    return [samples[i : i + BATCH] for i in range(0, len(samples), BATCH)]


async def scaling() -> dict[int, float]:
    """Return the samples per second of one and of two workers.

    The best of some rounds taken in turns: what else the machine does can only slow one down.
    """
    speeds: dict[int, list[float]] = {1: [], 2: []}
    for round_ in range(ROUNDS):
        for workers, found in speeds.items():
            found.append(await _speed(workers, seed=round_))
    return {workers: max(found) for workers, found in speeds.items()}


async def _speed(workers: int, seed: int) -> float:
    verifier = MathVerifier(workers=workers)
    waiting = iter(batches(seed))

    async def caller() -> None:
        for batch in waiting:
            await verifier.verify(batch)

    await verifier.start()
    try:
        for batch in batches(seed + 1_000)[:2]:
            await verifier.verify(batch)
        began = time.perf_counter()
        await asyncio.gather(*(caller() for _ in range(CALLERS)))
        return BATCH * BATCHES / (time.perf_counter() - began)
    finally:
        await verifier.close()


def http() -> Http:
    """Start the service, send it a sample, then batches; one client, one connection."""
    with _service() as url, httpx.Client(base_url=url, timeout=120) as client:
        began = time.perf_counter()
        _post(client, batches(seed=2_000)[0][:1])
        first = time.perf_counter() - began
        seconds = []
        for batch in batches(seed=3_000):
            began = time.perf_counter()
            _post(client, batch)
            seconds.append(time.perf_counter() - began)
    return Http(statistics.median(seconds) / BATCH * 1_000, first)


def _post(client: httpx.Client, samples: list[Sample]) -> None:
    body = VerifyRequest(samples=samples).model_dump_json(exclude_defaults=True)
    headers = {"Content-Type": "application/json"}
    client.post("/v1/verify", content=body, headers=headers).raise_for_status()


@contextlib.contextmanager
def _service() -> Iterator[str]:
    """Run `python -m services math` on a free port until the block ends."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        fd, url = listener.fileno(), f"http://127.0.0.1:{listener.getsockname()[1]}"
        command = [sys.executable, "-m", "services", "math", "--fd", str(fd)]
        process = subprocess.Popen([*command, "--log-level", "warning"], pass_fds=[fd])
    try:
        wait_until_ready(url)
        yield url
    finally:
        process.terminate()
        process.wait()
