"""The services as `docker compose up` runs them: built, started and used for real."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import httpx
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

pytestmark = [pytest.mark.docker, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
SERVICES = ["redis", "math", "format", "sql", "code", "postgres", "gateway"]
SANDBOX = ["sandbox", "sandbox-image"]
WELL_FORMED = "<thinking>2 + 2</thinking> \\boxed{4}"
SHAPE = {"template": "thinking_boxed"}
QUERY = {
    "query": "SELECT name FROM emp WHERE pay > 60500",
    "schema_sql": "CREATE TABLE emp(name TEXT, pay INTEGER); INSERT INTO emp VALUES ('Ann', 60000), ('Bo', 61000)",
}
SUM = {"tests": {"kind": "assert", "code": "assert add(1, 2) == 3\nassert add(2, 2) == 4"}}
SAME = "```sql\nSELECT name FROM emp WHERE NOT pay <= 60500\n```"
SAMPLES: list[dict[str, Any]] = [
    {"id": "right", "verifier": "math", "completion": WELL_FORMED, "spec": {"answer": "4"}},
    {"id": "wrong", "verifier": "math", "completion": "\\boxed{5}", "spec": {"answer": "4"}},
    {"id": "shaped", "verifier": "format", "completion": WELL_FORMED, "spec": SHAPE},
    {"id": "shapeless", "verifier": "format", "completion": "4", "spec": SHAPE},
    {"id": "silent", "verifier": "math", "completion": "no idea", "spec": {"answer": "4"}},
    {"id": "odd", "verifier": "nobody", "completion": "4"},
    *(
        {"id": name, "verifier": "sql", "completion": SAME, "spec": QUERY | {"engine": name}}
        for name in ("sqlite", "duckdb", "postgres")
    ),
    {"id": "near", "verifier": "sql", "completion": "SELECT 'Bo'", "spec": QUERY},
    {"id": "adds", "verifier": "code", "completion": "def add(a, b): return a + b", "spec": SUM},
    {"id": "lies", "verifier": "code", "completion": "def add(a, b): return 3", "spec": SUM},
]
SCORES = {"right": 1, "wrong": 0, "shaped": 1, "shapeless": 0, "silent": 0, "odd": None}
SCORES |= {"sqlite": 1, "duckdb": 1, "postgres": 1, "near": 0, "adds": 1, "lies": 0}
THROUGH_THE_QUEUE = """
import json, sys
from rewarden.client import Client
from rewarden.contracts import Sample

samples = [Sample.model_validate(sample) for sample in json.load(sys.stdin)]
with Client("redis://redis:6379/0") as client:
    verdicts = client.verify(samples, timeout_seconds=60)
print(json.dumps([verdict.model_dump(mode="json") for verdict in verdicts]))
"""

A_JOB = """
import base64, json, urllib.request
job = {"language": "python", "source": base64.b64encode(b"print(6 * 7)").decode(), "runs": [{}]}
call = urllib.request.Request(
    "http://127.0.0.1:8000/v1/jobs", json.dumps(job).encode(), {"Content-Type": "application/json"}
)
print(urllib.request.urlopen(call).read().decode().strip())
"""
IS_SANDBOX_THERE = """
import socket
try:
    socket.create_connection(("sandbox", 8000), 3)
    print("yes")
except OSError:
    pass
