"""Slots on a real Docker engine: what runs well, what is contained, what happens when parts die."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

import pytest
import pytest_asyncio

from sandbox.driver import CellBrokenError
from sandbox.drivers.containers import LABEL
from sandbox.drivers.slots import SlotsDriver, SlotsOptions
from sandbox.jobs import Call, Job, Limits, Observation, Run, Status
from sandbox.runner.values import decode

ROOT: Final = Path(__file__).parents[2]
HOSTILE: Final = Path(__file__).parent / "hostile"
IMAGE: Final = "rewarden-sandbox:small"
OURS: Final = 4
"""Processes of an idle slot: the supervisor, the zygote, and two that wait for the next run."""

pytestmark = [pytest.mark.docker, pytest.mark.asyncio(loop_scope="module")]


def docker(*arguments: str) -> str:
    return subprocess.run(
        ["docker", *arguments], check=True, capture_output=True, text=True
    ).stdout.strip()


@pytest.fixture(scope="module")
def image(docker_engine: None) -> str:
    docker(
        "build",
        "-q",
        "-f",
        "sandbox/images/Dockerfile",
        "--target",
        "small",
        "-t",
        IMAGE,
        str(ROOT),
    )
    return IMAGE


class Slots:
    """A driver, and what the engine says of its containers."""

    def __init__(self, slots: int, owner: str, *, is_warm: bool = True) -> None:
        self.owner = owner
        self.driver = SlotsDriver(
            slots=slots, options=SlotsOptions(owner=owner, images=(IMAGE,), is_warm=is_warm)
        )

    def containers(self) -> list[str]:
        return docker("ps", "-aq", "--filter", f"label={LABEL}={self.owner}").split()

    def processes(self) -> list[str]:
        return [line for each in self.containers() for line in docker("top", each).splitlines()[1:]]

    async def run(self, job: Job, slot: int = 0) -> list[Observation]:
        cell = await self.driver.open(slot)
        try:
            await cell.prepare(job)
            return [await cell.run(run) for run in job.runs]
        finally:
            await cell.close()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def slots(image: str) -> AsyncIterator[Slots]:
    made = Slots(1, f"test-warm-{os.getpid()}")
    await made.driver.start()
    yield made
    await made.driver.close()
    assert made.containers() == []


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def cold_slots(image: str) -> AsyncIterator[Slots]:
    made = Slots(1, f"test-cold-{os.getpid()}", is_warm=False)
    await made.driver.start()
    yield made
    await made.driver.close()


def python(source: str, *runs: Run, **limits: Any) -> Job:
    return Job(
        language="python",
        source=source.encode(),
        runs=runs or (Run(),),
        limits=Limits(**{"cpu_seconds": 5, "memory_mb": 128, **limits}),
    )


def hostile(name: str, **limits: Any) -> Job:
    return python((HOSTILE / f"{name}.py").read_text(), **limits)


async def assert_clean(slots: Slots) -> None:
    """No process is left, and the next job is right."""
    assert len(slots.processes()) == OURS
    (seen,) = await slots.run(python("print(input()[::-1])", Run(stdin=b"drawer\n")))
    assert (seen.status, seen.stdout, seen.stderr) == (Status.EXITED, b"reward\n", b"")


BOMBS: Final = [
    ("fork_bomb", {"cpu_seconds": 0.5}, Status.TIMEOUT),
    ("thread_bomb", {"cpu_seconds": 0.5, "processes": 16}, Status.TIMEOUT),
    ("memory_bomb", {"memory_mb": 64}, Status.MEMORY_LIMIT),
    ("shared_memory_bomb", {"memory_mb": 64}, Status.MEMORY_LIMIT),
    ("disk_bomb", {"disk_mb": 16}, Status.EXITED),
    ("inode_bomb", {"files": 256}, Status.EXITED),
    ("flood", {}, Status.OUTPUT_LIMIT),
    ("zombies", {}, Status.EXITED),
    ("stop_everyone", {"cpu_seconds": 0.1}, Status.TIMEOUT),
    ("daemon", {}, Status.EXITED),
    ("kill_everyone", {}, Status.EXITED),
]


@pytest.mark.parametrize(("name", "limits", "status"), BOMBS, ids=[bomb[0] for bomb in BOMBS])
async def test_a_bomb_ends_in_its_status_and_the_next_job_is_right(
    slots: Slots, name: str, limits: dict[str, Any], status: Status
) -> None:
    (seen,) = await slots.run(hostile(name, **limits))
    assert seen.status is status, seen
    assert len(seen.stdout) <= 8 * 1024 * 1024
    await assert_clean(slots)


async def test_a_disk_holds_what_it_may_and_no_more(slots: Slots) -> None:
    (disk,) = await slots.run(hostile("disk_bomb", disk_mb=16))
    assert int(disk.stdout) == 16
    (inodes,) = await slots.run(hostile("inode_bomb", files=256))
    assert 240 <= int(inodes.stdout) <= 256


async def test_a_fork_bomb_is_refused_processes_and_that_is_told(slots: Slots) -> None:
    (seen,) = await slots.run(hostile("fork_bomb", cpu_seconds=0.3, processes=8))
    assert seen.telemetry.process_limit_hits > 0


async def test_jobs_leave_no_trace_for_the_next_one(slots: Slots) -> None:
    for _ in range(3):
        (seen,) = await slots.run(hostile("traces"))
        assert seen.stdout == b"[]\n", seen
    await assert_clean(slots)


async def test_nothing_of_the_surroundings_can_be_seen(slots: Slots, cold_slots: Slots) -> None:
    for each in (slots, cold_slots):
        (seen,) = await each.run(hostile("look_around"))
        assert seen.stdout == b"[]\n", seen


async def test_no_system_call_leads_out(slots: Slots, cold_slots: Slots) -> None:
    for each in (slots, cold_slots):
        (seen,) = await each.run(hostile("system_calls"))
        assert seen.stdout == b"[]\n", seen


async def test_nothing_of_a_request_is_in_the_memory_of_the_next_job(slots: Slots) -> None:
    secret = os.urandom(12).hex()
    first = Job(
        language="python",
        source=f"x = {secret!r}\ndef f(y): return y\nprint(x, input())".encode(),
        files={"data.txt": secret.encode()},
        runs=(
            Run(stdin=f"{secret}\n".encode(), argv=(secret,)),
            Run(calls=(Call(entry_point="f", args=(secret,)),), stdin=b"\n"),
        ),
    )
    (printed, _) = await slots.run(first)
    assert printed.stdout.count(secret.encode()) == 2
    unused = await count_in_own_memory(slots, os.urandom(12).hex())
    assert await count_in_own_memory(slots, secret) == unused
    assert await count_in_own_memory(slots, secret, planted=1) > unused  # it does find things


async def count_in_own_memory(slots: Slots, sought: str, planted: int = 0) -> int:
    """Let a job search its memory; the program holds what is sought in reverse alone."""
    source = f"""
