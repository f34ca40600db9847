"""Control groups on the host for a service that may make them: root, with version 1 or 2.

A folder is made for each service, named after its process, and a group in it for each run. The
folders of services that are dead are removed by the next that starts. Where no group can be made,
`make_folders` returns nothing, and runs are measured through `/proc`.

With version 1 the folder lies below the service's own groups, so their limits hold as well. With
version 2 a group that holds processes cannot be divided: on a host the folder lies at the top, and
in a container the service's processes are moved into a leaf of the container's own group.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from sandbox.runner import metering

_CONTROLLERS: Final = ("memory", "pids", "cpuacct")
_NAME: Final = re.compile(r"rewarden-(\d+)-\w+")


class _Mount(NamedTuple):
    root: str
    place: Path
    kind: str
    options: frozenset[str]


def make_folders(token: str) -> list[Path]:
    """Make the service's folder in every hierarchy that counts; none if that is not possible."""
    try:
        places = _places()
        for place in places:
            _reap(place)
        folders = [place / f"rewarden-{os.getpid()}-{token}" for place in places]
        for folder in folders:
            folder.mkdir()
        if len(folders) == 1:
            (folders[0] / "cgroup.subtree_control").write_text("+memory +pids")
    except (OSError, LookupError):
        return []
    return folders


def remove_folders(folders: list[Path]) -> None:
    """Remove the folders, and groups in them that are left."""
    for folder in folders:
        remove(folder)


def remove(folder: Path) -> None:
    """Remove a group and those in it, unless a process is still there after a second."""
    for group in folder.glob("*/"):
        remove(group)
    with suppress(OSError):
        metering.remove(str(folder))


def _reap(place: Path) -> None:
    for folder in place.glob("rewarden-*/"):
        named = _NAME.fullmatch(folder.name)
        if named and not Path("/proc", named[1]).exists():
            remove_folders([folder])


def _places() -> list[Path]:
    """Find where folders may be made; `LookupError` if there is no such place."""
    cgroups = Path("/proc/self/cgroup").read_text()
    mounts = _mounts()
    if metering.controllers_of_version_1(cgroups).keys() >= set(_CONTROLLERS):
        return [_place_of_version_1(name, cgroups, mounts) for name in _CONTROLLERS]
    top = next((mount.place for mount in mounts if mount.kind == "cgroup2"), None)
    if top is None:
        raise LookupError("no control groups are mounted")
    if (top / "cgroup.type").exists():  # only the host's own top has no such file
        metering.delegate(top, "rewarden-service")
    else:
        (top / "cgroup.subtree_control").write_text("+memory +pids")
    return [top]


def _place_of_version_1(controller: str, cgroups: str, mounts: list[_Mount]) -> Path:
    own = next(
        path
        for _, names, path in (line.split(":", 2) for line in cgroups.splitlines())
        if controller in names.split(",")
    )
    for mount in mounts:
        if mount.kind == "cgroup" and controller in mount.options and own.startswith(mount.root):
            return mount.place / own[len(mount.root) :].lstrip("/")
    raise LookupError(f"the control groups of {controller} are not mounted")


def _mounts() -> list[_Mount]:
    mounts = []
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        before, _, after = line.partition(" - ")
        root, place = before.split()[3:5]
        kind, _, options = after.split(maxsplit=2)
        mounts.append(_Mount(root, Path(place), kind, frozenset(options.split(","))))
    return mounts
