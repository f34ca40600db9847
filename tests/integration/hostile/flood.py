"""Writes to both outputs at once, from two processes, for ever."""

import os

out = 1 if os.fork() else 2
while True:
    os.write(out, b"x" * 65536)
