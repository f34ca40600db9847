"""The process that the workers are forked from: `python -m services.sql.workers.nursery FD PLAN`.

It is an interpreter of its own, with one thread, that imports everything once; a worker is then a
fork, ready in milliseconds. FD is a socket to the service: a message with a worker's end of a
socket and the file of its mark is answered with its pid and a pidfd. PLAN is JSON. When the
service is gone, the workers are killed. Linux only.
"""

from __future__ import annotations

import gc
import json
import logging
import mmap
import os
import resource
import signal
import socket
import sys
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from services.sql.workers.mark import MARK_BYTES, Mark
from services.sql.workers.worker import MarkClock, Worker, end

if TYPE_CHECKING:
    from collections.abc import Sequence

READY: Final = b"ready"
MAX_FILE_BYTES: Final = 1024**3
"""Of a database, however it is made."""
_PRELOADED: Final = ("sqlglot", "sqlglot.dialects.sqlite", "sqlglot.dialects.duckdb")
_PRELOADED_IF_THERE: Final = ("duckdb", "psycopg")


class Plan(NamedTuple):
    """What the workers are to be."""

    judge: str
    """The class that judges, as "module:attribute"; it is given a folder, a clock and `disk_bytes`."""
    root: str
    memory_bytes: int
    disk_bytes: int


def main(arguments: Sequence[str]) -> None:
    """Be the nursery; in each fork, be a worker."""
    # A terminal's Ctrl-C and a supervisor's SIGTERM go to every process; the service decides.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    logging.basicConfig(format="%(levelname)s %(name)s: %(message)s")
    plan = Plan(**json.loads(arguments[1]))
    module, _, attribute = plan.judge.partition(":")
    for name in (*_PRELOADED, *filter(find_spec, _PRELOADED_IF_THERE), module):
        import_module(name)
    gc.collect()
    gc.freeze()  # so that a collection in a worker does not copy the pages they all share
    with socket.socket(fileno=int(arguments[0])) as parent:
        parent.send(READY)
        order = _tend(parent)
    if order is not None:
        _work(plan, getattr(sys.modules[module], attribute), order)


def _tend(parent: socket.socket) -> tuple[int, int] | None:
    """Fork on demand; return in a fork, and (None) when the service is gone."""
    workers: dict[int, int] = {}
    while True:
        message, fds = _read(parent)
        _bury(workers)
        if not message:
            for pidfd in workers.values():
                signal.pidfd_send_signal(pidfd, signal.SIGKILL)
            return None
        pid = os.fork()
        if pid == 0:
            return fds[0], fds[1]
        workers[pid] = os.pidfd_open(pid)  # not yet buried, so that the pid is its own
        for fd in fds:
            os.close(fd)
        with suppress(OSError):  # of a service that is gone the next turn tells
            socket.send_fds(parent, [str(pid).encode()], [workers[pid]])


def _read(parent: socket.socket) -> tuple[bytes, list[int]]:
    try:
        message, fds, _, _ = socket.recv_fds(parent, 16, 2)
    except ConnectionError:  # it went before it read what was sent to it
        return b"", []
    return message, list(fds)


def _bury(workers: dict[int, int]) -> None:
    while workers:
        pid, _ = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        os.close(workers.pop(pid))


def _work(plan: Plan, judge: type, order: tuple[int, int]) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (plan.memory_bytes, plan.memory_bytes))
    resource.setrlimit(resource.RLIMIT_FSIZE, (MAX_FILE_BYTES, MAX_FILE_BYTES))
    with suppress(OSError):  # where the machine runs out of memory, a worker goes first
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
    mark = Mark(mmap.mmap(order[1], MARK_BYTES))
    os.close(order[1])
    connection = socket.socket(fileno=order[0])
    with suppress(ConnectionError):  # the service may go at any time
        made = judge(Path(plan.root), MarkClock(mark), plan.disk_bytes)
        Worker(made, connection, mark).run()
    end()


if __name__ == "__main__":
    main(sys.argv[1:])
