from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from hypothesis import given, strategies as st

from rewarden.errors import (
    ConfigurationError,
    ProtocolError,
    RequestRefusedError,
    ServiceBusyError,
    TransportError,
)
from sandbox.client import SandboxClient
from sandbox.events import Compiled, Ended, Event, Observed, write_event
from sandbox.jobs import Job, Observation, Run, Status
from tests.puppet_driver import PuppetDriver, job
from tests.sandbox_server import puppet_app, served

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

OBSERVED = b'{"run":0,"observation":{"status":"exited"}}\n'


@asynccontextmanager
async def opened(
    driver: PuppetDriver | None = None, **options: Any
) -> AsyncIterator[SandboxClient]:
    async with (
        served(puppet_app(driver, **options)) as url,
        SandboxClient(url) as client,
    ):
        yield client


def answering(status: int, *parts: bytes, **headers: str) -> SandboxClient:
    async def stream() -> AsyncIterator[bytes]:
        for part in parts:
            yield part

    def answer(_: httpx.Request) -> httpx.Response:
        return httpx.Response(status, headers=headers, content=stream())

    return SandboxClient("http://sandbox", transport=httpx.MockTransport(answer))


async def test_a_job_comes_back_whole() -> None:
    async with opened() as client:
        result = await client.run(job("a", "exit 3", source="compile 0"))
    assert result.compiled is not None
    assert [(o.exit_code, o.stdout) for o in result.runs] == [(0, b"a"), (3, b"")]
    assert result.driver == "puppet"


async def test_events_come_as_they_come_to_pass() -> None:
    driver = PuppetDriver()
    async with opened(driver) as client:
        kinds = []
        async for event in client.stream(job("a", "sleep 0.05", source="compile 0")):
            kinds.append(type(event))
            if isinstance(event, Observed) and event.run == 0:
                assert driver.open_cells
    assert kinds == [Compiled, Observed, Observed, Ended]


async def test_a_unix_socket_serves_as_well(tmp_path: Path) -> None:
    path = tmp_path / "socket"
    async with served(puppet_app(), path) as address, SandboxClient(address) as client:
        assert address == f"unix:{path}"
        assert [o.stdout for o in (await client.run(job("a"))).runs] == [b"a"]
        assert (await client.languages())["python"] == "3.11.2"


async def test_bytes_come_back_as_they_went() -> None:
    every_byte = bytes(range(256))
    separators = "\u2028\u2029\x85\r\n\x0b\x1c".encode()
    large = bytes(range(256)) * 32_768
    assert len(large) == 8 * 1024 * 1024
    async with opened() as client:
        result = await client.run(job(every_byte, separators, large, b""))
    assert [o.stdout for o in result.runs] == [every_byte, separators, large, b""]


@given(stdouts=st.lists(st.binary(), min_size=1, max_size=8), size=st.integers(1, 50))
def test_lines_survive_being_cut_anywhere(stdouts: list[bytes], size: int) -> None:
    asyncio.run(_read_in_pieces(stdouts, size))


async def _read_in_pieces(stdouts: list[bytes], size: int) -> None:
    seen = [Observation(status=Status.EXITED, stdout=s, detail="\u2028\x85") for s in stdouts]
    events: list[Event] = [Observed(run=i, observation=o) for i, o in enumerate(seen)]
    events.append(Ended(end=len(seen), driver="puppet"))
    body = b"".join(write_event(event) for event in events)
    async with answering(200, *(body[i : i + size] for i in range(0, len(body), size))) as client:
        result = await client.run(job(*stdouts))
    assert list(result.runs) == seen


async def test_512_calls_at_once() -> None:
    async with opened() as client:
        results = await asyncio.gather(*(client.run(job(str(i))) for i in range(512)))
    assert [r.runs[0].stdout for r in results] == [str(i).encode() for i in range(512)]


async def test_leaving_a_call_ends_the_job() -> None:
    driver = PuppetDriver(slots=1)
    async with opened(driver) as client:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await client.run(job("sleep 60"))
        assert (await client.run(job("a"))).runs[0].status is Status.EXITED


