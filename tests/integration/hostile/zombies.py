"""Leaves children that have ended to nobody, then says how many it could make."""

import os

made = 0
for _ in range(2_000):
    try:
        if os.fork() == 0:
            os._exit(0)
        made += 1
    except OSError:
        break
print(made < 2_000)
