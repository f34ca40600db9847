"""Starts threads until no more can be had, says so, and lets all of them spin."""

import threading


def spin() -> None:
    while True:
        pass


refused = 0
while refused < 3:
    try:
        threading.Thread(target=spin).start()
    except RuntimeError:
        refused += 1
spin()
