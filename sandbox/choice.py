"""Which driver this machine can have: each is tried for real, and the first that works is taken.

Every driver keeps programs apart; there is none that does not, so falling back never means running
anything unprotected. Why the others were passed over is kept, for `/readyz` and the log.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Final, Protocol

from sandbox.driver import DriverUnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sandbox.driver import Driver

logger = logging.getLogger(__name__)

DRIVERS: Final = {
    "slots": "sandbox.drivers.slots:SlotsDriver",
    "oneshot": "sandbox.drivers.oneshot:OneshotDriver",
    "bwrap": "sandbox.drivers.bwrap:BwrapDriver",
}
"""Where each is, the best one first; imported only when it is tried."""
START_SECONDS: Final = 120.0
"""Far beyond what any takes: it only catches one that hangs."""


class MakeDriver(Protocol):
    """Makes a driver that is not started yet."""

    def __call__(self, *, slots: int) -> Driver:
        """Make it for so many jobs at a time."""
        ...


@dataclass(frozen=True, slots=True)
class Choice:
    """A driver that is started, and why the ones before it were not taken."""

    driver: Driver
    refused: Mapping[str, str] = field(default_factory=dict)


def find_driver(name: str) -> MakeDriver:
    """Import a driver; `DriverUnavailableError` if what it needs is not installed."""
    module, _, factory = DRIVERS[name].partition(":")
    try:
        made: MakeDriver = getattr(import_module(module), factory)
    except ImportError as error:
        msg = f"it needs the Python package '{error.name}', which is not installed"
        raise DriverUnavailableError(msg) from error
    return made


async def choose(
    names: Sequence[str], slots: int, find: Callable[[str], MakeDriver] = find_driver
) -> Choice:
    """Start the first that works; `DriverUnavailableError` with every reason if none does."""
    refused: dict[str, str] = {}
    for name in names:
        try:
            driver = find(name)(slots=slots)
            await _start(driver)
        except DriverUnavailableError as error:
            refused[name] = str(error)
            logger.warning("the driver %s cannot be used: %s", name, error)
        else:
            logger.info("programs run in %s, %d at a time", name, slots)
            return Choice(driver, refused)
    raise DriverUnavailableError("; ".join(f"{name}: {why}" for name, why in refused.items()))


async def _start(driver: Driver) -> None:
    """Start a driver, or leave nothing of it."""
    try:
        async with asyncio.timeout(START_SECONDS):
            await driver.start()
    except BaseException as error:
        await driver.close()
        if isinstance(error, DriverUnavailableError) or not isinstance(error, Exception):
            raise
        logger.exception("a driver raised what it may not")
        msg = f"it failed to start: {type(error).__name__} {error}"
        raise DriverUnavailableError(msg) from error
