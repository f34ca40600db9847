"""Which languages there are here: asked of the driver once, and kept."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from rewarden.errors import ServiceBusyError
from sandbox.boundary import ask_driver
from sandbox.driver import CellBrokenError

if TYPE_CHECKING:
    from sandbox.driver import Driver

ASK_SECONDS: Final = 60.0


class Toolchains:
    """The versions of the driver's languages."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._versions: dict[str, str] | None = None
        self._asking = asyncio.Lock()

    async def versions(self) -> dict[str, str]:
        """Return the version of each language; `ServiceBusyError` if they are not known now."""
        if self._versions is None:
            async with self._asking:
                if self._versions is None:
                    self._versions = await self._ask()
        return self._versions

    async def _ask(self) -> dict[str, str]:
        try:
            return await ask_driver(self._driver.languages(), ASK_SECONDS)
        except CellBrokenError as error:
            msg = f"the languages are not known: {error}"
            raise ServiceBusyError(msg) from error

    async def fault(self, language: str) -> str:
        """Say why a language cannot be had; nothing if it can."""
        versions = await self.versions()
        if language in versions:
            return ""
        there = ", ".join(sorted(versions)) or "none"
        return f"There is no toolchain for {language} here; there is: {there}."
