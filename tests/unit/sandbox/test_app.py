from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import httpx
import pytest

import sandbox.answer
from sandbox.jobs import JobResult, Status
from tests.puppet_driver import PuppetDriver, job
from tests.sandbox_server import puppet_app, served

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from sandbox.jobs import Job

JSON = {"Content-Type": "application/json"}


@asynccontextmanager
async def opened(
    driver: PuppetDriver | None = None, **options: Any
) -> AsyncIterator[httpx.AsyncClient]:
    async with (
        served(puppet_app(driver, **options)) as url,
        httpx.AsyncClient(base_url=url, trust_env=False) as client,
    ):
        yield client


async def post(client: httpx.AsyncClient, asked: Job, **headers: str) -> httpx.Response:
    return await client.post(
        "/v1/jobs", content=asked.model_dump_json(), headers=JSON | headers, timeout=60
    )


async def ready(client: httpx.AsyncClient) -> dict[str, Any]:
    found: dict[str, Any] = (await client.get("/readyz")).json()
    return found


async def until_free(client: httpx.AsyncClient) -> None:
    for _ in range(1_000):
        slots = (await ready(client))["slots"]
        if slots["free"] == slots["total"]:
            return
        await asyncio.sleep(0.005)
    pytest.fail("slots were not freed")


async def test_a_job_is_answered_in_lines_that_say_what_came_to_pass() -> None:
    async with opened() as client:
        response = await post(client, job("a", "exit 3", source="compile 0"))
    lines = [json.loads(line) for line in response.content.splitlines()]
    assert response.headers["Content-Type"] == "application/x-ndjson"
    assert [list(line) for line in lines] == [
        ["compiled"],
        ["run", "observation"],
        ["run", "observation"],
        ["end", "driver"],
    ]
    assert lines[1]["observation"]["stdout"] == "YQ=="
    assert lines[2]["observation"]["exit_code"] == 3
    assert lines[3] == {"end": 2, "driver": "puppet"}


async def test_json_is_answered_with_one_result() -> None:
    async with opened() as client:
        response = await post(client, job("a", source="compile 0"), Accept="application/json")
    result = JobResult.model_validate_json(response.content)
    assert response.headers["Content-Type"] == "application/json"
    assert result.compiled is not None
    assert [o.stdout for o in result.runs] == [b"a"]


async def test_lines_arrive_while_the_job_runs() -> None:
    driver = PuppetDriver()
    async with (
        opened(driver) as client,
        client.stream(
            "POST", "/v1/jobs", content=job("a", "sleep 60").model_dump_json(), headers=JSON
        ) as response,
    ):
        async for chunk in response.aiter_bytes():
            assert b'"run":0' in chunk
            assert driver.open_cells
            break


@pytest.mark.parametrize("accept", ["application/json", "application/x-ndjson"])
@pytest.mark.parametrize("place", ["open", "run", "line"])
async def test_hanging_up_ends_the_job(accept: str, place: str) -> None:
    driver = PuppetDriver(slots=1)
    driver.open_seconds = 0.05 if place == "open" else 0
    async with opened(driver) as client:
        kept = asyncio.create_task(post(client, job("sleep 0.2" if place == "line" else "")))
        await asyncio.sleep(0.05)
        with pytest.raises(httpx.ReadTimeout):
            await client.post(
                "/v1/jobs",
                content=job("sleep 60", "b", source="left").model_dump_json(),
                headers=JSON | {"Accept": accept},
                timeout=0.02 if place != "run" else 0.1,
            )
        await until_free(client)
        assert (await kept).status_code == 200
        assert (b"left" in driver.begun) == (place == "run")


async def test_a_full_line_is_503_and_says_when_to_come_back() -> None:
    async with opened(PuppetDriver(slots=1), max_waiting=1) as client:
        accepted = [asyncio.create_task(post(client, job("sleep 0.1"))) for _ in range(2)]
        await asyncio.sleep(0.05)
        refused = await post(client, job())
        assert refused.status_code == 503
        assert int(refused.headers["Retry-After"]) >= 1
        assert "1 jobs are waiting" in refused.json()["detail"]
        assert [(await task).status_code for task in accepted] == [200, 200]
        assert b"rewarden_sandbox_refused_total 1.0" in (await client.get("/metrics")).content


