"""The temporary folder of a service, and what those leave behind that could not delete theirs.

A lock that ends with its process says whether a folder is still in use. Only folders of the same
user, in the same place for temporary files, are looked at.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from pathlib import Path
from typing import Final

_PREFIX: Final = "rewarden-sql-"
_LOCK: Final = "lease"


class Lease:
    """A new folder, which is this process's until `close`."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
        fresh = self.folder / f"{_LOCK}.new"
        self._file = fresh.open("w", encoding="utf-8")
        fcntl.flock(self._file, fcntl.LOCK_EX)
        fresh.rename(self.folder / _LOCK)  # seen by others once it is locked, not before

    def close(self) -> None:
        """Delete the folder."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self._file.close()


def abandoned() -> list[Path]:
    """Return the folders whose process is gone."""
    found = Path(tempfile.gettempdir()).glob(f"{_PREFIX}*/{_LOCK}")
    return [lock.parent for lock in found if _is_abandoned(lock)]


def _is_abandoned(lock: Path) -> bool:
    try:
        is_ours = lock.parent.lstat().st_uid == lock.lstat().st_uid == os.geteuid()
        if not is_ours or lock.is_symlink() or lock.parent.is_symlink():
            return False
        with lock.open("a", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # in use, or just gone
        return False
    return True
