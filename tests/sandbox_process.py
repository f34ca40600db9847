"""`python -m sandbox` as a process of its own, on a unix socket."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

ROOT = Path(__file__).parents[1]
SANDBOX = (sys.executable, "-m", "sandbox")
PUPPET = (sys.executable, "-m", "tests.puppet_sandbox")
START_SECONDS = 60


class SandboxEndedError(Exception):
    """It ended before it was ready; the message is what it said."""


@contextmanager
def running_sandbox(
    path: Path, *arguments: str, command: Sequence[str] = SANDBOX, **environment: str
) -> Iterator[subprocess.Popen[str]]:
    """Serve on the socket `path` until the block ends; gives the process once it is ready."""
    process = subprocess.Popen(
        [*command, "--uds", str(path), *arguments],
        cwd=ROOT,
        env=os.environ | environment,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        deadline = time.monotonic() + START_SECONDS
        while not answers(path):
            if process.poll() is not None:
                raise SandboxEndedError(process.communicate()[1].strip().rpartition("\n")[2])
            assert time.monotonic() < deadline, "it was not ready in time"
            time.sleep(0.05)
        yield process
    finally:
        process.terminate()
        try:
            process.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()


def answers(path: Path) -> bool:
    """Say whether a sandbox on that socket is ready."""
    with socket.socket(socket.AF_UNIX) as caller:
        if caller.connect_ex(str(path)):
            return False
    with httpx.Client(transport=httpx.HTTPTransport(uds=str(path)), timeout=60) as client:
        try:
            return client.get("http://sandbox/readyz").status_code == httpx.codes.OK
        except httpx.TransportError:
            return False


def wait_until(condition: Callable[[], bool], seconds: float) -> None:
    """Wait for something to come about, or fail."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            pytest.fail(f"it did not come about within {seconds} s")
        time.sleep(0.02)


def processes_with(marker: str) -> list[int]:
    """Find the processes of this machine, in whatever namespace, whose command line has a marker."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if marker.encode() in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
        except OSError:
            continue
    return found