"""
READY = """
import json, urllib.request
print(json.dumps(json.load(urllib.request.urlopen("http://127.0.0.1:8000/readyz"))["slots"]))
"""


class Stack:
    """One Compose project of the test's own, on a free port."""

    def __init__(self) -> None:
        self._project = f"rewarden-test-{uuid4().hex[:8]}"
        self._port = _free_port()
        self.url = f"http://127.0.0.1:{self._port}"

    def compose(
        self,
        *arguments: str,
        stdin: str = "",
        environment: dict[str, str] | None = None,
        check: bool = True,
        timeout_seconds: float = 120,
    ) -> str:
        """Run a Compose command and return what it printed."""
        ours = {
            "REWARDEN_PORT": str(self._port),
            "REWARDEN_API_KEYS": "",
            "REWARDEN_SANDBOX_IMAGE": "small",
        } | (environment or {})
        done = subprocess.run(
            ["docker", "compose", "-p", self._project, "--ansi", "never", *arguments],
            cwd=ROOT,
            env=os.environ | ours,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=timeout_seconds,
            check=False,
        )
        if check and done.returncode:
            pytest.fail(
                f"compose {arguments[0]} failed:\n{done.stdout[-2000:]}{done.stderr[-8000:]}"
            )
        return done.stdout

    def up(self, *arguments: str, environment: dict[str, str] | None = None) -> None:
        self.compose("up", "-d", "--wait", *arguments, environment=environment, timeout_seconds=900)

    def python(self, service: str, code: str, stdin: str = "", *, check: bool = True) -> str:
        """Run Python inside the container of `service`."""
        return self.compose("exec", "-T", service, "python", "-c", code, stdin=stdin, check=check)

    def inspect(self, service: str) -> dict[str, Any]:
        return _inspect("container", self.compose("ps", "-a", "-q", service).strip())

    def slots(self) -> list[str]:
        """Find the containers that the sandbox started: those with its volume, but for itself."""
        found = subprocess.run(
            ["docker", "ps", "-q", "--filter", f"volume={self._project}-slots"],
            capture_output=True,
            text=True,
            check=True,
        )
        return [c for c in found.stdout.split() if not self.inspect("sandbox")["Id"].startswith(c)]

    def verify(self, samples: Sequence[dict[str, Any]], **headers: str) -> httpx.Response:
        """Send one batch to the gateway."""
        body = {"samples": samples, "timeout_seconds": 60}
        return httpx.post(f"{self.url}/v1/verify", json=body, headers=headers, timeout=90)


@pytest.fixture(scope="module")
def running(docker_engine: None) -> Iterator[Stack]:
    stack = Stack()
    try:
        try:
            stack.up("--build")
        except BaseException:
            print(stack.compose("logs", "--tail", "100", check=False))  # noqa: T201
            raise
        yield stack
    finally:
        stack.compose("down", "-v", "--rmi", "local", "--remove-orphans", check=False)


@pytest.fixture
def stack(running: Stack) -> Iterator[Stack]:
    yield running
    # pytest shows this where the test failed
    print(running.compose("logs", "--tail", "40", check=False))  # noqa: T201


def test_a_mixed_batch_through_the_gateway(stack: Stack) -> None:
    answer = stack.verify(SAMPLES)

    assert answer.status_code == 200, answer.text
    assert _scores(answer.json()["verdicts"]) == list(SCORES.items())


def test_a_mixed_batch_through_the_queue(stack: Stack) -> None:
    known = [sample for sample in SAMPLES if sample["verifier"] != "nobody"]

    printed = stack.python("gateway", THROUGH_THE_QUEUE, stdin=json.dumps(known))

    assert _scores(json.loads(printed)) == [(s["id"], SCORES[s["id"]]) for s in known]


def test_health_is_told_on_the_published_port(stack: Stack) -> None:
    for path in ("/healthz", "/readyz"):
        assert httpx.get(stack.url + path).json()["status"] == "ok"


@pytest.mark.parametrize("service", SERVICES)
def test_containers_hold_no_privileges(stack: Stack, service: str) -> None:
    uid = stack.compose("exec", "-T", service, "id", "-u").strip()
    status = stack.compose("exec", "-T", service, "cat", "/proc/self/status")
    host = stack.inspect(service)["HostConfig"]

    assert uid != "0"
    assert "CapEff:\t0000000000000000" in status
    assert "CapBnd:\t0000000000000000" in status
    assert "NoNewPrivs:\t1" in status
    assert host["RestartPolicy"]["Name"] == "unless-stopped"
    assert host["Memory"] > 0
    assert host["PidsLimit"] > 0


@pytest.mark.parametrize("service", SERVICES)
def test_root_file_systems_are_read_only(stack: Stack, service: str) -> None:
    command = "(touch /x || touch /app/x || touch /usr/x) 2>/dev/null && echo written; touch /tmp/x"

    assert stack.compose("exec", "-T", service, "sh", "-c", command) == ""


def test_only_the_gateway_is_published_and_on_loopback_alone(stack: Stack) -> None:
    names = [*SERVICES, *SANDBOX]
    ports = {name: stack.inspect(name)["HostConfig"]["PortBindings"] for name in names}

    addresses = [binding["HostIp"] for binding in ports.pop("gateway")["8000/tcp"]]
    assert addresses == ["127.0.0.1"]
    assert not any(ports.values())


