"""Takes memory in several processes, each of which is small enough by itself."""

import os
import time

for _ in range(4):
    if os.fork() == 0:
        break
kept = []
while True:
    kept.append(bytearray(4 << 20))
    time.sleep(0.001)
