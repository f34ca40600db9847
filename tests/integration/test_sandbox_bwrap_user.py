"""Bubblewrap once more, for an ordinary user: the same bombs, measured by sampling."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Final

import pytest

from tests.sandbox_programs import BOMBS, processes_of

ROOT: Final = Path(__file__).parents[2]
SYSTEM_PYTHON: Final = "/usr/bin/python3"
SOMEBODY: Final = 4_321

AS_SOMEBODY: Final = """
import asyncio, json, os, sys
from sandbox.drivers.bwrap import BwrapDriver
from sandbox.jobs import Run
from tests.sandbox_programs import BOMBS, assert_right, hostile, run

async def main():
    driver = BwrapDriver(slots=1)
    await driver.start()
    told = {"metering": driver.metering, "user": os.getuid()}
    for name, (limits, _) in BOMBS.items():
        (seen,) = await run(driver, hostile(name, **limits))
        told[name] = seen.status
        await assert_right(driver)
    for name in ("look_around", "system_calls"):
        (seen,) = await run(driver, hostile(name))
        told[name] = seen.stdout.decode()
    await driver.close()
    print(json.dumps(told))

asyncio.run(main())
"""


def can_be_somebody() -> str:
    """Say what is missing for the tests to run as an ordinary user."""
    if shutil.which("bwrap") is None:
        return "it needs bubblewrap: no bwrap on PATH"
    if os.geteuid() != 0:
        return "it needs root to become another user"
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    asked = ["-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
    try:
        seen = subprocess.run([SYSTEM_PYTHON, *asked], capture_output=True, text=True, check=False)
    except OSError:
        return f"it needs {SYSTEM_PYTHON}"
    if seen.stdout.strip() != version:
        return f"it needs {SYSTEM_PYTHON} to be Python {version}"
    readable = ["/usr/bin/test", "-r", str(ROOT / "sandbox" / "driver.py")]
    if subprocess.run(readable, check=False, user=SOMEBODY, group=SOMEBODY).returncode:
        return f"{ROOT} is not readable for an ordinary user"
    return ""


async def test_an_ordinary_user_has_the_same_sandbox() -> None:
    if why := can_be_somebody():
        pytest.skip(why)
    environment = {
        "PATH": "/usr/bin:/bin",
        "PYTHONPATH": f"{sysconfig.get_path('purelib')}:{ROOT}",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    process = await asyncio.create_subprocess_exec(
        *(SYSTEM_PYTHON, "-c", AS_SOMEBODY),
        cwd=ROOT,
        env=environment,
        user=SOMEBODY,
        group=SOMEBODY,
        extra_groups=[],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    out, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    told = json.loads(out)
    assert (told.pop("metering"), told.pop("user")) == ("sampling /proc", SOMEBODY)
    assert told.pop("look_around") == "['/proc/1/environ', '1']\n"  # the shell's, of the same user
    assert told.pop("system_calls") == "[]\n"
    expected = {name: str(status) for name, (_, status) in BOMBS.items()}
    assert told == expected | {"shared_memory_bomb": "exited"}
    assert processes_of(SOMEBODY) == []
