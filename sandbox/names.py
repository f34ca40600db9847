"""Names of the files of a job: relative paths of plain names, and no two of them in one place.

This is the first check, made to give a clear answer. Drivers write files so that no name, however
made, leads out of the job's own folder.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_PART_BYTES: Final = 255
"""Of a file name on Linux."""


def fault_of_name(name: str) -> str:
    """Say what is wrong with a name; nothing if it is fine."""
    if name.startswith("/"):
        return "The name must be relative."
    if any(unicodedata.category(character) in {"Cc", "Cs"} for character in name) or "\\" in name:
        return "The name holds a control character, or a backslash."
    for part in name.split("/"):
        if part in {"", ".", ".."}:
            return f"The name has a part '{part}'."
        if len(part.encode()) > MAX_PART_BYTES:
            return f"The name has a part of more than {MAX_PART_BYTES} bytes."
    return ""


def same_place(names: Iterable[str]) -> tuple[str, str] | None:
    """Find a file that another name would need to be a folder."""
    known = set(names)
    for name in known:
        parts = name.split("/")
        for depth in range(1, len(parts)):
            folder = "/".join(parts[:depth])
            if folder in known:
                return folder, name
    return None
