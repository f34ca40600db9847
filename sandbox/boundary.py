"""The edge between the pool and its drivers: nothing but `CellBrokenError` comes through it."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, TypeVar

from sandbox.driver import CellBrokenError

if TYPE_CHECKING:
    from collections.abc import Awaitable

logger = logging.getLogger(__name__)

T = TypeVar("T")


async def ask_driver(step: Awaitable[T], seconds: float) -> T:
    """Wait for a driver, but not for ever; whatever goes wrong there is a broken cell."""
    try:
        async with asyncio.timeout(seconds):
            return await step
    except CellBrokenError:
        raise
    except TimeoutError as error:
        msg = f"the driver did not answer within {seconds:g} s"
        raise CellBrokenError(msg) from error
    except Exception as error:
        logger.exception("a driver raised what it may not")
        msg = f"the driver failed: {type(error).__name__}"
        raise CellBrokenError(msg) from error
