"""Bubblewrap on this machine: what runs well, what is contained, what happens when parts die.

As root, control groups measure where the machine has them; sampling is tried beside it.
"""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any, Final

import pytest

from sandbox.driver import DriverUnavailableError
from sandbox.drivers import trial
from sandbox.drivers.bwrap import BwrapDriver, first_user
from sandbox.jobs import Call, Job, Run, Status
from tests.requirements import missing
from tests.sandbox_programs import (
    BOMBS,
    assert_right,
    hostile,
    processes_of,
    python,
    run,
)

ROOT: Final = Path(__file__).parents[2]
USER: Final = first_user(os.getpid())

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def assert_clean(driver: BwrapDriver) -> None:
    """No process is left, and the next job is right."""
    waiting = [line for line in processes_of(USER) if "/bin/sh" not in line]
    assert waiting == []
    await assert_right(driver)


@pytest.mark.parametrize("name", BOMBS)
async def test_a_bomb_ends_in_its_status_and_the_next_job_is_right(
    driver: BwrapDriver, name: str
) -> None:
    limits, status = BOMBS[name]
    (seen,) = await run(driver, hostile(name, **limits))
    assert seen.status is status, seen
    assert len(seen.stdout) <= 8 * 1024 * 1024
    await assert_clean(driver)


@pytest.mark.parametrize("name", BOMBS)
async def test_bombs_end_likewise_without_control_groups(sampled: BwrapDriver, name: str) -> None:
    limits, status = BOMBS[name]
    (seen,) = await run(sampled, hostile(name, **limits))
    if name == "shared_memory_bomb":  # refused, because it could not be seen
        assert (seen.status, seen.exit_code) == (Status.EXITED, 1)
        assert b"Function not implemented" in seen.stderr
    else:
        assert seen.status is status, seen
    await assert_clean(sampled)


async def test_a_disk_holds_what_it_may_and_no_more(driver: BwrapDriver) -> None:
    (disk,) = await run(driver, hostile("disk_bomb", disk_mb=16))
    assert int(disk.stdout) == 16
    (inodes,) = await run(driver, hostile("inode_bomb", files=256))
    assert 240 <= int(inodes.stdout) <= 256


async def test_nothing_of_the_surroundings_can_be_seen(driver: BwrapDriver) -> None:
    (seen,) = await run(driver, hostile("look_around"))
    assert seen.stdout == b"[]\n", seen


async def test_the_parent_of_a_program_is_nobody_it_could_know(driver: BwrapDriver) -> None:
    (seen,) = await run(driver, python("import os; print(os.getppid(), os.getpid() != 1)"))
    assert seen.stdout == b"0 True\n", seen


async def test_without_control_groups_a_process_of_bubblewrap_s_can_be_seen(
    sampled: BwrapDriver,
) -> None:
    (seen,) = await run(sampled, hostile("look_around"))
    assert seen.stdout == b"['1']\n", seen  # a number, and nothing that could be read


async def test_no_system_call_leads_out(driver: BwrapDriver, sampled: BwrapDriver) -> None:
    for each in (driver, sampled):
        (seen,) = await run(each, hostile("system_calls"))
        assert seen.stdout == b"[]\n", seen


async def test_the_host_s_files_and_names_are_not_there(
    driver: BwrapDriver, sampled: BwrapDriver
) -> None:
    source = """
import os, socket
print(sorted(os.listdir("/")), sorted(os.listdir("/etc")), socket.gethostname(), os.listdir("/work"))
print([line.split()[3] for line in open("/proc/self/mountinfo") if "/disk" in line])
print(os.path.exists("/proc/1") and open("/proc/1/cmdline").read().count("tmp") > 0)
"""
    for each in (driver, sampled):
        (seen,) = await run(each, python(source))
        first, second, third = seen.stdout.decode().splitlines()
        hidden = {"'home'", "'var'", "'sys'", "'run'", "'boot'"}
        assert not hidden & set(first.strip("[]").split(", "))
        assert "'shadow'" not in first
        assert first.endswith("sandbox ['main.py']")
        assert (second, third) == ("[]", "False")