async def test_leaving_a_stream_ends_the_job() -> None:
    async with opened(PuppetDriver(slots=1)) as client:
        stream = client.stream(job("a", "sleep 60"))
        async for _ in stream:
            break
        await stream.aclose()
        assert (await client.run(job("a"))).runs[0].status is Status.EXITED


async def test_busy_and_refused_are_told_apart() -> None:
    async with opened(PuppetDriver(slots=1), max_waiting=0) as client:
        first = asyncio.create_task(client.run(job("sleep 0.2")))
        await asyncio.sleep(0.05)
        with pytest.raises(ServiceBusyError, match="are waiting already") as busy:
            await client.run(job())
        assert busy.value.retry_after_seconds == 1.0
        await first
        with pytest.raises(RequestRefusedError, match="no toolchain for rust"):
            await client.run(job(language="rust"))
        bad_name = Job(language="python", source=b"", files={"../x": b""}, runs=(Run(),))
        with pytest.raises(RequestRefusedError, match=r"\.\./x"):
            await client.run(bad_name)


@pytest.mark.parametrize(
    "parts",
    [
        (OBSERVED,),
        (OBSERVED, b'{"end":1,'),
        (),
    ],
)
async def test_an_answer_that_breaks_off_is_no_answer(parts: tuple[bytes, ...]) -> None:
    async with answering(200, *parts) as client:
        with pytest.raises(TransportError, match="broke off after"):
            await client.run(job())


@pytest.mark.parametrize(
    "parts",
    [
        (b'{"end":0,"driver":"x"}\n',),
        (OBSERVED, b'{"end":2,"driver":"x"}\n'),
        (OBSERVED, OBSERVED),
        (OBSERVED.replace(b":0", b":1"),),
        (OBSERVED.replace(b":0", b":-1"),),
        (OBSERVED, OBSERVED.replace(b":0", b":1"), b'{"end":2,"driver":"x"}\n'),
        (OBSERVED, b'{"compiled":{"status":"exited"}}\n'),
        (b"hello\n",),
        (b'{"run":0,"observation":{"status":"passed"}}\n',),
        (b'{"run":0,"observation":{"status":"exited"},"verdict":1}\n',),
        (b"\n",),
    ],
)
async def test_what_is_not_in_the_contract_is_no_result(parts: tuple[bytes, ...]) -> None:
    async with answering(200, *parts) as client:
        with pytest.raises(ProtocolError) as raised:
            await client.run(job())
    assert not isinstance(raised.value, RequestRefusedError)


async def test_languages_out_of_contract_are_none() -> None:
    async with answering(200, b"[1]") as client:
        with pytest.raises(ProtocolError):
            await client.languages()


@pytest.mark.parametrize("address", ["http://127.0.0.1:9", "unix:/nonexistent/socket"])
async def test_where_nobody_listens_there_is_no_answer(address: str) -> None:
    async with SandboxClient(address) as client:
        for call in (client.run(job()), client.languages()):
            with pytest.raises(TransportError, match="no answer from"):
                await call


@pytest.mark.parametrize("address", ["", "unix:", "redis://x", "/run/socket", "http:x"])
def test_other_addresses_are_refused(address: str) -> None:
    with pytest.raises(ConfigurationError, match="not an address of a sandbox"):
        SandboxClient(address)


async def test_a_busy_proxy_in_between_is_busy() -> None:
    async with answering(502, b"bad gateway", **{"Retry-After": "7"}) as client:
        with pytest.raises(ServiceBusyError) as busy:
            await client.run(job())
    assert busy.value.retry_after_seconds == 7.0


async def test_keys_are_sent() -> None:
    async with served(puppet_app(api_keys=frozenset({"k"}))) as url:
        async with SandboxClient(url, "k") as client:
            assert (await client.run(job())).runs[0].status is Status.EXITED
        async with SandboxClient(url) as client:
            with pytest.raises(RequestRefusedError, match="401"):
                await client.run(job())
