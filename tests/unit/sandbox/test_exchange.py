from __future__ import annotations

import json
import math
from typing import Any

import pytest

from sandbox.exchange import Exchange, read_answer
from sandbox.jobs import Call, Job, Run
from sandbox.runner.values import ValueRefused, decode


def calls(count: int) -> Exchange:
    return Exchange([Call(entry_point="f", args=(number,)) for number in range(count)])


def answer(exchange: Exchange, **said: Any) -> None:
    nonce = json.loads(exchange.next_line())["nonce"]
    exchange.take(json.dumps({"nonce": nonce, **said}).encode())


def test_calls_are_made_one_after_the_other_with_new_nonces() -> None:
    exchange = calls(2)
    first = json.loads(exchange.next_line())
    assert (first["entry_point"], first["args"], first["kwargs"]) == ("f", [0], {})
    exchange.take(json.dumps({"nonce": first["nonce"], "value": 1}).encode())
    second = json.loads(exchange.next_line())
    assert second["args"] == [1]
    assert second["nonce"] != first["nonce"]
    exchange.take(json.dumps({"nonce": second["nonce"], "value": 2}).encode())
    exchange.ended()
    assert [one.value for one in exchange.returned] == [1, 2]
    assert (exchange.is_over, exchange.fault) == (True, "")


def test_an_exception_ends_the_calls() -> None:
    exchange = calls(2)
    answer(exchange, exception="KeyError", message="'x'")
    exchange.ended()
    assert (exchange.is_over, exchange.fault) == (True, "")
    assert exchange.returned[0].exception == "KeyError"


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"5",
        b"[]",
        b"{}",
        b'{"nonce": "", "value": 1}',
        b'{"nonce": null, "value": 1}',
        b'{"nonce": "guess", "value": 1}',
        b"[" * 100_000,
        b"1" * 10_000,
        b"\xff",
        b" " * 2_000_000,
    ],
)
def test_what_is_no_answer_is_a_fault(line: bytes) -> None:
    exchange = calls(1)
    exchange.next_line()
    exchange.take(line)
    assert exchange.fault
    assert exchange.returned == []


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"value": {"$": "no such kind"}},
        {"value": {"$": "set", "v": [[1]]}},
        {"exception": 5},
        {"exception": "E", "message": 5},
        {"refused": "the value contains itself"},
        {"refused": 1},
    ],
)
def test_an_answer_out_of_bounds_is_refused(said: dict[str, Any]) -> None:
    with pytest.raises(ValueRefused):
        read_answer(json.dumps({"nonce": "n", **said}).encode(), "n")


def test_more_answers_than_calls_are_a_fault() -> None:
    exchange = calls(1)
    answer(exchange, value=1)
    exchange.take(b'{"value": 2}')
    assert "more than it was asked" in exchange.fault


def test_an_answer_before_the_call_is_a_fault() -> None:
    exchange = calls(1)
    exchange.take(b'{"nonce": "", "value": 1}')
    assert exchange.fault


def test_an_end_without_an_answer_is_a_fault() -> None:
    exchange = calls(1)
    exchange.next_line()
    exchange.ended()
    assert exchange.fault == "it ended without an answer"


def test_names_and_messages_are_cut_and_written_in_utf_8() -> None:
    said = {"nonce": "n", "exception": "E" * 1_000, "message": "\ud800" + "m" * 5_000}
    returned = read_answer(json.dumps(said).encode(), "n")
    assert len(returned.exception or "") == 200
    returned.model_dump_json()


@pytest.mark.parametrize(
    "value",
    [
        "NaN",
        "1e999",
        '"\\ud800"',
        '{"\\ud800": 1}',
        '{"$": "opaque", "v": "\\ud800"}',
        '{"$": "handle", "v": 1, "type": "\\ud800"}',
    ],
)
def test_a_value_that_could_not_be_passed_on_is_a_fault(value: str) -> None:
    exchange = calls(1)
    nonce = json.loads(exchange.next_line())["nonce"]
    exchange.take(f'{{"nonce": "{nonce}", "value": {value}}}'.encode())
    assert exchange.fault
    assert exchange.returned == []


def test_all_answers_together_are_bounded() -> None:
    exchange = calls(20)
    for _ in range(20):
        if not exchange.is_over:
            answer(exchange, value="x" * 1_000_000)
    assert "in all" in exchange.fault
    assert len(exchange.returned) == 16


def test_floats_that_json_has_not_go_in_as_typed_json() -> None:
    call = Call(entry_point="f", args=(math.nan, [-math.inf]), kwargs={"x": {"y": math.inf}})
    said = json.loads(Exchange([call]).next_line(), parse_constant=pytest.fail)
    sent = [decode(each) for each in (*said["args"], said["kwargs"])]
    assert math.isnan(sent[0])
    assert sent[1:] == [[-math.inf], {"x": {"y": math.inf}}]


def test_floats_that_json_has_not_reach_the_sandbox() -> None:
    call = Call(entry_point="f", args=(math.inf, -0.0))
    job = Job(language="python", source=b"", runs=(Run(calls=(call,)),))
    assert Job.model_validate_json(job.model_dump_json()) == job
