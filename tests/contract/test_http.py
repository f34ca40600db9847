"""The HTTP contract of every service: what may be sent, and what always comes back."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from hypothesis import given, settings, strategies as st

from rewarden.batches import unknown
from rewarden.contracts import MAX_REQUEST_BYTES, Outcome, Sample, Verdict, VerifyResponse
from services.__main__ import make_app
from services.app import create_app
from services.settings import Settings
from tests.puppet import PuppetSpec, PuppetVerifier

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from fastapi import FastAPI


@contextlib.asynccontextmanager
async def served(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://service") as client,
    ):
        yield client


def puppet_app(**options: Any) -> FastAPI:
    return create_app("puppet", {"puppet": PuppetSpec}, verifiers=[PuppetVerifier()], **options)


async def post(client: httpx.AsyncClient, body: object) -> httpx.Response:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return await client.post("/v1/verify", content=content, headers=JSON)


JSON = {"Content-Type": "application/json; charset=utf-8"}


@pytest.mark.parametrize(
    ("body", "place"),
    [
        (
            {"samples": [{"completion": "4"}, {"completion": 4}]},
            ["body", "samples", 1, "completion"],
        ),
        ({"samples": [{"spec": {}}]}, ["body", "samples", 0, "completion"]),
        ({"samples": [{"completion": "", "spec": []}]}, ["body", "samples", 0, "spec"]),
        ({"samples": [{"completion": "", "gold": "4"}]}, ["body", "samples", 0, "gold"]),
        ({"samples": [{"completion": "", "verifier": "A B"}]}, ["body", "samples", 0, "verifier"]),
        ({"samples": {}}, ["body", "samples"]),
        ({"sample": []}, ["body", "samples"]),
        ({"samples": [], "timeout_seconds": -1}, ["body", "timeout_seconds"]),
        ([], ["body"]),
        (b"{", ["body"]),
        (b"", ["body"]),
        (b"\xff\xfe", ["body"]),
        (b'{"samples": [{"completion": "\\ud800', ["body"]),
        (b"[" * 100_000, ["body"]),
        (b"9" * 5_000, ["body"]),
        (b'{"samples": [], "timeout_seconds": ' + b"9" * 5_000 + b"}", ["body"]),
    ],
)
async def test_a_malformed_envelope_is_422_with_the_place(body: object, place: list[Any]) -> None:
    async with served(puppet_app()) as client:
        response = await post(client, body)
    assert response.status_code == 422
    assert response.json()["detail"][0]["loc"][: len(place)] == place
    assert len(response.content) < 20_000


async def test_limits_are_413() -> None:
    async with served(puppet_app()) as client:
        response = await post(client, {"samples": [{"completion": ""}] * 4_097})
        assert response.status_code == 413
        response = await post(client, b" " * (MAX_REQUEST_BYTES + 1))
        assert response.status_code == 413
        response = await post(client, {"samples": [{"completion": ""}] * 4_096})
        assert len(response.json()["verdicts"]) == 4_096


@pytest.mark.parametrize("completion", ["x" * 10_000_000, "a\0b", "\ud800", "🙂\udfff", "", "\\"])
async def test_no_completion_is_too_strange(completion: str) -> None:
    samples = [{"completion": text, "id": "same"} for text in ["partial", completion, "incorrect"]]
    async with served(puppet_app()) as client:
        response = await post(client, {"samples": samples})
    verdicts = VerifyResponse.model_validate_json(response.content).verdicts
    assert [v.score for v in verdicts] == [0.5, 1.0, 0.0]
    assert [v.id for v in verdicts] == ["same"] * 3


@pytest.mark.parametrize("spec", ['{"answer": "\\ud800"}', '{"answer": %s}' % ("9" * 5_000)])
async def test_a_damaged_gold_costs_its_own_sample_only(spec: str) -> None:
    right = '{"completion": "\\\\boxed{4}", "spec": {"answer": "4"}}'
    odd = '{"completion": "\\\\boxed{4}", "spec": ' + spec + "}"
    async with served(make_app("math", Settings())) as client:
        response = await post(client, f'{{"samples": [{right}, {odd}, {right}]}}'.encode())
    verdicts = VerifyResponse.model_validate_json(response.content).verdicts
    assert [verdict.score for verdict in verdicts[::2]] == [1.0, 1.0]
    assert verdicts[1].score != 1.0


async def test_a_body_that_is_wrong_in_a_million_places_is_refused_at_once() -> None:
    zeros = b'{"samples": [{"completion": [%b0]}]}' % (b"0," * 1_000_000)
    keys = b'{"samples": [], %b "x": 0}' % b"".join(b'"%d": 0,' % i for i in range(200_000))
    spec = b'{"samples": [{"completion": "", "spec": {%b"x": 0}}]}' % b"".join(
        b'"%d": 0,' % i for i in range(200_000)
    )
    async with served(make_app("math", Settings())) as client:
        for body, status in [(zeros, 422), (keys, 422), (spec, 200)]:
            response = await post(client, body)
            assert response.status_code == status
            assert len(response.content) < 2_000
            assert response.elapsed.total_seconds() < 5


@pytest.mark.parametrize("kind", [None, "text/plain", "multipart/form-data; boundary=x"])
async def test_only_json_is_read_since_any_web_page_may_send_the_rest(kind: str | None) -> None:
    headers = {"Content-Type": kind} if kind else {}
    async with served(puppet_app()) as client:
        response = await client.post("/v1/verify", content=b'{"samples":[]}', headers=headers)
        assert response.status_code == 415


async def test_an_empty_batch_has_no_verdicts() -> None:
    async with served(puppet_app()) as client:
        assert (await post(client, {"samples": []})).json() == {"verdicts": []}


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.lists(
        st.fixed_dictionaries(
            {"completion": st.sampled_from(["correct", "raise"]) | st.text()},
            optional={
                "id": st.text(),
                "spec": st.dictionaries(st.text(), json_values, max_size=3),
                "verifier": st.sampled_from(["puppet", "other"]),
            },
        ),
        max_size=8,
    )
)
@settings(deadline=None, max_examples=60)
async def test_a_well_formed_batch_always_gets_a_verdict_a_sample_in_order(
    samples: list[dict[str, Any]],
) -> None:
    async with served(puppet_app()) as client:
        response = await post(client, {"samples": samples})
    assert response.status_code == 200
    verdicts = VerifyResponse.model_validate_json(response.content).verdicts
    assert [v.id for v in verdicts] == [sample.get("id") for sample in samples]


@given(st.binary(max_size=60) | json_values.map(lambda v: json.dumps(v).encode()))
@settings(deadline=None, max_examples=100)
async def test_no_body_is_a_server_error(body: bytes) -> None:
    async with served(puppet_app()) as client:
        assert (await post(client, body)).status_code in {200, 413, 422}


async def test_every_service_has_the_same_routes() -> None:
    for name in ["math", "format", "sql", "code", "all"]:
        async with served(make_app(name, Settings())) as client:
            for path in ["/healthz", "/readyz", "/metrics", "/version", "/v1/spec", "/docs"]:
                assert (await client.get(path)).status_code == 200, (name, path)
            openapi = (await client.get("/openapi.json")).json()
            assert {"Sample", "Verdict", "VerifyRequest"} <= set(openapi["components"]["schemas"])
            assert "/v1/verify" in openapi["paths"]


async def test_the_spec_of_a_service_is_a_schema_and_of_all_a_schema_each() -> None:
    async with served(make_app("math", Settings())) as client:
        assert "answer" in (await client.get("/v1/spec")).json()["properties"]
    async with served(make_app("all", Settings())) as client:
        specs = (await client.get("/v1/spec")).json()
        assert set(specs) == {"math", "format", "sql", "code"}


async def test_one_door_for_every_verifier() -> None:
    samples = [
        {"id": "right", "verifier": "math", "completion": "\\boxed{4}", "spec": {"answer": "4"}},
        {"id": "wrong", "verifier": "math", "completion": "\\boxed{5}", "spec": {"answer": "4"}},
        {"id": "no gold", "verifier": "math", "completion": "\\boxed{5}", "spec": {}},
        {"id": "nobody's", "verifier": "poetry", "completion": "Ode", "spec": {}},
        {"id": "no query", "verifier": "sql", "completion": "SELECT 1", "spec": {}},
        {
            "id": "shape",
            "verifier": "format",
            "completion": "<thinking>2+2</thinking> \\boxed{4}",
            "spec": {"template": "thinking_boxed"},
        },
    ]
    async with served(make_app("all", Settings())) as client:
        verdicts = (await post(client, {"samples": samples})).json()["verdicts"]
    assert [(v["id"], v["outcome"], v["score"]) for v in verdicts] == [
        ("right", "correct", 1.0),
        ("wrong", "incorrect", 0.0),
        ("no gold", "bad_spec", None),
        ("nobody's", "bad_spec", None),
        ("no query", "bad_spec", None),
        ("shape", "correct", 1.0),
    ]


async def test_keys_are_asked_for_where_they_are_set() -> None:
    async with served(puppet_app(api_keys=frozenset({"sesame", "ключ"}))) as client:
        assert (await client.post("/v1/verify", json={"samples": []})).status_code == 401
        assert (await client.get("/v1/spec", headers={"X-API-Key": "guess"})).status_code == 401
        assert (await client.get("/v1/spec", headers={"X-API-Key": "sesame"})).status_code == 200
        assert (await client.get("/readyz")).status_code == 200


async def test_readiness_says_what_is_missing() -> None:
    async with served(puppet_app(queue_url="redis://127.0.0.1:9/0")) as client:
        response = await client.get("/readyz")
        assert response.status_code == 503
        assert response.json()["checks"]["queue:puppet"] != "ok"
        assert (await client.get("/healthz")).status_code == 200


async def test_a_gateway_without_redis_says_so() -> None:
    app = make_app("gateway", Settings(queue="redis://127.0.0.1:9/0"))
    async with served(app) as client:
        assert (await client.get("/readyz")).status_code == 503
        sample = {"verifier": "math", "completion": "4"}
        response = await post(client, {"samples": [sample], "timeout_seconds": 0.2})
        assert response.status_code == 503
        assert response.headers["Retry-After"] == "1"


async def test_metrics_count_verdicts() -> None:
    async with served(puppet_app()) as client:
        await post(client, {"samples": [{"completion": "partial"}, {"completion": "raise"}]})
        told = (await client.get("/metrics")).text
    assert 'rewarden_verdicts_total{outcome="partial",verifier="puppet"} 1.0' in told
    assert 'rewarden_verdicts_total{outcome="verifier_error",verifier="puppet"} 1.0' in told


class Elsewhere:
    """A door whose verifiers are in other processes."""

    async def verify(self, samples: Sequence[Sample], _: float) -> list[Verdict]:
        return [
            unknown(s, str(s.verifier), ["math"])
            if s.verifier != "math"
            else Verdict.of(s, Outcome.CORRECT, "it is")
            for s in samples
        ]

    async def ping(self) -> None: ...

    async def aclose(self) -> None: ...


async def test_a_gateway_counts_what_passes_but_no_names_that_callers_make_up() -> None:
    app = create_app("gateway", {"math": PuppetSpec}, door=Elsewhere())
    samples = [{"completion": "", "verifier": name} for name in ["math", "math", "made-up"]]
    async with served(app) as client:
        await post(client, {"samples": samples})
        told = (await client.get("/metrics")).text
    assert 'rewarden_verdicts_total{outcome="correct",verifier="math"} 2.0' in told
    assert "made-up" not in told