@pytest.mark.parametrize("service", [*SERVICES[:-1], "sandbox"])
def test_nothing_that_reads_hostile_text_has_a_way_out(stack: Stack, service: str) -> None:
    networks = stack.inspect(service)["NetworkSettings"]["Networks"]

    assert len(networks) == (2 if service in {"sql", "code"} else 1)
    assert all(_inspect("network", name)["Internal"] for name in networks)


def test_programs_run_in_slots(stack: Stack) -> None:
    events = [json.loads(line) for line in stack.python("sandbox", A_JOB).splitlines()]

    assert events[0]["observation"]["stdout"] == "NDIK"  # 42 and a line feed
    assert events[-1] == {"end": 1, "driver": "slots"}


def test_only_the_sandbox_reaches_the_engine_and_it_has_no_capability(stack: Stack) -> None:
    mounted = {
        name
        for name in [*SERVICES, *SANDBOX]
        if any("docker.sock" in mount["Source"] for mount in stack.inspect(name)["Mounts"])
    }
    status = stack.compose("exec", "-T", "sandbox", "cat", "/proc/self/status")
    host = stack.inspect("sandbox")["HostConfig"]

    assert mounted == {"sandbox"}
    assert "CapEff:\t0000000000000000" in status
    assert "CapBnd:\t0000000000000000" in status
    assert "NoNewPrivs:\t1" in status
    assert host["ReadonlyRootfs"]
    assert not host["Privileged"]


def test_the_sandbox_is_out_of_reach_for_the_rest(stack: Stack) -> None:
    for service in ("math", "sql", "gateway"):
        assert stack.python(service, IS_SANDBOX_THERE) == ""


def test_a_killed_sandbox_comes_back_and_leaves_no_container(stack: Stack) -> None:
    stack.python("sandbox", "import os; os.kill(-1, 9)", check=False)

    _wait_for(lambda: "NDIK" in stack.python("sandbox", A_JOB, check=False))
    # those of the service before ended when it hung up
    _wait_for(lambda: len(stack.slots()) == json.loads(stack.python("sandbox", READY))["total"])


def test_a_killed_verifier_restarts_and_its_work_is_done(stack: Stack) -> None:
    before = stack.inspect("math")["RestartCount"]

    stack.python("math", "import os; os.kill(-1, 9)", check=False)
    answer = stack.verify(SAMPLES)

    assert _scores(answer.json()["verdicts"]) == list(SCORES.items())
    _wait_for(lambda: stack.inspect("math")["State"]["Health"]["Status"] == "healthy")
    assert stack.inspect("math")["RestartCount"] == before + 1


def test_queued_data_outlives_redis(stack: Stack) -> None:
    stack.compose("exec", "-T", "redis", "redis-cli", "set", "mark", "kept")

    stack.compose("rm", "-f", "-s", "redis")
    stack.up()

    assert stack.compose("exec", "-T", "redis", "redis-cli", "get", "mark").strip() == "kept"
    assert _scores(stack.verify(SAMPLES).json()["verdicts"]) == list(SCORES.items())


def test_keys_that_are_set_are_asked_for(stack: Stack) -> None:
    stack.up("gateway", environment={"REWARDEN_API_KEYS": "first,second"})

    assert stack.verify(SAMPLES).status_code == 401
    assert stack.verify(SAMPLES, **{"X-API-Key": "third"}).status_code == 401
    assert stack.verify(SAMPLES, **{"X-API-Key": "second"}).status_code == 200
    assert httpx.get(f"{stack.url}/readyz").status_code == 200


def test_the_trainer_is_a_profile_of_its_own(stack: Stack) -> None:
    assert sorted(stack.compose("config", "--services").split()) == sorted([*SERVICES, *SANDBOX])

    told = json.loads(stack.compose("--profile", "gpu", "config", "--format", "json"))
    devices = told["services"]["trainer"]["deploy"]["resources"]["reservations"]["devices"]
    assert devices[0]["capabilities"] == ["gpu"]


def _inspect(kind: str, name: str) -> dict[str, Any]:
    told = subprocess.run(
        ["docker", kind, "inspect", name], capture_output=True, text=True, check=True
    )
    described: dict[str, Any] = json.loads(told.stdout)[0]
    return described


def _scores(verdicts: list[dict[str, Any]]) -> list[tuple[str, float | None]]:
    return [(verdict["id"], verdict["score"]) for verdict in verdicts]


def _wait_for(condition: Callable[[], bool], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come about in time"
        time.sleep(0.5)


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port