import ctypes
backwards = {sought[::-1].encode()!r}
planted = [backwards[::-1] + bytes(100) for _ in range({planted})]
places = [line.split() for line in open("/proc/self/maps")]
count = 0
for place, rights, *rest in places:
    if rights[0] == "r" and not rest[-1].startswith("[v"):
        low, high = (int(end, 16) for end in place.split("-"))
        count += ctypes.string_at(low, high - low).count(backwards[::-1])
print(count)
"""
    (seen,) = await slots.run(python(source))
    assert seen.status is Status.EXITED, seen
    return int(seen.stdout)


async def test_there_is_no_network_and_attempts_are_counted(slots: Slots) -> None:
    source = """
import socket
for address in ("169.254.169.254", "8.8.8.8"):
    try:
        socket.create_connection((address, 80), 1)
    except OSError as error:
        print(error.errno)
"""
    (seen,) = await slots.run(python(source))
    assert seen.stdout == b"101\n101\n"
    assert seen.telemetry.network_attempts == 2


async def test_loopback_works(slots: Slots) -> None:
    source = """
import socket
server = socket.create_server(("localhost", 8000))
client = socket.create_connection(("localhost", 8000))
print(server.accept()[0].sendall(b"x"), client.recv(1))
"""
    for _ in range(2):
        (seen,) = await slots.run(python(source))
        assert seen.stdout == b"None b'x'\n"


@pytest.mark.parametrize("is_warm", [True, False])
async def test_eight_mebibytes_go_in_and_come_out_unchanged(
    slots: Slots, cold_slots: Slots, is_warm: bool
) -> None:
    stdin = os.urandom(8 * 1024 * 1024)
    source = "import sys; sys.stdout.buffer.write(sys.stdin.buffer.read())"
    (seen,) = await (slots if is_warm else cold_slots).run(python(source, Run(stdin=stdin)))
    assert (seen.status, seen.stdout == stdin) == (Status.EXITED, True)


SAME: Final = {
    "main": "import sys; print(__name__, __file__, sys.argv, sys.path[0], sys.flags.hash_randomization)",
    "exit code": "import sys; sys.exit(7)",
    "exit text": "import sys; sys.exit('no')",
    "exit late": "import atexit, sys; atexit.register(print, 'bye'); sys.exit(3)",
    "error": "def f():\n    raise ValueError('x')\nf()",
    "syntax": "print('x'\n",
    "hook": "import sys\nsys.excepthook = lambda *a: print('hook', a[1])\n1/0",
    "threads": "import threading, time\nthreading.Thread(target=lambda: (time.sleep(.05), print('t'))).start()",
    "depth": "def f(n):\n    return 0 if n == 0 else 1 + f(n - 1)\nprint(f(990))",
    "environment": "import os; print(sorted(os.environ.items()))",
    "hash": "print(hash('reward'), list({'a', 'b', 'c', 'd'}))",
    "closed": "import sys; sys.stdout.close()",
    "dev": "print(open('/dev/stdin').read()); print('e', file=open('/dev/stderr', 'w'))",
    "unicode": "print('\\u2713')",
    "signal": "import os, signal; os.kill(os.getpid(), signal.SIGTERM)",
    "abort": "import os; os.abort()",
    "process": "import multiprocessing as m\np = m.Process(target=print, args=('c',)); p.start(); p.join(); print(p.exitcode)",
    "shell": "import subprocess; print(subprocess.run('echo hi; exit 3', shell=True).returncode, flush=True)",
    "pickle": "import pickle\nclass A: pass\nprint(type(pickle.loads(pickle.dumps(A()))) is A)",
    "input": "print(input() + '!')\nprint(input())",
}


@pytest.mark.parametrize("name", SAME)
async def test_a_warm_interpreter_does_what_a_fresh_one_does(
    slots: Slots, cold_slots: Slots, name: str
) -> None:
    job = python(SAME[name], Run(stdin=b"line\n", argv=("a", "-b")))
    (warm,), (cold,) = await slots.run(job), await cold_slots.run(job)
    assert (warm.status, warm.exit_code, warm.signal) == (cold.status, cold.exit_code, cold.signal)
    assert (warm.stdout, warm.stderr) == (cold.stdout, cold.stderr)


@pytest.mark.parametrize("is_warm", [True, False])
async def test_functions_are_called_in_one_process_until_one_raises(
    slots: Slots, cold_slots: Slots, is_warm: bool
) -> None:
    source = "n = 0\ndef f(x):\n    global n\n    n += 1\n    print(n)\n    return 10 // x, n"
    calls = tuple(Call(entry_point="f", args=(x,)) for x in (5, 2, 0, 1))
    (seen,) = await (slots if is_warm else cold_slots).run(python(source, Run(calls=calls)))
    assert [answer.exception for answer in seen.returned] == [None, None, "ZeroDivisionError"]
    assert seen.returned[1].value == {"$": "tuple", "v": [5, 2]}
    assert (seen.status, seen.stdout) == (Status.EXITED, b"1\n2\n3\n")


@pytest.mark.parametrize(
    "body",
    [
        "import os; os._exit(0)",
        "import os; os.write(3, b'{}\\n')",
        "import os; [os.write(n, b'x' * 4096) for n in [3] * 4096]",
        "import os; os.write(3, b'\\n\\n\\n\\n')",
        "import os; os.close(3)",
    ],
)
async def test_an_answer_that_is_not_one_is_a_protocol_error(slots: Slots, body: str) -> None:
    calls = (Call(entry_point="f"), Call(entry_point="f"))
    (seen,) = await slots.run(python(f"def f():\n    {body}", Run(calls=calls)))
    assert seen.status is Status.PROTOCOL_ERROR
    assert seen.returned == ()
    await assert_clean(slots)


async def test_every_run_is_a_fresh_process_on_the_same_disk(slots: Slots) -> None:
    source = "import os, sys; open('log', 'a').write('x'); print(os.getpid(), open('log').read())"
    seen = await slots.run(python(source, Run(), Run(), Run()))
    assert [each.stdout.split()[1] for each in seen] == [b"x", b"xx", b"xxx"]
    assert len({each.stdout.split()[0] for each in seen}) == 1  # each in a pid namespace of its own


async def test_no_run_can_be_smuggled_in_after_the_last(slots: Slots) -> None:
    cell = await slots.driver.open(0)
    job = python("print(1)")
    await cell.prepare(job)
    await cell.run(job.runs[0])
    with pytest.raises(CellBrokenError):
        await cell.run(job.runs[0])
    await cell.close()
    await slots.driver.renew(0)
    await assert_clean(slots)


async def test_the_first_process_of_a_run_cannot_be_reached_and_collects_orphans(
    slots: Slots,
) -> None:
    source = """
