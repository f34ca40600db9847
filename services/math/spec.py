"""What the math verifier is told about one sample: the gold answer, and where to look for it."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StrictFloat,
    StrictInt,
    StrictStr,
)

MAX_GOLD_CHARS: Final = 20_000
MAX_GOLD_BITS: Final = 3_000
"""Size of a gold that comes as a JSON number; a longer one can be written as text."""
MAX_ACCEPTED: Final = 64

Strategy = Literal["boxed", "answer_tag", "final_answer", "hashes", "bold", "latex", "number"]
"""A way to find the answer; `services.math.extract` says what each one looks for."""


def _not_blank(text: str) -> str:
    if not text.strip():
        msg = "the answer is blank"
        raise ValueError(msg)
    return text


def _not_huge(number: int) -> int:
    if number.bit_length() > MAX_GOLD_BITS:
        msg = "the number is too long; write it as text"
        raise ValueError(msg)
    return number


GoldText = Annotated[StrictStr, Field(max_length=MAX_GOLD_CHARS), AfterValidator(_not_blank)]
GoldInt = Annotated[StrictInt, AfterValidator(_not_huge)]
GoldFloat = Annotated[StrictFloat, Field(allow_inf_nan=False)]
Gold = GoldText | GoldInt | GoldFloat
Golds = Annotated[list[Gold], Field(min_length=1, max_length=MAX_ACCEPTED)]


class MathSpec(BaseModel):
    """The spec of a math sample. Equality is exact: there is no tolerance yet."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    answer: Gold | Golds
    """The gold answer, or a list of which any one is accepted: `"42"`, `"\\frac{1}{2}"`, `0.5`.
    A JSON number stands for its shortest decimal notation, exactly."""
    extract: Literal["auto"] | Strategy = "auto"
    """How the answer is found in the completion; `auto` tries every strategy in order."""

    @property
    def golds(self) -> tuple[str, ...]:
        """The accepted answers as texts."""
        answers = self.answer if isinstance(self.answer, list) else [self.answer]
        return tuple(answer if isinstance(answer, str) else repr(answer) for answer in answers)
