"""Looks for what this same program left behind the last time it ran, and leaves it again."""

import ctypes
import os
import socket
from multiprocessing import shared_memory

libc = ctypes.CDLL(None, use_errno=True)
found = ["a process"] if sum(name.isdigit() for name in os.listdir("/proc")) > 1 else []
for folder in ("/work", "/tmp", "/dev/shm", "/var/tmp", "/run", "/run/lock", "/dev"):
    try:
        if os.path.exists(f"{folder}/trace"):
            found.append(folder)
        open(f"{folder}/trace", "w").close()
    except OSError:
        pass
if libc.shmget(0x7ACE, 4096, 0) >= 0:
    found.append("System V shared memory")
libc.shmget(0x7ACE, 4096, 0o1666)
if libc.msgget(0x7ACE, 0) >= 0:
    found.append("System V messages")
libc.msgget(0x7ACE, 0o1666)
if libc.semget(0x7ACE, 1, 0) >= 0:
    found.append("System V semaphores")
libc.semget(0x7ACE, 1, 0o1666)
librt = ctypes.CDLL(None, use_errno=True)
if librt.mq_open(b"/trace", 0) >= 0:
    found.append("message queue")
librt.mq_open(b"/trace", 0o102, 0o666, None)
try:
    shared_memory.SharedMemory("trace-memory", create=True, size=4096)
except FileExistsError:
    found.append("shared memory")
server = socket.socket(socket.AF_UNIX)
try:
    server.bind("\0trace")
    server.listen()
except OSError:
    found.append("abstract socket")
tcp = socket.socket()
try:
    tcp.bind(("127.0.0.1", 4242))
    tcp.listen()
    client = socket.create_connection(("127.0.0.1", 4242))
    accepted, _ = tcp.accept()
    accepted.close()
    client.close()
except OSError as error:
    found.append(f"port {error}")
if libc.syscall(250, 0, -3, 1) >= 0:
    found.append("a keyring")
if os.fork() == 0:
    os.setsid()
    while True:
        pass
print(found)
