"""Completions with their verdicts, as lines of `samples.jsonl`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from rewarden.rewards import RewardBatch


class SampleLog:
    """Appends samples of a phase: `before`, `train` or `after`."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def write(
        self,
        phase: str,
        step: int,
        prompts: Sequence[Any],
        completions: Sequence[Any],
        batch: RewardBatch,
    ) -> None:
        """Write one line a completion; lists shorter than the batch take its first ones."""
        with self._path.open("a", encoding="utf-8") as file:
            for place, (prompt, completion) in enumerate(zip(prompts, completions, strict=True)):
                line = {
                    "phase": phase,
                    "step": step,
                    "prompt": prompt,
                    "completion": completion_text(completion),
                    "verdicts": {
                        name: _verdict(batch, term, place) for term, name in enumerate(batch.names)
                    },
                }
                file.write(json.dumps(line, ensure_ascii=False) + "\n")


def completion_text(completion: str | list[dict[str, str]]) -> str:
    """Return the text of a completion, which TRL gives as a message where the prompt is a chat."""
    return completion if isinstance(completion, str) else completion[-1]["content"]


def _verdict(batch: RewardBatch, term: int, place: int) -> dict[str, Any]:
    verdict = batch.verdicts[term][place]
    return verdict.model_dump(mode="json", include={"outcome", "score", "reason", "cached"})
