"""The Docker engine under the sandbox is killed while jobs run, and comes back."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import time
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

import httpx
import pytest

from sandbox.client import SandboxClient
from sandbox.drivers.images import VARIABLE
from sandbox.jobs import Job, JobResult, Run, Status
from tests.requirements import missing
from tests.sandbox_engine import OwnEngine
from tests.sandbox_process import ROOT, running_sandbox

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

IMAGE: Final = "rewarden-sandbox:small"
SLOTS: Final = 2
JOBS: Final = 64
BACK_SECONDS: Final = 10
SOURCE: Final = b"import time\ntime.sleep(0.3)\nprint(input()[::-1])\n"
"""Long enough for the jobs not to be over when the engine is back."""
LOST: Final = 16
"""Jobs that may be lost, far more than run at any moment."""

pytestmark = pytest.mark.docker


@pytest.fixture(scope="module")
def engine(docker_engine: None) -> Iterator[OwnEngine]:
    if os.geteuid() != 0 or shutil.which("dockerd") is None:
        missing(
            "docker", "an engine is killed, for which it takes root and dockerd on this machine"
        )
    build = f"docker build -q -f sandbox/images/Dockerfile --target small -t {IMAGE} ."
    subprocess.run(build.split(), cwd=ROOT, check=True, capture_output=True)
    with OwnEngine() as made:
        made.load(IMAGE)
        yield made


async def state(path: Path) -> dict[str, Any]:
    transport = httpx.AsyncHTTPTransport(uds=str(path))
    async with httpx.AsyncClient(transport=transport, base_url="http://sandbox") as http:
        found: dict[str, Any] = (await http.get("/readyz")).json()
        return found


async def until_all_slots_are_free(path: Path) -> None:
    deadline = time.monotonic() + BACK_SECONDS
    while (slots := (await state(path))["slots"])["free"] < slots["total"]:
        assert time.monotonic() < deadline, slots
        await asyncio.sleep(0.05)


async def one(client: SandboxClient, word: str) -> JobResult:
    run = Run(stdin=f"{word}\n".encode())
    return await client.run(Job(language="python", source=SOURCE, runs=(run,)))


@pytest.mark.parametrize("driver", ["slots", "oneshot"])
async def test_an_engine_that_is_killed_costs_no_job_its_observation(
    engine: OwnEngine, driver: str, tmp_path: Path
) -> None:
    path = tmp_path / "socket"
    environment = {
        "DOCKER_HOST": engine.host,
        VARIABLE: "small",
        "REWARDEN_SANDBOX_SOCKETS": str(tmp_path / "slots"),
    }
    arguments = ("--driver", driver, "--slots", str(SLOTS))
    with running_sandbox(path, *arguments, **environment):
        async with SandboxClient(f"unix:{path}") as client:
            calls = [asyncio.create_task(one(client, f"word {n}")) for n in range(JOBS)]
            await asyncio.sleep(0.5)
            await asyncio.to_thread(engine.kill)
            if driver == "slots":  # one that cannot be replaced now
                os.kill(engine.supervisors()[0], signal.SIGKILL)
            await asyncio.to_thread(engine.start)
            results = await asyncio.gather(*calls)
            for number, result in enumerate(results):
                (seen,) = result.runs
                assert seen.status in {Status.EXITED, Status.SANDBOX_ERROR}, seen
                if seen.status is Status.EXITED:
                    assert seen.stdout == f"word {number}\n".encode()[::-1].strip() + b"\n"
            lost = sum(r.runs[0].status is Status.SANDBOX_ERROR for r in results)
            assert lost <= LOST
            await until_all_slots_are_free(path)
            assert (await state(path))["status"] == "ok"
            after = await asyncio.gather(*(one(client, "drawer") for _ in range(8)))
            ends = Counter((r.runs[0].status, r.runs[0].stdout) for r in after)
            assert ends == {(Status.EXITED, b"reward\n"): 8}
            serving = len(engine.containers())
            assert serving == (SLOTS if driver == "slots" else 0)
    assert engine.containers() == []
    assert engine.supervisors() == []
