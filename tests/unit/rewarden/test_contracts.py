from __future__ import annotations

import pickle

import pytest
from hypothesis import given, strategies as st
from pydantic import ValidationError

from rewarden import errors
from rewarden.contracts import Outcome, Sample, Verdict, VerifyRequest, mended

UNSCORED = {Outcome.UNDECIDED, Outcome.BAD_SPEC, Outcome.VERIFIER_ERROR, Outcome.EXPIRED}


@pytest.mark.parametrize("outcome", Outcome)
def test_score_is_null_exactly_where_the_sample_is_not_scored(outcome: Outcome) -> None:
    score = 0.5 if outcome is Outcome.PARTIAL else None
    verdict = Verdict.of(Sample(completion=""), outcome, "because", score=score)
    assert (verdict.score is None) == (outcome in UNSCORED)
    assert outcome.is_scored == (outcome not in UNSCORED)


@pytest.mark.parametrize(
    ("outcome", "score"),
    [
        (Outcome.VERIFIER_ERROR, 0.0),
        (Outcome.BAD_SPEC, 1.0),
        (Outcome.CORRECT, 0.0),
        (Outcome.CORRECT, None),
        (Outcome.INCORRECT, 1.0),
        (Outcome.PARTIAL, None),
        (Outcome.PARTIAL, 0.0),
        (Outcome.PARTIAL, 1.0),
        (Outcome.PARTIAL, float("nan")),
    ],
)
def test_a_score_that_contradicts_its_outcome_is_refused(
    outcome: Outcome, score: float | None
) -> None:
    with pytest.raises(ValidationError):
        Verdict(verifier="math", outcome=outcome, score=score, reason="")


def test_every_outcome_has_a_docstring_of_blame() -> None:
    assert {o for o in Outcome if o.is_retryable} == {Outcome.VERIFIER_ERROR, Outcome.EXPIRED}
    assert all(not outcome.is_scored for outcome in Outcome if outcome.is_retryable)


def test_models_are_closed_and_frozen() -> None:
    with pytest.raises(ValidationError):
        Sample.model_validate({"completion": "", "answer": "4"})
    with pytest.raises(ValidationError):
        Sample(completion="").completion = "x"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("completion", "text"),
    [
        ("as it is", "as it is"),
        ([{"role": "user", "content": "2+2"}, {"role": "assistant", "content": "4"}], "4"),
        ([{"role": "assistant", "content": "3"}, {"role": "assistant", "content": "4"}], "4"),
        ([{"role": "assistant", "content": "4"}, {"role": "user", "content": "sure?"}], "4"),
        ([{"role": "assistant", "content": None}], ""),
        ([{"role": "user", "content": "4"}], ""),
        ([], ""),
        ([{"role": "assistant", "content": "4", "tool_calls": []}], "4"),
        (
            [
                {
                    "role": "assistant",
                    "content": [
                        {"type": "text", "text": "it is "},
                        {"type": "image", "url": "x"},
                        {"type": "text", "text": "4"},
                    ],
                }
            ],
            "it is 4",
        ),
    ],
)
def test_the_last_assistant_message_counts(completion: object, text: str) -> None:
    assert Sample.model_validate({"completion": completion}).text == text


@given(st.text(st.characters(exclude_categories=()), max_size=20))
def test_mended_text_can_be_written_and_is_otherwise_as_it_was(text: str) -> None:
    kept: str = mended(text)
    kept.encode()
    if all(not 0xD800 <= ord(character) <= 0xDFFF for character in text):
        assert kept == text
    assert mended({"a": [text, ("b", 1, None)]}) == {"a": [kept, ["b", 1, None]]}
    assert Sample(completion=kept).text == kept


@pytest.mark.parametrize(
    "value",
    ["\ud800", object(), 10**5_000, b"\xff", float, [[["\udfff"]]]],
    ids=["surrogate", "object", "integer", "bytes", "type", "nested"],
)
def test_a_spec_that_cannot_travel_is_refused_where_it_is_made(value: object) -> None:
    with pytest.raises(ValidationError):
        Sample(completion="", spec={"answer": value})
    deep: object = 0
    for _ in range(400):
        deep = [deep]
    with pytest.raises(ValidationError):
        Sample(completion="", spec={"answer": deep})


def test_verifier_names_cannot_break_out_of_a_key() -> None:
    for name in ["", "Math", "a b", "x}", "../x", "é", "a" * 65, "math\n"]:
        with pytest.raises(ValidationError):
            Sample(completion="", verifier=name)


def test_the_deadline_of_a_request_is_positive_and_bounded() -> None:
    for seconds in [0, -1, 3_601, float("inf"), float("nan")]:
        with pytest.raises(ValidationError):
            VerifyRequest(samples=[], timeout_seconds=seconds)


def test_errors_pickle_and_form_one_tree() -> None:
    for error in [
        errors.ConfigurationError("x"),
        errors.TransportError("x"),
        errors.ServiceBusyError("x", 3.0),
        errors.ProtocolError("x"),
        errors.RequestRefusedError("x"),
    ]:
        assert isinstance(error, errors.RewardenError)
        copy = pickle.loads(pickle.dumps(error))
        assert (type(copy), str(copy)) == (type(error), "x")
    assert pickle.loads(pickle.dumps(errors.ServiceBusyError("x", 3.0))).retry_after_seconds == 3.0
