"""Leaves a process behind that keeps standard output open and goes on by itself."""

import os
import time

if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        while True:
            time.sleep(0.01)
            os.write(1, b".")
    os._exit(0)
os.write(1, b"started")