import os, time
try:
    os.kill(1, 9)
except PermissionError:
    print("refused")
end, start = os.pipe()
if not os.fork():
    if not (orphan := os.fork()):
        time.sleep(0.05)
        os._exit(0)
    os.write(start, str(orphan).encode())
    os._exit(0)
os.wait()
orphan = int(os.read(end, 20))
for _ in range(200):
    try:
        os.kill(orphan, 0)
    except ProcessLookupError:
        print("collected")
        break
    time.sleep(0.01)
"""
    (seen,) = await slots.run(python(source))
    assert seen.stdout == b"refused\ncollected\n", seen
    await assert_clean(slots)


async def test_hashes_are_the_same_for_warm_and_cold_programs_and_calls(
    slots: Slots, cold_slots: Slots
) -> None:
    source = "def f():\n    return hash('a')\nif __name__ == '__main__': print(f())"
    hashes = set()
    for each in (slots, cold_slots):
        ran, called = await each.run(python(source, Run(), Run(calls=(Call(entry_point="f"),))))
        hashes |= {int(ran.stdout), decode(called.returned[0].value)}
    assert len(hashes) == 1


async def test_files_lie_beside_the_main_file(slots: Slots) -> None:
    job = Job(
        language="python",
        source=b"import helper, json; print(helper.x, json.load(open('data/in.json')))",
        files={"helper.py": b"x = 1", "data/in.json": json.dumps([2]).encode()},
        runs=(Run(),),
    )
    (seen,) = await slots.run(job)
    assert seen.stdout == b"1 [2]\n"


async def test_bash_runs(slots: Slots) -> None:
    job = Job(
        language="bash", source=b"read x; echo $((x + 1)) >&2; exit 4", runs=(Run(stdin=b"41\n"),)
    )
    (seen,) = await slots.run(job)
    assert (seen.exit_code, seen.stderr) == (4, b"42\n")


async def test_cpu_time_of_children_counts_even_if_nobody_reaps_them(slots: Slots) -> None:
    source = """
