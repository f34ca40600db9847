"""A container for each job: slow and strict, for engines where slots do not work, or for gVisor.

The container is made for one job, and gone with it: no network, a read-only image, all capabilities
dropped but those to become a user and to kill, which its first process has and programs do not;
memory, processes and three small disks in memory limited. Runs of the job are processes in it, one
after the other, and whatever a run leaves is killed before the next.

With `REWARDEN_SANDBOX_RUNTIME=runsc` in the environment programs meet gVisor's kernel and not the
host's. Nothing is shared with the host: orders go through the container's standard input.
"""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import struct
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, Protocol

import docker  # type: ignore[import-untyped]
import requests
from docker import errors

from sandbox.driver import CellBrokenError, DriverUnavailableError
from sandbox.drivers import images as known_images, trial
from sandbox.drivers.containers import FIRST_USER, LABEL, OPEN_FILES, STACK_BYTES
from sandbox.drivers.link import Link
from sandbox.drivers.slot_cell import SlotCell
from sandbox.jobs import Limits, Observation, Status
from sandbox.languages import ENVIRONMENT, TOOLCHAINS, ToolchainMissingError, find_toolchain
from sandbox.runner import layout
from sandbox.runner.contained import FOLDERS

if TYPE_CHECKING:
    import socket
    from collections.abc import Mapping

    from sandbox.jobs import Job, Run

logger = logging.getLogger(__name__)

CAPABILITIES: Final = ("SETUID", "SETGID", "KILL", "SETPCAP")
RUNTIMES: Final = ("runc", "runsc")
RUNTIME: Final = "REWARDEN_SANDBOX_RUNTIME"
_TIMEOUT_SECONDS: Final = 60
_STALE_SECONDS: Final = 120
_LAUNCHER_MB: Final = 24
"""What the first process takes of the container's memory."""
_LAUNCHER_PROCESSES: Final = 2
_COMPILE_DISK_MB: Final = 1_024
_COMPILE_PROCESSES: Final = 256
_MEBIBYTE: Final = 1024 * 1024
_STREAM_LIMIT: Final = 1 << 20
_FRAME: Final = struct.Struct(">BxxxI")
_STDOUT: Final = 1
_FAULTS: Final = (errors.DockerException, requests.RequestException, OSError)


class _Attached(Protocol):
    """What the client gives for an attached container; there is no public way to its socket."""

    _sock: socket.socket
    _response: requests.Response


