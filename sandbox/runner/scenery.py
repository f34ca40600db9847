"""What every run on the host sees of the file system, put together once for all runs of a slot.

It is mounted where only the slot's processes see it. bubblewrap then takes it as a whole, read-only,
in place of a mount for every part of it, each of which would cost every run anew.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from sandbox.runner import isolation

if TYPE_CHECKING:
    from collections.abc import Sequence

_MOUNTED_BY_EACH_RUN: Final = ("proc", "dev", "tmp", "work")
_DEVICES: Final = ("null", "zero", "full", "random", "urandom", "tty")
_DEVICE_LINKS: Final = {
    "fd": "/proc/self/fd",
    "stdin": "/proc/self/fd/0",
    "stdout": "/proc/self/fd/1",
    "stderr": "/proc/self/fd/2",
}
_FLAGS: Final = isolation.NO_SUID | isolation.NO_DEVICES


def build(root: Path, links: Sequence[tuple[str, str]], binds: Sequence[tuple[str, str]]) -> None:
    """Make a file system at the folder `root`, which is not there yet; `OSError` if it cannot be.

    Links are pairs of a path and where it leads, binds of a source and where it is seen; a bind may
    lie in one before it, at a place that is there.
    """
    root.mkdir()
    isolation.mount("root", str(root), "tmpfs", _FLAGS, "size=1m,mode=0755")
    for name in _MOUNTED_BY_EACH_RUN:
        (root / name).mkdir()
    for path, leads_to in links:
        _below(root, path).symlink_to(leads_to)
    for source, path in binds:
        place = _below(root, path)
        if not place.exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            place.mkdir() if Path(source).is_dir() else place.touch()
        isolation.mount(source, str(place), None, isolation.BIND | isolation.RECURSIVE)


def build_devices(folder: Path, *, shm: str = "") -> None:
    """Make what a run sees as `/dev`: some devices that harm nobody.

    Shared memory is a link to the place `shm`, or, without one, an empty folder for each run to mount
    its own at, beside terminals of the slot's own.
    """
    folder.mkdir()
    flags = isolation.NO_SUID | isolation.NO_EXEC
    isolation.mount("devices", str(folder), "tmpfs", flags, "size=64k,mode=0755")
    for name in _DEVICES:
        (folder / name).touch()
        isolation.mount(f"/dev/{name}", str(folder / name), None, isolation.BIND)
    for name, leads_to in _DEVICE_LINKS.items():
        (folder / name).symlink_to(leads_to)
    if shm:
        (folder / "shm").symlink_to(shm)
        return
    (folder / "ptmx").symlink_to("pts/ptmx")
    for name in ("shm", "pts"):
        (folder / name).mkdir()
    options = "newinstance,ptmxmode=0666,mode=620"
    isolation.mount("terminals", str(folder / "pts"), "devpts", flags, options)


def _below(root: Path, path: str) -> Path:
    return root / path.lstrip("/")
