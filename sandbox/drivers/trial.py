"""What a driver tries before it is used: a right program, and programs that would get out.

The programs look for what would be there if namespaces, identity or mounts did not hold. They cannot
show that nothing gets out; they show that the parts are in place on this machine.
"""

from __future__ import annotations

import os
import secrets
import socket
from typing import TYPE_CHECKING, Final

from sandbox.driver import CellBrokenError, DriverUnavailableError
from sandbox.jobs import Call, Job, Limits, Run, Status

if TYPE_CHECKING:
    from sandbox.driver import Driver
    from sandbox.jobs import Observation

_CANARY: Final = (
    b"def add(a, b):\n    return a + b\n\nif __name__ == '__main__':\n    print(input())\n"
)
_KILL_ALL: Final = b"import os\nos.kill(-1, 9)\n"
_BREAK_OUT: Final = b"""\
import glob, os, socket, sys
marker, port = input().split()

def attempt(what, act):
    try:
        if act():
            print(what)
    except OSError:
        pass

def environments():
    for name in glob.glob("/proc/[0-9]*/environ"):
        try:
            with open(name, "rb") as file:
                if marker.encode() in file.read():
                    return True
        except OSError:
            pass

def connect():
    socket.create_connection(("127.0.0.1", int(port)), 1)
    return True

def write(place):
    with open(os.path.join(place, "rewarden-trial"), "w") as file:
        file.write("x")
    return True

attempt("read /etc/shadow", lambda: open("/etc/shadow").read())
attempt("read the environment of the service", environments)
attempt("connect to the service", connect)
attempt("become root", lambda: os.setuid(0) or True)
for place in ("/", "/usr", "/etc", "/dev", "/opt"):
    attempt("write to " + place, lambda: write(place))
status = open("/proc/self/status").read()
if "CapEff:\\t0000000000000000" not in status:
    print("hold capabilities")
if "NoNewPrivs:\\t1" not in status or "Seccomp:\\t2" not in status:
    print("make any system call")
if os.getuid() == 0:
    print("be root")
print("the end")
"""
_LIMITS: Final = Limits(cpu_seconds=5, memory_mb=256)


async def try_out(driver: Driver, slot: int = 0) -> None:
    """Run the programs in a slot; `DriverUnavailableError` with what went wrong."""
    try:
        await _canary(driver, slot)
        await _break_out(driver, slot)
        await _one(driver, slot, _KILL_ALL, Run())
        await _canary(driver, slot)
    except CellBrokenError as error:
        raise DriverUnavailableError(f"no program can be run: {error}") from error


async def _canary(driver: Driver, slot: int) -> None:
    echo = Run(stdin=b"canary\n")
    call = Run(calls=(Call(entry_point="add", args=(20, 22)),))
    seen = await _one(driver, slot, _CANARY, echo)
    if (seen.status, seen.exit_code, seen.stdout) != (Status.EXITED, 0, b"canary\n"):
        raise DriverUnavailableError(f"a right program does not run: {_describe(seen)}")
    seen = await _one(driver, slot, _CANARY, call)
    if [answer.value for answer in seen.returned] != [42]:
        raise DriverUnavailableError(f"a function cannot be called: {_describe(seen)}")


async def _break_out(driver: Driver, slot: int) -> None:
    marker = f"REWARDEN_TRIAL_{secrets.token_hex(8)}"
    os.environ[marker] = "1"
    try:
        with socket.create_server(("127.0.0.1", 0)) as server:
            stdin = f"{marker} {server.getsockname()[1]}\n".encode()
            seen = await _one(driver, slot, _BREAK_OUT, Run(stdin=stdin))
    finally:
        del os.environ[marker]
    *breaches, last = seen.stdout.decode(errors="replace").splitlines() or [""]
    if last != "the end":
        raise DriverUnavailableError(f"the trial did not come to its end: {_describe(seen)}")
    if breaches:
        raise DriverUnavailableError(f"programs could {', '.join(breaches)}")


async def _one(driver: Driver, slot: int, source: bytes, run: Run) -> Observation:
    cell = await driver.open(slot)
    try:
        await cell.prepare(Job(language="python", source=source, runs=(run,), limits=_LIMITS))
        return await cell.run(run)
    finally:
        await cell.close()


def _describe(seen: Observation) -> str:
    said = f"{seen.detail} {seen.stderr[-300:].decode(errors='replace')}".strip()
    return f"{seen.status} {seen.exit_code} {said}"