class OneshotDriver:
    """The driver; see the module."""

    name = "oneshot"

    def __init__(
        self, *, slots: int, images: tuple[str, ...] | None = None, runtime: str | None = None
    ) -> None:
        """`images` must be listed; without any it is what the environment says."""
        self._images = images or known_images.wanted(os.environ)
        known_images.check_listed(self._images)
        self._slots = slots
        self._runtime = runtime or os.environ.get(RUNTIME) or "runc"
        self._owner = f"{os.uname().nodename}-oneshot-{os.getpid()}-{secrets.token_hex(4)}"
        self._client: Any = None
        self._there: list[str] = []
        self._versions: dict[str, str] = {}

    async def start(self) -> None:
        """Find the engine and an image, and try what programs can do."""
        if self._runtime not in RUNTIMES:
            raise DriverUnavailableError(f"the runtime must be among {', '.join(RUNTIMES)}")
        try:
            await asyncio.to_thread(self._connect)
            self._versions = await self._first_versions()
        except (*_FAULTS, CellBrokenError) as error:
            raise DriverUnavailableError(f"no container can be run: {error}") from error
        await trial.try_out(self)

    async def open(self, slot: int) -> ContainerCell:
        """Open a cell; its container is made when the job is known."""
        if self._client is None:
            raise CellBrokenError("the driver is not started")
        return ContainerCell(self, FIRST_USER + slot, self._versions)

    async def renew(self, slot: int) -> None:
        """Try the engine; `CellBrokenError` if it does not answer, as then no job can have a container.

        There is nothing to replace: every job has a new container.
        """
        try:
            await asyncio.to_thread(self._client.ping)
        except _FAULTS as error:
            raise CellBrokenError(f"the Docker engine does not answer: {error}") from error

    async def languages(self) -> dict[str, str]:
        """Return what the toolchains in the image said when the driver was started."""
        return dict(self._versions)

    async def close(self) -> None:
        """Remove what is left, and let go of the engine."""
        if self._client is not None:
            with suppress(*_FAULTS):
                await asyncio.to_thread(self._remove_own)
            self._client.close()

    async def begin(self, user: int, limits: Limits) -> tuple[str, Link]:
        """Make and start a container, and return its id and the way to its first process."""
        try:
            identity, end = await asyncio.to_thread(self._begin, user, limits)
        except _FAULTS as error:
            raise CellBrokenError(f"a container could not be started: {error}") from error
        return identity, Link(*await _open_attached(end))

    async def remove(self, identity: str) -> None:
        """Kill and remove a container, unless it is gone already."""
        with suppress(*_FAULTS):
            await asyncio.to_thread(self._client.remove_container, identity, force=True, v=True)

    def _connect(self) -> None:
        client = docker.APIClient(
            version="auto", timeout=_TIMEOUT_SECONDS, **docker.utils.kwargs_from_env()
        )
        self._client = client
        self._there = [image for image in self._images if client.images(image)]
        if not self._there:
            raise DriverUnavailableError(f"no image is there: build {self._images[-1]}")
        if self._runtime not in client.info().get("Runtimes", {}):
            raise DriverUnavailableError(f"the Docker engine has no runtime '{self._runtime}'")
        for container in client.containers(all=True, filters={"label": LABEL}):
            old = time.time() - container["Created"] > _STALE_SECONDS
            if container["State"] in {"exited", "dead"} or (
                container["State"] == "created" and old
            ):
                with suppress(*_FAULTS):
                    client.remove_container(container["Id"], force=True, v=True)

    def _remove_own(self) -> None:
        label = f"{LABEL}={self._owner}"
        for container in self._client.containers(all=True, filters={"label": label}):
            with suppress(*_FAULTS):
                self._client.remove_container(container["Id"], force=True, v=True)

    def _begin(self, user: int, limits: Limits) -> tuple[str, socket.socket]:
        made = self._client.create_container_from_config(self._configuration(user, limits))
        identity: str = made["Id"]
        try:
            ways = {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}
            attached = self._client.attach_socket(identity, params=ways)
            end = _take_over(attached)
            try:
                self._client.start(identity)
            except BaseException:
                end.close()
                raise
            return identity, end  # noqa: TRY300  # it is not a failure to have come here
        except BaseException:
            with suppress(*_FAULTS):
                self._client.remove_container(identity, force=True, v=True)
            raise

    def _configuration(self, user: int, limits: Limits) -> dict[str, Any]:
        environment = {**ENVIRONMENT, "PYTHONPATH": layout.HOME}
        launcher = ["python3", "-P", "-S", "-s", "-m", "sandbox.runner.contained", str(user)]
        return {
            "Image": self._there[0],
            "Cmd": launcher,
            "Env": [f"{name}={value}" for name, value in environment.items()],
            "Hostname": "sandbox",
            "User": "0:0",
            "WorkingDir": "/",
            "Labels": {LABEL: self._owner},
            "NetworkDisabled": True,
            "OpenStdin": True,
            "StdinOnce": True,
            "AttachStdin": True,
            "AttachStdout": True,
            "AttachStderr": True,
            "Tty": False,
            "HostConfig": {**_host_configuration(user, limits), "Runtime": self._runtime},
        }

    async def _first_versions(self) -> dict[str, str]:
        """Ask the first image that will do."""
        while True:
            try:
                return await self._ask_versions()
            except CellBrokenError as error:
                if len(self._there) == 1:
                    raise
                logger.warning("the image %s is passed over: %s", self._there.pop(0), error)

    async def _ask_versions(self) -> dict[str, str]:
        """Ask every toolchain in the image for its version; the missing are left out."""
        versions = {}
        identity, link = await self.begin(FIRST_USER, Limits(memory_mb=1_024))
        try:
            known_images.check_version(await link.ask("open", "opened"))
            cell = SlotCell(link, is_warm=False)
            for toolchain in TOOLCHAINS.values():
                seen = await cell.execute(toolchain.version)
                said = (seen.stdout or seen.stderr).decode(errors="replace").strip()
                if seen.status is Status.EXITED and seen.exit_code == 0 and said:
                    versions[str(toolchain.name)] = said.splitlines()[0][:200]
        finally:
            await link.close()
            await self.remove(identity)
        return versions


