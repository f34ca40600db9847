from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st
from pydantic import ValidationError

from sandbox.events import (
    Compiled,
    Ended,
    Event,
    Observed,
    read_event,
    result_of,
    write_event,
    write_result,
)
from sandbox.jobs import JobResult, Observation, Returned, Status, Telemetry

values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)
observations = st.builds(
    Observation,
    status=st.sampled_from(Status),
    exit_code=st.none() | st.integers(0, 255),
    stdout=st.binary(),
    stderr=st.binary(),
    stdout_truncated=st.booleans(),
    returned=st.lists(
        st.builds(Returned, value=values, exception=st.none() | st.text(), message=st.text()),
        max_size=3,
    ).map(tuple),
    cpu_seconds=st.floats(0, 100),
    telemetry=st.builds(Telemetry, network_attempts=st.integers(0, 9)),
    detail=st.text(),
)
events: st.SearchStrategy[Event] = (
    st.builds(Compiled, compiled=observations)
    | st.builds(Observed, run=st.integers(0, 999), observation=observations)
    | st.builds(Ended, end=st.integers(0, 999), driver=st.text())
)


@given(events)
def test_an_event_survives_its_line(event: Event) -> None:
    line = write_event(event)
    assert read_event(line) == event
    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")


@given(st.none() | observations, st.lists(observations, max_size=3).map(tuple))
def test_a_result_survives_its_json(
    compiled: Observation | None, runs: tuple[Observation, ...]
) -> None:
    result = JobResult(compiled=compiled, runs=runs, driver='"')
    assert JobResult.model_validate_json(write_result(result)) == result


def deep(kind: str, depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value] if kind == "list" else {"$": "tuple", "v": [value]}
    return value


@pytest.mark.parametrize("kind", ["list", "tuple"])
@pytest.mark.parametrize("depth", [1, 90, 120, 195, 199, 200])
def test_deep_values_survive_their_line(kind: str, depth: int) -> None:
    returned = (Returned(value=deep(kind, depth)), Returned(exception="E"), Returned(value="x"))
    seen = Observation(
        status=Status.EXITED, stdout=b"\xff\xfe\xfb\x00+/", detail="\u00e9", returned=returned
    )
    assert read_event(write_event(Observed(run=3, observation=seen))) == Observed(
        run=3, observation=seen
    )


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{}",
        b"[" * 100_000,
        b'{"run":0,"observation":' + b"[" * 500 + b"]" * 500 + b"}",
        b'{"run":0,"observation":{"status":"exited","returned":['
        + b"[" * 500
        + b"]" * 500
        + b"]}}",
        b'{"run":0,"observation":{"status":"exited","returned":[{"value":'
        + b"[" * 300
        + b"]" * 300
        + b',"verdict":"correct"}]}}',
        b'{"end":0,"driver":"x","observation":{"returned":[{"value":'
        + b"[" * 300
        + b"]" * 300
        + b"}]}}",
        b'{"run":0,"observation":{"status":"exited","stdout":"not base64!"}}',
    ],
)
def test_what_is_no_event_is_refused(line: bytes) -> None:
    with pytest.raises(ValidationError):
        read_event(line)


SEEN = Observation(status=Status.EXITED, exit_code=0)
FIRST, SECOND = Observed(run=0, observation=SEEN), Observed(run=1, observation=SEEN)
END = Ended(end=2, driver="x")


def test_events_make_a_result() -> None:
    whole: list[Event] = [Compiled(compiled=SEEN), FIRST, SECOND, END]
    assert result_of(whole) == JobResult(compiled=SEEN, runs=(SEEN, SEEN), driver="x")
    assert result_of(whole[1:]).compiled is None


@pytest.mark.parametrize(
    "events",
    [[], [FIRST], [FIRST, SECOND], [SECOND, FIRST, END], [FIRST, END], [FIRST, FIRST, END], [END]],
)
def test_events_that_are_not_whole_make_none(events: list[Event]) -> None:
    with pytest.raises(ValueError, match="not whole"):
        result_of(events)
