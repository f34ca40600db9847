"""The process beside a slot on the host: `python -m sandbox.runner.hosted PLACE SOCKET`.

`PLACE` says as JSON how programs are kept apart, see `host.HostPlace`; orders come on the socket,
which is a descriptor. When the service hangs up it ends, and all it began with it.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import sys
from typing import Final

from sandbox.runner import bubble, descriptors, frames, host
from sandbox.runner.launch import Launcher

_OUT_OF_THE_WAY: Final = 64


def keep_low_descriptors_free(below: int) -> None:
    """Fill the numbers that children get theirs under, so that none of ours is in the way."""
    null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    while fcntl.fcntl(null, fcntl.F_DUPFD_CLOEXEC, 0) < below - 1:
        pass
    os.close(null)


def main() -> None:
    """Take up the place and serve; ends with the service."""
    os.umask(0o022)  # programs are another user, and have to get at what is made for them
    given = int(sys.argv[2])
    service = socket.socket(fileno=fcntl.fcntl(given, fcntl.F_DUPFD_CLOEXEC, _OUT_OF_THE_WAY))
    os.close(given)
    keep_low_descriptors_free(bubble.FIRST_OWN)
    try:
        place = host.HostPlace(**json.loads(sys.argv[1]))
        try:
            Launcher(service, place).serve()
        finally:
            place.shut()
    except (descriptors.HungUpError, BrokenPipeError):
        return
    except OSError as error:
        service.sendall(frames.pack("broken", why=f"{type(error).__name__}: {error}"))
        raise


if __name__ == "__main__":
    main()
