"""A pool of puppets, and what is to be seen of its processes from outside."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from services.math.workers.pool import Pool
from services.math.workers.questions import Answer

PUPPET = "tests.unit.services.math_puppet:Puppet"
WORKERS = 2
BUDGET = 0.3
TWICE = "The check ended its worker process twice."


@asynccontextmanager
async def running(judge: str = PUPPET) -> AsyncIterator[Pool]:
    pool = Pool(judge, workers=WORKERS, budget_seconds=BUDGET, stall_seconds=0.75)
    await pool.start()
    try:
        yield pool
    finally:
        await pool.close()


async def until(holds: Callable[[], bool]) -> None:
    for _ in range(6_000):
        if holds():
            return
        await asyncio.sleep(0.005)
    pytest.fail("it does not come to that")


def is_running(pid: int) -> bool:
    """Whether it is there, and not only waiting to be buried."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


async def ask(pool: Pool, *texts: str) -> list[Answer]:
    async with asyncio.timeout(30):
        return await pool.judge([({}, text) for text in texts])


async def nursery_of(pool: Pool) -> int:
    nursery = (await ask(pool, "="))[0].details["nursery"]
    assert isinstance(nursery, int)
    return nursery


def numbered(count: int) -> list[str]:
    return [f"= {number}" for number in range(count)]


def echoes(answers: list[Answer]) -> list[str]:
    return [answer.details.get("text", answer.reason) for answer in answers]
