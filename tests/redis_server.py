"""A redis-server of the test's own: a free port, its files in a folder that goes away."""

from __future__ import annotations

import socket
import subprocess
import time
from typing import TYPE_CHECKING, Self

import redis

if TYPE_CHECKING:
    from pathlib import Path


class RedisServer:
    """Runs between `__enter__` and `__exit__`; may be killed and started again in between."""

    def __init__(self, program: str, folder: Path, fsync: str = "always") -> None:
        self._program = program
        self._folder = folder
        self._fsync = fsync
        self._port = _free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self.url = f"redis://127.0.0.1:{self._port}/0"

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def start(self) -> None:
        options = ["--port", str(self._port), "--bind", "127.0.0.1", "--dir", str(self._folder)]
        options += ["--save", "", "--appendonly", "yes", "--appendfsync", self._fsync]
        self._process = subprocess.Popen(
            [self._program, *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        with redis.Redis.from_url(self.url) as client:
            for _ in range(200):
                try:
                    client.ping()
                except redis.RedisError:
                    time.sleep(0.05)
                else:
                    return
        msg = f"redis-server did not answer at {self.url}"
        raise RuntimeError(msg)

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def client(self) -> redis.Redis:
        return redis.Redis.from_url(self.url, decode_responses=True)


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port
