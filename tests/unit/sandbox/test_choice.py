from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

import sandbox.choice
from sandbox.choice import DRIVERS, choose, find_driver
from sandbox.driver import DriverUnavailableError
from tests.puppet_driver import PuppetDriver

if TYPE_CHECKING:
    from collections.abc import Callable

    from sandbox.choice import MakeDriver
    from sandbox.driver import Driver


class Puppets:
    """Makes a puppet for each name, and remembers them."""

    def __init__(self, **prepare: Callable[[PuppetDriver], None]) -> None:
        self._prepare = prepare
        self.made: dict[str, PuppetDriver] = {}

    def find(self, name: str) -> MakeDriver:
        def make(*, slots: int) -> Driver:
            driver = self.made[name] = PuppetDriver(slots=slots)
            driver.name = name
            if name in self._prepare:
                self._prepare[name](driver)
            return driver

        return make


def unavailable(why: str) -> Callable[[PuppetDriver], None]:
    return lambda driver: setattr(driver, "unavailable", why)


async def _explode() -> None:
    raise ZeroDivisionError("a bug")


async def _hang() -> None:
    await asyncio.sleep(60)


async def test_the_first_that_works_is_taken_and_the_rest_not_tried() -> None:
    puppets = Puppets(a=unavailable("no engine"))
    choice = await choose(["a", "b", "c"], 3, puppets.find)
    assert choice.driver.name == "b"
    assert choice.refused == {"a": "no engine"}
    assert list(puppets.made) == ["a", "b"]
    assert puppets.made["a"].is_closed
    assert not puppets.made["b"].is_closed
    assert puppets.made["b"].slots == 3


async def test_where_none_works_every_reason_is_told() -> None:
    puppets = Puppets(a=unavailable("no engine"), b=unavailable("no namespaces"))
    with pytest.raises(DriverUnavailableError, match="a: no engine; b: no namespaces"):
        await choose(["a", "b"], 1, puppets.find)
    assert all(driver.is_closed for driver in puppets.made.values())


async def test_a_driver_that_raises_or_hangs_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox.choice, "START_SECONDS", 0.01)
    puppets = Puppets(
        a=lambda driver: setattr(driver, "start", _explode),
        b=lambda driver: setattr(driver, "start", _hang),
    )
    choice = await choose(["a", "b", "c"], 1, puppets.find)
    assert choice.driver.name == "c"
    assert choice.refused["a"] == "it failed to start: ZeroDivisionError a bug"
    assert "TimeoutError" in choice.refused["b"]
    assert puppets.made["a"].is_closed
    assert puppets.made["b"].is_closed


async def test_a_choice_that_is_cancelled_leaves_nothing() -> None:
    puppets = Puppets(a=lambda driver: setattr(driver, "start", _hang))
    task = asyncio.create_task(choose(["a"], 1, puppets.find))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert puppets.made["a"].is_closed


def test_a_driver_whose_package_is_missing_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(DRIVERS, "bwrap", "no_such_package:Driver")
    with pytest.raises(DriverUnavailableError, match="'no_such_package', which is not installed"):
        find_driver("bwrap")


def test_nothing_is_tried_that_does_not_keep_programs_apart() -> None:
    assert list(DRIVERS) == ["slots", "oneshot", "bwrap"]
