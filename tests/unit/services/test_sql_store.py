"""What becomes of databases: room for them, and what killed processes leave behind."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from rewarden.contracts import Outcome
from services.sql.engines.postgres_record import HeldRecord, Record
from services.sql.judge import Judge
from services.sql.lease import Lease, abandoned
from services.sql.results import DatabaseError, GoneError
from services.sql.store import Store
from services.sql.verifier import SqlVerifier

SHOP = "CREATE TABLE shop(id INTEGER, name TEXT); INSERT INTO shop VALUES (1, 'Nook'), (2, 'Barn');"
GOLD = "SELECT name FROM shop WHERE id > 1"


def numbered(number: int) -> str:
    return f"CREATE TABLE t(a INTEGER); INSERT INTO t VALUES ({number});"


def databases(root: Path) -> set[str]:
    return {path.stem for path in (root / "databases").glob("*.sqlite")}


def test_what_is_unused_for_longest_makes_room(tmp_path: Path) -> None:
    store = Store(tmp_path, disk_bytes=40_000)
    store.register("shop", "sqlite", SHOP)
    keys = [store.key("sqlite", numbered(n)) for n in range(12)]
    for age, key in enumerate(reversed(keys)):
        os.utime(store.place("sqlite", key), (1_000 - age, 1_000 - age))
    store.trim()
    left = databases(tmp_path)
    assert store.named("shop").key in left
    assert keys[-1] in left
    assert keys[0] not in left
    assert len(left) < 10
    with pytest.raises(GoneError):
        store.open("sqlite", keys[0])


def test_making_many_databases_makes_room_by_itself(tmp_path: Path) -> None:
    store = Store(tmp_path, disk_bytes=100_000)
    for n in range(100):
        store.key("sqlite", numbered(n))
    assert len(databases(tmp_path)) < 30


@pytest.mark.parametrize("engine", ["sqlite", "duckdb"])
def test_a_database_that_was_deleted_is_made_again(tmp_path: Path, engine: str) -> None:
    spec: dict[str, Any] = {"query": GOLD, "schema_sql": SHOP, "engine": engine}
    ours, theirs = Judge(tmp_path), Judge(tmp_path)
    assert ours.judge(spec, GOLD).outcome is Outcome.CORRECT
    for place in (tmp_path / "databases").glob(f"*.{engine}"):
        place.unlink()
    assert theirs.judge(spec, GOLD + " --").outcome is Outcome.CORRECT
    assert ours.judge(spec, GOLD + " --").outcome is Outcome.CORRECT
    assert ours.judge(spec, "SELECT name FROM shop WHERE id = 2").outcome is Outcome.INCORRECT


def test_a_database_that_is_deleted_under_a_known_gold_is_made_again(tmp_path: Path) -> None:
    spec = {"query": GOLD, "schema_sql": SHOP}
    judge = Judge(tmp_path)
    assert judge.judge(spec, GOLD).outcome is Outcome.CORRECT
    for place in (tmp_path / "databases").glob("*.sqlite"):
        place.unlink()
    judge._store._open.clear()
    assert judge.judge(spec, GOLD + " --").outcome is Outcome.CORRECT


def test_what_a_killed_process_half_made_is_no_hindrance(tmp_path: Path) -> None:
    store = Store(tmp_path)
    key = store.key("sqlite", SHOP)
    store.place("sqlite", key).rename(store.place("sqlite", key).with_name(f"{key}.sqlite.new"))
    assert Store(tmp_path).key("sqlite", SHOP) == key
    assert [path.name for path in (tmp_path / "databases").glob(f"{key}.sqlite*")].count(
        f"{key}.sqlite.new"
    ) == 0


def test_a_folder_is_abandoned_when_its_process_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    code = (
        "import os, tempfile, sys; tempfile.tempdir = sys.argv[1];"
        "from services.sql.lease import Lease; Lease(); os._exit(9)"
    )
    root = Path(__file__).parents[3]
    subprocess.run([sys.executable, "-c", code, tmp_path], check=False, cwd=root)
    ours = Lease()
    (left,) = abandoned()
    assert left != ours.folder
    ours.close()
    assert not ours.folder.exists()


def test_a_service_deletes_what_a_killed_one_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    left = tmp_path / "rewarden-sql-left"
    (left / "databases").mkdir(parents=True)
    (left / "lease").touch()
    (left / "databases" / "x.sqlite").write_bytes(b"x" * 5_000)

    async def run() -> None:
        verifier = SqlVerifier(workers=1)
        await verifier.start()
        assert not left.exists()
        await verifier.close()

    asyncio.run(run())
    assert list(tmp_path.iterdir()) == []


def test_a_record_outlives_its_process_and_is_dropped_by_the_next(tmp_path: Path) -> None:
    dropped: list[str] = []
    first = HeldRecord(tmp_path, dropped.append)
    second = HeldRecord(tmp_path, dropped.append)
    assert dropped == []
    first._file.close()  # as the end of its process does
    HeldRecord(tmp_path, dropped.append).close()
    assert first.name in dropped
    assert second.name not in dropped
    second.close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ['{"name": "postgres", "statements": null}', "{", ""])
def test_a_damaged_record_names_nothing_to_drop(tmp_path: Path, text: str) -> None:
    place = tmp_path / "x.postgres"
    place.write_text(text, encoding="utf-8")
    with pytest.raises(DatabaseError):
        Record.read(place)
