"""How a slot's container is made: the constant part, and what little differs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import docker  # type: ignore[import-untyped]
import pytest

from sandbox.driver import DriverUnavailableError
from sandbox.drivers.containers import LABEL, Engine, EngineError, Sockets, owner_of
from sandbox.drivers.images import IMAGES


class Client:
    """An engine that remembers what it was asked."""

    def __init__(self, **said: Any) -> None:
        self.said: dict[str, Any] = {
            "images": [*IMAGES],
            "version": {"Os": "linux", "ApiVersion": "1.41"},
            "security": [],
            "containers": [],
        } | said
        self.created: list[dict[str, Any]] = []
        self.removed: list[str] = []

    def version(self) -> Any:
        return self.said["version"]

    def info(self) -> Any:
        return {"SecurityOptions": self.said["security"]}

    def images(self, name: str) -> list[str]:
        return [name] if name in self.said["images"] else []

    def containers(self, **_: Any) -> Any:
        return self.said["containers"]

    def create_container_from_config(self, config: dict[str, Any], _name: str) -> Any:
        self.created.append(config)
        return {"Id": "abc"}

    def start(self, _: str) -> None: ...

    def remove_container(self, identity: str, **_: Any) -> None:
        self.removed.append(identity)

    def close(self) -> None: ...


def engine(monkeypatch: pytest.MonkeyPatch, **said: Any) -> tuple[Engine, Client]:
    client = Client(**said)
    monkeypatch.setattr(docker, "APIClient", lambda **_: client)
    return Engine("me"), client


def test_nothing_is_open_that_need_not_be(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    made, client = engine(monkeypatch)
    made.start(3, Sockets(tmp_path))
    (config,) = client.created
    host = config["HostConfig"]
    assert host["CapDrop"] == ["ALL"]
    assert set(host["CapAdd"]) == {"SYS_ADMIN", "SETUID", "SETGID", "KILL", "SETPCAP"}
    assert host["NetworkMode"] == "none"
    assert host["ReadonlyRootfs"] is True
    assert host["Privileged"] is False
    assert host["CgroupnsMode"] == host["IpcMode"] == "private"
    assert host["SecurityOpt"] == ["no-new-privileges:true"]
    assert host["Memory"] == host["MemorySwap"] > 0
    assert host["PidsLimit"] > 0
    assert host["NanoCpus"] > 0
    assert [mount["Target"] for mount in host["Mounts"]] == ["/sockets"]
    assert not {"Binds", "Devices", "PidMode", "UsernsMode"} & host.keys()
    assert config["Labels"] == {LABEL: "me"}


@pytest.mark.parametrize(
    ("profile", "asked"), [("apparmor", "apparmor=unconfined"), ("selinux", "label=disable")]
)
def test_profiles_that_forbid_mounts_are_lifted_only_where_there_are_any(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, profile: str, asked: str
) -> None:
    there = [f"name={profile}", "name=seccomp,profile=default"]
    made, client = engine(monkeypatch, security=there)
    made.start(0, Sockets(tmp_path))
    options = client.created[0]["HostConfig"]["SecurityOpt"]
    assert options == ["no-new-privileges:true", asked]


def test_a_slot_sees_the_folder_of_its_own_socket_alone(tmp_path: Path) -> None:
    sockets = Sockets(tmp_path)
    assert sockets.mount(2)["Source"] == str(tmp_path / "slot-2")
    assert sockets.inside(2) == "/sockets/slot.sock"


def test_with_a_volume_the_path_is_the_same_on_both_sides(tmp_path: Path) -> None:
    sockets = Sockets(tmp_path, volume="rewarden-sockets")
    assert sockets.mount(2) == {
        "Type": "volume",
        "Source": "rewarden-sockets",
        "Target": "/sockets",
    }
    assert sockets.inside(2) == "/sockets/slot-2/slot.sock"


def test_only_images_on_the_list_are_started(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="images must be among"):
        Engine("me", images=("alpine",))
    made, _ = engine(monkeypatch, images=["rewarden-sandbox:small"])
    assert made.image == "rewarden-sandbox:small"


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"images": []}, "no image"),
        ({"version": {"Os": "linux", "ApiVersion": "1.40"}}, "older than 20.10"),
        ({"version": {"Os": "windows", "ApiVersion": "1.44"}}, "windows"),
        ({"security": ["name=rootless"]}, "rootless"),
    ],
)
def test_an_engine_that_will_not_do_is_refused_with_a_reason(
    monkeypatch: pytest.MonkeyPatch, said: dict[str, Any], why: str
) -> None:
    made, _ = engine(monkeypatch, **said)
    with pytest.raises(DriverUnavailableError, match=why):
        made.check()


def test_an_engine_that_does_not_answer_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**_: Any) -> None:
        raise EngineError("connection refused")

    monkeypatch.setattr(docker, "APIClient", refuse)
    with pytest.raises(DriverUnavailableError, match="no Docker engine answers"):
        Engine("me").check()


def test_what_is_left_is_reaped_and_the_living_of_others_are_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    there = [
        {"Id": "mine", "Labels": {LABEL: "me"}, "State": "running"},
        {"Id": "others", "Labels": {LABEL: "other"}, "State": "running"},
        {"Id": "dead", "Labels": {LABEL: "other"}, "State": "exited"},
    ]
    made, client = engine(monkeypatch, containers=there)
    assert made.reap() == 2
    assert client.removed == ["mine", "dead"]


def test_an_owner_is_named_the_same_after_a_restart() -> None:
    assert owner_of(Path("/run/sockets")) == owner_of(Path("/run/sockets"))
    assert owner_of(Path("/run/sockets")) != owner_of(Path("/run/other"))
