"""What begins runs for a service that is not a slot: on the host, or in a container for one job.

It is told what to do in the frames of the supervisor (see there), one job at a time. How programs
are kept apart is the business of its `Place`: `host` for bubblewrap, `contained` for a container.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol

from sandbox.runner import descriptors, frames
from sandbox.runner.watch import Order, Watch

if TYPE_CHECKING:
    from sandbox.runner.metering import Group
    from sandbox.runner.watch import Channel, Tree

_CHUNK: Final = 1 << 16


class Place(Protocol):
    """Where the programs of one job at a time run."""

    def open(self) -> None:
        """Make ready for a job."""
        ...

    def write(self, files: list[tuple[str, bytes]]) -> None:
        """Write the job's files."""
        ...

    def take(self, order: Order) -> tuple[Tree, Group]:
        """Return a tree for a run, which is to be released."""
        ...

    def make_ready(self, *, is_followed: bool) -> None:
        """Make ready, during a run, for what is next: another run of this job, or another job."""
        ...

    def settle(self) -> None:
        """Count what is on the disk now as there before: a run is over."""
        ...

    def end(self, group: Group) -> None:
        """Forget the group of a run that is over."""
        ...

    def close(self) -> None:
        """Remove all that the job left."""
        ...


class Launcher:
    """Serves one slot."""

    def __init__(self, service: Channel, place: Place) -> None:
        self._service = service
        self._place = place
        self._frames = frames.Reader()

    def serve(self) -> None:
        """Obey until the service hangs up."""
        self._place.open()
        while True:
            header, body = self._hear()
            if header["kind"] == "open":
                self._service.sendall(frames.pack("opened", protocol=frames.PROTOCOL))
            elif header["kind"] == "files":
                self._write(header["files"], body)
            elif header["kind"] == "run":
                self._run(header, body)
            elif header["kind"] == "close":
                self._close()
            # else an order that crossed with the end of its run

    def _hear(self) -> tuple[dict[str, Any], bytes]:
        while (frame := self._frames.next()) is None:
            data = self._service.recv(_CHUNK)
            if not data:
                raise descriptors.HungUpError("the service is gone")
            self._frames.feed(data)
        return frame

    def _write(self, names: list[tuple[str, int]], body: bytes) -> None:
        files, at = [], 0
        for name, size in names:
            files.append((name, body[at : at + size]))
            at += size
        self._place.write(files)

    def _run(self, header: dict[str, Any], stdin: bytes) -> None:
        order = Order.read(header["order"])
        tree, group = self._place.take(order)
        watch = Watch(tree, group, order, self._service, self._frames)
        tree.release(order)
        self._place.make_ready(is_followed=header["is_followed"])
        told = watch.run(stdin)
        if header["is_compiling"]:
            self._place.settle()
        self._service.sendall(told)
        self._place.end(group)
        if header["closes"]:
            self._close()

    def _close(self) -> None:
        self._place.close()
        self._service.sendall(frames.pack("closed"))
        self._place.open()
