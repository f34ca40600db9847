"""What a verifier is, and the one place where its faults are caught.

A verifier core is a class with the members of `Verifier`. It knows nothing of HTTP or Redis, and
it answers every sample with a verdict. Should it raise all the same, `judge` narrows the fault
down to the sample that causes it: that one becomes `verifier_error`, its neighbours are unharmed.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, TypeVar, runtime_checkable

from pydantic import BaseModel, ValidationError

from rewarden.contracts import Outcome, Sample, Verdict

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

logger = logging.getLogger(__name__)

MAX_ERRORS_READ = 1_000
"""Of a spec that is wrong in more places than this, only their number is told."""

SpecT = TypeVar("SpecT", bound=BaseModel)


class Verifier(Protocol):
    """One way to check completions. `services.registry` names every implementation."""

    name: ClassVar[str]
    version: ClassVar[str]
    """Changes whenever the same sample may get another verdict."""
    spec_model: ClassVar[type[BaseModel]]
    chunk_size: ClassVar[int]
    """How many samples make one unit of work: many where a check is cheap, few where it is not."""

    async def start(self) -> None:
        """Get ready: processes, connections, imports. Called once, before any `verify`."""
        ...

    async def verify(self, samples: Sequence[Sample]) -> list[Verdict]:
        """Judge `samples`: one verdict each, in their order. Must not block the event loop."""
        ...

    async def close(self) -> None:
        """Give back what `start` took."""
        ...


class Operation(NamedTuple):
    """Something else that a verifier does on request: `POST /v1/<name>` on its service."""

    name: str
    request: type[BaseModel]
    reply: type[BaseModel]
    run: Callable[[Any], Awaitable[BaseModel]]
    """From a `request` to a `reply`; a RewardenError where the fault is ours."""
    summary: str


@runtime_checkable
class Operating(Protocol):
    """A verifier with operations of its own."""

    @property
    def operations(self) -> Sequence[Operation]:
        """Each has a name that no other verifier uses."""
        ...


def read_spec(model: type[SpecT], spec: object) -> SpecT | str:
    """Validate the spec of a sample, or say in a sentence what is wrong with it and where."""
    try:
        return model.model_validate(spec)
    except ValidationError as error:
        if error.error_count() > MAX_ERRORS_READ:
            return f"The spec is not valid in {error.error_count()} places."
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in field_names(first["loc"])) or "spec"
        said = first["msg"].removeprefix("Value error, ").removesuffix(".")
        return f"The spec is not valid at '{place}': {said}."
    except RecursionError:
        return "The spec is nested too deeply."


def field_names(place: Sequence[int | str]) -> list[int | str]:
    """Leave out what pydantic says of the members of a union: `str`, `list[ChatMessage]`."""
    return [part for part in place if isinstance(part, int) or _is_field(part)]


def _is_field(part: str) -> bool:
    of_a_union = part in {"str", "int", "float", "bool"} or part.startswith("function-")
    return not of_a_union and not any(bracket in part for bracket in "[(")


async def judge(verifier: Verifier, samples: Sequence[Sample]) -> list[Verdict]:
    """Run the verifier on one chunk; whatever happens, return a verdict for every sample."""
    try:
        verdicts = await verifier.verify(samples)
        if len(verdicts) == len(samples):
            return verdicts
        logger.error("%s: %d verdicts for %d samples", verifier.name, len(verdicts), len(samples))
    except Exception:
        logger.exception("%s failed on a chunk of %d", verifier.name, len(samples))
    if len(samples) == 1:
        reason = f"The {verifier.name} verifier failed on this sample; its log has the cause."
        return [Verdict.of(samples[0], Outcome.VERIFIER_ERROR, reason, verifier=verifier.name)]
    half = len(samples) // 2
    return [*await judge(verifier, samples[:half]), *await judge(verifier, samples[half:])]
