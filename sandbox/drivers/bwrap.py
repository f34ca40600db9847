"""Programs in namespaces on the host, made by bubblewrap: for machines without Docker.

Every run has fresh namespaces of every kind, no network and no capability; it sees `/usr` and the
Python in use, and otherwise only the job's own disk. As root, programs run as a user of the slot's
own in control groups; as anybody else they run in a user namespace, and limits are kept by sampling
`/proc` (see `sandbox.runner.procfs` for what is missed then).

What is not covered: one kernel for all, of which a fault is everybody's; and whatever is readable in
`/usr` is readable for programs.
"""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import os
import py_compile
import secrets
import shutil
import site
import socket
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import sandbox
from sandbox.driver import CellBrokenError, DriverUnavailableError
from sandbox.drivers import groups, trial
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

FIRST_USER: Final = 1_990_000_000
"""Slot n's programs are user FIRST_USER + n of the host, where the service is root."""
_PREFIX: Final = "rewarden-bwrap-"
RUNNER: Final = "/opt/runner"
_SEARCHED: Final = f"{sys.base_prefix}/bin:{PATH}"
"""Python is the one that this is run with, whatever else there is."""
END_SECONDS: Final = 2.0
_STREAM_LIMIT: Final = 1024 * 1024
_ROOT_FOLDERS: Final = ("bin", "lib", "lib32", "lib64", "libx32", "sbin")
_SHARED: Final = ("/etc/alternatives", "/etc/ld.so.cache", "/etc/ssl/certs/java")
_NOTHING: Final = "nothing"
"""An empty file, seen in place of others."""
_ACCOUNTS: Final = {
    "passwd": "root:x:0:0::/:/bin/false\nnobody:x:65534:65534::/tmp:/bin/false\n",
    "group": "root:x:0:\nnogroup:x:65534:\n",
    "hosts": "127.0.0.1 localhost sandbox\n",
}


class BwrapDriver:
    """A launcher a slot; each begins its runs under bubblewrap."""

    name = "bwrap"

    def __init__(self, *, slots: int) -> None:
        self._slots = slots
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
        _write_kit(self._folder)
        if os.geteuid() == 0:
            self._groups = groups.make_folders(secrets.token_hex(4))
        self._versions = await asyncio.to_thread(languages_on_host, _SEARCHED)
        try:
            await asyncio.gather(*(self.renew(slot) for slot in range(self._slots)))
        except CellBrokenError as error:
            raise DriverUnavailableError(str(error)) from error
        await trial.try_out(self)
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
        return HostCell(launcher.link, self._versions)

    async def renew(self, slot: int) -> None:
        """Replace the slot's launcher; `CellBrokenError` if there is no new one."""
        await self._end(slot)
        place = self._place(slot)
        self._launchers[slot] = launcher = _Launcher.begin(place)
        try:
            launcher.link = Link(*await launcher.connect())
            await launcher.link.ask("open", "opened")
            self._sweep(slot, place["name"])
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

    def _place(self, slot: int) -> dict[str, Any]:
        folder = self._folder
        if folder is None:
            raise CellBrokenError("the driver is not started")
        name = f"{slot}-{secrets.token_hex(4)}"
        (folder / name).mkdir()
        return {
            "folder": str(folder / name),
            "groups": [str(path) for path in self._groups],
            "name": name,
            "links": _links(),
            "binds": _binds(folder),
            "system_calls": base64.b64encode(self._filter).decode(),
            "bubblewrap": {
                "program": shutil.which("bwrap"),
                "setpriv": shutil.which("setpriv"),
                "environment": {**ENVIRONMENT, "PATH": _SEARCHED},
                "user": FIRST_USER + slot if os.geteuid() == 0 else None,
            },
        }

    def _sweep(self, slot: int, name: str) -> None:
        """Remove what launchers of a slot that were killed have left; `name` is the one there now."""
        for place in (self._folder, *self._groups):
            for left in place.glob(f"{slot}-*") if place else ():
                if not left.name.startswith(name):
                    with suppress(OSError):  # a process may still be ending in there
                        shutil.rmtree(left) if place == self._folder else left.rmdir()

    async def _end(self, slot: int) -> None:
        launcher = self._launchers.pop(slot, None)
        if launcher is not None:
            await launcher.end()


class HostCell(SlotCell):
    """A cell beside a launcher; the launcher speaks like the supervisor of a slot."""

    def __init__(self, link: Link, versions: dict[str, str]) -> None:
        super().__init__(link, is_warm=False)
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
    def begin(cls, place: dict[str, Any]) -> _Launcher:
        """Begin one."""
        ours, theirs = socket.socketpair()
        with theirs:
            argv = [sys.executable, "-S", "-s", "-m", "sandbox.runner.hosted"]
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


def _write_kit(folder: Path) -> None:
    """Write the files of ours that programs see."""
    folder.chmod(0o755)
    kit = folder / "kit"
    (kit / "runner").mkdir(parents=True)
    (kit / "etc").mkdir()
    source = Path(sandbox.__file__).parent / "runner"
    for name in ("call.py", "call.js", "values.py"):
        shutil.copy2(source / name, kit / "runner" / name)
    py_compile.compile(str(kit / "runner" / "values.py"), dfile=f"{RUNNER}/values.py")
    # One folder to be mounted, in place of a mount for each: that is a third of a run's set-up.
    for path in (*map(Path, _SHARED), *Path("/etc").glob("java-*")):
        _copy(path, kit / path.relative_to("/"))
    (kit / _NOTHING).touch()
    for name, content in _ACCOUNTS.items():
        (kit / "etc" / name).write_text(content)


def _copy(source: Path, target: Path) -> None:
    """Copy a file or folder, if it is there; what cannot be read is not for programs either."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with suppress(OSError, shutil.Error):
        if source.is_dir():
            shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True)
        elif source.is_file():
            shutil.copy2(source, target)


def _links() -> list[tuple[str, str]]:
    """Return what are links in the root folder of this host, and where they lead."""
    paths = (Path("/", name) for name in _ROOT_FOLDERS)
    return [(str(path), str(path.readlink())) for path in paths if path.is_symlink()]


def _binds(folder: Path) -> list[tuple[str, str]]:
    """Return what every program sees of the host, each with where it sees it."""
    roots = (Path("/", name) for name in _ROOT_FOLDERS)
    there = [Path("/usr"), *(path for path in roots if path.is_dir() and not path.is_symlink())]
    if not Path(sys.base_prefix).is_relative_to("/usr"):
        there.append(Path(sys.base_prefix))
    binds = [(path, path) for path in there]
    binds += [(folder / "kit" / "etc", Path("/etc")), (folder / "kit" / "runner", Path(RUNNER))]
    binds += [(folder / "kit" / _NOTHING, hook) for hook in _start_up_hooks()]
    return [(str(source), str(place)) for source, place in binds]


def _start_up_hooks() -> list[Path]:
    """Find the files by which installed packages make every start of Python run code of theirs.

    They are the host's business, not a program's, and can cost more than all else in a run.
    """
    places = map(Path, site.getsitepackages([sys.base_prefix]))
    return sorted(hook for place in places for hook in place.glob("*.pth"))
