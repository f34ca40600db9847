"""`python -m services math|format|sql|code|gateway|all`: run one service in this process.

`all` is every verifier and the gateway's `/v1/verify` behind one port.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import logging
import sys
from typing import TYPE_CHECKING, Any

import uvicorn
from pydantic import ValidationError

from rewarden.errors import ConfigurationError
from services.app import create_app
from services.gateway.door import GatewayDoor
from services.registry import VERIFIERS, make_verifier, spec_model
from services.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fastapi import FastAPI

KEEPALIVE_SECONDS = 75
"""Longer than the clients' own limit, so that no request meets a connection being closed."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until told to stop; 2 if what was asked for cannot be served, 3 if the port cannot."""
    options = vars(_parser().parse_args(arguments))
    service, fd, attached = (options.pop(key) for key in ("service", "fd", "attached"))
    try:
        settings = Settings(**{k: v for k, v in options.items() if v is not None})
        app = make_app(service, settings)
    except (ConfigurationError, ValidationError) as error:
        sys.stderr.write(f"services: {_sentence(error)}\n")
        return 2
    logging.basicConfig(
        level=settings.log_level.upper(), format="%(levelname)s %(name)s: %(message)s"
    )
    # What is imported by now stays: the garbage collector need not walk it again and again.
    gc.freeze()
    config = _uvicorn_config(app, settings, fd)
    server = uvicorn.Server(config)
    with asyncio.Runner(loop_factory=config.get_loop_factory()) as runner:
        runner.run(_serve(server, attached=attached))
    return 0 if server.started else 1


def make_app(service: str, settings: Settings) -> FastAPI:
    """Build the app that `service` names."""
    names = sorted(VERIFIERS) if service in {"all", "gateway"} else [service]
    specs = {name: spec_model(name) for name in names}
    if service == "gateway":
        if settings.queue is None:
            msg = "the gateway needs --queue redis://…; `python -m services all` works without one"
            raise ConfigurationError(msg)
        door = GatewayDoor(settings.queue, names)
        return create_app(service, specs, door=door, api_keys=settings.api_keys)
    return create_app(
        service,
        specs,
        verifiers=[make_verifier(name) for name in names],
        queue_url=settings.queue,
        api_keys=settings.api_keys,
    )


async def _serve(server: uvicorn.Server, *, attached: bool) -> None:
    if attached:
        reader = asyncio.StreamReader()
        loop = asyncio.get_running_loop()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        parent = asyncio.create_task(_stop_at_end(reader, server))
        await server.serve()
        parent.cancel()
    else:
        await server.serve()


async def _stop_at_end(stdin: asyncio.StreamReader, server: uvicorn.Server) -> None:
    """Stop when standard input ends: whoever started this process is gone, however it went."""
    while await stdin.read(4_096):
        pass
    server.should_exit = True


def _uvicorn_config(app: FastAPI, settings: Settings, fd: int | None) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        fd=fd,
        log_level=settings.log_level,
        access_log=False,
        timeout_keep_alive=KEEPALIVE_SECONDS,
        timeout_graceful_shutdown=10,
    )


def _sentence(error: ConfigurationError | ValidationError) -> str:
    if isinstance(error, ConfigurationError):
        return str(error)
    first: Any = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"])
    said = first["msg"].removeprefix("Value error, ")
    return f"{place}: {said}" if place else said


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m services", description=__doc__)
    parser.add_argument("service", choices=[*sorted(VERIFIERS), "gateway", "all"])
    parser.add_argument("--host", help="address to serve on (127.0.0.1)")
    parser.add_argument("--port", type=int, help="port to serve on (8000)")
    parser.add_argument("--queue", metavar="URL", help="serve this queue too: redis://host:6379/0")
    parser.add_argument("--log-level", choices=["debug", "info", "warning", "error"])
    parser.add_argument(
        "--allow-unauthenticated",
        action="store_true",
        default=None,
        help="serve beyond loopback without API keys",
    )
    parser.add_argument("--fd", type=int, help="serve on this inherited listening socket")
    parser.add_argument("--attached", action="store_true", help="stop when standard input ends")
    return parser


if __name__ == "__main__":
    sys.exit(main())
