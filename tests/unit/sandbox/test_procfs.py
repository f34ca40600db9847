"""Sampling of process trees on this machine, with children of the test itself."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from sandbox.runner import procfs
from sandbox.runner.metering import Limits
from sandbox.runner.procfs import ProcessTree

MEBIBYTE = 1024 * 1024
PATIENCE_SECONDS = 10


@contextmanager
def running(source: str) -> Iterator[int]:
    with subprocess.Popen([sys.executable, "-c", source], start_new_session=True) as process:
        try:
            yield process.pid
        finally:
            os.killpg(process.pid, signal.SIGKILL)


def tree(pid: int, memory_bytes: int = 1 << 30, disk_bytes: Callable[[], int] = int) -> ProcessTree:
    made = ProcessTree(Limits(memory_bytes, 64), disk_bytes)
    made.add(pid)
    return made


def becomes(true: Callable[[], object]) -> bool:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        if true():
            return True
        time.sleep(0.01)
    return False


def test_cpu_time_of_grandchildren_counts() -> None:
    with running("import os\nif os.fork():\n    os.wait()\nwhile True: pass") as pid:
        seen = tree(pid)
        assert becomes(lambda: seen.cpu_seconds() > 0.2)
        assert seen.wants_cpu()


def test_who_sleeps_wants_no_cpu() -> None:
    with running("import time; time.sleep(60)") as pid:
        seen = tree(pid)
        assert becomes(lambda: not seen.wants_cpu())


def test_memory_beyond_the_limit_is_seen_and_shared_pages_count_once() -> None:
    source = (
        "import os, time\nx = b'x' * (64 << 20)\nfor _ in range(4):\n    os.fork()\ntime.sleep(60)"
    )
    with running(source) as pid:
        enough, small = tree(pid, 512 * MEBIBYTE), tree(pid, 48 * MEBIBYTE)
        assert becomes(lambda: small.cpu_seconds() and small.memory_kills())
        assert becomes(lambda: enough.cpu_seconds() and enough.peak_memory_bytes() > 64 * MEBIBYTE)
        assert not enough.memory_kills()


def test_what_is_on_the_disk_is_memory() -> None:
    with running("import time; time.sleep(60)") as pid:
        seen = tree(pid, 256 * MEBIBYTE, lambda: 300 * MEBIBYTE)
        assert becomes(lambda: seen.cpu_seconds() >= 0 and seen.memory_kills())


def test_a_tree_that_is_gone_is_no_error() -> None:
    with running("pass") as pid:
        seen = tree(pid)
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    assert seen.cpu_seconds() >= 0
    assert not seen.wants_cpu()


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_the_filter_ends_in_a_permission_and_a_refusal(machine: str) -> None:
    steps = procfs.assemble(machine)
    assert len(steps) == 8 * (1 + 4 + 2)
    assert steps[-16:-8] == b"\x06\0\0\0\0\0\xff\x7f"
