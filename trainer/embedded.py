"""Verifier services in a child process of the trainer's own: the default where no queue is given.

The parent binds the socket, so that no port can be taken in between, and hands it to the child.
The child ends when its standard input closes, which the kernel sees to even if the trainer is
killed: it cannot outlive the run.
"""

from __future__ import annotations

import logging
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Final

import httpx

from rewarden.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

logger = logging.getLogger(__name__)

COMMAND: Final = (sys.executable, "-m", "services", "all")
START_SECONDS: Final = 30.0
STOP_SECONDS: Final = 5.0
POLL_SECONDS: Final = 0.05


@contextmanager
def embedded_services(log: Path, command: Sequence[str] = COMMAND) -> Iterator[str]:
    """Serve every verifier on a free port of this machine; give its URL when it is ready."""
    # Our own copy of the socket is closed at once: left open, it would take calls for a dead child.
    with _listen() as listener, log.open("wb") as output:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        child = _start([*command, "--fd", str(listener.fileno()), "--attached"], listener, output)
    try:
        _wait_until_ready(child, url, log)
        yield url
    finally:
        if child.poll() is not None:
            logger.error(
                "the embedded verifiers ended (exit code %s): see %s", child.returncode, log
            )
        _stop(child)


def _listen() -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.bind(("127.0.0.1", 0))
    listener.listen(128)
    return listener


def _start(
    command: list[str], listener: socket.socket, output: IO[bytes]
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603 - our own interpreter and module
        command,
        stdin=subprocess.PIPE,
        stdout=output,
        stderr=output,
        pass_fds=[listener.fileno()],
        start_new_session=True,  # Ctrl-C is the trainer's to handle; it still needs verdicts then
    )


def _wait_until_ready(child: subprocess.Popen[bytes], url: str, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    with httpx.Client(base_url=url, timeout=1.0, trust_env=False) as client:
        while time.monotonic() < deadline:
            if child.poll() is not None:
                why = f"ended with exit code {child.returncode}"
                raise ConfigurationError(_not_started(why, log))
            if _is_ready(client):
                return
            time.sleep(POLL_SECONDS)
    raise ConfigurationError(_not_started(f"were not ready in {START_SECONDS:.0f} s", log))


def _is_ready(client: httpx.Client) -> bool:
    try:
        return client.get("/readyz").status_code == httpx.codes.OK
    except httpx.TransportError:
        return False


def _not_started(why: str, log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    last = lines[-1] if lines else "its log is empty"
    return (
        f"the embedded verifiers {why} ({last}); install them with `pip install -e .[all]`, "
        "or give the address of running ones in --queue"
    )


def _stop(child: subprocess.Popen[bytes]) -> None:
    if child.stdin is not None:
        child.stdin.close()
    try:
        child.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        child.terminate()
        try:
            child.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
