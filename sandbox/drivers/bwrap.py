"""Programs in namespaces on the host, made by bubblewrap: for machines without Docker.

As root, where control groups can be made, bubblewrap makes one long-lived place a slot, and in it the
supervisor of `slots` makes fresh namespaces for every run, whose programs are a user of the slot's own
(`sandbox.runner.enclosed`). As root without control groups, and as anybody else, bubblewrap makes the
namespaces of every run (`sandbox.runner.hosted`), and limits are kept by sampling `/proc` (see
`sandbox.runner.procfs` for what is missed then).

Every run has no network and no capability; it sees `/usr` and the Python in use, and otherwise only
the job's own disk. What is not covered: one kernel for all, of which a fault is everybody's; and
whatever is readable in `/usr` is readable for programs.
"""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import sandbox
from sandbox.driver import CellBrokenError, DriverUnavailableError
from sandbox.drivers import groups, kit, slot_trial, trial
from sandbox.drivers.link import Link
from sandbox.drivers.slot_cell import SlotCell
from sandbox.jobs import Observation, Status
from sandbox.languages import (
    ENVIRONMENT,
    PATH,
    ToolchainMissingError,
    find_toolchain,
    languages_on_host,
)
from sandbox.runner import seccomp

if TYPE_CHECKING:
    from sandbox.jobs import Job

logger = logging.getLogger(__name__)

_FIRST_USER: Final = 1_990_000_000
_SERVICES: Final = 65_536
_MOST_SLOTS: Final = 1_024
_PREFIX: Final = "rewarden-bwrap-"
_SEARCHED: Final = f"{sys.base_prefix}/bin:{PATH}"
"""Python is the one that this is run with, whatever else there is."""
_ENVIRONMENT: Final = {**ENVIRONMENT, "PATH": _SEARCHED}
END_SECONDS: Final = 2.0
_STREAM_LIMIT: Final = 1024 * 1024


class BwrapDriver:
    """A launcher a slot; each begins its runs under bubblewrap."""

    name = "bwrap"

    def __init__(self, *, slots: int, with_groups: bool = True) -> None:
        """`with_groups` may make control groups, where that is possible."""
        self._slots = slots
        self._with_groups = with_groups and os.geteuid() == 0
        self._launchers: dict[int, _Launcher] = {}
        self._folder: Path | None = None
        self._groups: list[Path] = []
        self._versions: dict[str, str] = {}
        self._filter = b""

    async def start(self) -> None:
        """Find the parts, begin a launcher a slot, and try what programs can do."""
        self._check()
        _reap()
        self._folder = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-"))
        if self._with_groups:
            self._groups = groups.make_folders(secrets.token_hex(4))
        await asyncio.to_thread(kit.write, self._folder, self._groups)
        self._versions = await asyncio.to_thread(languages_on_host, _SEARCHED)
        try:
            await asyncio.gather(*(self.renew(slot) for slot in range(self._slots)))
        except CellBrokenError as error:
            raise DriverUnavailableError(str(error)) from error
        await trial.try_out(self)
        if self._groups:
            await slot_trial.try_out(self, 0)
        logger.info("bubblewrap: runs are measured by %s", self.metering)

    @property
    def metering(self) -> str:
        """How runs are measured, in words."""
        kinds = {0: "sampling /proc", 1: "control groups v2"}
        return kinds.get(len(self._groups), "control groups v1")

    async def open(self, slot: int) -> HostCell:
        """Open a cell beside the slot's launcher; that it has died meanwhile shows in its first run."""
        launcher = self._launchers.get(slot)
        if launcher is None or launcher.link.is_broken:
            raise CellBrokenError("the slot's launcher has ended")
        return HostCell(launcher.link, self._versions, is_warm=bool(self._groups))

    async def renew(self, slot: int) -> None:
        """Replace the slot's launcher; `CellBrokenError` if there is no new one."""
        await self._end(slot)
        launcher, name = self._begin(slot)
        self._launchers[slot] = launcher
        try:
            launcher.link = Link(*await launcher.connect())
            await launcher.link.ask("open", "opened")
            self._sweep(slot, name)
        except (CellBrokenError, OSError) as error:
            await self._end(slot)
            raise CellBrokenError(f"no launcher can be had: {error}") from error

    async def languages(self) -> dict[str, str]:
        """Return the version of each language that this host has."""
        return dict(self._versions)

    async def close(self) -> None:
        """End every launcher, and remove the folder and the control groups."""
        await asyncio.gather(*map(self._end, list(self._launchers)))
        groups.remove_folders(self._groups)
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _check(self) -> None:
        if sys.platform != "linux":
            raise DriverUnavailableError("bubblewrap is for Linux")
        for program, package in (("bwrap", "bubblewrap"), ("setpriv", "util-linux")):
            if shutil.which(program) is None:
                msg = f"there is no '{program}' on PATH: install the package '{package}'"
                raise DriverUnavailableError(msg)
        try:
            self._filter = seccomp.assemble(os.uname().machine)
        except OSError as error:
            raise DriverUnavailableError(str(error)) from error

    def _begin(self, slot: int) -> tuple[_Launcher, str]:
        """Begin what serves a slot; also return the name of what is the slot's own."""
        folder = self._folder
        if folder is None:
            raise CellBrokenError("the driver is not started")
        name = f"{slot}-{secrets.token_hex(4)}"
        (folder / name).mkdir()
        place = {"folder": str(folder / name), "links": kit.links(), "binds": kit.binds(folder)}
        if self._groups:
            return _Launcher.begin("enclosed", place | self._enclosure(slot, name)), name
        return _Launcher.begin("hosted", place | self._bubblewrap(slot)), name

    def _enclosure(self, slot: int, name: str) -> dict[str, Any]:
        return {
            "program": shutil.which("bwrap"),
            "groups": [str(path) for path in self._groups],
            "name": name,
            "environment": _ENVIRONMENT,
            "user": first_user(os.getpid()) + slot,
        }

    def _bubblewrap(self, slot: int) -> dict[str, Any]:
        return {
            "system_calls": base64.b64encode(self._filter).decode(),
            "bubblewrap": {
                "program": shutil.which("bwrap"),
                "setpriv": shutil.which("setpriv"),
                "environment": _ENVIRONMENT,
                "user": first_user(os.getpid()) + slot if os.geteuid() == 0 else None,
            },
        }

    def _sweep(self, slot: int, name: str) -> None:
        """Remove what launchers of a slot that were killed have left; `name` is the one there now."""
        for place in (self._folder, *self._groups):
            for left in place.glob(f"{slot}-*") if place else ():
                if left.name == name:
                    continue
                if place == self._folder:
                    shutil.rmtree(left, ignore_errors=True)
                else:
                    groups.remove(left)

    async def _end(self, slot: int) -> None:
        launcher = self._launchers.pop(slot, None)
        if launcher is not None:
            await launcher.end()


