"""`python -m services` as a process of its own, on a socket that no one else can take."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]


@contextlib.contextmanager
def running(*arguments: str) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Run a service until the block ends; gives its URL, once it is ready, and its process."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        fd, port = listener.fileno(), listener.getsockname()[1]
        process = subprocess.Popen(
            [sys.executable, "-m", "services", *arguments, "--fd", str(fd), "--attached"],
            cwd=ROOT,
            pass_fds=[fd],
            stdin=subprocess.PIPE,
        )
    try:
        _wait_until_ready(f"http://127.0.0.1:{port}")
        yield f"http://127.0.0.1:{port}", process
    finally:
        assert process.stdin is not None
        process.stdin.close()
        process.kill()
        process.wait()


def _wait_until_ready(url: str) -> None:
    for _ in range(300):
        with contextlib.suppress(httpx.TransportError):
            if httpx.get(f"{url}/readyz", timeout=10).status_code == httpx.codes.OK:
                return
        time.sleep(0.1)
    pytest.fail(f"{url} did not become ready")
