"""What a slot has to show besides `trial`: that its own walls stand; and what its image holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sandbox.driver import DriverUnavailableError
from sandbox.jobs import Job, Limits, Run, Status
from sandbox.languages import TOOLCHAINS

if TYPE_CHECKING:
    from sandbox.driver import Driver
    from sandbox.drivers.slots import SlotsDriver
    from sandbox.jobs import Observation

_PROGRAM: Final = b"""
import ctypes, os, socket, sys
libc = ctypes.CDLL(None, use_errno=True)

def tried(attempt):
    try:
        return str(attempt())
    except OSError as error:
        return type(error).__name__

def unshare():
    if libc.unshare(0x10020000):
        raise PermissionError

word = sys.stdin.read()
if word == "network":
    print(tried(lambda: socket.create_connection(("192.0.2.1", 80), 1)))
elif word == "supervisor":
    print(tried(lambda: open("/opt/rewarden/sandbox/__init__.py").read()), os.path.exists("/proc/1"))
elif word == "namespaces":
    print(tried(unshare))
elif word == "memory":
    print(len(bytearray(200 << 20)))
"""
_EXPECTED: Final = {
    b"network": b"OSError\n",
    b"supervisor": b"FileNotFoundError False\n",
    b"namespaces": b"PermissionError\n",
    b"memory": b"",
}
_FAULTS: Final = {
    b"network": "a program reaches the network",
    b"supervisor": "a program sees the supervisor",
    b"namespaces": "a program can make namespaces",
    b"memory": "memory is not limited",
}
_LIMITS: Final = Limits(cpu_seconds=5, memory_mb=64)
_VERSION_LENGTH: Final = 200


async def try_out(driver: Driver, slot: int) -> None:
    """Run small attacks in a slot; `DriverUnavailableError` says which did not fail."""
    runs = {word: Run(stdin=word) for word in _EXPECTED}
    cell = await driver.open(slot)
    try:
        await cell.prepare(
            Job(language="python", source=_PROGRAM, runs=tuple(runs.values()), limits=_LIMITS)
        )
        for word, run in runs.items():
            seen = await cell.run(run)
            status = Status.MEMORY_LIMIT if word == b"memory" else Status.EXITED
            if (seen.status, seen.stdout) != (status, _EXPECTED[word]):
                raise DriverUnavailableError(f"{_FAULTS[word]}: {_shown(seen)}")
    finally:
        await cell.close()


async def versions(driver: SlotsDriver, slot: int) -> dict[str, str]:
    """Ask every toolchain in the image for its version; the missing are left out."""
    found = {}
    for toolchain in TOOLCHAINS.values():
        cell = await driver.open(slot)
        try:
            seen = await cell.execute(toolchain.version)
        finally:
            await cell.close()
        said = (seen.stdout or seen.stderr).decode(errors="replace").strip()
        if seen.status is Status.EXITED and seen.exit_code == 0 and said:
            found[str(toolchain.name)] = said.splitlines()[0][:_VERSION_LENGTH]
    return found


def _shown(seen: Observation) -> str:
    said = (seen.stdout + seen.stderr)[-300:].decode(errors="replace").strip()
    return f"{seen.status}, {said!r}"
