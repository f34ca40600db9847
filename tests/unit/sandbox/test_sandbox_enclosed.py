"""A slot on the host: its control groups in trees of both versions, and what bubblewrap is told."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from sandbox.drivers import groups
from sandbox.runner import isolation, layout, metering
from sandbox.runner.enclosed import CAPABILITIES, Enclosure

if TYPE_CHECKING:
    from collections.abc import Callable

FILES: Final = (
    *("cgroup.procs", "cgroup.subtree_control", "memory.max", "memory.oom.group"),
    *("memory.swap.max", "pids.max", "memory.limit_in_bytes"),
)
VERSION_1: Final = ("memory", "pids", "cpuacct")
ENCLOSURE: Final = Enclosure(
    program="/usr/bin/bwrap",
    folder="/tmp/slot",
    groups=[],
    name="0-abc",
    links=[],
    binds=[],
    environment={"PATH": "/bin"},
    user=4_321,
)


@pytest.fixture
def left(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A kernel that fills new groups with files, and the namespaces that were left."""
    make: Callable[..., None] = os.mkdir

    def make_group(path: str | Path, mode: int = 0o777) -> None:
        make(path, mode)
        for name in FILES:
            Path(path, name).touch()
        Path(path, "cgroup.procs").write_text("7\n")

    left: list[int] = []
    monkeypatch.setattr(os, "mkdir", make_group)
    monkeypatch.setattr(isolation, "unshare", left.append)
    return left


def test_with_version_2_the_slot_is_in_a_leaf_beside_the_groups_of_its_runs(
    tmp_path: Path, left: list[int]
) -> None:
    entered = ENCLOSURE._replace(groups=[str(tmp_path)]).enter_groups()
    group = tmp_path / "0-abc"
    assert entered == [str(group)]
    assert (group / "cgroup.subtree_control").read_text() == "+memory +pids"
    assert (group / "supervisor/cgroup.procs").read_text() == str(os.getpid())
    assert int((group / "memory.max").read_text()) > 8 << 30
    assert left == [isolation.NEW_GROUPS]
    metering.at([Path(entered[0])]).make("run-1")
    assert (group / "run-1/cgroup.procs").exists()


def test_with_version_1_the_slot_is_in_a_group_of_each_controller(
    tmp_path: Path, left: list[int]
) -> None:
    folders = [tmp_path / name for name in VERSION_1]
    for folder in folders:
        folder.mkdir()
    entered = ENCLOSURE._replace(groups=[str(folder) for folder in folders]).enter_groups()
    assert entered == [f"{folder}/0-abc" for folder in folders]
    for place in entered:
        assert (Path(place) / "cgroup.procs").read_text().startswith(str(os.getpid()))
    assert left == [isolation.NEW_GROUPS]


@pytest.mark.parametrize("count", [1, 3])
def test_the_supervisor_gets_its_groups_and_few_capabilities(count: int) -> None:
    given = [f"/groups/{number}" for number in range(count)]
    command = ENCLOSURE.command(given, 9)
    at = [command.index("--bind") + 3 * number for number in range(count)]
    seen = [tuple(command[place + 1 : place + 3]) for place in at]
    assert seen == list(zip(given, layout.given_groups(count), strict=True))
    assert command[command.index("--cap-drop") + 1] == "ALL"
    added = [command[n + 1] for n, word in enumerate(command) if word == "--cap-add"]
    assert added == [f"CAP_{right}" for right in CAPABILITIES]
    assert command[-3:] == ["9", "4321", "PATH=/bin"]
    assert {"--unshare-pid", "--unshare-ipc", "--die-with-parent"} <= set(command)


def test_a_group_is_removed_with_those_in_it(tmp_path: Path) -> None:
    (tmp_path / "0-abc/supervisor").mkdir(parents=True)
    (tmp_path / "0-abc/run-1").mkdir()
    groups.remove(tmp_path / "0-abc")
    assert not (tmp_path / "0-abc").exists()
