"""Every language in the image that has them all, and those of this machine under bubblewrap.

The image takes minutes and gigabytes to build, so these tests do not: without it those of Docker are
skipped, unless `REWARDEN_TEST_REQUIRE` names `languages`. `make test-languages` builds it and does.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING, Any, Final

import pytest
import pytest_asyncio

from sandbox.choice import choose, find_driver
from sandbox.driver import DriverUnavailableError
from sandbox.jobs import Run, Status
from sandbox.languages import TOOLCHAINS
from sandbox.pool import Pool
from tests.language_programs import PROGRAMS, is_refused, job
from tests.requirements import missing

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from sandbox.choice import MakeDriver

IMAGE: Final = "rewarden-sandbox:full"
DOCKER: Final = pytest.mark.docker

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture(scope="module")
def full_image(docker_engine: None) -> None:
    command = ["docker", "image", "inspect", IMAGE]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        missing("languages", f"there is no {IMAGE}; make test-languages builds it")


def find(name: str) -> MakeDriver:
    made = find_driver(name)
    if name == "bwrap":
        return made
    if name == "oneshot":
        from sandbox.drivers.oneshot import OneshotDriver

        return lambda *, slots: OneshotDriver(slots=slots, images=(IMAGE,))
    from sandbox.drivers.slots import SlotsDriver, SlotsOptions

    options = SlotsOptions(owner=f"test-languages-{os.getpid()}", images=(IMAGE,))
    return lambda *, slots: SlotsDriver(slots=slots, options=options)


@pytest_asyncio.fixture(
    scope="module",
    loop_scope="module",
    params=["bwrap", pytest.param("slots", marks=DOCKER), pytest.param("oneshot", marks=DOCKER)],
)
async def pool(request: pytest.FixtureRequest) -> AsyncIterator[Pool]:
    name: str = request.param
    if name != "bwrap":
        request.getfixturevalue("full_image")
    elif shutil.which("bwrap") is None:
        missing("bwrap", "no bwrap on PATH")
    try:
        choice = await choose([name], 1, find)
    except DriverUnavailableError as error:
        missing("bwrap" if name == "bwrap" else "docker", str(error))
    made = Pool(choice.driver, slots=1)
    yield made
    await made.close()


@pytest.fixture(params=PROGRAMS)
def language(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


async def is_there(pool: Pool, language: str) -> bool:
    """A host has what it has, and refuses the rest in a sentence; the image must have everything."""
    if language in await pool.driver.languages():
        return True
    assert pool.driver.name == "bwrap"
    (seen,) = (await pool.run(job(language, PROGRAMS[language].adds, Run(stdin=b"1 2\n")))).runs
    assert seen.status is Status.SANDBOX_ERROR
    assert TOOLCHAINS[language].program() in seen.detail
    return False


async def test_every_language_has_its_programs() -> None:
    assert set(PROGRAMS) == set(TOOLCHAINS)


async def test_a_program_is_compiled_once_and_runs_on_each_input(pool: Pool, language: str) -> None:
    if not await is_there(pool, language):
        return
    runs = [Run(stdin=f"{number} {number + 1}\n".encode()) for number in range(3)]
    seen = await pool.run(job(language, PROGRAMS[language].adds, *runs))
    found: list[Any] = [(one.status, one.stdout) for one in seen.runs]
    assert found == [(Status.EXITED, f"{2 * n + 1}\n".encode()) for n in range(3)], seen
    assert (seen.compiled is None) == (TOOLCHAINS[language].compile is None)


async def test_what_is_no_program_is_refused(pool: Pool, language: str) -> None:
    if not await is_there(pool, language):
        return
    seen = await pool.run(job(language, PROGRAMS[language].is_broken))
    assert is_refused(language, seen), seen
    if seen.compiled is not None:
        assert seen.runs[0].status is Status.NOT_RUN


async def test_how_a_program_fails_is_told(pool: Pool, language: str) -> None:
    if not await is_there(pool, language):
        return
    (seen,) = (await pool.run(job(language, PROGRAMS[language].fails))).runs
    assert (seen.status, seen.exit_code) == (Status.EXITED, 3), seen


async def test_a_program_that_never_ends_is_ended(pool: Pool, language: str) -> None:
    if not await is_there(pool, language):
        return
    (seen,) = (await pool.run(job(language, PROGRAMS[language].spins, cpu_seconds=1))).runs
    assert seen.status is Status.TIMEOUT, seen
    assert seen.cpu_seconds >= 1
