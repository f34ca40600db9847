from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from rewarden.contracts import Outcome, Sample, Verdict
from rewarden.local import Handler, LocalQueue

if TYPE_CHECKING:
    from collections.abc import Sequence


def handler(seconds: float = 0.0, chunk_size: int = 2) -> Handler:
    async def verify(samples: Sequence[Sample]) -> list[Verdict]:
        await asyncio.sleep(seconds)
        return [Verdict.of(s, Outcome.CORRECT, s.text, verifier="slow") for s in samples]

    return Handler(verify, chunk_size)


async def test_a_mixed_batch_keeps_its_order() -> None:
    queue = LocalQueue({"a": handler(0.002), "b": handler()})
    samples = [Sample(completion=str(i), verifier="ab"[i % 2]) for i in range(25)]
    verdicts = await queue.verify(samples, 30)
    assert [verdict.reason for verdict in verdicts] == [str(i) for i in range(25)]


async def test_what_waits_past_the_deadline_is_expired_and_never_begun() -> None:
    queue = LocalQueue({"slow": handler(0.2, chunk_size=1)})
    verdicts = await queue.verify([Sample(completion=str(i)) for i in range(8)], 0.3)
    outcomes = [verdict.outcome for verdict in verdicts]
    # Two lanes of 0.2 s: two pairs begin before 0.3 s, and those are finished whatever it takes.
    assert outcomes == [Outcome.CORRECT] * 4 + [Outcome.EXPIRED] * 4


async def test_an_unknown_verifier_is_told_so_and_its_neighbours_are_checked() -> None:
    queue = LocalQueue({"a": handler(), "b": handler()})
    samples = [Sample(completion="", verifier=name) for name in ["a", "sql", None, "b"]]
    verdicts = await queue.verify(samples, 30)
    assert [v.outcome for v in verdicts] == [
        Outcome.CORRECT,
        Outcome.BAD_SPEC,
        Outcome.BAD_SPEC,
        Outcome.CORRECT,
    ]
    assert verdicts[1].reason == "There is no verifier 'sql' here; there is a, b."


async def test_a_lone_verifier_takes_samples_that_name_none() -> None:
    verdicts = await LocalQueue({"slow": handler()}).verify([Sample(completion="4")], 30)
    assert verdicts[0].outcome is Outcome.CORRECT
