"""The second system-call filter of a job, assembled by hand: what no solution to a task needs.

Docker's own filter is an allow-list, but opens up with the capabilities that the supervisor keeps;
this deny-list closes that again for the job, which cannot take it off. Covered: x86-64 (the x32 and
32-bit doors are shut) and aarch64. It is a second line behind the job having no capability at all;
whatever is not named here is Docker's filter's and the kernel's to decide.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from typing import Final, NamedTuple

from sandbox.runner import isolation

# (x86-64, aarch64); None where the architecture has no such call. The numbers are ABI: they never change.
DENIED: Final[dict[str, tuple[int | None, int | None]]] = {
    "ptrace": (101, 117),
    "syslog": (103, 116),
    "personality": (135, 92),
    "modify_ldt": (154, None),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "acct": (163, 89),
    "settimeofday": (164, 170),
    "mount": (165, 40),
    "umount2": (166, 39),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "reboot": (169, 142),
    "iopl": (172, None),
    "ioperm": (173, None),
    "init_module": (175, 105),
    "delete_module": (176, 106),
    "quotactl": (179, 60),
    "lookup_dcookie": (212, 18),
    "clock_settime": (227, 112),
    "kexec_load": (246, 104),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "unshare": (272, 97),
    "perf_event_open": (298, 241),
    "fanotify_init": (300, 262),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "setns": (308, 268),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kcmp": (312, 272),
    "finit_module": (313, 273),
    "kexec_file_load": (320, 294),
    "bpf": (321, 280),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "pidfd_getfd": (438, 438),
    "process_madvise": (440, 440),
    "mount_setattr": (442, 442),
    "quotactl_fd": (443, 443),
    "process_mrelease": (448, 448),
    "statmount": (457, 457),
    "listmount": (458, 458),
    "open_tree_attr": (467, 467),
}


class _Architecture(NamedTuple):
    column: int
    audit: int
    clone: int
    socket: int
    seccomp: int
    foreign_bit: int
    """Numbers from here on belong to another ABI of the same machine; 0 if there is none."""


ARCHITECTURES: Final = {
    "x86_64": _Architecture(0, 0xC000_003E, 56, 41, 317, 0x4000_0000),
    "aarch64": _Architecture(1, 0xC000_00B7, 220, 198, 277, 0),
}
_CLONE3: Final = 435
_NEW_NAMESPACES: Final = 0x7E02_0080
"""CLONE_NEWTIME, NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET."""
_UNIX, _INET, _INET6, _NETLINK = 1, 2, 10, 16

_LOAD: Final = 0x20
_AND: Final = 0x54
_IF_EQUAL: Final = 0x15
_IF_AT_LEAST: Final = 0x35
_RETURN: Final = 0x06
_ALLOW: Final = 0x7FFF_0000
_KILL: Final = 0x8000_0000
_REFUSE: Final = 0x0005_0000
_NUMBER_AT: Final = 0
_ARCHITECTURE_AT: Final = 4
_ARGUMENTS_AT: Final = 16
_FILTER_MODE: Final = 1
_LEAF: Final = 4


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("<HBBI", code, if_true, if_false, value)


def _refuse(number: int) -> bytes:
    return _step(_RETURN, _REFUSE | number)


def _argument(index: int) -> bytes:
    """Load the lower half of an argument: all that these calls look at (little-endian)."""
    return _step(_LOAD, _ARGUMENTS_AT + 8 * index)


def _when_call_is(number: int, then: list[bytes]) -> list[bytes]:
    return [_step(_IF_EQUAL, number, 0, len(then)), *then]


def _clone_rule(number: int) -> list[bytes]:
    """Threads and processes, but no namespaces."""
    return _when_call_is(
        number,
        [
            _argument(0),
            _step(_AND, _NEW_NAMESPACES),
            _step(_IF_EQUAL, 0, 0, 1),
            _step(_RETURN, _ALLOW),
            _refuse(errno.EPERM),
        ],
    )


def _socket_rule(number: int) -> list[bytes]:
    """Allow what a network namespace holds: no vsock, no packet, no crypto sockets."""
    return _when_call_is(
        number,
        [
            _argument(0),
            _step(_IF_EQUAL, _UNIX, 5, 0),
            _step(_IF_EQUAL, _INET, 4, 0),
            _step(_IF_EQUAL, _INET6, 3, 0),
            _step(_IF_EQUAL, _NETLINK, 0, 3),
            _argument(2),
            _step(_IF_EQUAL, 0, 0, 1),  # NETLINK_ROUTE, by which programs list interfaces
            _step(_RETURN, _ALLOW),
            _refuse(errno.EAFNOSUPPORT),
        ],
    )


def assemble(machine: str) -> bytes:
    """Return the filter's program for `x86_64` or `aarch64`; `OSError` for another machine."""
    if machine not in ARCHITECTURES:
        raise OSError(errno.ENOSYS, f"no system-call filter is known for {machine}")
    arch = ARCHITECTURES[machine]
    steps = [
        _step(_LOAD, _ARCHITECTURE_AT),
        _step(_IF_EQUAL, arch.audit, 1, 0),
        _step(_RETURN, _KILL),
        _step(_LOAD, _NUMBER_AT),
    ]
    if arch.foreign_bit:
        steps += [_step(_IF_AT_LEAST, arch.foreign_bit, 0, 1), _refuse(errno.ENOSYS)]
    steps += _when_call_is(_CLONE3, [_refuse(errno.ENOSYS)])
    steps += _clone_rule(arch.clone)
    steps += _socket_rule(arch.socket)
    numbers = [pair[arch.column] for pair in DENIED.values()]
    steps += _deny(sorted(number for number in numbers if number is not None))
    return b"".join(steps)


def _deny(numbers: list[int]) -> list[bytes]:
    """Refuse these; the numbers, in order, are a tree in which few have to be compared.

    The kernel tries every number there is when a filter is put on, which is a part of every run.
    """
    last = len(numbers)
    if last <= _LEAF:  # compare in turn; each match jumps to the last step
        compared = [_step(_IF_EQUAL, number, last - i, 0) for i, number in enumerate(numbers)]
        return [*compared, _step(_RETURN, _ALLOW), _refuse(errno.EPERM)]
    middle = last // 2
    below, above = _deny(numbers[:middle]), _deny(numbers[middle:])
    return [_step(_IF_AT_LEAST, numbers[middle], len(below), 0), *below, *above]


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_void_p))


class Filter:
    """A filter that is ready to be put on; made once, before jobs are forked."""

    def __init__(self) -> None:
        machine = os.uname().machine
        assembled = assemble(machine)
        self._call = ARCHITECTURES[machine].seccomp
        self._steps = ctypes.create_string_buffer(assembled, len(assembled))
        address = ctypes.cast(self._steps, ctypes.c_void_p).value
        self._program = _Program(len(assembled) // 8, address)

    def put_on(self) -> None:
        """Filter this process and all that come from it, for good; needs `no_new_privs`."""
        isolation.call(self._call, _FILTER_MODE, 0, ctypes.byref(self._program))
