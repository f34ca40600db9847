"""The SQL service over HTTP: its verdicts, and the routes that are its own."""

from __future__ import annotations

import base64
import contextlib
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from services.__main__ import make_app
from services.settings import Settings

SHOP = "CREATE TABLE shop(id INTEGER PRIMARY KEY, name TEXT); INSERT INTO shop VALUES (1, 'Nook'), (2, 'Barn')"
GOLD = {"query": "SELECT name FROM shop WHERE id > 1", "database": "shop"}


@contextlib.asynccontextmanager
async def served(**settings: Any) -> AsyncIterator[httpx.AsyncClient]:
    app = make_app("sql", Settings(**settings))
    transport = httpx.ASGITransport(app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://sql", timeout=60) as client,
    ):
        yield client


@pytest.fixture(autouse=True)
def _one_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REWARDEN_SQL_WORKERS", "1")


async def post(client: httpx.AsyncClient, path: str, body: dict[str, Any]) -> Any:
    response = await client.post(path, json=body)
    assert response.status_code == 200, response.text
    return response.json()


async def verified(client: httpx.AsyncClient, text: str, spec: dict[str, Any]) -> Any:
    body = {"samples": [{"completion": text, "spec": spec}]}
    return (await post(client, "/v1/verify", body))["verdicts"][0]


async def test_a_database_is_registered_once_and_then_spoken_of_by_name() -> None:
    async with served() as client:
        assert (await verified(client, "SELECT 1", GOLD))["outcome"] == "bad_spec"
        for _ in range(2):
            found = await post(client, "/v1/databases", {"name": "shop", "schema_sql": SHOP})
            assert found["usable"]
            assert found["details"]["tables"] == {"shop": ["id", "name"]}
        audit = await post(client, "/v1/golds", {"spec": GOLD})
        assert audit["usable"]
        assert audit["details"]["mutation_score"] > 0.5
        assert audit["details"]["tables"] == ["shop"]
        right = await verified(client, "SELECT name FROM shop WHERE id >= 2", GOLD)
        assert (right["outcome"], right["score"]) == ("correct", 1.0)
        wrong = await verified(client, "SELECT name FROM shop WHERE id = 2", GOLD)
        assert (wrong["outcome"], wrong["score"]) == ("incorrect", 0.0)
        assert wrong["details"]["difference"]["database"].startswith("generated")


async def test_a_name_is_not_given_to_another_database() -> None:
    async with served() as client:
        await post(client, "/v1/databases", {"name": "shop", "schema_sql": SHOP})
        other = {"name": "shop", "schema_sql": SHOP + "; DELETE FROM shop WHERE id = 1"}
        found = await post(client, "/v1/databases", other)
        assert not found["usable"]
        assert "taken" in found["reason"]


@pytest.mark.parametrize("engine", ["sqlite", "duckdb"])
async def test_a_file_is_a_database_too(engine: str, tmp_path: Path) -> None:
    place = tmp_path / "shop"
    if engine == "sqlite":
        with sqlite3.connect(place) as raw:
            raw.executescript(SHOP)
        raw.close()
    else:
        import duckdb

        with duckdb.connect(str(place)) as made:
            made.execute(SHOP)
    packed = base64.b64encode(place.read_bytes()).decode()
    async with served() as client:
        body = {"name": "shop", "engine": engine, "file": packed}
        assert (await post(client, "/v1/databases", body))["usable"]
        verdict = await verified(client, GOLD["query"], GOLD | {"engine": engine})
        assert verdict["outcome"] == "correct"


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"schema_sql": SHOP, "file": "?"},
        {"schema_sql": ""},
        {"engine": "postgres", "schema_sql": SHOP},
        {"schema_sql": "CREATE TABL x"},
        {"schema_sql": "SELECT 1; ATTACH '/tmp/x' AS x"},
        {"file": base64.b64encode(b"no database at all" * 100).decode()},
        {"file": "?"},
        {"engine": "duckdb", "file": base64.b64encode(b"x" * 5_000).decode()},
        {"engine": "duckdb", "schema_sql": "COPY (SELECT 1) TO '/tmp/x.csv'"},
    ],
)
async def test_what_is_no_database_is_told_in_a_sentence(body: dict[str, Any]) -> None:
    async with served() as client:
        found = await post(client, "/v1/databases", {"name": "shop"} | body)
        assert not found["usable"]
        assert found["reason"].endswith(".")
        assert (await verified(client, "SELECT 1", GOLD))["outcome"] == "bad_spec"


