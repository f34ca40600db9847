"""`python -m sandbox`: run untrusted programs, and serve what was observed over HTTP.

It listens on loopback or on a unix socket, and beyond only with API keys. Programs are kept apart
by the first driver that works here (--driver auto: slots, oneshot, bwrap); where none does, this
ends with a sentence and runs nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import logging
import os
import signal
import socket
import stat
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import uvicorn
from pydantic import ValidationError

from rewarden.errors import ConfigurationError
from sandbox.app import create_app
from sandbox.choice import DRIVERS, choose
from sandbox.driver import DriverUnavailableError
from sandbox.pool import Pool
from sandbox.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from sandbox.choice import Choice

KEEPALIVE_SECONDS = 75
"""Longer than the clients' own limit, so that no request meets a connection being closed."""
TELL_SECONDS = 5
"""To tell what became of the jobs that outlast their grace."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until told to stop; 2 if that cannot be done here, 3 if the port is taken."""
    options = vars(_parser().parse_args(arguments))
    fd, attached = options.pop("fd"), options.pop("attached")
    try:
        settings = Settings(**{k: v for k, v in options.items() if v is not None})
    except ValidationError as error:
        return _refuse(_sentence(error))
    logging.basicConfig(
        level=settings.log_level.upper(), format="%(levelname)s %(name)s: %(message)s"
    )
    # What is imported by now stays: the garbage collector need not walk it again and again.
    gc.freeze()
    config = _uvicorn_config(settings, fd)
    with asyncio.Runner(loop_factory=config.get_loop_factory()) as runner:
        try:
            return runner.run(_run(config, settings, attached=attached))
        except (ConfigurationError, DriverUnavailableError) as error:
            return _refuse(str(error))


class _Server(uvicorn.Server):
    """Lets the jobs that run come to their end, or tells what became of them."""

    def __init__(self, config: uvicorn.Config, pool: Pool, grace_seconds: float) -> None:
        super().__init__(config)
        self._pool = pool
        self._grace_seconds = grace_seconds

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        draining = asyncio.create_task(self._pool.drain(self._grace_seconds))
        await super().shutdown(sockets)
        await draining


async def _run(config: uvicorn.Config, settings: Settings, *, attached: bool) -> int:
    leaving = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, leaving.set)
    parent = asyncio.create_task(_wait_for_parent(leaving)) if attached else None
    try:
        with _listening(settings.uds) as sockets:
            slots = settings.slots or len(os.sched_getaffinity(0))
            choice = await _choose_unless(leaving, settings.driver, slots)
            return await _serve(config, settings, choice, leaving, sockets) if choice else 0
    finally:
        if parent is not None:
            parent.cancel()


async def _choose_unless(leaving: asyncio.Event, driver: str, slots: int) -> Choice | None:
    """Start a driver; nothing is left of it if this is told to stop meanwhile."""
    names = list(DRIVERS) if driver == "auto" else [driver]
    choosing = asyncio.create_task(choose(names, slots))
    told = asyncio.create_task(leaving.wait())
    await asyncio.wait({choosing, told}, return_when=asyncio.FIRST_COMPLETED)
    told.cancel()
    if choosing.done():
        return choosing.result()
    choosing.cancel()
    with suppress(asyncio.CancelledError, DriverUnavailableError):
        await choosing
    return None


async def _serve(
    config: uvicorn.Config,
    settings: Settings,
    choice: Choice,
    leaving: asyncio.Event,
    sockets: list[socket.socket] | None,
) -> int:
    pool = Pool(
        choice.driver,
        slots=settings.slots,
        max_waiting=settings.max_waiting,
        jobs_per_slot=settings.jobs_per_slot,
    )
    config.app = create_app(pool, refused=choice.refused, api_keys=settings.api_keys)
    server = _Server(config, pool, settings.grace_seconds)
    stopping = asyncio.create_task(_stop_when(leaving, server))
    try:
        await server.serve(sockets)
    finally:
        stopping.cancel()
        await pool.close()  # done already, unless it could not serve at all
    return 0 if server.started else 1


async def _stop_when(leaving: asyncio.Event, server: uvicorn.Server) -> None:
    await leaving.wait()
    server.should_exit = True


async def _wait_for_parent(leaving: asyncio.Event) -> None:
    """Leave when standard input ends: whoever started this process is gone, however it went."""
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while await reader.read(4_096):
        pass
    leaving.set()


@contextmanager
def _listening(path: Path | None) -> Iterator[list[socket.socket] | None]:
    """Listen on a socket that no other user may connect to; it is removed in the end."""
    if path is None:
        yield None
        return
    _make_room(path)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        before = os.umask(0o177)
        try:
            listener.bind(str(path))
        except OSError as error:
            msg = f"{path} cannot be served: {error.strerror or error}"
            raise ConfigurationError(msg) from error
        finally:
            os.umask(before)
        listener.listen()
        try:
            yield [listener]
        finally:
            path.unlink(missing_ok=True)


def _make_room(path: Path) -> None:
    """Remove a socket that nobody serves, and nothing else."""
    with suppress(FileNotFoundError):
        if not stat.S_ISSOCK(path.stat().st_mode) or _is_served(path):
            msg = f"{path} is in use"
            raise ConfigurationError(msg)
        path.unlink()


def _is_served(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as caller:
        return caller.connect_ex(str(path)) == 0


def _uvicorn_config(settings: Settings, fd: int | None) -> uvicorn.Config:
    return uvicorn.Config(
        "sandbox",  # replaced by the app once there is a driver
        host=settings.host,
        port=settings.port,
        fd=fd,
        log_level=settings.log_level,
        access_log=False,
        timeout_keep_alive=KEEPALIVE_SECONDS,
        timeout_graceful_shutdown=int(settings.grace_seconds) + TELL_SECONDS,
    )


def _refuse(why: str) -> int:
    sys.stderr.write(f"sandbox: {why}\n")
    return 2


def _sentence(error: ValidationError) -> str:
    first: Any = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"])
    said = first["msg"].removeprefix("Value error, ")
    return f"{place}: {said}" if place else said


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m sandbox", description=__doc__)
    parser.add_argument("--host", help="address to serve on (127.0.0.1)")
    parser.add_argument("--port", type=int, help="port to serve on (8100)")
    parser.add_argument("--uds", metavar="PATH", help="serve on this unix socket instead")
    parser.add_argument("--driver", choices=["auto", *DRIVERS], help="how programs are kept apart")
    parser.add_argument("--slots", type=int, help="jobs at a time (one a core)")
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
