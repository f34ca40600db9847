"""The sandbox's app with a puppet for a driver, on a real socket in this process."""

from __future__ import annotations

import asyncio
import socket
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import uvicorn

from sandbox.app import create_app
from sandbox.pool import Pool
from tests.puppet_driver import PuppetDriver

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from fastapi import FastAPI


def puppet_app(driver: PuppetDriver | None = None, **options: Any) -> FastAPI:
    """Make an app; options are those of `Pool` and `create_app`."""
    driver = driver or PuppetDriver()
    app_options = {k: options.pop(k) for k in ("refused", "api_keys") if k in options}
    return create_app(Pool(driver, slots=driver.slots, **options), **app_options)


@asynccontextmanager
async def served(app: FastAPI, path: Path | None = None) -> AsyncIterator[str]:
    """Serve an app on loopback, or on a unix socket; gives its address."""
    family = socket.AF_INET if path is None else socket.AF_UNIX
    with socket.socket(family, socket.SOCK_STREAM) as listener:
        listener.bind(("127.0.0.1", 0) if path is None else str(path))
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False))
        task = asyncio.create_task(server.serve([listener]))
        try:
            while not server.started:
                assert not task.done()
                await asyncio.sleep(0.001)
            yield f"unix:{path}" if path else f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            await task
