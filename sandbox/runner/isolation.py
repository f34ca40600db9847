"""Namespaces, mounts, identity and privileges, by the system calls that Python has no function for.

Covered: Linux from 5.10, as root with the few capabilities that `sandbox.drivers.containers` leaves.
Nothing here decides what a job may do; `sandbox.runner.zygote` puts the steps in order.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import resource
import signal
import socket
import struct
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

NEW_MOUNTS: Final = 0x0002_0000
NEW_GROUPS: Final = 0x0200_0000
NEW_UTS: Final = 0x0400_0000
NEW_IPC: Final = 0x0800_0000
NEW_PIDS: Final = 0x2000_0000
NEW_NETWORK: Final = 0x4000_0000

READ_ONLY: Final = 1
NO_SUID: Final = 2
NO_DEVICES: Final = 4
NO_EXEC: Final = 8
REMOUNT: Final = 32
BIND: Final = 4096
RECURSIVE: Final = 16384
PRIVATE: Final = 1 << 18

_DETACH: Final = 2
_SHARED_MEMORY: Final = 0x100
_SHARED_FILES: Final = 0x400
_IDLE_STACKS: Final = 8
_IDLE_STACK_BYTES: Final = 16_384
_PR_SET_DUMPABLE: Final = 4
_PR_CAPBSET_DROP: Final = 24
_PR_SET_NO_NEW_PRIVS: Final = 38
_SET_INTERFACE_FLAGS: Final = 0x8914
_IS_UP: Final = 1
_USED_BY_JOBS: Final = ("mount", "prctl", "syscall", "unshare")
_LAST_CAPABILITY: Final = 63
_CAPABILITY_VERSION: Final = 0x2008_0522
_SET_FS_IDENTITY_OF_NOBODY: Final = -1


@cache
def _libc() -> ctypes.CDLL:
    library = ctypes.CDLL(None, use_errno=True)
    for name in _USED_BY_JOBS:  # looked up once, and not by every process that is forked later
        getattr(library, name)
    return library


def _check(result: int, what: str) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def call(number: int, *arguments: object) -> None:
    """Make a system call by its number; `OSError` if it fails."""
    _check(_libc().syscall(ctypes.c_long(number), *arguments), f"system call {number}")


def unshare(flags: int) -> None:
    """Leave the namespaces of the parent; `NEW_PIDS` begins with the next child."""
    _check(_libc().unshare(flags), "unshare")


def enter(descriptor: int, flags: int) -> None:
    """Enter the namespace that a descriptor of `/proc/self/ns` stands for."""
    _check(_libc().setns(descriptor, flags), "setns")


class Idlers:
    """Makes processes that sleep until they are killed: the first ones of pid namespaces.

    They share this process's memory and open files, so that one costs little more than its entry in
    the kernel's table. Whoever makes them ignores SIGCHLD, and so do they: the kernel collects the
    orphans that a namespace hands to its first process.
    """

    def __init__(self) -> None:
        self._sleep = ctypes.cast(_libc().pause, ctypes.c_void_p)
        # One that sleeps needs nothing of its stack; but it may take its time to get there.
        self._stacks = [ctypes.create_string_buffer(_IDLE_STACK_BYTES) for _ in range(_IDLE_STACKS)]
        self._made = 0

    def make(self) -> int:
        """Make one, in the namespace that was unshared for children."""
        stack = self._stacks[self._made % _IDLE_STACKS]
        self._made += 1
        top = (ctypes.addressof(stack) + _IDLE_STACK_BYTES) & ~0xF
        flags = _SHARED_MEMORY | _SHARED_FILES | signal.SIGCHLD
        pid: int = _libc().clone(self._sleep, ctypes.c_void_p(top), flags, None)
        _check(pid, "clone")
        return pid


def mount(source: str | None, target: str, kind: str | None, flags: int, options: str = "") -> None:
    """Put a file system, a folder or a file in place."""
    encoded = [None if text is None else os.fsencode(text) for text in (source, target, kind)]
    result = _libc().mount(*encoded, ctypes.c_ulong(flags), options.encode() or None)
    _check(result, f"mount {target}")


def unmount(target: str) -> None:
    """Take a mount and those below it out of sight; it ends when its last user does."""
    _check(_libc().umount2(os.fsencode(target), _DETACH), f"umount {target}")


def set_dumpable(*, dumpable: bool) -> None:
    """Say whether others of the same user may look into this process."""
    _check(_libc().prctl(_PR_SET_DUMPABLE, int(dumpable), 0, 0, 0), "prctl dumpable")


def forbid_new_privileges() -> None:
    """From now on no program that is executed has more rights than its parent."""
    _check(_libc().prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl no_new_privs")


def empty_bounding_set() -> None:
    """Give up every capability for whatever is executed later; those held now stay."""
    for capability in range(_LAST_CAPABILITY + 1):
        if _libc().prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0) < 0:
            return


class _CapabilityHeader(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _CapabilityData(ctypes.Structure):
    _fields_ = (
        ("effective", ctypes.c_uint32),
        ("permitted", ctypes.c_uint32),
        ("inheritable", ctypes.c_uint32),
    )


def keep_capabilities_to_oneself() -> None:
    """Hand none of the capabilities held now to what is executed."""
    header = _CapabilityHeader(_CAPABILITY_VERSION, 0)
    held = (_CapabilityData * 2)()
    _check(_libc().capget(ctypes.byref(header), held), "capget")
    for half in held:
        half.inheritable = 0
    _check(_libc().capset(ctypes.byref(header), held), "capset")


def become(user: int) -> None:
    """Become an ordinary user, for good: with the last id of root, every capability goes."""
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)


@contextlib.contextmanager
def owning_files_as(user: int) -> Iterator[None]:
    """Make files and pipes that belong to a user, without changing owners (that would need a right)."""
    _libc().setfsgid(user)
    _libc().setfsuid(user)
    # The two calls tell of no failure: they return what was there before.
    if _libc().setfsuid(_SET_FS_IDENTITY_OF_NOBODY) != user:
        raise PermissionError(f"cannot own files as user {user}")
    try:
        yield
    finally:
        _libc().setfsuid(0)
        _libc().setfsgid(0)


def bring_up_loopback() -> None:
    """Make loopback work in a new network namespace, where it is down.

    A port that one job has used must not stay busy for the next one's minute.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
        fcntl.ioctl(end, _SET_INTERFACE_FLAGS, struct.pack("16sH14x", b"lo", _IS_UP))
    with contextlib.suppress(OSError):  # older kernels leave this to root
        Path("/proc/sys/net/ipv4/tcp_max_tw_buckets").write_text("0")


def close_descriptors(first: int) -> None:
    """Close every descriptor from a number on."""
    os.closerange(first, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
