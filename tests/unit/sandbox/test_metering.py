"""Control groups: what is read from and written to the files of both versions."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from sandbox.runner import metering
from sandbox.runner.metering import Limits, MeteringUnavailableError, Version1, Version2

LIMITS = Limits(memory_bytes=64 << 20, processes=9)


def fill(folder: Path, **files: str) -> None:
    for name, content in files.items():
        (folder / name.replace("__", ".")).write_text(content)


def test_version_2_is_measured(tmp_path: Path) -> None:
    group = Version2(tmp_path).make("run")
    fill(
        tmp_path / "run",
        cpu__stat="usage_usec 1500000\nuser_usec 1000000\nsystem_usec 500000\n",
        memory__peak="4096\n",
        memory__events="low 0\nhigh 0\nmax 7\noom 1\noom_kill 2\noom_group_kill 0\n",
        pids__events="max 5\n",
    )
    assert group.cpu_seconds() == 1.5
    assert group.peak_memory_bytes() == 4096
    assert group.memory_kills() == 2
    assert group.process_limit_hits() == 5


def test_version_2_is_limited_and_killed_as_a_whole(tmp_path: Path) -> None:
    group = Version2(tmp_path).make("run")
    names = ("memory.max", "pids.max", "memory.oom.group", "memory.swap.max")
    for name in names:
        (tmp_path / "run" / name).touch()
    group.change(LIMITS)
    written = [(tmp_path / "run" / name).read_text() for name in names]
    assert written == ["67108864", "9", "1", "0"]


def test_version_2_without_swap_or_peak_still_works(tmp_path: Path) -> None:
    group = Version2(tmp_path).make("run")
    fill(tmp_path / "run", memory__max="", pids__max="", memory__oom__group="")
    fill(tmp_path / "run", memory__current="123\n")
    group.change(LIMITS)
    assert group.peak_memory_bytes() == 123


def version_1(tmp_path: Path) -> Version1:
    folders = [tmp_path / name for name in ("memory", "pids", "cpuacct")]
    for folder in folders:
        folder.mkdir()
    return Version1(*folders)


def test_version_1_is_measured_across_its_controllers(tmp_path: Path) -> None:
    group = version_1(tmp_path).make("run")
    fill(tmp_path / "cpuacct/run", cpuacct__usage="2500000000\n")
    fill(tmp_path / "pids/run", pids__events="max 3\n")
    fill(
        tmp_path / "memory/run",
        memory__max_usage_in_bytes="8192\n",
        memory__oom_control="oom_kill_disable 0\nunder_oom 0\noom_kill 4\n",
    )
    assert group.cpu_seconds() == 2.5
    assert group.peak_memory_bytes() == 8192
    assert group.memory_kills() == 4
    assert group.process_limit_hits() == 3


@pytest.mark.parametrize("counts_swap", [True, False])
def test_version_1_is_limited_with_swap_where_that_is_counted(
    tmp_path: Path, counts_swap: bool
) -> None:
    group = version_1(tmp_path).make("run")
    fill(tmp_path / "memory/run", memory__limit_in_bytes="")
    fill(tmp_path / "pids/run", pids__max="")
    swap = tmp_path / "memory/run/memory.memsw.limit_in_bytes"
    if counts_swap:
        swap.touch()
    group.change(LIMITS)
    assert (tmp_path / "memory/run/memory.limit_in_bytes").read_text() == "67108864"
    assert (tmp_path / "pids/run/pids.max").read_text() == "9"
    assert swap.exists() is counts_swap
    assert not counts_swap or swap.read_text() == "67108864"


def test_a_thread_that_is_ready_to_run_is_found(tmp_path: Path) -> None:
    group = Version2(tmp_path).make("run")
    listing = tmp_path / "run/cgroup.threads"
    sleeper = os.fork()
    if not sleeper:
        time.sleep(60)
        os._exit(0)
    try:
        listing.write_text(f"{sleeper}\n4194304\n")  # the second one is gone
        deadline = time.monotonic() + 5
        while group.wants_cpu() and time.monotonic() < deadline:
            time.sleep(0.01)
        assert not group.wants_cpu()
        listing.write_text(f"{sleeper}\n{os.getpid()}\n")
        assert group.wants_cpu()
    finally:
        os.kill(sleeper, 9)
        os.waitpid(sleeper, 0)


def test_a_group_that_is_gone_already_is_removed(tmp_path: Path) -> None:
    group = Version2(tmp_path).make("run")
    (tmp_path / "run").rmdir()
    group.remove()


def test_controllers_are_found_with_the_set_that_they_are_mounted_with() -> None:
    hybrid = "5:cpu,cpuacct:/\n4:memory:/\n2:pids:/\n1:name=systemd:/x\n0::/y\n"
    found = metering.controllers_of_version_1(hybrid)
    assert found == {
        "cpu": "cpu,cpuacct",
        "cpuacct": "cpu,cpuacct",
        "memory": "memory",
        "pids": "pids",
    }
    assert metering.controllers_of_version_1("0::/\n") == {}


def test_a_version_2_group_is_divided_when_its_processes_are_in_a_leaf(tmp_path: Path) -> None:
    fill(tmp_path, cgroup__procs="12\n34\n", cgroup__subtree_control="")
    (tmp_path / "supervisor").mkdir()
    (tmp_path / "supervisor/cgroup.procs").touch()
    metering.delegate(tmp_path)
    assert (tmp_path / "supervisor/cgroup.procs").read_text() == "34"  # the last one to be moved
    assert (tmp_path / "cgroup.subtree_control").read_text() == "+memory +pids"


def test_a_namespace_that_is_the_hosts_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "read_text", lambda _: "0::/docker/abc\n")
    with pytest.raises(MeteringUnavailableError, match="not the container's own"):
        metering.mount_hierarchy(tmp_path)
