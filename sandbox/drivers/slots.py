"""Slots: long-lived hardened containers, in which one job at a time has namespaces of its own.

What a job meets: a fresh pid, mount, ipc and uts namespace a run, a user of the slot's own without
any capability, two system-call filters, no network but loopback, a read-only image, a disk of its
own in memory, control groups for memory and processes. What stands between it and the host besides
the kernel is the supervisor of its slot, which has CAP_SYS_ADMIN in the container's namespaces: see
the page on threats.

Needs a Docker engine (20.10 or newer, not rootless) and one of the images of `sandbox/images`.
"""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import shutil
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sandbox.driver import CellBrokenError, DriverUnavailableError
from sandbox.drivers import images, slot_trial, trial
from sandbox.drivers.containers import Engine, EngineError, Sockets, owner_of
from sandbox.drivers.link import Link, accept
from sandbox.drivers.slot_cell import SlotCell

if TYPE_CHECKING:
    from collections.abc import Mapping


logger = logging.getLogger(__name__)

CALL_IN_SECONDS: Final = 20.0
"""How long a new container may take until its supervisor calls."""
_OPEN_TO_ALL: Final = 0o777
_FOLDER: Final = "REWARDEN_SANDBOX_SOCKETS"
_VOLUME: Final = "REWARDEN_SANDBOX_VOLUME"


@dataclass(frozen=True, slots=True)
class SlotsOptions:
    """How slots are made, where it is not as everywhere."""

    socket_directory: Path | None = None
    """Where the sockets are, a short path; a folder of its own under the temporary one if None."""
    volume: str | None = None
    """The named volume mounted there, where this service is in a container itself."""
    owner: str | None = None
    """The name by which containers of an earlier service are known; made of the folder if None."""
    images: tuple[str, ...] = images.IMAGES
    """The first of them that will do is taken."""
    is_warm: bool = True
    """Whether Python runs are forked from a warm interpreter."""

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> SlotsOptions:
        """Read the folder, the volume and the image."""
        folder = environment.get(_FOLDER)
        return cls(
            Path(folder) if folder else None,
            environment.get(_VOLUME) or None,
            images=images.wanted(environment),
        )


@dataclass(slots=True)
class _Slot:
    link: Link
    container: str


class SlotsDriver:
    """The driver; see the module."""

    name = "slots"

    def __init__(self, *, slots: int, options: SlotsOptions | None = None) -> None:
        self._number = slots
        self._options = options or SlotsOptions.from_environment(os.environ)
        self._is_own_folder = self._options.socket_directory is None
        folder = self._options.socket_directory or Path(tempfile.gettempdir(), _unused_name())
        self._sockets = Sockets(folder.absolute(), self._options.volume)
        self._engine = Engine(self._options.owner or owner_of(folder), self._options.images)
        self._slots: dict[int, _Slot] = {}
        self._languages: dict[str, str] = {}
        self._locks = [asyncio.Lock() for _ in range(slots)]

    async def start(self) -> None:
        """Remove what is left of earlier services, start every slot, and try one out."""
        self._sockets.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        await asyncio.to_thread(self._engine.check)
        try:
            left = await asyncio.to_thread(self._engine.reap)
            if left:
                logger.warning("removed %d containers of an earlier service", left)
            await self._renew_first()
            await asyncio.gather(*(self.renew(slot) for slot in range(1, self._number)))
            await trial.try_out(self, 0)
            await slot_trial.try_out(self, 0)
            self._languages = await slot_trial.versions(self, 0)
        except (CellBrokenError, EngineError) as error:
            await self.close()
            raise DriverUnavailableError(f"slots do not work here: {error}") from error
        except DriverUnavailableError:
            await self.close()
            raise

    async def _renew_first(self) -> None:
        """Start the first slot, with the first image that will do."""
        while True:
            image = self._engine.image
            try:
                return await self.renew(0)
            except CellBrokenError as error:
                if not self._engine.pass_over():
                    raise
                logger.warning("the image %s is passed over: %s", image, error)

    async def open(self, slot: int) -> SlotCell:
        """Open a cell; that the supervisor has died meanwhile shows in its first run."""
        link = self._slots[slot].link if slot in self._slots else None
        if link is None or link.is_broken:
            raise CellBrokenError("the slot's container has ended")
        return SlotCell(link, is_warm=self._options.is_warm)

    async def renew(self, slot: int) -> None:
        """Replace a slot's container; `CellBrokenError` if there is no new one."""
        async with self._locks[slot]:
            await self._end(slot)
            path = self._sockets.path(slot)
            _clear(path)
            server, calling = await accept(path)
            path.chmod(_OPEN_TO_ALL)
            container = ""
            try:
                container = await asyncio.to_thread(self._engine.start, slot, self._sockets)
                async with asyncio.timeout(CALL_IN_SECONDS):
                    link = await calling
                self._slots[slot] = _Slot(link, container)
                images.check_version(await link.ask("open", "opened"))
            except BaseException as error:
                self._slots.pop(slot, None)
                await self._abandon(container)
                raise _broken(error) from error
            finally:
                server.close()
                path.unlink(missing_ok=True)

    async def languages(self) -> dict[str, str]:
        """Return what the toolchains in the image said when the driver was started."""
        return dict(self._languages)

    async def close(self) -> None:
        """Remove every container and socket."""
        await asyncio.gather(*(self._end(slot) for slot in list(self._slots)))
        await asyncio.to_thread(self._engine.close)
        if self._is_own_folder:
            shutil.rmtree(self._sockets.folder, ignore_errors=True)

    async def _end(self, slot: int) -> None:
        """Hang up and remove the container of a slot, if there is one."""
        old = self._slots.pop(slot, None)
        if old is not None:
            await old.link.close()
            await self._abandon(old.container)

    async def _abandon(self, container: str) -> None:
        if container:
            with suppress(EngineError, OSError):
                await asyncio.to_thread(self._engine.remove, container)


def _broken(error: BaseException) -> BaseException:
    """Return what a fault in making a slot is called."""
    if isinstance(error, TimeoutError):
        return CellBrokenError(f"the slot's supervisor did not call within {CALL_IN_SECONDS:g} s")
    if isinstance(error, (EngineError, OSError)):
        return CellBrokenError(f"the slot's container could not be started: {error}")
    return error


def _clear(path: Path) -> None:
    """Make the folder of a socket.

    The container's root is not their owner where this service is not root, so both are open to all;
    the folder above keeps strangers out.
    """
    path.parent.mkdir(exist_ok=True)
    path.parent.chmod(_OPEN_TO_ALL)
    path.unlink(missing_ok=True)


def _unused_name() -> str:
    return f"rewarden-{os.getpid()}-{secrets.token_hex(4)}"
