"""`python -m sandbox` as its users run it: a process of its own, here with a puppet for a driver."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rewarden.errors import ConfigurationError, TransportError
from sandbox.client import SandboxClient
from sandbox.embedded import embedded_sandbox
from sandbox.jobs import Status
from tests.puppet_driver import job
from tests.sandbox_process import PUPPET, ROOT, answers, running_sandbox, wait_until

if TYPE_CHECKING:
    from contextlib import AbstractContextManager


def running(path: Path, *arguments: str) -> AbstractContextManager[subprocess.Popen[str]]:
    """Serve a puppet until the block ends."""
    return running_sandbox(path, *arguments, command=PUPPET)


async def test_a_unix_socket_is_for_its_owner_alone_and_gone_afterwards(tmp_path: Path) -> None:
    path = tmp_path / "socket"
    with running(path) as process:
        assert path.stat().st_mode & 0o777 == 0o600
        async with SandboxClient(f"unix:{path}") as client:
            assert (await client.run(job("a"))).runs[0].stdout == b"a"
        process.terminate()
        assert process.wait(timeout=15) == 0
        assert not path.exists()


def test_a_socket_that_nobody_serves_is_replaced_and_one_that_is_served_is_not(
    tmp_path: Path,
) -> None:
    path = tmp_path / "socket"
    with running(path) as process:
        process.kill()
        process.wait()
    assert path.exists()
    with running(path):
        second = subprocess.run(
            [*PUPPET, "--uds", str(path)], cwd=ROOT, capture_output=True, check=False
        )
        assert second.returncode == 2
        assert b"is in use" in second.stderr
        assert answers(path)
    path.write_text("kept")
    third = subprocess.run(
        [*PUPPET, "--uds", str(path)], cwd=ROOT, capture_output=True, check=False
    )
    assert third.returncode == 2
    assert path.read_text() == "kept"


async def test_told_to_stop_it_finishes_what_runs(tmp_path: Path) -> None:
    path = tmp_path / "socket"
    with running(path) as process:
        async with SandboxClient(f"unix:{path}") as client:
            call = asyncio.create_task(client.run(job("sleep 1", "b")))
            await asyncio.sleep(0.3)
            process.send_signal(signal.SIGTERM)
            await asyncio.sleep(0.4)
            with pytest.raises(TransportError):
                await client.run(job())
            assert [o.status for o in (await call).runs] == [Status.EXITED] * 2
        assert process.wait(timeout=15) == 0


async def test_what_outlasts_the_grace_is_told_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REWARDEN_SANDBOX_GRACE_SECONDS", "0.2")
    path = tmp_path / "socket"
    with running(path) as process:
        async with SandboxClient(f"unix:{path}") as client:
            call = asyncio.create_task(client.run(job("a", "sleep 60")))
            await asyncio.sleep(0.3)
            process.send_signal(signal.SIGTERM)
            told = [o.status for o in (await call).runs]
        assert told == [Status.EXITED, Status.SANDBOX_ERROR]
        assert process.wait(timeout=15) == 0


async def test_embedded_it_ends_with_the_block() -> None:
    with embedded_sandbox(command=PUPPET) as address:
        folder = Path(address.removeprefix("unix:")).parent
        assert folder.stat().st_mode & 0o777 == 0o700
        async with SandboxClient(address) as client:
            assert (await client.run(job("a"))).runs[0].stdout == b"a"
    assert not folder.exists()


EMBEDS = """
import sys, time
from sandbox.embedded import embedded_sandbox
with embedded_sandbox(command=(sys.executable, "-m", "tests.puppet_sandbox")) as address:
    print(address, flush=True)
    time.sleep(60)
"""


def test_embedded_it_ends_with_a_parent_that_is_killed() -> None:
    parent = subprocess.Popen([sys.executable, "-c", EMBEDS], cwd=ROOT, stdout=subprocess.PIPE)
    try:
        assert parent.stdout is not None
        path = Path(parent.stdout.readline().decode().strip().removeprefix("unix:"))
        assert answers(path)
    finally:
        parent.kill()
        parent.communicate()
    wait_until(lambda: not answers(path), 15)
    path.unlink()
    path.parent.rmdir()


def test_embedded_it_says_that_it_did_not_start() -> None:
    with (
        pytest.raises(ConfigurationError, match="ended with exit code 2"),
        embedded_sandbox(["--slots", "0"], command=PUPPET),
    ):
        pass


def test_a_port_that_is_taken_is_an_error() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = subprocess.run(
            [*PUPPET, "--port", port], cwd=ROOT, capture_output=True, check=False, env=os.environ
        )
    assert done.returncode == 3
    assert b"address already in use" in done.stderr
    assert b"Traceback" not in done.stderr
