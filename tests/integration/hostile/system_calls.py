"""Tries each system call that would lead out, and prints those that were not refused."""

import ctypes
import errno
import os
import socket

libc = ctypes.CDLL(None, use_errno=True)
let_through = []
NUMBERS = {
    "unshare": (272, 0x10020000),
    "setns": (308, 0, 0),
    "mount": (165, b"none", b"/tmp", b"tmpfs", 0, 0),
    "umount2": (166, b"/tmp", 2),
    "pivot_root": (155, b"/", b"/tmp"),
    "chroot": (161, b"/tmp"),
    "ptrace": (101, 0, 0, 0, 0),
    "process_vm_readv": (310, 1, 0, 0, 0, 0, 0),
    "bpf": (321, 0, 0, 0),
    "perf_event_open": (298, 0, 0, -1, -1, 0),
    "add_key": (248, b"user", b"x", b"y", 1, -2),
    "keyctl": (250, 0, -3, 1),
    "io_uring_setup": (425, 1, 0),
    "userfaultfd": (323, 0),
    "open_by_handle_at": (304, -1, 0, 0),
    "name_to_handle_at": (303, -100, b"/", 0, 0, 0),
    "pidfd_getfd": (438, 0, 0, 0),
    "personality": (135, 0xFFFFFFFF),
    "fsopen": (430, b"tmpfs", 0),
    "open_tree": (428, -100, b"/", 1),
    "clone into a user namespace": (56, 0x10000011, 0, 0, 0, 0),
    "syslog": (103, 3, 0, 0),
    "modify_ldt": (154, 0, 0, 0),
}
if os.uname().machine == "x86_64":
    for name, (number, *arguments) in NUMBERS.items():
        if libc.syscall(number, *arguments) >= 0 or ctypes.get_errno() != errno.EPERM:
            let_through.append(f"{name}: {ctypes.get_errno()}")
    if libc.syscall(435, 0, 0) >= 0 or ctypes.get_errno() != errno.ENOSYS:
        let_through.append("clone3")
    if libc.syscall(0x40000000 + 39) >= 0 or ctypes.get_errno() != errno.ENOSYS:
        let_through.append("x32")
for family in (17, 38, 40, 31):
    try:
        socket.socket(family, socket.SOCK_DGRAM).close()
        let_through.append(f"socket family {family}")
    except OSError:
        pass
try:
    os.mknod("/work/disk", 0o60600, os.makedev(254, 0))
    let_through.append("mknod")
except OSError:
    pass
try:
    os.setuid(0)
    let_through.append("setuid")
except OSError:
    pass
print(let_through)
