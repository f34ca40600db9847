"""The containers behind slots: one constant configuration, images from a list, an owner's label.

Nothing of a job decides how a container is made. Blocking: call it from threads. A container ends
by itself when the service that owns it hangs up, and the engine then removes it; what is left in
other ways (an engine that was killed) is found by its label and removed when a service starts.
"""

from __future__ import annotations

import os
import re
import secrets
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import docker  # type: ignore[import-untyped]
from docker import errors

from sandbox.driver import DriverUnavailableError
from sandbox.drivers.images import IMAGES, check_listed
from sandbox.languages import ENVIRONMENT
from sandbox.runner import layout

if TYPE_CHECKING:
    from pathlib import Path

LABEL: Final = "rewarden.sandbox.owner"
CAPABILITIES: Final = ("SYS_ADMIN", "SETUID", "SETGID", "KILL", "SETPCAP")
"""What the supervisor needs to make namespaces and become a job's user; jobs have none."""
FIRST_USER: Final = 64_000
"""Slot n's jobs are user 64000 + n: limits that count per user are not shared among slots."""
MEMORY_BYTES: Final = 9 * 1024**3
"""Above the most that a job may ask for; each run has a limit of its own below this."""
PROCESSES: Final = 1_024
STACK_BYTES: Final = 256 * 1024**2
OPEN_FILES: Final = 4_096
_TIMEOUT_SECONDS: Final = 30
_API_WITH_PRIVATE_CGROUPS: Final = 41
_IS_BEING_REMOVED: Final = 409

EngineError: Final = errors.DockerException
"""What each method raises when the engine refuses or is gone."""


@dataclass(frozen=True, slots=True)
class Sockets:
    """Where the slots' sockets are: a folder here, seen by the engine as itself or as a volume."""

    folder: Path
    volume: str | None = None
    """The named volume that is mounted at `folder`, where this service is itself in a container."""

    def path(self, slot: int) -> Path:
        """Return where the service listens for a slot."""
        return self.folder / f"slot-{slot}" / "slot.sock"

    def mount(self, slot: int) -> dict[str, Any]:
        """Return what makes it reachable in the container."""
        if self.volume is None:
            source = str(self.path(slot).parent)
            return {"Type": "bind", "Source": source, "Target": layout.SOCKETS}
        return {"Type": "volume", "Source": self.volume, "Target": layout.SOCKETS}

    def inside(self, slot: int) -> str:
        """Return the socket's path in the container."""
        name = self.path(slot)
        place = name.relative_to(name.parent if self.volume is None else self.folder)
        return f"{layout.SOCKETS}/{place}"


