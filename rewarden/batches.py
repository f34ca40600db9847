"""A batch on its way: cut into chunks, put together again. No I/O.

A chunk holds samples of one verifier. Its answer is paired with it by its number, so answers may
come in any order, twice, or not at all: a sample without an answer becomes `expired`.
"""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pydantic import BaseModel, Field, Json, TypeAdapter, ValidationError

from rewarden import keys
from rewarden.contracts import CONTRACT_VERSION, MAX_SAMPLES, Outcome, Sample, Verdict
from rewarden.errors import ProtocolError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

DEFAULT_CHUNK_SIZE: Final = 16
"""For a verifier that has not told its own yet, because its service has never started."""
MAX_CHUNK_CHARACTERS: Final = 1 << 20

SAMPLES: Final = TypeAdapter(list[Sample])
UNREADABLE: Final = Sample(completion="")


class Capability(BaseModel):
    """What a service tells of its verifier under `keys.CAPABILITIES`."""

    chunk_size: int
    version: str


class Message(BaseModel):
    """One chunk as a worker receives it; the fields are those of `rewarden.keys`."""

    number: int = Field(alias=keys.CHUNK)
    reply_key: str = Field(alias=keys.REPLY)
    deadline_ms: int = Field(alias=keys.DEADLINE_MS)
    trainer_key: str = Field(alias=keys.TRAINER)
    version: int = Field(alias=keys.VERSION, ge=CONTRACT_VERSION, le=CONTRACT_VERSION)
    samples: Json[list[Sample]] = Field(alias=keys.PAYLOAD)

    @property
    def is_late(self) -> bool:
        """Whether nobody waits for the verdicts any more."""
        return time.time() * 1000 >= self.deadline_ms


class Reply(BaseModel):
    """One chunk's verdicts, an element of a batch's reply list."""

    chunk: int
    verdicts: list[Verdict]


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some samples of one verifier, and their places in the batch."""

    number: int
    verifier: str
    places: tuple[int, ...]
    samples: tuple[Sample, ...]


class Batch:
    """The state of one batch between its samples and its verdicts.

    `chunk_sizes` maps a verifier to the samples a chunk of it holds. Samples that name no verifier
    go to `default_verifier`; where there is none they are answered at once with `bad_spec`.
    """

    def __init__(
        self,
        samples: Sequence[Sample],
        chunk_sizes: Mapping[str, int],
        timeout_seconds: float,
        default_verifier: str | None = None,
    ) -> None:
        self.id = uuid.uuid4().hex
        self.deadline = time.time() + timeout_seconds
        self._samples = samples
        self._default = default_verifier
        self._verdicts: list[Verdict | None] = [None] * len(samples)
        self._open = {
            chunk.number: chunk for chunk in _cut(samples, self._by_verifier(), chunk_sizes)
        }

    def _by_verifier(self) -> dict[str, list[int]]:
        places: dict[str, list[int]] = {}
        for place, sample in enumerate(self._samples):
            verifier = sample.verifier or self._default
            if verifier is None:
                reason = "The sample does not say which verifier is to check it."
                self._verdicts[place] = Verdict.of(sample, Outcome.BAD_SPEC, reason)
            else:
                places.setdefault(verifier, []).append(place)
        return places

    @property
    def open(self) -> list[Chunk]:
        """The chunks that are not answered yet."""
        return list(self._open.values())

    @property
    def open_verifiers(self) -> list[str]:
        """The verifiers that have not answered everything yet."""
        return list(dict.fromkeys(chunk.verifier for chunk in self._open.values()))

    @property
    def seconds_left(self) -> float:
        """Time to the deadline; negative when it has passed."""
        return self.deadline - time.time()

    def answer(self, number: int, verdicts: Sequence[Verdict]) -> None:
        """Take a chunk's verdicts; a second answer to the same chunk changes nothing."""
        chunk = self._open.get(number)
        if chunk is None:
            return
        if len(verdicts) != len(chunk.samples):
            msg = f"{chunk.verifier}: {len(verdicts)} verdicts for {len(chunk.samples)} samples"
            raise ProtocolError(msg)
        del self._open[number]
        for place, verdict in zip(chunk.places, verdicts, strict=True):
            self._verdicts[place] = verdict

    def verdicts(self) -> list[Verdict]:
        """Return one verdict a sample, in order; the unanswered are `expired`."""
        for chunk in self.open:
            self.answer(chunk.number, expired(chunk.samples, chunk.verifier))
        return [verdict for verdict in self._verdicts if verdict is not None]


