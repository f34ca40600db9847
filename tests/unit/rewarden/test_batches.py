from __future__ import annotations

import random

import pytest
from hypothesis import given, strategies as st

from rewarden import keys
from rewarden.batches import (
    Batch,
    Chunk,
    decode_message,
    decode_reply,
    encode_message,
    encode_reply,
    expired,
    is_unknown,
    spans,
    unknown,
)
from rewarden.contracts import Outcome, Sample, Verdict
from rewarden.errors import ProtocolError

names = st.sampled_from(["math", "code", None])


def right(chunk: Chunk) -> list[Verdict]:
    return [Verdict.of(s, Outcome.CORRECT, s.text, verifier=chunk.verifier) for s in chunk.samples]


@given(st.lists(st.integers(0, 50), max_size=60), st.integers(1, 7), st.integers(1, 60))
def test_spans_cover_everything_once_within_the_limits(
    lengths: list[int], count: int, total: int
) -> None:
    pieces = list(spans(lengths, count, total))
    assert [i for start, stop in pieces for i in range(start, stop)] == list(range(len(lengths)))
    for start, stop in pieces:
        assert stop - start <= count
        assert stop - start == 1 or sum(lengths[start:stop]) <= total


@given(st.lists(names, max_size=40), st.integers(1, 5), st.randoms(), st.booleans())
def test_verdicts_come_back_in_the_order_of_the_samples(
    verifiers: list[str | None], size: int, order: random.Random, twice: bool
) -> None:
    samples = [Sample(completion=str(i), verifier=name) for i, name in enumerate(verifiers)]
    batch = Batch(samples, {"math": size}, 60)
    answers = [(chunk.number, right(chunk)) for chunk in batch.open] * (1 + twice)
    order.shuffle(answers)
    for number, verdicts in answers:
        batch.answer(number, verdicts)
    verdicts = batch.verdicts()
    assert len(verdicts) == len(samples)
    for sample, verdict in zip(samples, verdicts, strict=True):
        if sample.verifier is None:
            assert verdict.outcome is Outcome.BAD_SPEC
        else:
            assert (verdict.verifier, verdict.reason) == (sample.verifier, sample.text)


@given(st.lists(names, max_size=40), st.sets(st.integers(0, 20)))
def test_what_is_not_answered_is_expired(verifiers: list[str | None], lost: set[int]) -> None:
    samples = [Sample(completion="", verifier=name, id=str(i)) for i, name in enumerate(verifiers)]
    batch = Batch(samples, {"math": 3, "code": 1}, 60)
    gone = {place for c in batch.open if c.number in lost for place in c.places}
    for chunk in batch.open:
        if chunk.number not in lost:
            batch.answer(chunk.number, right(chunk))
    found = {i for i, v in enumerate(batch.verdicts()) if v.outcome is Outcome.EXPIRED}
    assert found == gone


def test_an_answer_of_the_wrong_length_is_refused_and_the_chunk_stays_open() -> None:
    batch = Batch([Sample(completion="", verifier="math")] * 3, {"math": 3}, 60)
    with pytest.raises(ProtocolError):
        batch.answer(0, right(batch.open[0])[1:])
    assert len(batch.open) == 1


def test_a_long_completion_travels_alone() -> None:
    long = Sample(completion="x" * 3_000_000, verifier="math")
    short = Sample(completion="x", verifier="math")
    batch = Batch([short, short, long, short], {"math": 64}, 60)
    assert [len(chunk.samples) for chunk in batch.open] == [2, 1, 1]


@given(
    st.lists(
        st.builds(
            Sample,
            id=st.none() | st.text(),
            completion=st.text(),
            verifier=st.just("math"),
            spec=st.dictionaries(st.text(), st.integers() | st.text() | st.none()),
        ),
        min_size=1,
        max_size=5,
    )
)
def test_a_message_carries_its_chunk_unchanged(samples: list[Sample]) -> None:
    batch = Batch(samples, {"math": 64}, 60)
    fields = encode_message(batch, batch.open[0], "beat")
    wire = {
        key.encode(): value if isinstance(value, bytes) else str(value).encode()
        for key, value in fields.items()
    }
    message = decode_message(wire)
    assert message.samples == samples
    assert message.reply_key == keys.reply("math", batch.id)
    assert not message.is_late
    verdicts = expired(samples, "math")
    assert decode_reply(encode_reply(0, verdicts)).verdicts == verdicts


@pytest.mark.parametrize(
    "change",
    [
        {keys.VERSION: b"2"},
        {keys.PAYLOAD: b"[{"},
        {keys.PAYLOAD: b'[{"completion": 3}]'},
        {keys.PAYLOAD: b"\x80\x04K\x01."},
        {keys.DEADLINE_MS: b"soon"},
    ],
)
def test_a_message_out_of_contract_is_refused(change: dict[str, bytes]) -> None:
    batch = Batch([Sample(completion="", verifier="math")], {}, 60)
    fields = {k: str(v).encode() for k, v in encode_message(batch, batch.open[0], "b").items()}
    fields[keys.PAYLOAD] = b'[{"completion":""}]'
    assert decode_message({k.encode(): v for k, v in fields.items()}).number == 0
    with pytest.raises(ProtocolError):
        decode_message({k.encode(): v for k, v in (fields | change).items()})


@given(st.dictionaries(st.binary(max_size=8), st.binary(max_size=20)), st.binary(max_size=40))
def test_bytes_from_the_wire_never_crash_the_reader(
    fields: dict[bytes, bytes], body: bytes
) -> None:
    with pytest.raises(ProtocolError):
        decode_message(fields)
    with pytest.raises(ProtocolError):
        decode_reply(body)


def test_keys_of_one_verifier_share_a_slot() -> None:
    for key in [keys.stream("math"), keys.reply("math", "1"), keys.dead("math")]:
        assert "{math}" in key


def test_only_an_unknown_verifier_looks_like_one() -> None:
    sample = Sample(completion="", verifier="maths")
    assert is_unknown(unknown(sample, "maths", ["math"]))
    details = {"available": ["memory"]}
    assert not is_unknown(Verdict.of(sample, Outcome.CORRECT, "", details=details))
    assert not is_unknown(Verdict.of(sample, Outcome.BAD_SPEC, "no gold"))
