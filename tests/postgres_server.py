"""A Postgres server of the test's own: Debian's programs, a free port, files in a folder that goes away.

Postgres refuses to run as root; a root that runs the tests hands it to the user `postgres`.
"""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Sequence


def find_program(name: str) -> str | None:
    """Return the newest of Debian's, or the one on PATH."""
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return str(found[-1]) if found else shutil.which(name)


def missing_for_postgres() -> str:
    """Say why there can be no server here; blank if there can."""
    if find_program("initdb") is None:
        return "there is no initdb"
    try:
        _user()
    except KeyError:
        return "root cannot run it, and there is no user 'postgres'"
    return ""


class PostgresServer:
    """Runs between `__enter__` and `__exit__`; may be stopped and started again in between."""

    def __init__(self, options: Sequence[str] = ()) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="rewarden-pg-"))
        self._port = _free_port()
        self._as = _user()
        self._options = options
        self.url = f"postgresql://owner@127.0.0.1:{self._port}/postgres"

    def __enter__(self) -> Self:
        if self._as:
            os.chown(self._folder, self._as["user"], self._as["group"])
        self._run("initdb", "-D", self._data, "-A", "trust", "-U", "owner", "-N")
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        shutil.rmtree(self._folder)

    def start(self) -> None:
        """Start it, and wait until it answers."""
        ours = [f"-p {self._port}", f"-k {self._folder}", "-c listen_addresses=127.0.0.1"]
        options = " ".join([*ours, "-c fsync=off", *self._options])
        self._run("pg_ctl", "-D", self._data, "-w", "-o", options, "-l", self._log, "start")

    def stop(self) -> None:
        """Stop it without ceremony."""
        self._run("pg_ctl", "-D", self._data, "-w", "-m", "immediate", "stop")

    @property
    def _data(self) -> str:
        return str(self._folder / "data")

    @property
    def _log(self) -> str:
        return str(self._folder / "log")

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(find_program(program)), *arguments]
        # the server inherits what it is started with: a pipe would be open for as long as it runs
        quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        subprocess.run(command, check=True, cwd=self._folder, timeout=60, **quiet, **self._as)


def _user() -> dict[str, Any]:
    if os.geteuid() != 0:
        return {}
    entry = pwd.getpwnam("postgres")
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port
