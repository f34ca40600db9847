"""Where control groups are made, on hosts that this machine is not, by what their files say."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sandbox.drivers import groups
from sandbox.drivers.groups import _Mount, _place_of_version_1


def test_version_1_lies_below_the_service_s_own_groups() -> None:
    cgroups = "5:cpu,cpuacct:/jobs/a\n4:memory:/docker/abc/inner\n1:name=systemd:/x\n0::/\n"
    mounts = [
        _Mount("/", Path("/sys/fs/cgroup/systemd"), "cgroup", frozenset({"rw", "name=systemd"})),
        _Mount("/", Path("/cg/cpu"), "cgroup", frozenset({"rw", "cpu", "cpuacct"})),
        _Mount("/docker/abc", Path("/cg/memory"), "cgroup", frozenset({"rw", "memory"})),
    ]
    assert _place_of_version_1("cpuacct", cgroups, mounts) == Path("/cg/cpu/jobs/a")
    assert _place_of_version_1("memory", cgroups, mounts) == Path("/cg/memory/inner")
    with pytest.raises(LookupError):
        _place_of_version_1("memory", cgroups, mounts[:2])


def test_version_2_is_divided_at_the_top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dead = tmp_path / "rewarden-999999999-dead"
    (dead / "0-run").mkdir(parents=True)
    monkeypatch.setattr(groups, "_places", lambda: [tmp_path])
    (folder,) = groups.make_folders("token")
    assert folder == tmp_path / f"rewarden-{os.getpid()}-token"
    assert (folder / "cgroup.subtree_control").read_text() == "+memory +pids"
    assert not dead.exists()
    (folder / "cgroup.subtree_control").unlink()
    (folder / "0-run").mkdir()
    groups.remove_folders([folder])
    assert not folder.exists()


def test_where_no_group_can_be_made_there_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(groups, "_places", lambda: [tmp_path / "missing"])
    assert groups.make_folders("token") == []