def expired(samples: Sequence[Sample], verifier: str) -> list[Verdict]:
    """Say of each sample that its time was over before its check began."""
    reason = f"The deadline passed before the {verifier} verifier got to this sample."
    return [Verdict.of(s, Outcome.EXPIRED, reason, verifier=verifier) for s in samples]


def unknown(sample: Sample, verifier: str, available: Sequence[str]) -> Verdict:
    """Say that there is no such verifier; `details` has those that there are."""
    reason = f"There is no verifier '{verifier}' here; there is {', '.join(available)}."
    details = {"available": list(available)}
    return Verdict.of(sample, Outcome.BAD_SPEC, reason, verifier=verifier, details=details)


def is_unknown(verdict: Verdict) -> bool:
    """Tell the verdict of `unknown` from those that verifiers give, whatever their details are."""
    return verdict.outcome is Outcome.BAD_SPEC and verdict.details.keys() == {"available"}


def _cut(
    samples: Sequence[Sample], places: Mapping[str, list[int]], chunk_sizes: Mapping[str, int]
) -> Iterator[Chunk]:
    number = 0
    for verifier, mine in places.items():
        lengths = (len(samples[place].text) for place in mine)
        size = chunk_sizes.get(verifier, DEFAULT_CHUNK_SIZE)
        for start, stop in spans(lengths, size, MAX_CHUNK_CHARACTERS):
            here = tuple(mine[start:stop])
            yield Chunk(number, verifier, here, tuple(samples[place] for place in here))
            number += 1


def spans(lengths: Iterable[int], max_count: int, max_total: int) -> Iterator[tuple[int, int]]:
    """Cut a sequence into `(start, stop)` pieces.

    A piece has at most `max_count` items, whose lengths add up to at most `max_total`; an item
    that is longer all by itself gets a piece of its own.
    """
    start = stop = total = 0
    for length in lengths:
        if stop > start and (stop - start == max_count or total + length > max_total):
            yield start, stop
            start, total = stop, 0
        stop += 1
        total += length
    if stop > start:
        yield start, stop


def encode_message(batch: Batch, chunk: Chunk, trainer_key: str) -> dict[str, str | int | bytes]:
    """Make the stream entry that carries `chunk` to a worker."""
    return {
        keys.VERSION: CONTRACT_VERSION,
        keys.BATCH: batch.id,
        keys.CHUNK: chunk.number,
        keys.COUNT: len(chunk.samples),
        keys.REPLY: keys.reply(chunk.verifier, batch.id),
        keys.DEADLINE_MS: int(batch.deadline * 1000),
        keys.TRAINER: trainer_key,
        keys.PAYLOAD: SAMPLES.dump_json(list(chunk.samples), exclude_defaults=True),
    }


def decode_message(fields: Mapping[bytes, bytes]) -> Message:
    """Read a stream entry; a `ProtocolError` if it is not a chunk of this version."""
    try:
        return Message.model_validate({key.decode(): value for key, value in fields.items()})
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        msg = f"a message on the queue is not in the contract at {first['loc']}: {first['msg']}"
        raise ProtocolError(msg) from error
    except UnicodeDecodeError as error:
        msg = "a message on the queue has a field whose name is not text"
        raise ProtocolError(msg) from error


def answer_unreadable(fields: Mapping[bytes, bytes]) -> tuple[str, bytes] | None:
    """Answer a message that `decode_message` refuses, if it tells where to; the sender waits."""
    try:
        reply_key = fields[keys.REPLY.encode()].decode()
        number, count = int(fields[keys.CHUNK.encode()]), int(fields[keys.COUNT.encode()])
    except (KeyError, ValueError):
        return None
    if not 0 < count <= MAX_SAMPLES:
        return None
    reason = "This service cannot read the message that the sample came in."
    verdict = Verdict.of(UNREADABLE, Outcome.VERIFIER_ERROR, reason)
    return reply_key, encode_reply(number, [verdict] * count)


def encode_reply(number: int, verdicts: list[Verdict]) -> bytes:
    """Make the element of the reply list that answers chunk `number`."""
    return Reply(chunk=number, verdicts=verdicts).model_dump_json().encode()


def decode_reply(body: bytes) -> Reply:
    """Read an element of a reply list; a `ProtocolError` if it is none."""
    try:
        return Reply.model_validate_json(body)
    except ValidationError as error:
        msg = f"a reply on the queue is not in the contract: {error.errors()[0]['msg']}"
        raise ProtocolError(msg) from error
