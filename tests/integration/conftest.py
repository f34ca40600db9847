"""The code verifier on a real sandbox, once for each driver; bubblewrap in this process."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from sandbox.drivers.bwrap import BwrapDriver, first_user
from services.code.verifier import CodeVerifier
from tests.requirements import missing
from tests.sandbox_process import SandboxEndedError, running_sandbox
from tests.sandbox_programs import processes_of

ROOT = Path(__file__).parents[2]


@pytest.fixture(params=["bwrap", pytest.param("slots", marks=pytest.mark.docker)])
async def verifier(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[CodeVerifier]:
    if request.param == "slots":
        request.getfixturevalue("image")
    path = tmp_path / "socket"
    sockets = {
        "REWARDEN_SANDBOX_SOCKETS": str(tmp_path / "slots"),
        "REWARDEN_SANDBOX_IMAGE": "small",
    }
    try:
        with running_sandbox(path, "--driver", request.param, "--slots", "2", **sockets):
            made = CodeVerifier(sandbox=f"unix:{path}")
            await made.start()
            yield made
            await made.close()
    except SandboxEndedError as error:
        part = "bwrap" if request.param == "bwrap" else "docker"
        missing(part, str(error))


@pytest.fixture(scope="module")
def image(docker_engine: None) -> None:
    build = (
        "docker build -q -f sandbox/images/Dockerfile --target small -t rewarden-sandbox:small ."
    )
    subprocess.run(build.split(), cwd=ROOT, check=True, capture_output=True)


@pytest.fixture(scope="module")
def bubblewrap() -> None:
    if shutil.which("bwrap") is None:
        missing("bwrap", "no bwrap on PATH")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def driver(bubblewrap: None) -> AsyncIterator[BwrapDriver]:
    made = BwrapDriver(slots=2)
    await made.start()
    yield made
    await made.close()
    assert [
        line for slot in range(2) for line in processes_of(first_user(os.getpid()) + slot)
    ] == []
    assert made._folder is not None
    assert not made._folder.exists()
    assert not any(folder.exists() for folder in made._groups)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sampled(bubblewrap: None) -> AsyncIterator[BwrapDriver]:
    made = BwrapDriver(slots=1, with_groups=False)
    await made.start()
    assert made.metering == "sampling /proc"
    yield made
    await made.close()
