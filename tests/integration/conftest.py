"""The code verifier on a real sandbox, once for each driver."""

from __future__ import annotations

import os
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from services.code.verifier import CodeVerifier
from tests.sandbox_process import SandboxEndedError, running_sandbox

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
        if part in os.environ.get("REWARDEN_TEST_REQUIRE", "").split(","):
            pytest.fail(f"{part} is required here: {error}")
        pytest.skip(f"needs {request.param}: {error}")


@pytest.fixture(scope="module")
def image(docker_engine: None) -> None:
    build = (
        "docker build -q -f sandbox/images/Dockerfile --target small -t rewarden-sandbox:small ."
    )
    subprocess.run(build.split(), cwd=ROOT, check=True, capture_output=True)