class Engine:
    """The Docker engine, as far as slots need it."""

    def __init__(self, owner: str, images: tuple[str, ...] = IMAGES) -> None:
        check_listed(images)
        self._owner = owner
        self._images = images

    def check(self) -> None:
        """Try whether it answers and has what is needed; `DriverUnavailableError` with why not."""
        try:
            version = self._client.version()
        except errors.DockerException as error:
            raise DriverUnavailableError(f"no Docker engine answers: {error}") from error
        if version["Os"] != "linux":
            raise DriverUnavailableError(f"the Docker engine runs {version['Os']}, not linux")
        if int(version["ApiVersion"].split(".")[1]) < _API_WITH_PRIVATE_CGROUPS:
            raise DriverUnavailableError("the Docker engine is older than 20.10")
        if "name=rootless" in self._security:
            raise DriverUnavailableError("slots cannot be made by a rootless Docker engine")
        if not self.image:
            raise DriverUnavailableError(f"no image is there: build {self._images[-1]}")

    @property
    def image(self) -> str:
        """The image that slots are made from; empty if there is none."""
        return self._there[0] if self._there else ""

    def pass_over(self) -> bool:
        """Take the next image that is there, for good; whether there is one."""
        if len(self._there) > 1:
            del self._there[0]
            return True
        return False

    @cached_property
    def _there(self) -> list[str]:
        return [image for image in self._images if self._client.images(image)]

    def start(self, slot: int, sockets: Sockets) -> str:
        """Start a slot's container and return its id."""
        created = self._client.create_container_from_config(
            self._configuration(slot, sockets), f"rewarden-slot-{slot}-{secrets.token_hex(4)}"
        )
        identity: str = created["Id"]
        self._client.start(identity)
        return identity

    def remove(self, identity: str) -> None:
        """Kill and remove a container, unless it is gone already."""
        try:
            self._client.remove_container(identity, force=True, v=True)
        except errors.NotFound:
            return
        except errors.APIError as error:
            if error.status_code != _IS_BEING_REMOVED:
                raise

    def reap(self) -> int:
        """Remove what an earlier service of this owner, or any that is dead, has left behind."""
        found = self._client.containers(all=True, filters={"label": LABEL})
        left = [
            container["Id"]
            for container in found
            if container["Labels"][LABEL] == self._owner or container["State"] in {"exited", "dead"}
        ]
        for identity in left:
            self.remove(identity)
        return len(left)

    def close(self) -> None:
        """Let go of the connections."""
        if "_client" in vars(self):
            self._client.close()

    @cached_property
    def _client(self) -> docker.APIClient:
        return docker.APIClient(
            version="auto", timeout=_TIMEOUT_SECONDS, **docker.utils.kwargs_from_env()
        )

    @cached_property
    def _security(self) -> list[str]:
        info = self._client.info()
        return [option.split(",")[0] for option in info.get("SecurityOptions") or ()]

    def _configuration(self, slot: int, sockets: Sockets) -> dict[str, Any]:
        user = FIRST_USER + slot
        supervisor = ["python3", "-P", "-s", "-m", "sandbox.runner.supervisor"]
        environment = [f"{name}={value}" for name, value in ENVIRONMENT.items()]
        return {
            "Image": self.image,
            "Cmd": [*supervisor, sockets.inside(slot), str(user), *environment],
            "Env": [f"PYTHONPATH={layout.HOME}"],
            "Hostname": "sandbox",
            "User": "0:0",
            "WorkingDir": "/",
            "Labels": {LABEL: self._owner},
            "NetworkDisabled": True,
            "HostConfig": {
                **_host_configuration(),
                "Mounts": [sockets.mount(slot)],
                "SecurityOpt": self._security_options(),
            },
        }

    def _security_options(self) -> list[str]:
        """Docker's own profiles of these two forbid the mounts that the supervisor makes for jobs."""
        options = ["no-new-privileges:true"]
        if "name=apparmor" in self._security:
            options.append("apparmor=unconfined")
        if "name=selinux" in self._security:
            options.append("label=disable")
        return options


def _host_configuration() -> dict[str, Any]:
    """Return what holds for every slot of every service."""
    return {
        "AutoRemove": True,
        "CapAdd": list(CAPABILITIES),
        "CapDrop": ["ALL"],
        "CgroupnsMode": "private",
        "IpcMode": "private",
        "LogConfig": {"Type": "local", "Config": {"max-size": "1m", "max-file": "2"}},
        "Memory": MEMORY_BYTES,
        "MemorySwap": MEMORY_BYTES,
        "NanoCpus": 10**9 * min(2, os.cpu_count() or 1),
        "NetworkMode": "none",
        "PidsLimit": PROCESSES,
        "Privileged": False,
        "ReadonlyRootfs": True,
        # Else a port that one job has used could stay busy for the next one's minute.
        "Sysctls": {"net.ipv4.tcp_max_tw_buckets": "0"},
        "Ulimits": [
            {"Name": "core", "Soft": 0, "Hard": 0},
            {"Name": "nofile", "Soft": OPEN_FILES, "Hard": OPEN_FILES},
            {"Name": "stack", "Soft": STACK_BYTES, "Hard": STACK_BYTES},
        ],
    }


def owner_of(folder: Path) -> str:
    """Name the service that listens in a folder, the same after it was killed and started again."""
    return re.sub(r"[^A-Za-z0-9_.-]", "_", f"{os.uname().nodename}{folder}")
