"""The first process of a slot, which serves jobs: in a container, or in namespaces on a host.

`python -m sandbox.runner.supervisor SOCKET USER NAME=VALUE…`: what follows the user is the
environment of jobs. It calls the service on the slot's socket, which is a path or a descriptor, and
does what it is told, one job at a time:

    open                  are you there?                             opened
    files  + contents     write them, before anything has run
    run    + stdin        run once: `Order`                          answer*, beat*, ended
    call   + line         in a run that is called                    (answer)
    last                  there are no more calls
    stop                  end the run now
    close                 the job is over                            closed

A run that `closes` is the job's last one: what `close` would do follows it by itself.

When the service hangs up, or anything unforeseen happens, it ends, and the kernel ends the container
and all that is in it. Jobs are forked from the zygote, never from here: requests are in this memory.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sandbox.runner import descriptors, frames, isolation, layout, metering
from sandbox.runner.attempt import Attempt, Order
from sandbox.runner.network import Network
from sandbox.runner.room import Room
from sandbox.runner.service import Service

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    from sandbox.runner.metering import Hierarchy

_ZYGOTE: Final = (sys.executable, "-P", "-s", "-m", "sandbox.runner.zygote")


class Supervisor:
    """Serves one slot."""

    def __init__(self, service: Service, room: Room, user: int) -> None:
        self._service = service
        self._room = room
        self._user = user
        self._network = Network()
        self._handlers: dict[str, Callable[[dict[str, Any], bytes], None]] = {
            "open": self._open,
            "files": self._write,
            "run": self._run,
            "close": self._close,
        }

    def serve(self) -> None:
        """Obey until the service hangs up."""
        self._room.open()
        while True:
            header, body = self._service.wait()
            handler = self._handlers.get(header["kind"])
            if handler is not None:  # else an order that crossed with the end of its run
                handler(header, body)

    def _open(self, _: dict[str, Any], __: bytes) -> None:
        self._room.check()
        self._service.send(frames.pack("opened", protocol=frames.PROTOCOL))

    def _write(self, header: dict[str, Any], body: bytes) -> None:
        files, at = [], 0
        for name, size in header["files"]:
            files.append((name, body[at : at + size]))
            at += size
        self._room.write(files)

    def _run(self, header: dict[str, Any], stdin: bytes) -> None:
        order = Order(**header["order"])
        size_bytes, files = self._room.disk(order.disk_bytes, order.files)
        order = order._replace(disk_bytes=size_bytes, files=files)
        start = self._room.take()
        attempt = Attempt(order, start, self._service, self._network, self._user)
        prepare = self._room.make_ready if header["is_followed"] else self._room.turn
        told = attempt.run(stdin, prepare, self._room.end)
        if header["is_compiling"]:
            self._room.settle(start.work)
        start.release()
        if header["closes"]:
            self._room.close()
            told += frames.pack("closed")
        self._service.send(told)

    def _close(self, _: dict[str, Any], __: bytes) -> None:
        self._room.close()
        self._service.send(frames.pack("closed"))


def main() -> None:
    """Set the slot up and serve; ends with the container."""
    path, user = sys.argv[1], int(sys.argv[2])
    environment = dict(item.split("=", 1) for item in sys.argv[3:])
    isolation.set_dumpable(dumpable=False)
    service = Service(path)
    try:
        # Of the first processes of runs, the kernel collects what is left when they have ended.
        zygote = _start_zygote(user, environment)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        room = Room(zygote, _hierarchy(), user)
        Supervisor(service, room, user).serve()
    except descriptors.HungUpError as error:
        sys.stderr.write(f"{error}\n")
    except (metering.MeteringUnavailableError, OSError, RuntimeError) as error:
        service.send(frames.pack("broken", why=str(error)))
        raise


def _hierarchy() -> Hierarchy:
    """Take the control groups that are given, or else divide the container's own."""
    for count in (1, 3):
        given = [Path(place) for place in layout.given_groups(count)]
        if given[0].exists():
            return metering.at(given)
    isolation.mount("groups", layout.GROUPS, "tmpfs", metering.MOUNT_FLAGS, "size=64k")
    return metering.mount_hierarchy(Path(layout.GROUPS))


def _start_zygote(user: int, environment: dict[str, str]) -> socket.socket:
    """Start it as a program of its own, so that nothing of this process is in its memory."""
    ours, theirs = descriptors.pair()
    with theirs:
        subprocess.Popen(  # noqa: S603  # ourselves
            [*_ZYGOTE, str(theirs.fileno()), str(user)],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            env={**environment, "PYTHONPATH": layout.HOME},
        )
    return ours


if __name__ == "__main__":
    main()
