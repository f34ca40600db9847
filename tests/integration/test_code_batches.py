"""Large batches on a real sandbox: right, wrong, hanging and hostile programs side by side."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from pathlib import Path

import pytest

from rewarden.contracts import Outcome, Sample
from services.code.verifier import CodeVerifier
from tests.integration.code_hostile import FUNCTION, HOSTILE, PAIRS, RIGHT, STDIO, SUITE
from tests.sandbox_process import running_sandbox

SIZE = 512
HANGING = "import time\nwhile True:\n    pass\n# {}\n"
SHORT = {"limits": {"cpu_seconds": 0.5}}
UNPAID = {Outcome.INCORRECT, Outcome.TIMEOUT, Outcome.RESOURCE_LIMIT}


def _program(kind: str, number: int) -> str:
    if kind == "right":
        return f"{RIGHT}# {number}\n"
    if kind == "wrong":
        return f"{RIGHT.replace('a + b', f'a + b + {number}')}"
    if kind == "hanging":
        return HANGING.format(number)
    return f"{[*HOSTILE.values()][number % len(HOSTILE)]}\n# {number}\n"


async def test_no_verdict_of_a_large_mixed_batch_is_wrong_or_out_of_place(
    verifier: CodeVerifier,
) -> None:
    rng = random.Random(5)
    kinds = ["right"] * 240 + ["wrong"] * 216 + ["hanging"] * 24 + ["hostile"] * 32
    rng.shuffle(kinds)
    assert len(kinds) == SIZE
    samples = [
        Sample(
            id=f"{number} {kind}",
            completion=_program(kind, number + 1),
            spec={**rng.choice((FUNCTION, SUITE, STDIO)), **SHORT},
        )
        for number, kind in enumerate(kinds)
    ]
    verdicts = await verifier.verify(samples)
    assert [verdict.id for verdict in verdicts] == [sample.id for sample in samples]
    told = Counter((kind, verdict.outcome) for kind, verdict in zip(kinds, verdicts, strict=True))
    assert told["right", Outcome.CORRECT] == kinds.count("right"), told
    assert told["wrong", Outcome.INCORRECT] == kinds.count("wrong"), told
    assert told["hanging", Outcome.TIMEOUT] == kinds.count("hanging"), told
    assert all(outcome in UNPAID for kind, outcome in told if kind == "hostile"), told


async def test_a_program_is_run_once_however_often_it_comes(verifier: CodeVerifier) -> None:
    samples = [Sample(completion=RIGHT, spec=FUNCTION), Sample(completion="x = 1", spec=FUNCTION)]
    verdicts = await verifier.verify(samples * 64)
    assert {verdict.outcome for verdict in verdicts[::2]} == {Outcome.CORRECT}
    assert {verdict.outcome for verdict in verdicts[1::2]} == {Outcome.INCORRECT}
    assert [verdict.cached for verdict in verdicts].count(False) == 2


async def test_a_right_program_does_not_wait_for_a_batch_of_hanging_ones(
    verifier: CodeVerifier,
) -> None:
    hanging = [
        Sample(completion=HANGING.format(number), spec={**STDIO, "limits": {"cpu_seconds": 0.2}})
        for number in range(120)
    ]
    batch = asyncio.ensure_future(verifier.verify(hanging))
    await asyncio.sleep(0.5)
    (verdict,) = await verifier.verify([Sample(completion=RIGHT, spec=STDIO)])
    assert verdict.outcome is Outcome.CORRECT
    assert not batch.done()
    batch.cancel()
    with pytest.raises(asyncio.CancelledError):
        await batch
    (verdict,) = await verifier.verify([Sample(completion=f"{RIGHT}# again", spec=FUNCTION)])
    assert verdict.outcome is Outcome.CORRECT


async def test_a_sandbox_that_is_killed_in_the_middle_makes_no_program_wrong(
    bubblewrap: None, tmp_path: Path
) -> None:
    slow = "import time\ntime.sleep(0.3)\n" + RIGHT
    samples = [Sample(completion=f"{slow}# {n}\n", spec=STDIO) for n in range(40)]
    with running_sandbox(tmp_path / "socket", "--driver", "bwrap", "--slots", "2") as process:
        verifier = CodeVerifier(sandbox=f"unix:{tmp_path / 'socket'}")
        await verifier.start()
        batch = asyncio.ensure_future(verifier.verify(samples))
        await asyncio.sleep(3)
        process.kill()
        outcomes = Counter(verdict.outcome for verdict in await batch)
        await verifier.close()
    assert set(outcomes) == {Outcome.CORRECT, Outcome.VERIFIER_ERROR}


async def test_two_sandboxes_on_one_machine_do_not_disturb_each_other(
    bubblewrap: None, tmp_path: Path
) -> None:
    batch = [_program(("right", "wrong", "hostile")[n % 3], n + 1) for n in range(48)]

    async def judge(name: str) -> list[float | None]:
        verifier = CodeVerifier(sandbox=f"unix:{tmp_path / name}")
        await verifier.start()
        verdicts = await verifier.verify([Sample(completion=p, spec=FUNCTION) for p in batch])
        await verifier.close()
        return [verdict.score for verdict in verdicts]

    arguments = ("--driver", "bwrap", "--slots", "2")
    with (
        running_sandbox(tmp_path / "one", *arguments),
        running_sandbox(tmp_path / "two", *arguments),
    ):
        one, two = await asyncio.gather(judge("one"), judge("two"))
    assert one == two == [1.0, 0.0, 0.0] * 16


def test_the_programs_are_what_their_kinds_say() -> None:
    names: dict[str, object] = {}
    exec(_program("wrong", 1), names)
    assert all(names["add"](a, b) != c for a, b, c in PAIRS)  # type: ignore[operator]
