from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import httpx
import pytest

from rewarden.client import AsyncClient, Client
from rewarden.contracts import Outcome, Sample, Verdict
from rewarden.errors import (
    ConfigurationError,
    ProtocolError,
    RequestRefusedError,
    ServiceBusyError,
    TransportError,
)
from rewarden.transport import AsyncHttpTransport, HttpTransport

if TYPE_CHECKING:
    from collections.abc import Sequence


def answering(response: httpx.Response | Exception) -> Client:
    def handle(_: httpx.Request) -> httpx.Response:
        if isinstance(response, Exception):
            raise response
        return response

    transport = HttpTransport("http://service", transport=httpx.MockTransport(handle))
    return Client("http://service", transport=transport)


class Recorder:
    """An async transport that answers with each completion, and remembers the batches."""

    def __init__(self) -> None:
        self.batches: list[int] = []

    async def verify(self, samples: Sequence[Sample], _: float) -> list[Verdict]:
        self.batches.append(len(samples))
        await asyncio.sleep(0.001)
        if any(sample.text == "fail" for sample in samples):
            msg = "down"
            raise TransportError(msg)
        return [Verdict.of(s, Outcome.CORRECT, s.text, verifier="math") for s in samples]

    async def aclose(self) -> None:
        self.batches.append(-1)


async def test_single_calls_made_together_travel_together_and_get_their_own_verdict() -> None:
    recorder = Recorder()
    async with AsyncClient("http://unused", transport=recorder) as client:
        samples = [Sample(completion=str(i)) for i in range(150)]
        verdicts = await asyncio.gather(*(client.verify_one(s) for s in samples))
    assert [verdict.reason for verdict in verdicts] == [str(i) for i in range(150)]
    assert recorder.batches == [64, 64, 22, -1]


async def test_a_failing_batch_reaches_every_caller_and_the_next_one_works() -> None:
    async with AsyncClient("http://unused", transport=Recorder()) as client:
        calls = [client.verify_one(Sample(completion=text)) for text in ["a", "fail", "b"]]
        found = await asyncio.gather(*calls, return_exceptions=True)
        assert [type(error) for error in found] == [TransportError] * 3
        assert (await client.verify_one(Sample(completion="c"))).reason == "c"


class Short(Recorder):
    """Breaks the contract: one verdict too few."""

    async def verify(self, samples: Sequence[Sample], seconds: float) -> list[Verdict]:
        return (await super().verify(samples, seconds))[1:]


async def test_a_transport_that_breaks_the_contract_keeps_nobody_waiting() -> None:
    async with AsyncClient("http://unused", transport=Short()) as client:
        calls = [client.verify_one(Sample(completion=text)) for text in ["a", "b"]]
        async with asyncio.timeout(5):
            found = await asyncio.gather(*calls, return_exceptions=True)
    assert [type(error) for error in found] == [ValueError] * 2


@pytest.mark.parametrize("seconds", [0, -1, 3_601, float("nan")])
def test_a_time_limit_that_is_none_is_said_to_be_none(seconds: float) -> None:
    for url in ["http://127.0.0.1:9", "redis://127.0.0.1:9/0"]:
        with pytest.raises(ConfigurationError, match="timeout_seconds"):
            Client(url).verify([Sample(completion="")], timeout_seconds=seconds)


async def test_the_time_limit_holds_for_an_answer_that_trickles(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("rewarden.transport.GRACE_SECONDS", 0.2)

    async def handle(_: httpx.Request) -> httpx.Response:
        await asyncio.sleep(30)
        return httpx.Response(200)

    transport = AsyncHttpTransport("http://service", transport=httpx.MockTransport(handle))
    async with AsyncClient("http://service", transport=transport) as client:
        with pytest.raises(TransportError):
            await client.verify([Sample(completion="")], timeout_seconds=0.2)


async def test_a_caller_that_gives_up_does_not_disturb_the_others() -> None:
    async with AsyncClient("http://unused", transport=Recorder()) as client:
        quitter = asyncio.create_task(client.verify_one(Sample(completion="a")))
        stayer = asyncio.create_task(client.verify_one(Sample(completion="b")))
        await asyncio.sleep(0)
        quitter.cancel()
        assert (await stayer).reason == "b"


def test_no_samples_need_no_service() -> None:
    assert Client("http://127.0.0.1:9").verify([]) == []


def test_a_batch_beyond_a_request_is_sent_in_parts() -> None:
    sizes: list[int] = []

    def handle(request: httpx.Request) -> httpx.Response:
        samples = [Sample.model_validate(s) for s in json.loads(request.content)["samples"]]
        sizes.append(len(samples))
        verdicts = [Verdict.of(s, Outcome.CORRECT, s.text, verifier="math") for s in samples]
        return httpx.Response(200, json={"verdicts": [v.model_dump() for v in verdicts]})

    transport = HttpTransport("http://service", transport=httpx.MockTransport(handle))
    with Client("http://service", transport=transport) as client:
        verdicts = client.verify([Sample(completion=str(i)) for i in range(5_000)])
        assert [v.reason for v in verdicts] == [str(i) for i in range(5_000)]
        assert sizes == [4_096, 904]
        sizes.clear()
        client.verify([Sample(completion="x" * 25_000_000)] * 5)
        assert sizes == [2, 2, 1]
        sizes.clear()
        client.verify([Sample(completion="é", spec={"answer": "é" * 12_000_000})] * 3)
        assert sizes == [2, 1]


@pytest.mark.parametrize(
    ("response", "error"),
    [
        (httpx.ConnectError("refused"), TransportError),
        (httpx.ReadTimeout("slow"), TransportError),
        (httpx.Response(503, headers={"Retry-After": "7"}), ServiceBusyError),
        (httpx.Response(503, headers={"Retry-After": "Wed, 21 Oct"}), ServiceBusyError),
        (httpx.Response(401, text="no key"), RequestRefusedError),
        (httpx.Response(413, text="too large"), RequestRefusedError),
        (httpx.Response(500, text="oops"), RequestRefusedError),
        (httpx.Response(200, text="<html>"), ProtocolError),
        (httpx.Response(200, json={"verdicts": []}), ProtocolError),
        (httpx.Response(200, json={"rewards": [1.0]}), ProtocolError),
    ],
)
def test_every_way_to_get_no_verdicts_has_its_error(
    response: httpx.Response | Exception, error: type[Exception]
) -> None:
    with pytest.raises(error) as caught:
        answering(response).verify_one(Sample(completion="4"))
    if isinstance(caught.value, ServiceBusyError):
        assert caught.value.retry_after_seconds in {1, 7}


@pytest.mark.parametrize("url", ["localhost:8000", "ftp://x", "", "redis//x"])
def test_an_address_that_is_none_is_said_to_be_none(url: str) -> None:
    with pytest.raises(ConfigurationError, match="address"):
        Client(url)
