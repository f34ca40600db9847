"""Reads files of programs and tests: blocks parted by a line of `====`, their parts by `--`."""

from __future__ import annotations

from pathlib import Path


def read_blocks(name: str) -> list[list[str]]:
    """Return the parts of each block of a file of this folder."""
    text = Path(__file__).with_name(name).read_text("utf-8").rstrip("\n")
    return [block.split("\n--\n") for block in text.split("\n====\n")]
