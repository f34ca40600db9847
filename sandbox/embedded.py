"""The sandbox in a child process of one's own: the default where no address is given.

It listens on a unix socket in a folder that only this user can enter, and ends when its standard
input does, which the kernel sees to even if the parent is killed: it cannot outlive the parent.
"""

from __future__ import annotations

import logging
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import httpx

from rewarden.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

logger = logging.getLogger(__name__)

COMMAND: Final = (sys.executable, "-m", "sandbox")
START_SECONDS: Final = 150.0
"""Longer than a driver may take to be tried."""
STOP_SECONDS: Final = 20.0
POLL_SECONDS: Final = 0.05


@contextmanager
def embedded_sandbox(
    arguments: Sequence[str] = (), command: Sequence[str] = COMMAND
) -> Iterator[str]:
    """Serve a sandbox until the block ends; gives its address once it is ready.

    `arguments` are those of `python -m sandbox`, such as `--driver bwrap`. It logs to this
    process's standard error. A `ConfigurationError` if it does not start, whose reason is there.
    """
    with tempfile.TemporaryDirectory(prefix="rewarden-sandbox-") as folder:
        path = Path(folder, "socket")
        # Our own copy of the socket is closed at once: left open, it would take jobs for a dead child.
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
            listener.bind(str(path))
            listener.listen(128)
            child = _start([*command, *arguments], listener)
        try:
            _wait_until_ready(child, path)
            yield f"unix:{path}"
        finally:
            if child.poll() is not None:
                logger.error("the embedded sandbox ended (exit code %s)", child.returncode)
            _stop(child)


def _start(command: list[str], listener: socket.socket) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603 - our own interpreter and module
        [*command, "--fd", str(listener.fileno()), "--attached"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        pass_fds=[listener.fileno()],
        start_new_session=True,  # Ctrl-C is the parent's to handle; it still needs answers then
    )


def _wait_until_ready(child: subprocess.Popen[bytes], path: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    transport = httpx.HTTPTransport(uds=str(path))
    with httpx.Client(transport=transport, base_url="http://sandbox", timeout=1.0) as client:
        while time.monotonic() < deadline:
            if child.poll() is not None:
                msg = f"the embedded sandbox ended with exit code {child.returncode}"
                raise ConfigurationError(msg)
            if _is_ready(client, path):
                return
            time.sleep(POLL_SECONDS)
    msg = f"the embedded sandbox was not ready in {START_SECONDS:.0f} s"
    raise ConfigurationError(msg)


def _is_ready(client: httpx.Client, path: Path) -> bool:
    try:
        # httpx leaves a socket open where nobody listens (any more): hence a look of our own.
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            probe.connect(str(path))
    except OSError:
        return False
    try:
        return client.get("/readyz").status_code == httpx.codes.OK
    except httpx.TransportError:
        return False


def _stop(child: subprocess.Popen[bytes]) -> None:
    if child.stdin is not None:
        child.stdin.close()
    try:
        child.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
