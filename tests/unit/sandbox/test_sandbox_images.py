"""Which image programs run in: the one that is named, or the first of this version."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

import pytest

from sandbox.driver import CellBrokenError, DriverUnavailableError
from sandbox.drivers import images, slot_trial, trial
from sandbox.drivers.containers import Engine
from sandbox.drivers.images import IMAGES
from sandbox.drivers.slots import SlotsDriver, SlotsOptions
from sandbox.runner import frames
from tests.unit.sandbox.test_containers import engine

if TYPE_CHECKING:
    from pathlib import Path

FULL, SMALL = IMAGES


@pytest.mark.parametrize(
    ("named", "taken"),
    [
        (None, (FULL, SMALL)),
        ("", (FULL, SMALL)),
        ("small", (SMALL,)),
        ("full", (FULL,)),
        (SMALL, (SMALL,)),
    ],
)
def test_an_image_that_is_named_is_the_only_one(named: str | None, taken: tuple[str, ...]) -> None:
    environment = {} if named is None else {images.VARIABLE: named}
    assert images.wanted(environment) == taken
    assert SlotsOptions.from_environment(environment).images == taken


@pytest.mark.parametrize("named", ["alpine", "alpine:latest", "rewarden-sandbox:mine"])
def test_an_image_that_is_not_on_the_list_cannot_be_named(named: str) -> None:
    with pytest.raises(DriverUnavailableError, match="must be among full, small"):
        images.wanted({images.VARIABLE: named})


def test_the_named_image_is_missed_though_another_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    _, client = engine(monkeypatch, images=[FULL])
    with pytest.raises(DriverUnavailableError, match=f"build {SMALL}"):
        Engine("me", images.wanted({images.VARIABLE: "small"})).check()
    assert client.created == []


@pytest.mark.parametrize("told", [{}, {"protocol": frames.PROTOCOL - 1}, {"protocol": None}])
def test_what_opens_in_another_version_is_broken(told: dict[str, Any]) -> None:
    with pytest.raises(CellBrokenError, match="build it again"):
        images.check_version((told, b""))


class Slots(SlotsDriver):
    """Slots of which those in some images are of another version."""

    def __init__(self, folder: Path, stale: tuple[str, ...], tried: list[str]) -> None:
        super().__init__(slots=2, options=SlotsOptions(socket_directory=folder))
        self._stale, self._tried = stale, tried

    async def renew(self, slot: int) -> None:
        self._tried.append(self._engine.image)
        if self._engine.image in self._stale:
            images.check_version(({"protocol": frames.PROTOCOL - 1}, b""))


@pytest.fixture
def tried(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    engine(monkeypatch)

    async def do_nothing(*_: object) -> dict[str, str]:
        return {}

    for module, name in ((trial, "try_out"), (slot_trial, "try_out"), (slot_trial, "versions")):
        monkeypatch.setattr(module, name, do_nothing)
    return []


def test_an_image_of_another_version_is_passed_over_and_that_is_logged(
    tried: list[str], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        asyncio.run(Slots(tmp_path, (FULL,), tried).start())
    assert tried == [FULL, SMALL, SMALL]
    assert f"the image {FULL} is passed over: the image is of another version" in caplog.text


def test_slots_cannot_be_had_where_every_image_is_of_another_version(
    tried: list[str], tmp_path: Path
) -> None:
    with pytest.raises(DriverUnavailableError, match="build it again"):
        asyncio.run(Slots(tmp_path, IMAGES, tried).start())
    assert tried == [FULL, SMALL]