async def test_packages_of_the_host_run_no_code_at_the_start_of_a_program(
    driver: BwrapDriver,
) -> None:
    source = """
import glob, site
hooks = [hook for place in site.getsitepackages() for hook in glob.glob(place + "/*.pth")]
print([hook for hook in hooks if open(hook).read()])
"""
    (seen,) = await run(driver, python(source))
    assert seen.stdout == b"[]\n", seen


async def test_only_what_harms_nobody_is_among_the_devices(driver: BwrapDriver) -> None:
    source = """
import os, stat
print(sorted(name for name in os.listdir("/dev") if stat.S_ISCHR(os.stat("/dev/" + name).st_mode)))
try:
    open("/dev/new", "w")
except OSError as error:
    print(error.strerror)
"""
    (seen,) = await run(driver, python(source, Run(stdin=b"")))
    names, written = seen.stdout.decode().splitlines()
    assert set(names.strip("[]").replace("'", "").split(", ")) <= {
        *("full", "null", "ptmx", "random", "tty", "urandom", "zero")
    }
    assert written == "Read-only file system"


async def test_a_cell_that_lets_something_through_is_not_used(
    driver: BwrapDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    leaky = trial._BREAK_OUT.replace(b'"/opt"', b'"/tmp"')
    monkeypatch.setattr(trial, "_BREAK_OUT", leaky)
    with pytest.raises(DriverUnavailableError, match="programs could write to /tmp"):
        await trial.try_out(driver)


async def test_eight_mebibytes_go_in_and_come_out_unchanged(driver: BwrapDriver) -> None:
    stdin = os.urandom(8 * 1024 * 1024)
    source = "import sys; sys.stdout.buffer.write(sys.stdin.buffer.read())"
    (seen,) = await run(driver, python(source, Run(stdin=stdin)))
    assert (seen.status, seen.stdout == stdin) == (Status.EXITED, True)
    (seen,) = await run(driver, python("pass", Run(stdin=stdin)))
    assert (seen.status, seen.exit_code) == (Status.EXITED, 0)


@pytest.mark.parametrize(
    ("source", "ending"),
    [
        ("import sys; sys.exit(7)", (Status.EXITED, 7, None)),
        ("1 / 0", (Status.EXITED, 1, None)),
        ("import os; os.abort()", (Status.SIGNALLED, None, signal.SIGABRT)),
        ("import os; os.kill(os.getpid(), 15)", (Status.SIGNALLED, None, signal.SIGTERM)),
        ("import os; os.kill(0, 9)", (Status.SIGNALLED, None, signal.SIGKILL)),
    ],
)
async def test_how_a_program_ends_is_told(
    driver: BwrapDriver, source: str, ending: tuple[Status, int | None, int | None]
) -> None:
    (seen,) = await run(driver, python(source))
    assert (seen.status, seen.exit_code, seen.signal) == ending


async def test_a_program_gets_its_arguments_and_input_unchanged(driver: BwrapDriver) -> None:
    source = "import sys; print(sys.argv[1:], open('/dev/stdin').read())"
    argv = ("a b", "$HOME;'\"", "\n", "", "-x")
    (seen,) = await run(driver, python(source, Run(stdin=b"in", argv=argv)))
    assert seen.stdout.decode() == f"{list(argv)} in\n"


async def test_limits_are_the_job_s_own(driver: BwrapDriver) -> None:
    spin = python("while True: pass", cpu_seconds=0.2)
    (seen,) = await run(driver, spin)
    assert (seen.status, seen.cpu_seconds >= 0.2) == (Status.TIMEOUT, True)
    (seen,) = await run(driver, python("import time; time.sleep(60)", cpu_seconds=0.1))
    assert (seen.status, seen.wall_seconds >= 1.2) == (Status.TIMEOUT, True)
    (seen,) = await run(driver, python("x = bytearray(40 << 20)", memory_mb=96))
    assert (seen.status, seen.peak_memory_bytes > 40 << 20) == (Status.EXITED, True)


async def test_functions_are_called_in_one_process_until_one_raises(driver: BwrapDriver) -> None:
    source = "n = 0\ndef f(x):\n    global n\n    n += 1\n    print(n)\n    return 10 // x, n"
    calls = tuple(Call(entry_point="f", args=(x,)) for x in (5, 2, 0, 1))
    (seen,) = await run(driver, python(source, Run(calls=calls)))
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
async def test_an_answer_that_is_not_one_is_a_protocol_error(
    driver: BwrapDriver, body: str
) -> None:
    calls = (Call(entry_point="f"), Call(entry_point="f"))
    (seen,) = await run(driver, python(f"def f():\n    {body}", Run(calls=calls)))
    assert (seen.status, seen.returned) == (Status.PROTOCOL_ERROR, ())
    await assert_clean(driver)


async def test_a_program_is_compiled_once_and_run_often(driver: BwrapDriver) -> None:
    if "c" not in await driver.languages():
        missing("bwrap", "no C compiler on PATH to try it with")
    source = b'#include <stdio.h>\nint main(void) { int n; scanf("%d", &n); return printf("%d\\n", n + 1) < 0; }'
    runs = tuple(Run(stdin=str(number).encode()) for number in range(3))
    seen = await run(driver, Job(language="c", source=source, runs=runs))
    assert [one.stdout for one in seen] == [b"1\n", b"2\n", b"3\n"]
    (failed,) = await run(driver, Job(language="c", source=b"int main( {", runs=runs))
    assert (failed.exit_code, b"error" in failed.stderr) == (1, True)


async def test_every_language_of_the_host_runs(driver: BwrapDriver) -> None:
    sources = {
        "python": "print('hello')",
        "javascript": "console.log('hello')",
        "typescript": "const word: string = 'hello'; console.log(word)",
        "c": '#include <stdio.h>\nint main(void) { puts("hello"); }',
        "cpp": '#include <iostream>\nint main() { std::cout << "hello\\n"; }',
        "java": 'class Main { public static void main(String[] a) { System.out.println("hello"); } }',
        "go": 'package main\nimport "fmt"\nfunc main() { fmt.Println("hello") }',
        "rust": 'fn main() { println!("hello"); }',
        "bash": "echo hello",
    }
    for language in await driver.languages():
        job: dict[str, Any] = {"language": language, "source": sources[language].encode()}
        (seen,) = await run(driver, Job.model_validate({**job, "runs": [{}]}))
        assert (language, seen.stdout, seen.exit_code) == (language, b"hello\n", 0), seen


async def test_a_language_that_is_not_there_is_said_to_be_missing(
    driver: BwrapDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(driver._versions, "c", raising=False)
    cell = await driver.open(0)
    seen = await cell.prepare(Job(language="c", source=b"", runs=(Run(),)))
    await cell.close()
    assert seen is not None
    assert (seen.status, "gcc" in seen.detail) == (Status.SANDBOX_ERROR, True)


async def test_files_lie_beside_the_main_file(driver: BwrapDriver) -> None:
    job = Job(
        language="python",
        source=b"import helper, json; print(helper.x, json.load(open('data/in.json')))",
        files={"helper.py": b"x = 1", "data/in.json": json.dumps([2]).encode()},
        runs=(Run(),),
    )
    (seen,) = await run(driver, job)
    assert seen.stdout == b"1 [2]\n"


async def test_a_name_that_leads_out_is_refused(driver: BwrapDriver) -> None:
    for name in ("../x", "/etc/x", "a/../../x"):
        job = Job(language="python", source=b"", files={name: b""}, runs=(Run(),))
        cell = await driver.open(0)
        seen = await cell.prepare(job)
        await cell.close()
        assert seen is not None
        assert seen.status is Status.SANDBOX_ERROR


async def test_runs_share_the_job_s_disk_and_jobs_share_nothing(driver: BwrapDriver) -> None:
    source = """
import os
for folder in ("/work", "/tmp", "/dev/shm"):
    with open(folder + "/log", "a+") as file:
        file.write("x"); file.seek(0); print(file.read(), end=" ")
"""
    for _ in range(2):
        seen = await run(driver, python(source, Run(), Run()))
        assert [one.stdout for one in seen] == [b"x x x ", b"xx xx xx "]
