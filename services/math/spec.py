"""What the math verifier is told about one sample: the gold answer, and where to look for it."""

from __future__ import annotations

from math import isfinite
from typing import Final, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictFloat,
    StrictInt,
    StrictStr,
    field_validator,
)
from pydantic_core import PydanticCustomError

MAX_GOLD_CHARS: Final = 20_000
MAX_GOLD_BITS: Final = 3_000
"""Size of a gold that comes as a JSON number; a longer one can be written as text."""
MAX_ACCEPTED: Final = 64

Strategy = Literal[
    "boxed", "answer_tag", "final_answer", "hashes", "bold", "latex", "number", "whole"
]
"""A way to find the answer; `services.math.extract` says what each one looks for."""

AnswerType = Literal[
    "auto", "number", "expression", "equation", "tuple", "set", "interval", "choice", "text"
]

Gold = StrictStr | StrictInt | StrictFloat


class MathSpec(BaseModel):
    """The spec of a math sample: the gold answer, and what is to count as equal to it.

    Equality is mathematical and exact: `1/2`, `0.5` and `50%` are one value, `3.14` is not pi. What
    a decimal gold rounds is forgiven (a gold `0.33` accepts `1/3`), as is a missing unit.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    answer: Gold | list[Gold] = Field(
        examples=[r"\frac{1}{2}", 0.5, r"(-\infty, 3] \cup (5, \infty)", ["7", "7 cm"]]
    )
    """The gold answer, or a list (1 to 64) of which any one is accepted: `"42"`, `0.5`,
    `"\\frac{1}{2}"`. A text holds 1 to 20,000 characters and is not blank; a JSON number is finite
    and stands for its shortest decimal notation, exactly."""
    extract: Literal["auto", Strategy] = Field(default="auto", examples=["boxed"])
    """How the answer is found in the completion: `auto` weighs every strategy, `boxed` and the
    others take one alone, and `whole` takes the completion itself for the answer."""
    answer_type: AnswerType = Field(default="auto", examples=["interval"])
    """What the gold answer is, where its notation leaves it open. `number`: a single value without
    variables. `expression`: letters after a number are variables, not units (`4s`). `equation`: a
    bare value does not do for `x = 5`. `tuple`: the order of a list counts. `set`: it does not, nor
    do repeats and brackets. `interval`: `(1, 2)` is one, and no point. `choice`: a letter, whatever
    text stands with it. `text`: the same words."""
    rel_tol: float = Field(default=0.0, ge=0, lt=1, allow_inf_nan=False, examples=[0.01])
    """Numbers that differ by at most this part of the gold answer are equal; 0.01 is one percent."""
    abs_tol: float = Field(default=0.0, ge=0, allow_inf_nan=False, examples=[0.001])
    """Numbers that differ by at most this much are equal, in the unit of the gold answer."""
    units: Literal["typed", "required", "ignored"] = Field(default="typed", examples=["required"])
    """`typed`: a missing unit is forgiven, units of one kind are converted (`5 km` is `5000 m`), and
    a different one is wrong. `required`: a missing one is wrong too. `ignored`: only the numbers
    count."""
    percent: Literal["either", "strict"] = Field(default="either", examples=["strict"])
    """`either`: next to an answer without a percent sign, `37%` may be 37 or 0.37. `strict`: it is
    0.37 and nothing else."""

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

    @property
    def options(self) -> tuple[object, ...]:
        """Everything but the answer and the way to find it: what a comparison depends on."""
        return (self.answer_type, self.rel_tol, self.abs_tol, self.units, self.percent)


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