import os, signal
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
while True:
    if os.fork() == 0:
        sum(range(1_000_000)); os._exit(0)
    try:
        os.wait()
    except ChildProcessError:
        pass
"""
    (seen,) = await slots.run(python(source, cpu_seconds=0.3))
    assert seen.status is Status.TIMEOUT
    assert seen.cpu_seconds >= 0.3


async def test_a_program_that_is_asleep_ends_at_the_wall(slots: Slots) -> None:
    (seen,) = await slots.run(python("import time; time.sleep(60)", cpu_seconds=0.1))
    assert seen.status is Status.TIMEOUT
    assert seen.wall_seconds >= 1.2


async def test_peak_memory_is_of_the_whole_tree(slots: Slots) -> None:
    source = """
import os, time
if os.fork():
    os.wait()
else:
    x = b"x" * (48 << 20); time.sleep(0.05); os._exit(0)
y = b"y" * (8 << 20)
"""
    (seen,) = await slots.run(python(source))
    assert 48 << 20 <= seen.peak_memory_bytes < 64 << 20


async def test_an_abandoned_run_is_ended_when_the_cell_is_closed(slots: Slots) -> None:
    cell = await slots.driver.open(0)
    job = python("while True: pass")
    await cell.prepare(job)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(cell.run(job.runs[0]), 0.2)
    await cell.close()
    await assert_clean(slots)


async def test_bad_names_of_files_are_refused(slots: Slots) -> None:
    for name in ("../x", "/etc/x", "a/../../x"):
        cell = await slots.driver.open(0)
        job = Job(language="python", source=b"", files={name: b""}, runs=(Run(),))
        seen = await cell.prepare(job)
        await cell.close()
        assert seen is not None
        assert seen.status is Status.SANDBOX_ERROR
    await assert_clean(slots)


async def test_a_killed_container_is_told_at_once_and_replaced(image: str) -> None:
    slots = Slots(1, f"test-kill-{os.getpid()}")
    await slots.driver.start()
    try:
        cell = await slots.driver.open(0)
        job = python("while True: pass")
        await cell.prepare(job)
        running = asyncio.create_task(cell.run(job.runs[0]))
        await asyncio.sleep(0.1)
        await asyncio.to_thread(docker, "kill", *slots.containers())
        with pytest.raises(CellBrokenError):
            await asyncio.wait_for(running, 5)
        await cell.close()
        with pytest.raises(CellBrokenError):
            await slots.driver.open(0)
        await slots.driver.renew(0)
        await assert_clean(slots)
    finally:
        await slots.driver.close()
    assert slots.containers() == []


async def test_a_slot_whose_zygote_was_killed_is_told_and_renewed(image: str) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root: kills a process of a container")
    slots = Slots(1, f"test-zygote-{os.getpid()}")
    await slots.driver.start()
    try:
        (zygote, *_) = (line for line in slots.processes() if "runner.zygote" in line)
        os.kill(int(zygote.split()[1]), 9)
        with pytest.raises(CellBrokenError):
            await asyncio.wait_for(slots.run(python("pass")), 5)
        with pytest.raises(CellBrokenError):
            await slots.driver.open(0)
        await slots.driver.renew(0)
        await assert_clean(slots)
    finally:
        await slots.driver.close()


async def test_containers_end_with_the_service_that_owns_them(image: str, tmp_path: Path) -> None:
    owner = f"test-orphan-{os.getpid()}"
    program = f"""
