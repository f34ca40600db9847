"""A Docker engine of a test's own, which may be killed; it shares nothing with the machine's but images."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from tests.sandbox_process import processes_with, wait_until

if TYPE_CHECKING:
    from types import TracebackType

START_SECONDS: Final = 60
STOP_SECONDS: Final = 30


class OwnEngine:
    """`dockerd` and its `containerd`, in a network namespace of their own.

    There they cannot meet the bridge of the machine's engine; nothing here needs a network.
    """

    def __init__(self) -> None:
        # A short path: sockets lie below it.
        self._folder = Path(tempfile.mkdtemp(prefix="rwd-", dir="/tmp"))
        self.host = f"unix://{self._folder}/docker.sock"
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        """Start it."""
        try:
            self.start()
        except BaseException:
            self._remove()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        """Stop it and remove all that it had."""
        self._remove()

    def start(self) -> None:
        """Start it, again if need be, and wait until it answers."""
        for stale in self._folder.rglob("*.pid"):
            stale.unlink()
        command = [
            *("unshare", "--net", "dockerd", "--host", self.host, "--bridge=none"),
            *("--iptables=false", "--ip6tables=false", "--data-root", str(self._folder / "data")),
            *("--exec-root", str(self._folder / "exec"), "--pidfile", str(self._folder / "pid")),
        ]
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log)
        wait_until(self._answers, START_SECONDS)

    def _answers(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, (self._folder / "log").read_text()[-2_000:]
        return not self._docker("version").returncode

    def kill(self) -> None:
        """Kill `dockerd` and `containerd` at once; what runs containers is left to run."""
        for pid in [pid for pid in processes_with(str(self._folder)) if _is_daemon(pid)]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if self._process is not None:
            self._process.wait(STOP_SECONDS)

    def load(self, image: str) -> None:
        """Take over an image of the machine's engine."""
        with subprocess.Popen(["docker", "save", image], stdout=subprocess.PIPE) as saving:
            loaded = self._docker("load", stdin=saving.stdout)
        assert not loaded.returncode, loaded.stderr

    def containers(self) -> list[str]:
        """List every container, in whatever state."""
        listed = self._docker("ps", "-a", "--format", "{{.Names}} {{.Status}}")
        assert not listed.returncode, listed.stderr
        return listed.stdout.splitlines()

    def supervisors(self) -> list[int]:
        """Find the first processes of its containers."""
        ours = set(self.processes())
        return [pid for pid in processes_with("sandbox.runner") if _parent(pid) in ours]

    def processes(self) -> list[int]:
        """Find what belongs to the engine: daemons, and a process beside each container."""
        return processes_with(str(self._folder))

    def _docker(self, *arguments: str, stdin: object = None) -> subprocess.CompletedProcess[str]:
        command = ["docker", "--host", self.host, *arguments]
        return subprocess.run(  # type: ignore[call-overload,no-any-return]  # of any stream
            command, stdin=stdin, capture_output=True, text=True, check=False
        )

    def _remove(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(STOP_SECONDS)
        for pid in self.processes():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not self.processes(), STOP_SECONDS)
        for line in reversed(Path("/proc/self/mounts").read_text().splitlines()):
            if (place := line.split()[1]).startswith(f"{self._folder}/"):
                subprocess.run(["umount", "--lazy", place], check=False)
        shutil.rmtree(self._folder, ignore_errors=True)


def _parent(pid: int) -> int:
    with suppress(OSError):
        status = Path(f"/proc/{pid}/status").read_text()
        return int(status.partition("\nPPid:")[2].split()[0])
    return 0


def _is_daemon(pid: int) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text().strip() in {"dockerd", "containerd"}
    return False
