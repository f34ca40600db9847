from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from hypothesis import given, settings, strategies as st

from rewarden.contracts import Outcome
from services.math.workers.pool import Pool
from services.math.workers.questions import MAX_JOB_SAMPLES
from tests.unit.services.math_processes import (
    BUDGET,
    TWICE,
    WORKERS,
    ask,
    echoes,
    is_running,
    numbered,
    running,
    until,
)

pytestmark = pytest.mark.asyncio(loop_scope="module")

SPENT = "Not decided within 0.3 s of CPU time."
MEMORY = "Not decided within 512 MB of memory."
FAILED = "The math verifier failed on this sample; its log has the cause."


@pytest_asyncio.fixture(scope="module", loop_scope="module", name="shared")
async def _shared() -> AsyncIterator[Pool]:
    async with running() as pool:
        yield pool


@pytest_asyncio.fixture(loop_scope="module")
async def pool(shared: Pool) -> AsyncIterator[Pool]:
    """The shared pool, which is full again after every test."""
    yield shared
    await until(lambda: len(set(shared.pids)) == WORKERS)


@contextmanager
def busy_machine(loops: int) -> Iterator[None]:
    command = [sys.executable, "-c", "while True: pass"]
    processes = [subprocess.Popen(command) for _ in range(loops)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


@pytest.mark.parametrize("size", [0, 1, 2, MAX_JOB_SAMPLES, 500])
async def test_a_batch_keeps_its_length_and_order(pool: Pool, size: int) -> None:
    answers = await ask(pool, *numbered(size))
    assert echoes(answers) == numbered(size)
    assert all(answer.outcome is Outcome.CORRECT for answer in answers)


@given(st.lists(st.text(st.characters(exclude_categories=())), max_size=40))
@settings(max_examples=60, deadline=None)
async def test_any_text_arrives_as_it_is(shared: Pool, texts: list[str]) -> None:
    texts = ["= \ud83d\ude00\0\r\n\u2028", *(f"= {text}" for text in texts)]
    answers = await shared.judge([({"gold": text}, text) for text in texts])
    assert echoes(answers) == texts
    assert [answer.details["spec"]["gold"] for answer in answers] == texts


async def test_long_texts_arrive(pool: Pool) -> None:
    texts = [f"= {letter * 1_500_000}" for letter in "aéb"]
    assert echoes(await ask(pool, *texts)) == texts


@pytest.mark.parametrize(
    ("text", "outcome", "reason"),
    [
        pytest.param("hang", Outcome.UNDECIDED, SPENT, id="a hang in Python"),
        pytest.param("c", Outcome.UNDECIDED, SPENT, id="a hang in C"),
        pytest.param("swallow", Outcome.UNDECIDED, SPENT, id="which catches every Exception"),
        pytest.param("swallow 2", Outcome.UNDECIDED, SPENT, id="which catches more, twice"),
        pytest.param("swallow 999", Outcome.UNDECIDED, SPENT, id="which always catches more"),
        pytest.param("gloss", Outcome.UNDECIDED, SPENT, id="which decides all the same"),
        pytest.param("break", Outcome.UNDECIDED, SPENT, id="which raises something else"),
        pytest.param("details", Outcome.UNDECIDED, "By myself.", id="which tells by itself"),
        pytest.param("eat", Outcome.UNDECIDED, MEMORY, id="all memory"),
        pytest.param("raise it", Outcome.VERIFIER_ERROR, FAILED, id="an error"),
        pytest.param("deep", Outcome.VERIFIER_ERROR, FAILED, id="a deep recursion"),
        pytest.param("odd", Outcome.VERIFIER_ERROR, FAILED, id="details that are not JSON"),
        pytest.param("wrong", Outcome.VERIFIER_ERROR, FAILED, id="no judgement"),
        pytest.param("exit 0", Outcome.VERIFIER_ERROR, TWICE, id="an exit"),
        pytest.param("sysexit", Outcome.VERIFIER_ERROR, TWICE, id="an orderly exit"),
        pytest.param("abort", Outcome.VERIFIER_ERROR, TWICE, id="a crash"),
        pytest.param("deaf", Outcome.VERIFIER_ERROR, TWICE, id="closing all files"),
        pytest.param("stop", Outcome.VERIFIER_ERROR, TWICE, id="stopping its process"),
    ],
)
async def test_a_fault_costs_its_own_sample_only(
    pool: Pool, text: str, outcome: Outcome, reason: str
) -> None:
    texts = numbered(70)
    answers = await ask(pool, *texts[:40], text, *texts[40:])
    culprit = answers.pop(40)
    assert (culprit.outcome, culprit.reason) == (outcome, reason)
    assert echoes(answers) == texts


async def test_faults_of_every_kind_at_once(pool: Pool) -> None:
    orders = {"hang": SPENT, "c": SPENT, "eat": MEMORY, "exit": TWICE, "raise": FAILED}
    texts = [text for order in orders for text in (*numbered(9), order, order)]
    random.Random(3).shuffle(texts)
    expected = [orders.get(text, text) for text in texts]
    assert echoes(await ask(pool, *texts)) == expected


async def test_a_crash_is_forgiven_once(pool: Pool, tmp_path: Path) -> None:
    answers = await ask(pool, "= 1", f"fall {tmp_path / 'fell'}", "= 2")
    assert echoes(answers) == ["= 1", "stood", "= 2"]


async def test_memory_that_an_earlier_sample_took_is_nobody_elses_fault(pool: Pool) -> None:
    pids = set(pool.pids)
    for _ in range(WORKERS + 1):
        [answer] = await ask(pool, "keep 250")
        assert answer.outcome is Outcome.CORRECT
    assert pids - set(pool.pids)  # it was noticed


async def test_slow_samples_do_not_wait_for_one_another(pool: Pool) -> None:
    """A worker that met a slow one hands back the others of its job."""
    answers = await ask(pool, *["spend 0.03"] * MAX_JOB_SAMPLES, *numbered(MAX_JOB_SAMPLES))
    assert len({answer.details["pid"] for answer in answers[:MAX_JOB_SAMPLES]}) == WORKERS
    assert all(0.03 <= answer.seconds < BUDGET for answer in answers[:MAX_JOB_SAMPLES])


async def test_killed_workers_cost_nobody_a_right_answer(pool: Pool) -> None:
    dice = random.Random(5)
    texts = [f"spend 0.001{number:03}" for number in range(500)]
    asking = asyncio.ensure_future(ask(pool, *texts))
    killed = 0
    while not asking.done():
        for pid in dice.sample(pool.pids, min(1, len(pool.pids))):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                killed += 1
        await asyncio.sleep(dice.uniform(0, 0.06))
    assert killed > 5
    # The same sample may be hit twice: an error of ours, and never a wrong answer.
    for text, answer in zip(texts, await asking, strict=True):
        if answer.outcome is not Outcome.CORRECT:
            assert (answer.outcome, answer.reason) == (Outcome.VERIFIER_ERROR, TWICE)
        else:
            assert f"spend {answer.details['text']}" == text


async def test_an_idle_worker_that_dies_is_replaced(pool: Pool) -> None:
    before = pool.pids
    for pid in before:
        os.kill(pid, signal.SIGKILL)
    await until(lambda: len(pool.pids) == WORKERS and not set(before) & set(pool.pids))
    assert echoes(await ask(pool, *numbered(50))) == numbered(50)


async def test_a_stopped_worker_is_replaced(pool: Pool) -> None:
    stopped = pool.pids[-1]
    os.kill(stopped, signal.SIGSTOP)
    assert echoes(await ask(pool, *numbered(100))) == numbered(100)
    await until(lambda: stopped not in pool.pids and not is_running(stopped))


async def test_callers_share_the_pool(pool: Pool) -> None:
    sizes = [1, 40, 3, 200, 1, 64, 2, 5] * 3
    batches = [[f"= {place} {i}" for i in range(size)] for place, size in enumerate(sizes)]
    answers = await asyncio.gather(*(ask(pool, *texts) for texts in batches))
    assert list(map(echoes, answers)) == batches


async def test_callers_are_served_in_turn(pool: Pool) -> None:
    done: list[int] = []

    async def call(number: int) -> None:
        await ask(pool, *["spend 0.01"] * 20)
        done.append(number)

    await asyncio.gather(*map(call, range(4)))
    # The last jobs of two callers may be under way at the same time, and end in any order.
    assert all(abs(place - number) < WORKERS for place, number in enumerate(done)), done


async def test_a_caller_that_goes_away_leaves_a_healthy_pool(pool: Pool) -> None:
    asking = [
        asyncio.ensure_future(ask(pool, *numbered(5), text, *["spend 0.1"] * 400))
        for text in ("c", "exit", "eat")
    ]
    await asyncio.sleep(0.05)
    for task in asking:
        task.cancel()
    gone = await asyncio.gather(*asking, return_exceptions=True)
    assert all(isinstance(error, asyncio.CancelledError) for error in gone)
    assert echoes(await ask(pool, *numbered(50))) == numbered(50)


async def test_a_spec_is_sent_as_json_or_not_at_all(pool: Pool) -> None:
    specs: list[Any] = [{"a": Decimal("0.5")}, {"a": object()}, {"a": 10**5_000}, {"a": [1.5]}]
    answers = await pool.judge([(spec, "=") for spec in specs])
    assert [a.details.get("spec", a.reason) for a in answers] == [
        {"a": "0.5"},
        FAILED,
        FAILED,
        {"a": [1.5]},
    ]


async def test_verdicts_do_not_depend_on_how_busy_the_machine_is(pool: Pool) -> None:
    with busy_machine(10 * len(os.sched_getaffinity(0))):
        answers = await ask(pool, f"spend {BUDGET / 2}", "= 1", "hang", "c")
    assert echoes(answers) == [str(BUDGET / 2), "= 1", SPENT, SPENT]