import asyncio, os
from tests.integration.test_sandbox_slots import Slots
async def main():
    await Slots(2, "{owner}").driver.start()
    os.kill(os.getpid(), 9)
asyncio.run(main())
"""
    script = tmp_path / "service.py"
    script.write_text(program)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    service = await asyncio.create_subprocess_exec(sys.executable, str(script), env=environment)
    assert await service.wait() == -9
    await asyncio.to_thread(await_none_left, Slots(1, owner))


def await_none_left(slots: Slots) -> None:
    deadline = time.monotonic() + 10
    while (left := slots.containers()) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert left == []


async def test_what_an_earlier_service_left_is_removed_at_start(image: str) -> None:
    owner = f"test-reap-{os.getpid()}"
    left = docker("create", "--label", f"{LABEL}={owner}", IMAGE, "true")
    slots = Slots(1, owner)
    await slots.driver.start()
    try:
        assert left[:12] not in slots.containers()
        assert len(slots.containers()) == 1
    finally:
        await slots.driver.close()


def _count(process: Path) -> tuple[int, int]:
    mounts = (process / "mounts").read_text().count("\n")
    return len(list((process / "fd").iterdir())), mounts


async def test_many_jobs_leave_nothing_behind(slots: Slots) -> None:
    """Counted in every process of the container: descriptors and mounts."""
    if os.geteuid() != 0:
        pytest.skip("needs root: reads the descriptors and mounts of the supervisor")

    def state() -> list[tuple[int, int]]:
        pids = sorted(int(line.split()[1]) for line in slots.processes())
        return [_count(Path(f"/proc/{pid}")) for pid in pids]

    job = python("print(1)", Run(), Run())
    await slots.run(job)
    before = state()
    for _ in range(50):
        await slots.run(job)
    assert state() == before
    await assert_clean(slots)
