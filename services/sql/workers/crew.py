"""The processes of the pool, seen from the service: the nursery, and the workers it forks."""

from __future__ import annotations

import asyncio
import json
import mmap
import os
import signal
import socket
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rewarden.errors import RewardenError
from services.sql.workers.mark import MARK_BYTES, Mark, Phase
from services.sql.workers.worker import HEAD

if TYPE_CHECKING:
    from services.sql.workers.nursery import Plan

PATIENCE_SECONDS: Final = 60.0
_ROOT: Final = Path(__file__).parents[3]
_MAX_FRAME: Final = 1 << 20


class PoolError(RewardenError):
    """The processes that judge cannot be had."""


class Hand:
    """One worker process, which answers one question at a time."""

    def __init__(self, pid: int, pidfd: int, mark: Mark) -> None:
        self.pid = pid
        self.stopped_in: Phase | None = None
        """The phase that it was killed in for taking too long."""
        self.is_slow = False
        """Whether it has been at its question for long, so that another one took its place."""
        self.has_made_way = False
        """Whether all others go first; there is no way back from that."""
        self._pidfd = pidfd
        self._mark = mark
        # The kernel's number for the CPU clock of another process, as in clock_getcpuclockid(3).
        self._clock = (~pid) << 3 | 2
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def connect(self, connection: socket.socket) -> None:
        """Wait until it is ready."""
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                self._reader, self._writer = await asyncio.open_unix_connection(
                    sock=connection, limit=_MAX_FRAME
                )
                await self._receive()
        except (OSError, EOFError) as error:
            await self.close()
            msg = "a worker of the SQL verifier ended before it was ready"
            raise PoolError(msg) from error

    async def ask(self, question: bytes) -> bytes:
        """Send a question and return the answer; an `EOFError` if the process ends over it."""
        if self._writer is None:
            raise EOFError
        self._writer.write(HEAD.pack(len(question)) + question)
        try:
            return await self._receive()
        except ConnectionError as error:
            raise EOFError from error

    async def _receive(self) -> bytes:
        if self._reader is None:
            raise EOFError
        (size,) = HEAD.unpack(await self._reader.readexactly(HEAD.size))
        return await self._reader.readexactly(size)

    def phase(self) -> Phase | None:
        """Return what it is doing."""
        return self._mark.read()

    def used_micros(self, phase: Phase) -> int:
        """Return the time that the phase has taken, on its own clock."""
        try:
            now = time.monotonic_ns() if phase.is_wall else time.clock_gettime_ns(self._clock)
        except OSError:  # it is gone
            return 0
        return now // 1_000 - phase.began_micros

    def make_way(self) -> None:
        """Let all other processes go first from now on."""
        self.has_made_way = True
        with suppress(OSError):
            os.sched_setscheduler(self.pid, os.SCHED_IDLE, os.sched_param(0))

    def kill(self) -> None:
        """End the process at once."""
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)

    async def close(self) -> None:
        """Kill the process and give back what was its."""
        self.kill()
        if self._writer is not None:
            self._writer.close()
            with suppress(OSError):
                await self._writer.wait_closed()
        await _readable(self._pidfd)
        self._mark.close()
        os.close(self._pidfd)


class Nursery:
    """The nursery process."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._lock = asyncio.Lock()
        self._process: asyncio.subprocess.Process | None = None
        self._socket: socket.socket | None = None

    async def fork(self) -> Hand:
        """Return a new worker, ready; a `PoolError` if none can be had."""
        here, there = socket.socketpair()
        file = os.memfd_create("mark")
        try:
            os.ftruncate(file, MARK_BYTES)
            pid, pidfd = await self._order([there.fileno(), file])
            hand = Hand(pid, pidfd, Mark(mmap.mmap(file, MARK_BYTES)))
        except BaseException:
            here.close()
            raise
        finally:
            there.close()
            os.close(file)
        here.setblocking(False)
        await hand.connect(here)
        return hand

    async def close(self) -> None:
        """End the process."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        if self._process is not None:
            await self._process.wait()
            self._process = None

    async def _order(self, fds: list[int]) -> tuple[int, int]:
        async with self._lock:
            try:
                connection = self._socket or await self._start()
                socket.send_fds(connection, [b"fork"], fds)
                message, (pidfd,) = await _hear(connection)
            except (OSError, ValueError) as error:
                if self._process is not None:
                    with suppress(ProcessLookupError):
                        self._process.kill()
                await self.close()
                msg = "the nursery of the SQL verifier ended; see standard error"
                raise PoolError(msg) from error
            return int(message), pidfd

    async def _start(self) -> socket.socket:
        self._socket, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket.setblocking(False)
        with there:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "services.sql.workers.nursery",
                str(there.fileno()),
                json.dumps(self._plan._asdict()),
                cwd=_ROOT,  # the first place that modules are looked for in
                # Ties are broken by the order of sets, and some functions know the time zone:
                # verdicts are to be the same everywhere.
                env=os.environ | {"PYTHONHASHSEED": "0", "TZ": "UTC"},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                pass_fds=[there.fileno()],
                start_new_session=True,
            )
        await _hear(self._socket)
        return self._socket


async def _hear(connection: socket.socket) -> tuple[bytes, list[int]]:
    async with asyncio.timeout(PATIENCE_SECONDS):
        await _readable(connection.fileno())
    message, fds, _, _ = socket.recv_fds(connection, 64, 1)
    if not message:
        raise ConnectionResetError
    return message, list(fds)


async def _readable(fd: int) -> None:
    """Wait until `fd` can be read; a pidfd can when its process has ended."""
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(fd, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(fd)
