"""The system-call filter: what it answers, by an interpreter of its own, and to a real process."""

from __future__ import annotations

import errno
import os
import struct
import subprocess
import sys
from typing import Final

import pytest

from sandbox.runner.seccomp import ARCHITECTURES, DENIED, assemble

ALLOW: Final = 0x7FFF0000
KILL: Final = 0x80000000
EPERM: Final = 0x50000 | errno.EPERM
ENOSYS: Final = 0x50000 | errno.ENOSYS
FAMILY: Final = 0x50000 | errno.EAFNOSUPPORT
NEW_USER: Final = 0x10000000
THREAD: Final = 0x3D0F00
"""What pthread_create passes to clone."""


def answer(machine: str, number: int, *arguments: int, audit: int | None = None) -> int:
    """Run the filter as the kernel would."""
    words = [*arguments, 0, 0, 0, 0, 0, 0][:6]
    known = ARCHITECTURES[machine].audit if audit is None else audit
    data = struct.pack("<IIQ6Q", number, known, 0, *words)
    steps = list(struct.iter_unpack("<HBBI", assemble(machine)))
    value, at = 0, 0
    while True:
        code, if_true, if_false, operand = steps[at]
        at += 1
        match code:
            case 0x20:
                (value,) = struct.unpack_from("<I", data, operand)
            case 0x54:
                value &= operand
            case 0x15:
                at += if_true if value == operand else if_false
            case 0x35:
                at += if_true if value >= operand else if_false
            case 0x06:
                return int(operand)
            case _:
                pytest.fail(f"unknown step {code:#x}")


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_every_call_on_the_list_is_refused(machine: str) -> None:
    column = ARCHITECTURES[machine].column
    for name, numbers in DENIED.items():
        number = numbers[column]
        if number is not None:
            assert answer(machine, number) == EPERM, name


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_everything_else_is_allowed(machine: str) -> None:
    arch = ARCHITECTURES[machine]
    special = {arch.clone, arch.socket, 435, *(pair[arch.column] for pair in DENIED.values())}
    for number in set(range(500)) - special:
        assert answer(machine, number) == ALLOW, number


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_clone_makes_threads_and_processes_but_no_namespaces(machine: str) -> None:
    clone = ARCHITECTURES[machine].clone
    assert answer(machine, clone, THREAD) == ALLOW
    assert answer(machine, clone, 17) == ALLOW
    for bit in (7, 17, 25, 26, 27, 28, 29, 30):
        assert answer(machine, clone, 17 | 1 << bit) == EPERM, bit
    assert answer(machine, clone, 0xFFFFFFFF_00000011) == ALLOW  # the upper half is not looked at
    assert answer(machine, 435) == ENOSYS  # clone3: callers fall back to clone


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_only_families_that_a_network_namespace_holds_can_be_had(machine: str) -> None:
    socket = ARCHITECTURES[machine].socket
    allowed = {family for family in range(50) if answer(machine, socket, family, 1, 0) == ALLOW}
    assert allowed == {1, 2, 10, 16}
    assert answer(machine, socket, 16, 3, 12) == FAMILY  # netfilter
    assert answer(machine, socket, 40, 1, 0) == FAMILY  # vsock


def test_foreign_doors_are_shut() -> None:
    i386 = 0x40000003
    assert answer("x86_64", 11, audit=i386) == KILL
    assert answer("x86_64", 0x40000000 | 39) == ENOSYS  # x32
    assert answer("aarch64", 11, audit=0x40000028) == KILL


def test_another_machine_is_refused_a_filter() -> None:
    with pytest.raises(OSError, match="riscv64"):
        assemble("riscv64")


@pytest.mark.skipif(os.uname().machine not in ARCHITECTURES, reason="no filter for this machine")
def test_the_kernel_takes_it_and_a_filtered_program_still_works() -> None:
    program = """
import ctypes, os, socket, subprocess, threading
from sandbox.runner import isolation
from sandbox.runner.seccomp import Filter
isolation.forbid_new_privileges()
Filter().put_on()
libc = ctypes.CDLL(None, use_errno=True)
print(libc.unshare(0x10000000), ctypes.get_errno())
print(libc.ptrace(0, 0, 0, 0), ctypes.get_errno())
try:
    socket.socket(40, socket.SOCK_STREAM)
except OSError as error:
    print(error.errno)
thread = threading.Thread(target=print, args=("thread",))
thread.start(); thread.join()
socket.socket().close()
print(subprocess.run(["sh", "-c", "exit 3"]).returncode, flush=True)
"""
    seen = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=30
    )
    assert seen.stderr == ""
    assert seen.stdout.split() == ["-1", "1", "-1", "1", "97", "thread", "3"]
