"""The process that the workers are forked from: `python -m services.math.workers.nursery FD PLAN`.

It is an interpreter of its own, with one thread, that imports everything once; a worker is then a
fork, ready in milliseconds. FD is a socket to the parent. A message on it carries the worker's
end of a socket and the file of its mark, and is answered with the pid and a pidfd of the worker.
PLAN is a JSON object with the members of `Plan`.

When the parent is gone, whatever its end was, the workers are killed and the nursery ends. Linux
only.
"""

from __future__ import annotations

import gc
import logging
import mmap
import os
import resource
import signal
import socket
import sys
from contextlib import suppress
from importlib import import_module
from json import loads
from pathlib import Path
from selectors import EVENT_READ, PollSelector
from typing import TYPE_CHECKING, Final, NamedTuple

from services.math.workers.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Sequence

    from services.math.workers.worker import Judging

READY: Final = b"ready"
MARK_BYTES: Final = 8
_PRELOADED: Final = ("sympy", "mpmath")


class Plan(NamedTuple):
    """What the workers are to be."""

    judge: str
    """The class that judges, as "module:attribute"."""
    budget_seconds: float
    memory_bytes: int
    parent: int
    """The pid of the service."""


COLLECT_AFTER: Final = 20_000
"""Objects made between two looks for cycles; checks make many objects and hardly a cycle."""


class Order(NamedTuple):
    """What the parent sends for one worker."""

    connection: int
    mark: int


def main(arguments: Sequence[str]) -> None:
    """Be the nursery; in each fork, be a worker."""
    # A terminal's Ctrl-C and a supervisor's SIGTERM go to every process; the parent decides.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    logging.basicConfig(format="%(levelname)s %(name)s: %(message)s")
    fd, plan = int(arguments[0]), Plan(**loads(arguments[1]))
    judge = _make(plan.judge)
    with socket.socket(fileno=fd) as parent:
        gc.collect()
        gc.freeze()  # so that a collection in a worker does not copy the pages they all share
        gc.set_threshold(COLLECT_AFTER)
        parent.send(READY)
        order = _tend(parent, plan)
    if order is not None:
        _work(judge, order, plan)


def _make(path: str) -> Judging:
    for name in _PRELOADED:
        import_module(name)
    module, _, attribute = path.partition(":")
    # Made once and forked, so that what its constructor prepares is there in every worker.
    judge: Judging = getattr(import_module(module), attribute)()
    return judge


def _tend(parent: socket.socket, plan: Plan) -> Order | None:
    """Fork on demand and bury the dead; return in a fork, and (None) when the parent is gone."""
    workers: dict[int, int] = {}
    with PollSelector() as waiting:
        waiting.register(parent, EVENT_READ)
        # Its socket may stay open in a process that the parent forked.
        parent_fd = _watch_parent(plan.parent)
        waiting.register(parent_fd, EVENT_READ)
        while True:
            for key, _ in waiting.select():
                if key.fd in workers:
                    waiting.unregister(key.fd)
                    _bury(key.fd, workers)
                    continue
                order = _read_order(parent) if key.fd == parent.fileno() else None
                if order is None:
                    _end(workers)
                    return None
                pidfd = _fork(parent, order, workers)
                if pidfd is None:
                    for fd in (parent_fd, *workers):
                        os.close(fd)
                    return order
                waiting.register(pidfd, EVENT_READ)


def _watch_parent(pid: int) -> int:
    fd = os.pidfd_open(pid)
    if os.getppid() != pid:  # it went, and the number may be another's by now
        sys.exit(1)
    return fd


def _read_order(parent: socket.socket) -> Order | None:
    message, fds, _, _ = socket.recv_fds(parent, 16, 2)
    return Order(*fds) if message else None


def _fork(parent: socket.socket, order: Order, workers: dict[int, int]) -> int | None:
    """Return a pidfd of the new worker, and None in the worker."""
    pid = os.fork()
    if pid == 0:
        return None
    pidfd = os.pidfd_open(pid)  # before it is buried, so that the pid is its own
    workers[pidfd] = pid
    for fd in order:
        os.close(fd)
    with suppress(OSError):  # of a parent that is gone the next turn tells
        socket.send_fds(parent, [str(pid).encode()], [pidfd])
    return pidfd


def _bury(pidfd: int, workers: dict[int, int]) -> None:
    os.waitpid(workers.pop(pidfd), 0)
    os.close(pidfd)


def _end(workers: dict[int, int]) -> None:
    for pidfd in workers:
        signal.pidfd_send_signal(pidfd, signal.SIGKILL)
    for pidfd in list(workers):
        _bury(pidfd, workers)


def _work(judge: Judging, order: Order, plan: Plan) -> None:
    limit = (plan.memory_bytes, plan.memory_bytes)
    resource.setrlimit(resource.RLIMIT_AS, limit)
    with suppress(OSError):  # where the machine runs out of memory, a worker goes first
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
    mark = memoryview(mmap.mmap(order.mark, MARK_BYTES)).cast("Q")
    os.close(order.mark)
    connection = socket.socket(fileno=order.connection)
    with suppress(ConnectionError):  # the parent may go at any time
        Worker(judge, connection, mark, plan.budget_seconds).run()
    os._exit(0)  # nothing here is worth the time of an orderly end


if __name__ == "__main__":
    main(sys.argv[1:])
