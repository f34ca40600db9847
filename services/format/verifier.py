"""The format verifier: whether a completion has the shape that its spec asks for.

It says what is missing, and nothing about whether an answer is right. Every check takes linear
time, whatever the text and whatever the pattern.
"""

from __future__ import annotations

import asyncio
from time import perf_counter
from typing import TYPE_CHECKING, ClassVar, Final

from rewarden.contracts import Outcome, Sample, Verdict
from services.format import templates
from services.format.pattern import BadPatternError, compile_pattern
from services.format.spec import FormatSpec, Template
from services.verifier import read_spec

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pydantic import BaseModel


class FormatVerifier:
    """Checks the shape of completions. Holds no resources."""

    name: ClassVar[str] = "format"
    version: ClassVar[str] = "1"
    spec_model: ClassVar[type[BaseModel]] = FormatSpec
    chunk_size: ClassVar[int] = 128

    async def start(self) -> None:
        """Nothing to prepare."""

    async def verify(self, samples: Sequence[Sample]) -> list[Verdict]:
        """Judge the samples in a thread, one after the other."""
        return await asyncio.to_thread(lambda: [self._judge(sample) for sample in samples])

    async def close(self) -> None:
        """Nothing to give back."""

    def _judge(self, sample: Sample) -> Verdict:
        began = perf_counter()
        spec = read_spec(FormatSpec, sample.spec)
        outcome, reason = _decide(spec, sample.text)
        return Verdict.of(
            sample,
            outcome,
            reason,
            verifier=self.name,
            details={} if isinstance(spec, str) else {"template": spec.template},
            elapsed_seconds=perf_counter() - began,
        )


def _decide(spec: FormatSpec | str, text: str) -> tuple[Outcome, str]:
    if isinstance(spec, str):
        return Outcome.BAD_SPEC, spec
    try:
        missing = _CHECKS[spec.template](text, spec)
    except BadPatternError as error:
        return Outcome.BAD_SPEC, f"The pattern cannot be used: {error}."
    if missing:
        return Outcome.INCORRECT, missing
    return Outcome.CORRECT, f"The completion has the shape '{spec.template}'."


def _missing_pattern(text: str, spec: FormatSpec) -> str:
    found = compile_pattern(spec.pattern or "")(text)
    return "" if found else "The completion does not match the pattern."


_CHECKS: Final[dict[Template, Callable[[str, FormatSpec], str]]] = {
    "thinking_boxed": lambda text, _: templates.missing_in_thinking_boxed(text),
    "think_answer": lambda text, _: templates.missing_in_think_answer(text),
    "json": lambda text, _: templates.missing_in_json(text),
    "regex": _missing_pattern,
}
