"""The queue against the most that redis-py lets through on the same Redis, in the same run.

One client process, one worker process, one redis-server started here. The limit is redis-py
sending the same messages with the same commands and a payload that nobody reads or writes:
XADD in a pipeline, XREADGROUP, then RPUSH, EXPIRE, XACK, XDEL in a transaction, LPOP.

Aims: 50,000 samples/s in chunks of 64; 20 us of CPU a sample, client and worker together;
3 ms for a single idle round trip (median).
"""

from __future__ import annotations

import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

import redis

from benchmarks._trivial import child, cpu_seconds, samples, wait_until_ready
from rewarden.batches import Batch, encode_message, encode_reply
from rewarden.client import Client
from rewarden.contracts import Outcome, Verdict
from tests.redis_server import RedisServer

SAMPLES = 20_000
CHUNK = 64
ROUNDS = 5
PORT = 18_431


def raw_limit(url: str) -> tuple[float, float]:
    """Return samples a second, and CPU a sample in microseconds, where nothing is packed or unpacked."""
    batch = Batch(samples(CHUNK), {"trivial": CHUNK}, 600)
    message = encode_message(batch, batch.open[0], "beat")
    verdicts = [
        Verdict.of(s, Outcome.CORRECT, "It is.", verifier="trivial") for s in samples(CHUNK)
    ]
    reply, count = encode_reply(0, verdicts), SAMPLES // CHUNK
    with redis.Redis.from_url(url) as r:
        r.xgroup_create("raw", "g", mkstream=True)
        began, cpu = time.perf_counter(), cpu_seconds()
        pipe = r.pipeline(transaction=False)
        for _ in range(count):
            pipe.xadd("raw", message)
        pipe.execute()
        while streams := r.xreadgroup("g", "c", {"raw": ">"}, count=4):
            for entry_id, _ in streams[0][1]:
                with r.pipeline(transaction=True) as answer:
                    answer.rpush("reply", reply)
                    answer.expire("reply", 900)
                    answer.xack("raw", "g", entry_id)
                    answer.xdel("raw", entry_id)
                    answer.execute()
        r.lpop("reply", count)
        seconds, cpu = time.perf_counter() - began, cpu_seconds() - cpu
        r.delete("raw", "reply")
    return count * CHUNK / seconds, cpu / (count * CHUNK) * 1e6


def queue_speed(client: Client, worker_pid: int) -> tuple[float, float]:
    """Return samples a second, and CPU a sample in microseconds, through the queue."""
    batch = samples(SAMPLES)
    began, cpu = time.perf_counter(), cpu_seconds() + cpu_seconds(worker_pid)
    verdicts = client.verify(batch)
    seconds = time.perf_counter() - began
    cpu = cpu_seconds() + cpu_seconds(worker_pid) - cpu
    assert len(verdicts) == SAMPLES
    assert all(verdict.score == 1 for verdict in verdicts)
    return SAMPLES / seconds, cpu / SAMPLES * 1e6


def round_trip_ms(client: Client) -> float:
    """Median time of a batch of one, one after another."""
    one, times = samples(1), []
    for _ in range(500):
        began = time.perf_counter()
        client.verify(one)
        times.append((time.perf_counter() - began) * 1e3)
    return statistics.median(times)


def main() -> None:
    """Measure in turns, and print the medians."""
    program = shutil.which("redis-server") or sys.exit("needs redis-server on PATH")
    with (
        tempfile.TemporaryDirectory() as folder,
        RedisServer(program, Path(folder), fsync="everysec") as server,
        child("benchmarks._trivial", str(PORT), server.url) as worker,
        Client(server.url) as client,
    ):
        wait_until_ready(f"http://127.0.0.1:{PORT}")
        queue_speed(client, worker.pid)
        pairs = [(queue_speed(client, worker.pid), raw_limit(server.url)) for _ in range(ROUNDS)]
        trip = round_trip_ms(client)
    ours = [statistics.median(pair[0][i] for pair in pairs) for i in range(2)]
    raw = [statistics.median(pair[1][i] for pair in pairs) for i in range(2)]
    print(f"{'':24}{'samples/s':>12}{'CPU us/sample':>16}")
    print(f"{'queue, chunks of 64':24}{ours[0]:>12,.0f}{ours[1]:>16.1f}")
    print(f"{'redis-py limit':24}{raw[0]:>12,.0f}{raw[1]:>16.1f}")
    print(f"{'ratio':24}{ours[0] / raw[0]:>12.2f}{ours[1] / raw[1]:>16.1f}")
    print(f"single round trip, median: {trip:.2f} ms")


if __name__ == "__main__":
    main()
