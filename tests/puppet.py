"""A verifier whose verdicts are written in the completion. It also counts, sleeps and fails."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, ClassVar

from pydantic import BaseModel

from rewarden.contracts import Outcome, Sample, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence


class PuppetSpec(BaseModel):
    answer: str = ""


class PuppetVerifier:
    """The completion is an outcome's name; `raise`, `short` and `sleep S` misbehave instead."""

    name: ClassVar[str] = "puppet"
    version: ClassVar[str] = "1"
    spec_model: ClassVar[type[BaseModel]] = PuppetSpec
    chunk_size: ClassVar[int] = 4

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.running = False

    async def start(self) -> None:
        self.running = True

    async def close(self) -> None:
        self.running = False

    async def verify(self, samples: Sequence[Sample]) -> list[Verdict]:
        assert self.running
        self.seen += [sample.text for sample in samples]
        for sample in samples:
            if sample.text == "raise":
                msg = "told to"
                raise RuntimeError(msg)
            if sample.text.startswith("sleep"):
                await asyncio.sleep(float(sample.text.split()[1]))
        verdicts = [self._verdict(sample) for sample in samples]
        return verdicts[1:] if any(s.text == "short" for s in samples) else verdicts

    def _verdict(self, sample: Sample) -> Verdict:
        told = sample.text in set(Outcome)
        outcome = Outcome(sample.text) if told else Outcome.CORRECT
        score = 0.5 if outcome is Outcome.PARTIAL else None
        return Verdict.of(sample, outcome, sample.text[:80], verifier=self.name, score=score)
