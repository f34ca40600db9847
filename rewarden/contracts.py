"""The one contract of HTTP, queue and code: a `Sample` goes in, a `Verdict` comes out.

Models are frozen and closed. A batch keeps its length and its order everywhere; ids are only
echoed, so two samples may share one. The version of the contract is the `/v1` in the path and
`CONTRACT_VERSION` in a queue message.

Text never holds a lone surrogate, because UTF-8 cannot: the models refuse one. What takes
completions from outside (a service, the rewards) puts U+FFFD in its place first, with `mended`;
a gold that holds one is damaged, and stays refused.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Final, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationInfo,
    model_validator,
)
from pydantic_core import from_json, to_json

CONTRACT_VERSION: Final = 1
MAX_SAMPLES: Final = 4_096
"""Samples in one request; a longer batch is split by the client and refused by a service."""
MAX_REQUEST_BYTES: Final = 64 * 1024 * 1024
MAX_TIMEOUT_SECONDS: Final = 3_600.0


class Outcome(StrEnum):
    """What became of one sample, and so who is to blame for its score."""

    CORRECT = "correct"
    """The answer is right; score 1."""
    PARTIAL = "partial"
    """Some tests or rows are right, and the spec asks for partial credit; 0 < score < 1."""
    INCORRECT = "incorrect"
    """The answer is wrong; score 0."""
    NO_ANSWER = "no_answer"
    """The completion holds nothing to extract; score 0."""
    REJECTED = "rejected"
    """Refused unread or unrun, hostile or out of bounds; score 0."""
    TIMEOUT = "timeout"
    """The candidate used up its own time; score 0."""
    RESOURCE_LIMIT = "resource_limit"
    """The candidate used up its own memory or output; score 0."""
    UNDECIDED = "undecided"
    """A well-formed answer that the budget did not suffice to decide; score null."""
    BAD_SPEC = "bad_spec"
    """The gold answer, the tests or the database are at fault; score null."""
    VERIFIER_ERROR = "verifier_error"
    """The fault is ours; score null."""
    EXPIRED = "expired"
    """The deadline passed before work began; score null."""

    __hash__ = str.__hash__  # Enum's own is Python code, and slow

    @property
    def is_scored(self) -> bool:
        """Whether the score is a number; a null score is neither paid nor punished."""
        return self not in _UNSCORED

    @property
    def is_retryable(self) -> bool:
        """Whether the same sample, sent again, may be scored: the fault lay with the service."""
        return self in _RETRYABLE


_UNSCORED = frozenset(
    {Outcome.UNDECIDED, Outcome.BAD_SPEC, Outcome.VERIFIER_ERROR, Outcome.EXPIRED}
)
_RETRYABLE = frozenset({Outcome.VERIFIER_ERROR, Outcome.EXPIRED})
_FIXED_SCORE: Final[dict[Outcome, float | None]] = {
    outcome: None if outcome in _UNSCORED else float(outcome == Outcome.CORRECT)
    for outcome in Outcome
    if outcome != Outcome.PARTIAL
}


def mended(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return `value` with each lone surrogate of its texts replaced by U+FFFD."""
    if isinstance(value, str):
        if value.isascii():
            return value
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {mended(key): mended(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [mended(item) for item in value]
    return value


VerifierName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,63}$")]
"""Also a part of Redis keys and of metric labels, hence the narrow alphabet."""


class _Contract(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class ContentPart(_Contract):
    """A part of a message; of those that are not text, only the type is kept."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    type: str
    text: str | None = None


class ChatMessage(_Contract):
    """One message of a conversation; members that other stacks add are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    role: str
    content: str | Annotated[list[ContentPart], Field(fail_fast=True)] | None = None

    @property
    def text(self) -> str:
        """What the message says, its text parts put together."""
        if isinstance(self.content, list):
            return "".join(part.text or "" for part in self.content)
        return self.content or ""


def _writable(spec: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
    """Refuse what could not travel; JSON has travelled already."""
    if info.mode == "python":
        try:
            from_json(to_json(spec))
        except (ValueError, RecursionError):
            msg = "holds something that JSON cannot write"
            raise ValueError(msg) from None
    return spec


class Sample(_Contract):
    """One completion to be checked, and what it is to be checked against."""

    id: str | None = None
    """Echoed in the verdict. Need not be unique: position is what pairs the two."""
    verifier: VerifierName | None = None
    """Needed at the gateway and in the queue; a single service fills in its own."""
    completion: str | Annotated[list[ChatMessage], Field(fail_fast=True)]
    """The model's text, or chat messages of which the last assistant one counts."""
    spec: Annotated[dict[str, Any], AfterValidator(_writable)] = Field(default_factory=dict)
    """The verifier's own input, such as the gold answer; `/v1/spec` of a service has its schema."""

    @property
    def text(self) -> str:
        """The text that is judged: of chat messages the last assistant one, or nothing."""
        if isinstance(self.completion, str):
            return self.completion
        said = (message for message in reversed(self.completion) if message.role == "assistant")
        last = next(said, None)
        return last.text if last else ""


class Verdict(_Contract):
    """What a verifier found. `score` is a number exactly when the outcome is a scored one."""

    id: str | None = None
    verifier: str
    outcome: Outcome
    score: float | None = Field(default=None, ge=0, le=1)
    """0..1, or null where the sample could not be scored."""
    reason: str
    """One sentence that a person understands."""
    details: dict[str, Any] = Field(default_factory=dict)
    """What the verifier saw, in its own terms."""
    elapsed_seconds: float = Field(default=0.0, ge=0)
    """Time spent on the check itself; waiting does not count."""
    cached: bool = False
    """Whether an earlier check of the same answer decided."""

    @model_validator(mode="after")
    def _score_fits_outcome(self) -> Self:
        partial = self.outcome is Outcome.PARTIAL
        fits = 0 < (self.score or 0) < 1 if partial else self.score == _FIXED_SCORE[self.outcome]
        if not fits:
            msg = f"outcome {self.outcome} cannot have score {self.score}"
            raise ValueError(msg)
        return self

    @classmethod
    def of(
        cls,
        sample: Sample,
        outcome: Outcome,
        reason: str,
        *,
        verifier: str | None = None,
        score: float | None = None,
        details: dict[str, Any] | None = None,
        elapsed_seconds: float = 0.0,
        cached: bool = False,
    ) -> Self:
        """Make the verdict on `sample`; `score` is for `PARTIAL` alone, where it is needed."""
        if outcome is Outcome.PARTIAL:
            if score is None or not 0 < score < 1:
                msg = f"a partial score lies between 0 and 1, not at {score}"
                raise ValueError(msg)
        else:
            score = _FIXED_SCORE[outcome]
        # Every sample of a run passes here. The types are checked statically and the score just
        # above, so pydantic's own check, three times as long as all the rest, is left out.
        verdict = cls.__new__(cls)
        values = {
            "id": sample.id,
            "verifier": verifier or sample.verifier or "unknown",
            "outcome": outcome,
            "score": score,
            "reason": reason,
            "details": {} if details is None else details,
            "elapsed_seconds": elapsed_seconds,
            "cached": cached,
        }
        object.__setattr__(verdict, "__dict__", values)
        object.__setattr__(verdict, "__pydantic_fields_set__", _VERDICT_FIELDS)
        object.__setattr__(verdict, "__pydantic_extra__", None)
        object.__setattr__(verdict, "__pydantic_private__", None)
        return verdict


_VERDICT_FIELDS: Final = set(Verdict.model_fields)


class VerifyRequest(_Contract):
    """The body of `POST /v1/verify`."""

    samples: list[Sample] = Field(max_length=MAX_SAMPLES)
    timeout_seconds: float = Field(default=120.0, gt=0, le=MAX_TIMEOUT_SECONDS)
    """Samples whose check has not begun by then come back as `expired`."""


class VerifyResponse(_Contract):
    """The answer: one verdict a sample, in the order of the request."""

    verdicts: list[Verdict]


class Health(_Contract):
    """The body of `/healthz` and `/readyz`."""

    status: Literal["ok", "unready"]
    checks: dict[str, str] = Field(default_factory=dict)
    """What was looked at, and what was found there."""
