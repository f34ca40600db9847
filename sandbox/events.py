"""What comes back of a job while it runs: one event a line, each an object of JSON.

::

    {"compiled": {…}}               where the language has a compile step
    {"run": 0, "observation": {…}}  one for every run of the job, in order
    {"end": 2, "driver": "slots"}   how many runs were told, when nothing of the job is left

An answer whose last line is not the end is cut off: what is missing is unknown. Bytes are base64
in the URL-safe alphabet; the usual one is read as well.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from sandbox.jobs import JobResult, Observation

if TYPE_CHECKING:
    from collections.abc import Iterable


class _Closed(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class Compiled(_Closed):
    """The program was compiled, or was not."""

    compiled: Observation


class Observed(_Closed):
    """A run is over, or will not be."""

    run: int
    """Its place in the job, from 0."""
    observation: Observation


class Ended(_Closed):
    """The job is over, and nothing of it is left in the sandbox."""

    end: int
    """How many runs were told: as many as the job has."""
    driver: str


Event = Compiled | Observed | Ended

EVENT: Final[TypeAdapter[Event]] = TypeAdapter(Event)


def write_event(event: Event) -> bytes:
    """Return the line of an event, with its line feed."""
    match event:
        case Compiled():
            return b'{"compiled":%b}\n' % write_observation(event.compiled)
        case Observed():
            seen = write_observation(event.observation)
            return b'{"run":%d,"observation":%b}\n' % (event.run, seen)
        case Ended():
            return event.model_dump_json().encode() + b"\n"


def write_result(result: JobResult) -> bytes:
    """Return a `JobResult` as JSON."""
    compiled = write_observation(result.compiled) if result.compiled else b"null"
    runs = b",".join(write_observation(observation) for observation in result.runs)
    driver = json.dumps(result.driver).encode()
    return b'{"compiled":%b,"runs":[%b],"driver":%b}' % (compiled, runs, driver)


def write_observation(observation: Observation) -> bytes:
    """Return an observation as JSON, however deep its values are.

    A value may be 200 levels deep, and a tuple is two levels of JSON: more than pydantic writes or
    reads. The program chooses it, so it may not cost the answer.
    """
    try:
        return observation.model_dump_json().encode()
    except PydanticSerializationError:
        written = json.loads(observation.model_copy(update={"returned": ()}).model_dump_json())
        written["returned"] = [dict(one) for one in observation.returned]
        return json.dumps(written, separators=(",", ":")).encode()


def read_event(line: bytes) -> Event:
    """Read a line; a `ValidationError` if it is none of ours."""
    try:
        return EVENT.validate_json(line)
    except ValidationError as error:
        if error.errors()[0]["type"] != "json_invalid":
            raise
        try:
            return _read_deep(line)
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            raise error from None


def _read_deep(line: bytes) -> Event:
    read = json.loads(line)
    returned = read["observation"]["returned"]
    values = [one.pop("value") for one in returned]
    event = EVENT.validate_json(json.dumps(read))
    if not isinstance(event, Observed):
        return event
    whole = tuple(
        one.model_copy(update={"value": value})
        for one, value in zip(event.observation.returned, values, strict=True)
    )
    seen = event.observation.model_copy(update={"returned": whole})
    return event.model_copy(update={"observation": seen})


def result_of(events: Iterable[Event]) -> JobResult:
    """Put the events of one job together; a `ValueError` unless they are whole and in order."""
    compiled: Observation | None = None
    runs: list[Observation] = []
    for event in events:
        match event:
            case Compiled():
                compiled = event.compiled
            case Observed() if event.run == len(runs):
                runs.append(event.observation)
            case Ended() if event.end == len(runs):
                return JobResult(compiled=compiled, runs=tuple(runs), driver=event.driver)
            case _:
                break
    msg = f"the answer is not whole: it breaks after {len(runs)} runs"
    raise ValueError(msg)