@pytest.mark.parametrize(
    "gold",
    [
        {"query": "SELECT nothing FROM shop"},
        {"query": "SELECT name FROM shop WHERE id > id"},
        {"query": "DROP TABLE shop"},
        {"query": "SELECT name FROM"},
        {"query": "SELECT random() FROM shop"},
        {"query": 7},
        {"query": "SELECT name FROM shop", "database": "shop"},
    ],
)
async def test_a_gold_that_cannot_be_used_is_told(gold: dict[str, Any]) -> None:
    async with served() as client:
        found = await post(client, "/v1/golds", {"spec": gold | {"schema_sql": SHOP}})
        assert not found["usable"]
        assert found["reason"].endswith(".")


@pytest.mark.parametrize(
    ("path", "body", "place"),
    [
        ("/v1/databases", {"name": "a b", "schema_sql": SHOP}, ["body", "name"]),
        ("/v1/databases", {"name": "../x", "schema_sql": SHOP}, ["body", "name"]),
        ("/v1/databases", {"name": "a", "schema_sql": SHOP, "engine": "db2"}, ["body", "engine"]),
        ("/v1/golds", {"spec": 7}, ["body", "spec"]),
        ("/v1/golds", {}, ["body", "spec"]),
    ],
)
async def test_a_malformed_request_is_422_with_the_place(
    path: str, body: dict[str, Any], place: list[str]
) -> None:
    async with served() as client:
        response = await client.post(path, json=body)
    assert response.status_code == 422
    assert response.json()["detail"][0]["loc"] == place


async def test_keys_are_asked_for_here_too() -> None:
    async with served(api_keys=frozenset({"sesame"})) as client:
        for path in ("/v1/databases", "/v1/golds"):
            assert (await client.post(path, json={})).status_code == 401


async def test_bad_input_costs_its_own_sample_only() -> None:
    inline = {"query": "SELECT name FROM shop", "schema_sql": SHOP}
    texts_and_specs: list[tuple[str, dict[str, Any], str]] = [
        ("SELECT name FROM shop", inline, "correct"),
        ("SELECT 1", inline | {"engine": "oracle"}, "bad_spec"),
        ("SELECT 1", {"query": "SELECT 1", "database": "nobodys"}, "bad_spec"),
        ("SELECT 1", inline | {"schema_sql": ""}, "bad_spec"),
        ("SELECT '" + "x" * 1_000_000 + "'", inline, "rejected"),
        ("SELECT name FROM shop WHERE id IN (" + "1," * 100_000 + "2)", inline, "rejected"),
        ("SELECT " + "(" * 3_000 + "1" + ")" * 3_000, inline, "incorrect"),
        ("SELECT name FROM shop WHERE id IN (" + "1," * 20_000 + "2)", inline, "incorrect"),
        ("", inline, "no_answer"),
        ("SELECT name FROM shop", inline, "correct"),
    ]
    samples = [{"completion": text, "spec": spec} for text, spec, _ in texts_and_specs]
    async with served() as client:
        verdicts = (await post(client, "/v1/verify", {"samples": samples}))["verdicts"]
    assert [v["outcome"] for v in verdicts] == [outcome for _, __, outcome in texts_and_specs]
    assert all((v["score"] is None) == (v["outcome"] == "bad_spec") for v in verdicts)