class ContainerCell:
    """A cell in a container of its own."""

    def __init__(self, driver: OneshotDriver, user: int, versions: Mapping[str, str]) -> None:
        self._driver = driver
        self._user = user
        self._versions = versions
        self._container = ""
        self._link: Link | None = None
        self._cell: SlotCell | None = None

    async def prepare(self, job: Job) -> Observation | None:
        """Make the container, write the files, and compile."""
        try:
            toolchain = find_toolchain(job.language, self._versions)
        except ToolchainMissingError as error:
            return Observation(status=Status.SANDBOX_ERROR, detail=str(error))
        limits = job.limits if toolchain.compile is None else _with_compiling(job.limits)
        self._container, self._link = await self._driver.begin(self._user, limits)
        self._cell = SlotCell(self._link, is_warm=False)
        return await self._cell.prepare(job)

    async def run(self, run: Run) -> Observation:
        """Run once, in a fresh process."""
        if self._cell is None:
            raise CellBrokenError("a cell is prepared before anything is run in it")
        return await self._cell.run(run)

    async def close(self) -> None:
        """Remove the container, and all that is in it."""
        if self._link is not None:
            await self._link.close()
        if self._container:
            await self._driver.remove(self._container)


def _with_compiling(limits: Limits) -> Limits:
    return limits.model_copy(
        update={
            "memory_mb": max(limits.memory_mb, limits.compile_memory_mb),
            "processes": max(limits.processes, _COMPILE_PROCESSES),
            "disk_mb": max(limits.disk_mb, _COMPILE_DISK_MB),
            "files": limits.files * 4,
        }
    )


def _host_configuration(user: int, limits: Limits) -> dict[str, Any]:
    """Return what holds for every container; of a job, only its limits count."""
    size = f"size={limits.disk_mb}m,nr_inodes={limits.files}"
    disk = f"rw,exec,nosuid,nodev,mode=0755,uid={user},gid={user},{size}"
    memory_bytes = (limits.memory_mb + _LAUNCHER_MB) * _MEBIBYTE
    return {
        "AutoRemove": True,
        "CapAdd": list(CAPABILITIES),
        "CapDrop": ["ALL"],
        "CgroupnsMode": "private",
        "IpcMode": "private",
        "LogConfig": {"Type": "none"},
        "Memory": memory_bytes,
        "MemorySwap": memory_bytes,
        "NetworkMode": "none",
        "PidsLimit": limits.processes + _LAUNCHER_PROCESSES,
        "Privileged": False,
        "ReadonlyRootfs": True,
        "SecurityOpt": ["no-new-privileges:true"],
        "Tmpfs": dict.fromkeys(FOLDERS, disk),
        "Ulimits": [
            {"Name": "core", "Soft": 0, "Hard": 0},
            {"Name": "nofile", "Soft": OPEN_FILES, "Hard": OPEN_FILES},
            {"Name": "stack", "Soft": STACK_BYTES, "Hard": STACK_BYTES},
        ],
    }


def _take_over(attached: _Attached) -> socket.socket:
    """Take the connection out of the client's hands, which would close it some time or other."""
    end = attached._sock.dup()
    attached._sock.close()
    attached._response.close()
    return end


async def _open_attached(
    end: socket.socket,
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Open an attached container; what comes is unwrapped from the engine's own framing."""
    end.setblocking(False)
    wrapped, writer = await asyncio.open_unix_connection(sock=end, limit=_STREAM_LIMIT)
    reader = asyncio.StreamReader(limit=_STREAM_LIMIT)
    unwrapping = asyncio.create_task(_unwrap(wrapped, reader))
    unwrapping.add_done_callback(lambda _: reader.feed_eof())
    return reader, writer


async def _unwrap(wrapped: asyncio.StreamReader, reader: asyncio.StreamReader) -> None:
    with suppress(asyncio.IncompleteReadError, OSError):
        while True:
            stream, size = _FRAME.unpack(await wrapped.readexactly(_FRAME.size))
            data = await wrapped.readexactly(size)
            if stream == _STDOUT:
                reader.feed_data(data)
            else:
                logger.warning("a launcher says: %s", data[:500].decode(errors="replace"))
