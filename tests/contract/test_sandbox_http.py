"""The HTTP contract of the sandbox: what may be sent, and what always comes back."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
from typing import TYPE_CHECKING, Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings, strategies as st
from schemathesis.specs.openapi.checks import positive_data_acceptance

import sandbox.request
from sandbox.jobs import JobResult
from tests.sandbox_server import puppet_app

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

JSON = {"Content-Type": "application/json; charset=utf-8"}
GOOD: dict[str, Any] = {"language": "python", "source": "cGFzcw==", "runs": [{}]}


@contextlib.asynccontextmanager
async def opened() -> AsyncIterator[httpx.AsyncClient]:
    app = puppet_app()
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://sandbox") as client,
    ):
        yield client


async def post(body: object, **headers: str) -> httpx.Response:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    async with opened() as client:
        return await client.post("/v1/jobs", content=content, headers=JSON | headers)


def text(size: int) -> str:
    return base64.b64encode(b"#" * size).decode()


@pytest.mark.parametrize(
    ("changed", "place"),
    [
        ({"language": "cobol"}, ["language"]),
        ({"language": None}, ["language"]),
        ({"source": "not base64!"}, ["source"]),
        ({"source": text(2 * 1024 * 1024)}, ["source"]),
        ({"runs": []}, ["runs"]),
        ({"runs": [{}] * 5_000}, ["runs"]),
        ({"runs": [{}, {"stdin": 4}]}, ["runs", 1, "stdin"]),
        ({"runs": [{"argv": ["a", "\0"]}]}, ["runs", 0, "argv"]),
        ({"runs": [{"argv": ["x" * 100_000]}]}, ["runs", 0, "argv"]),
        ({"runs": [{"stdin": text(8 * 1024 * 1024 + 1)}]}, ["runs", 0, "stdin"]),
        ({"runs": [{"calls": [{"entry_point": ""}]}]}, ["runs", 0, "calls", 0, "entry_point"]),
        (
            {"language": "cpp", "runs": [{}, {"calls": [{"entry_point": "f"}]}]},
            ["runs", 1, "calls"],
        ),
        ({"limits": {"cpu_seconds": 61}}, ["limits", "cpu_seconds"]),
        ({"limits": {"cpu_seconds": 0}}, ["limits", "cpu_seconds"]),
        ({"limits": {"memory_mb": 1_000_000}}, ["limits", "memory_mb"]),
        ({"limits": {"memory": 1}}, ["limits", "memory"]),
        ({"limits": {"processes": 513}}, ["limits", "processes"]),
        ({"limits": {"output_kb": 8_193}}, ["limits", "output_kb"]),
        ({"limits": {"disk_mb": 513}}, ["limits", "disk_mb"]),
        ({"limits": {"files": 65_537}}, ["limits", "files"]),
        ({"limits": {"compile_cpu_seconds": 1e9}}, ["limits", "compile_cpu_seconds"]),
        ({"limits": {"compile_memory_mb": 8_193}}, ["limits", "compile_memory_mb"]),
        ({"files": []}, ["files"]),
        ({"verdict": "correct"}, ["verdict"]),
        ({"files": {"": ""}}, ["files", ""]),
        ({"files": {"/etc/passwd": ""}}, ["files", "/etc/passwd"]),
        ({"files": {"../x": ""}}, ["files", "../x"]),
        ({"files": {"a/../../x": ""}}, ["files", "a/../../x"]),
        ({"files": {"a/./x": ""}}, ["files", "a/./x"]),
        ({"files": {"a//x": ""}}, ["files", "a//x"]),
        ({"files": {"a/": ""}}, ["files", "a/"]),
        ({"files": {"..": ""}}, ["files", ".."]),
        ({"files": {"a\\b": ""}}, ["files", "a\\b"]),
        ({"files": {"a\0b": ""}}, ["files", "a\0b"]),
        ({"files": {"a\nb": ""}}, ["files", "a\nb"]),
        ({"files": {"x" * 300: ""}}, ["files"]),
        ({"files": {"\u00e9" * 150: ""}}, ["files"]),
        ({"files": {"a": "", "a/b": ""}}, ["files", "a/b"]),
        ({"files": {"a/b/c": "", "a": ""}}, ["files", "a/b/c"]),
    ],
)
async def test_a_malformed_job_is_422_with_the_place(
    changed: dict[str, Any], place: list[Any]
) -> None:
    response = await post(GOOD | changed)
    assert response.status_code == 422
    problem = response.json()["detail"][0]
    assert problem["loc"][: len(place) + 1] == ["body", *place]
    assert problem["msg"]
    assert len(response.content) < 20_000


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe",
        b"[" * 100_000,
        b"9" * 5_000,
        b'{"language": "python", "source": "\\ud800", "runs": [{}]}',
        json.dumps(GOOD | {"files": {"a": ""}}).replace("{}", '{"calls": ' + "[" * 1_000).encode(),
    ],
)
async def test_what_is_no_job_is_422(body: bytes) -> None:
    response = await post(body)
    assert response.status_code == 422
    assert response.json()["detail"][0]["loc"][0] == "body"


async def test_a_name_that_is_there_twice_is_422() -> None:
    body = json.dumps(GOOD | {"files": {"a": "", "b": ""}}).replace('"b"', '"a"')
    response = await post(body.encode())
    assert response.status_code == 422
    assert response.json()["detail"][0]["loc"] == ["body", "files", "a"]


async def test_keys_that_are_twice_elsewhere_are_the_callers_business() -> None:
    twice = '{"entry_point": "f", "kwargs": {"x": {"a": 1, "a": 2}}}'
    body = json.dumps(GOOD | {"files": {"b": "", "c": ""}, "runs": [{"calls": [0]}]})
    assert (await post(body.replace("[0]", f"[{twice}]").encode())).status_code == 200


@pytest.mark.parametrize(
    "name", ["a", "a.b", "lib/x.py", "a b", ".hidden", "..a", "a..b", "\u00e9", "-rf", "a:b*?"]
)
async def test_plain_names_are_taken(name: str) -> None:
    assert (await post(GOOD | {"files": {name: "eA=="}})).status_code == 200


async def test_large_bodies_are_read_too(monkeypatch: pytest.MonkeyPatch) -> None:
    large = GOOD | {"runs": [{"stdin": text(3_000_000)}]}
    response = await post(large, Accept="application/json")
    assert len(JobResult.model_validate_json(response.content).runs[0].stdout) == 3_000_000
    monkeypatch.setattr(sandbox.request, "MAX_REQUEST_BYTES", 1_000_000)
    assert (await post(large)).status_code == 413


async def test_both_alphabets_of_base64_are_read() -> None:
    for stdin in ("+/+/", "-_-_"):
        response = await post(GOOD | {"runs": [{"stdin": stdin}]}, Accept="application/json")
        assert JobResult.model_validate_json(response.content).runs[0].stdout == b"\xfb\xff\xbf"


async def test_other_kinds_of_body_are_415() -> None:
    response = await post(GOOD, **{"Content-Type": "text/plain"})
    assert response.status_code == 415


@settings(deadline=None, max_examples=60)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from([*GOOD, "files"]), inner),
        max_leaves=8,
    )
)
def test_no_body_is_a_server_error(body: Any) -> None:
    response = asyncio.run(post(body))
    assert response.status_code in {200, 422}


def test_every_answer_is_one_that_is_documented() -> None:
    tried = []
    for found in schemathesis.openapi.from_asgi("/openapi.json", puppet_app()).get_all_operations():
        operation: Any = found.ok()  # type: ignore[union-attr]

        @given(case=operation.as_strategy())
        @settings(
            max_examples=25,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            phases=[Phase.generate],
        )
        def call(case: Any) -> None:
            # A schema cannot say which names and arguments are refused.
            case.call_and_validate(excluded_checks=[positive_data_acceptance])

        call()
        tried.append(operation.label)
    assert "POST /v1/jobs" in tried
    assert len(tried) >= 6
