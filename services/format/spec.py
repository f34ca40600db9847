"""What the format verifier is told: the shape that a completion must have."""

from __future__ import annotations

from typing import Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

MAX_PATTERN_CHARS: Final = 1_000

Template = Literal["thinking_boxed", "think_answer", "json", "regex"]


class FormatSpec(BaseModel):
    """The spec of a format sample; only the shape counts, never whether the answer is right."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    template: Template
    """`thinking_boxed`: a thinking block, then a box. `think_answer`: a think block, an answer
    block and nothing else. `json`: one JSON value, or one in the last fenced block (of those
    tagged json, if any is). `regex`: whatever `pattern` finds."""
    pattern: str | None = Field(default=None, min_length=1, max_length=MAX_PATTERN_CHARS)
    """For `regex`: searched for anywhere in the completion, in the syntax of RE2, which has no
    look-around and no back-references. `(?s)` lets a dot match a line break."""

    @model_validator(mode="after")
    def _pattern_fits_template(self) -> Self:
        if (self.pattern is not None) != (self.template == "regex"):
            msg = "'pattern' is needed for the template 'regex', and only there"
            raise ValueError(msg)
        return self