async def test_results_that_are_too_large_to_hold_are_offered_in_lines(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sandbox.answer, "MAX_RESULT_BYTES", 10_000)
    asked = job("x" * 6_000, "y" * 6_000)
    async with opened() as client:
        whole = await post(client, asked, Accept="application/json")
        assert whole.status_code == 406
        assert "x-ndjson" in whole.json()["detail"]
        await until_free(client)
        assert (await post(client, asked)).content.endswith(b'{"end":2,"driver":"puppet"}\n')


async def test_readiness_names_the_driver_and_why_not_another() -> None:
    driver = PuppetDriver(slots=2)
    async with opened(driver, refused={"slots": "no engine answers"}) as client:
        busy = asyncio.create_task(post(client, job("sleep 0.1")))
        await asyncio.sleep(0.05)
        found = await ready(client)
        await busy
    assert found == {
        "status": "ok",
        "driver": "puppet",
        "refused": {"slots": "no engine answers"},
        "slots": {"total": 2, "free": 1, "busy": 1, "renewing": 0},
        "waiting": 0,
        "problem": "",
    }


async def test_nothing_is_ready_where_no_slot_works() -> None:
    driver = PuppetDriver(slots=1)
    driver.broken_renewals = float("inf")
    async with opened(driver, patience_seconds=0.0) as client:
        answer = await post(client, job("break"), Accept="application/json")
        assert JobResult.model_validate_json(answer.content).runs[0].status is Status.SANDBOX_ERROR
        await asyncio.sleep(0.05)
        response = await client.get("/readyz")
        refused = await post(client, job())
    assert response.status_code == 503
    assert response.json()["problem"] == "no slot works: no new one can be had"
    assert refused.status_code == 503


async def test_the_driver_is_closed_with_the_app() -> None:
    driver = PuppetDriver()
    async with opened(driver) as client:
        assert (await client.get("/healthz")).json() == {"status": "ok"}
        assert not driver.is_closed
    assert driver.is_closed


async def test_languages_are_told_and_others_refused() -> None:
    async with opened() as client:
        told = (await client.get("/v1/languages")).json()
        refused = await post(client, job(language="rust"))
    assert told == {"python": "3.11.2", "cpp": "12.2.0", "bash": "5.2"}
    assert refused.status_code == 422
    assert refused.json()["detail"][0]["loc"] == ["body", "language"]
    assert "bash, cpp, python" in refused.json()["detail"][0]["msg"]


async def test_languages_that_cannot_be_asked_are_busy_and_asked_again() -> None:
    class Mute(PuppetDriver):
        asked = 0

        async def languages(self) -> dict[str, str]:
            self.asked += 1
            if self.asked == 1:
                raise OSError("it does not answer")
            return await super().languages()

    async with opened(Mute()) as client:
        assert (await post(client, job())).status_code == 503
        assert (await post(client, job())).status_code == 200


async def test_keys_are_asked_for_where_there_are_some() -> None:
    async with opened(api_keys=frozenset({"one", "two"})) as client:
        assert (await post(client, job())).status_code == 401
        assert (await post(client, job(), **{"X-API-Key": "three"})).status_code == 401
        assert (await post(client, job(), **{"X-API-Key": "two"})).status_code == 200
        assert (await client.get("/v1/languages")).status_code == 401
        for path in ("/healthz", "/readyz", "/metrics", "/version"):
            assert (await client.get(path)).status_code == 200


async def test_what_happens_is_counted() -> None:
    async with opened(PuppetDriver(slots=1)) as client:
        await post(client, job("a", "status timeout"))
        await post(client, job("break"))
        await until_free(client)
        text = (await client.get("/metrics")).text
    for line in (
        'rewarden_sandbox_jobs_total{end="finished"} 1.0',
        'rewarden_sandbox_jobs_total{end="broken"} 1.0',
        'rewarden_sandbox_observations_total{status="timeout"} 1.0',
        'rewarden_sandbox_observations_total{status="exited"} 1.0',
        'rewarden_sandbox_renewals_total{why="suspect"} 2.0',
        "rewarden_sandbox_slots_free 1.0",
        "rewarden_sandbox_wait_seconds_count 2.0",
    ):
        assert line in text.splitlines()