def first_user(service: int) -> int:
    """Return whom the programs of a service's first slot are, where it is root; slots count on.

    Limits of the kernel that count per user are not shared among the services of a host, unless the
    numbers of their processes are the same in their lowest 16 bits.
    """
    return _FIRST_USER + service % _SERVICES * _MOST_SLOTS


class HostCell(SlotCell):
    """A cell beside a launcher; the launcher speaks like the supervisor of a slot."""

    def __init__(self, link: Link, versions: dict[str, str], *, is_warm: bool) -> None:
        super().__init__(link, is_warm=is_warm, environment=_ENVIRONMENT)
        self._versions = versions

    async def prepare(self, job: Job) -> Observation | None:
        """Write the files, and compile, if this host has the language."""
        try:
            find_toolchain(job.language, self._versions)
        except ToolchainMissingError as error:
            return Observation(status=Status.SANDBOX_ERROR, detail=str(error))
        return await super().prepare(job)


class _Launcher:
    """The process beside a slot, and the way to it."""

    def __init__(self, process: subprocess.Popen[bytes], end: socket.socket) -> None:
        self._process = process
        self._end = end
        self.link: Link

    @classmethod
    def begin(cls, module: str, place: dict[str, Any]) -> _Launcher:
        """Begin one: a module of `sandbox.runner`."""
        ours, theirs = socket.socketpair()
        with theirs:
            argv = [sys.executable, "-S", "-s", "-m", f"sandbox.runner.{module}"]
            process = subprocess.Popen(  # noqa: S603  # ourselves
                [*argv, json.dumps(place), str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                cwd=Path(sandbox.__file__).parent.parent,
                env={"PATH": PATH, "LANG": "C.UTF-8"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        return cls(process, ours)

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Open the way to it."""
        return await asyncio.open_unix_connection(sock=self._end, limit=_STREAM_LIMIT)

    async def end(self) -> None:
        """Hang up, on which it takes everything away and ends; kill it if it does not.

        Then bubblewrap ends with its parent, and every namespace with bubblewrap.
        """
        if hasattr(self, "link"):
            await self.link.close()
        self._end.close()
        await asyncio.to_thread(self._await_end)

    def _await_end(self) -> None:
        try:
            self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _reap() -> None:
    """Remove the folders of services that were killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*-*"):
        owner = folder.name.removeprefix(_PREFIX).partition("-")[0]
        with suppress(OSError):
            if folder.stat().st_uid == os.geteuid() and not Path("/proc", owner).exists():
                shutil.rmtree(folder)
