"""Takes memory that belongs to no process: System V segments, and files that have no name."""

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
while True:
    segment = libc.shmget(0, 8 << 20, 0o1600)
    if segment >= 0:
        libc.shmat.restype = ctypes.c_void_p
        place = libc.shmat(segment, None, 0)
        ctypes.memset(place, 1, 8 << 20)
        libc.shmdt(ctypes.c_void_p(place))
    file = os.memfd_create("hidden")
    os.write(file, bytes(8 << 20))
