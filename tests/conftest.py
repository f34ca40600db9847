"""Real parts for the tests: a Redis server of their own, a verifier that does as it is told.

A test that needs Redis, Postgres or Docker is skipped, saying what is missing, where it cannot be
had. `REWARDEN_TEST_REQUIRE=redis,postgres,docker` turns such a skip into a failure.
"""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.postgres_server import PostgresServer, missing_for_postgres
from tests.redis_server import RedisServer
from tests.requirements import missing

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="session")
def redis_program() -> str:
    program = shutil.which("redis-server")
    if program is None:
        missing("redis", "no redis-server on PATH")
    return program


@pytest.fixture
def redis_server(redis_program: str, tmp_path: Path) -> Iterator[RedisServer]:
    with RedisServer(redis_program, tmp_path) as server:
        yield server


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    why = missing_for_postgres()
    if why:
        missing("postgres", why)
    with PostgresServer() as server:
        yield server


@pytest.fixture(scope="session")
def docker_engine() -> None:
    if shutil.which("docker") is None:
        missing("docker", "no docker client on PATH")
    for command in (["docker", "info"], ["docker", "compose", "version"]):
        seen = subprocess.run(command, capture_output=True, text=True, check=False)
        if seen.returncode:
            missing("docker", f"`{' '.join(command)}` says {seen.stderr.strip()[:200]}")
