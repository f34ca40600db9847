"""The processes of the pool, seen from the service: the nursery, and the workers it forks.

Everything here runs on one event loop. Linux only: pidfds, CPU clocks of other processes.
"""

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
from typing import TYPE_CHECKING, Final, cast

from services.math.workers.nursery import MARK_BYTES, Plan
from services.math.workers.worker import HEAD, MARK_BITS

if TYPE_CHECKING:
    from collections.abc import Callable

PATIENCE_SECONDS: Final = 60.0
"""Wall time after which a process that does not report is given up."""

_ROOT: Final = Path(__file__).parents[3]
_END_SECONDS: Final = 5.0


class PoolError(RuntimeError):
    """The processes that judge cannot be had."""


class Worker(asyncio.Protocol):
    """One worker process. It has one job at a time."""

    def __init__(self, pid: int, pidfd: int, mark: mmap.mmap) -> None:
        self.pid = pid
        self._on_answer: Callable[[Worker, bytes], None] = _ignore
        self._on_loss: Callable[[Worker], None] = _ignore
        self._is_lost = False
        self._pidfd = pidfd
        self._mark = memoryview(mark).cast("Q")
        # The kernel's number for the CPU clock of another process, as in clock_getcpuclockid(3).
        self._clock = (~pid) << 3 | 2
        self._received = bytearray()
        self._ready = asyncio.get_running_loop().create_future()
        self._transport: asyncio.Transport | None = None

    async def connect(self, connection: socket.socket) -> None:
        """Wait for the first frame: this worker is ready."""
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                await loop.create_unix_connection(lambda: self, sock=connection)
                await self._ready
        except BaseException as error:
            await self.close()
            if not isinstance(error, OSError):  # TimeoutError is one
                raise
            msg = "a worker of the math verifier ended before it was ready"
            raise PoolError(msg) from error

    def attach(
        self, on_answer: Callable[[Worker, bytes], None], on_loss: Callable[[Worker], None]
    ) -> None:
        """Say who is told of answers, and of the end of this worker."""
        self._on_answer = on_answer
        self._on_loss = on_loss
        if self._is_lost:
            asyncio.get_running_loop().call_soon(on_loss, self)

    def ask(self, job: bytes) -> None:
        """Send a job; then either its answer comes or the worker is lost."""
        if self._transport is not None:
            self._transport.write(HEAD.pack(len(job)) + job)

    def place(self) -> int | None:
        """Return the place in its job of the sample under way."""
        mark = self._mark[0]
        return mark >> MARK_BITS if mark else None

    def spent(self) -> tuple[int, float] | None:
        """Return the place of the sample under way and the CPU seconds it has used so far."""
        mark = self._mark[0]
        used = self.cpu_micros() - (mark & (1 << MARK_BITS) - 1)
        return (mark >> MARK_BITS, used / 1e6) if mark else None

    def cpu_micros(self) -> int:
        """Return the CPU time of the process since it was forked; 0 if it is gone."""
        try:
            return time.clock_gettime_ns(self._clock) // 1_000
        except OSError:
            return 0

    def kill(self) -> None:
        """End the process at once; then it is lost."""
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)

    async def close(self) -> None:
        """Kill the process, wait for its end and give back what was its."""
        self._on_loss = _ignore
        self.kill()
        await _readable(self._pidfd)
        if self._transport is not None:
            self._transport.abort()
        self._mark.release()
        os.close(self._pidfd)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the way to the process."""
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Put frames together."""
        self._received += data
        if len(self._received) < HEAD.size:
            return
        end = HEAD.size + HEAD.unpack_from(self._received)[0]
        if len(self._received) < end:
            return
        frame = bytes(self._received[HEAD.size : end])
        del self._received[:end]
        if self._ready.done():
            self._on_answer(self, frame)
        else:
            self._ready.set_result(None)

    def connection_lost(self, _: Exception | None) -> None:
        """Tell that the process has ended, or has closed its socket."""
        if not self._ready.done():
            self._ready.set_exception(ConnectionResetError())
        self._is_lost = True
        self._on_loss(self)


def _ignore(*_: object) -> None:
    pass


class Nursery:
    """The nursery process; it is started when a worker is wanted and there is none."""

    def __init__(self, judge: str, budget_seconds: float, memory_bytes: int) -> None:
        self._judge = judge
        self._budget_seconds = budget_seconds
        self._memory_bytes = memory_bytes
        self._lock = asyncio.Lock()
        self._process: asyncio.subprocess.Process | None = None
        self._socket: socket.socket | None = None

    async def fork(self) -> Worker:
        """Return a new worker, ready; a `PoolError` if no nursery can be had.

        If this is cancelled, `close` is all that may follow.
        """
        if self._socket is not None:
            with suppress(PoolError):  # it may have died since; then another one is started
                return await self._fork()
        return await self._fork()

    async def _fork(self) -> Worker:
        here, there = socket.socketpair()
        mark_file = os.memfd_create("mark")
        try:
            os.ftruncate(mark_file, MARK_BYTES)
            pid, pidfd = await self._order([there.fileno(), mark_file])
            worker = Worker(pid, pidfd, mmap.mmap(mark_file, MARK_BYTES))
        except BaseException:
            here.close()
            raise
        finally:
            there.close()
            os.close(mark_file)
        here.setblocking(False)
        await worker.connect(here)
        return worker

    async def close(self) -> None:
        """End the process, and with it the workers it still has."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        if self._process is not None:
            try:
                async with asyncio.timeout(_END_SECONDS):
                    await self._process.wait()
            except TimeoutError:
                with suppress(ProcessLookupError):
                    self._process.kill()
                await self._process.wait()
            self._process = None

    async def _order(self, fds: list[int]) -> tuple[int, int]:
        async with self._lock:
            try:
                connection = self._socket or await self._start()
                socket.send_fds(connection, [b"fork"], fds)
                pid, (pidfd,) = await _hear(connection)
            except (OSError, ValueError) as error:  # TimeoutError is an OSError
                process = self._process
                await self.close()
                status = process.returncode if process else "never"
                msg = (
                    f"the math verifier's nursery ended (exit status {status}); see standard error"
                )
                raise PoolError(msg) from error
            return int(pid), pidfd

    async def _start(self) -> socket.socket:
        self._socket, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket.setblocking(False)
        plan = Plan(self._judge, self._budget_seconds, self._memory_bytes, os.getpid())
        with there:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "services.math.workers.nursery",
                str(there.fileno()),
                json.dumps(plan._asdict()),
                cwd=_ROOT,  # the first place that modules are looked for in
                # Sets in another order may lead sympy another way: verdicts are to be the same.
                env=os.environ | {"PYTHONHASHSEED": "0"},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                pass_fds=[there.fileno()],
                start_new_session=True,
            )
        try:
            await _hear(self._socket)
        except asyncio.CancelledError:
            self._process.kill()  # it would import everything before it looks up
            raise
        return self._socket


async def _hear(connection: socket.socket) -> tuple[bytes, list[int]]:
    async with asyncio.timeout(PATIENCE_SECONDS):
        await _readable(connection.fileno())
    message, fds, _, _ = socket.recv_fds(connection, 64, 1)
    if not message:
        raise ConnectionResetError
    return message, fds


async def _readable(fd: int) -> None:
    """Wait until `fd` can be read; a pidfd can when its process has ended."""
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(fd, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(fd)
