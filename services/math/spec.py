"""What the math verifier is told about one sample: the gold answer, and where to look for it."""

from __future__ import annotations

from math import isfinite
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, StrictFloat, StrictInt, StrictStr, field_validator
from pydantic_core import PydanticCustomError

MAX_GOLD_CHARS: Final = 20_000
MAX_GOLD_BITS: Final = 3_000
"""Size of a gold that comes as a JSON number; a longer one can be written as text."""
MAX_ACCEPTED: Final = 64

Strategy = Literal["boxed", "answer_tag", "final_answer", "hashes", "bold", "latex", "number"]
"""A way to find the answer; `services.math.extract` says what each one looks for."""

Gold = StrictStr | StrictInt | StrictFloat


class MathSpec(BaseModel):
    """The spec of a math sample. Equality is exact: there is no tolerance yet."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    answer: Gold | list[Gold]
    """The gold answer, or a list (1 to 64) of which any one is accepted: `"42"`, `0.5`,
    `"\\frac{1}{2}"`. A text holds 1 to 20,000 characters and is not blank; a JSON number is finite
    and stands for its shortest decimal notation, exactly."""
    extract: Literal["auto", Strategy] = "auto"
    """How the answer is found in the completion; `auto` weighs every strategy."""

    @field_validator("answer")
    @classmethod
    def _is_usable(cls, answer: Gold | list[Gold]) -> Gold | list[Gold]:
        """Check here and not in the types, so that an error names the field and nothing else."""
        problem = _problem_of_list(answer) if isinstance(answer, list) else _problem(answer)
        if problem:
            raise PydanticCustomError("unusable", "{problem}", {"problem": problem})
        return answer

    @property
    def golds(self) -> tuple[str, ...]:
        """The accepted answers as texts."""
        answers = self.answer if isinstance(self.answer, list) else [self.answer]
        return tuple(answer if isinstance(answer, str) else repr(answer) for answer in answers)


def _problem_of_list(golds: list[Gold]) -> str:
    if not 1 <= len(golds) <= MAX_ACCEPTED:
        return f"a list holds 1 to {MAX_ACCEPTED} answers, and this one {len(golds)}"
    return next(filter(None, map(_problem, golds)), "")


def _problem(gold: Gold) -> str:
    if isinstance(gold, str):
        if len(gold) > MAX_GOLD_CHARS:
            return f"an answer is longer than {MAX_GOLD_CHARS:,} characters"
        return "an answer is blank" if not gold or gold.isspace() else ""
    if isinstance(gold, float):
        return "" if isfinite(gold) else "an answer is not a finite number"
    is_long = gold.bit_length() > MAX_GOLD_BITS
    return "an answer is too long a number; write it as text" if is_long else ""
