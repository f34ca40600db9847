"""A stand-in for the sandbox that runs Python in real processes, which nothing keeps apart."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncGenerator
from pathlib import Path

from sandbox.events import Ended, Event, Observed
from sandbox.exchange import Exchange
from sandbox.jobs import Job, Observation, Run, Status

CALLER = Path(__file__).parents[3] / "sandbox" / "runner" / "call.py"
SECONDS = 20


class Processes:
    """Does the jobs of harmless programs."""

    def __init__(self) -> None:
        self.jobs: list[Job] = []

    async def stream(self, job: Job) -> AsyncGenerator[Event, None]:
        self.jobs.append(job)
        with tempfile.TemporaryDirectory() as folder:
            write(job, folder)
            for number, run in enumerate(job.runs):
                seen = await asyncio.to_thread(observe, folder, run)
                yield Observed(run=number, observation=seen)
        yield Ended(end=len(job.runs), driver="processes")


def write(job: Job, folder: str) -> None:
    """Write the files of a job."""
    for name, content in {**job.files, "main.py": job.source}.items():
        path = Path(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def observe(folder: str, run: Run) -> Observation:
    """Run once."""
    if run.calls is None:
        command = [sys.executable, "-s", "main.py", *run.argv]
        done = subprocess.run(
            command, cwd=folder, input=run.stdin, capture_output=True, timeout=SECONDS
        )
        return Observation(
            status=Status.EXITED,
            exit_code=done.returncode,
            stdout=done.stdout,
            stderr=done.stderr,
        )
    return _call(folder, run)


def _call(folder: str, run: Run) -> Observation:
    exchange = Exchange(run.calls or ())
    ours, theirs = socket.socketpair()
    with ours, theirs:
        command = [sys.executable, "-s", str(CALLER), "main.py", str(theirs.fileno())]
        child = subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, "PYTHONHASHSEED": "0"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
        )
        theirs.close()
        ours.settimeout(SECONDS)
        with ours.makefile("rb") as answers:
            while not exchange.is_over:
                ours.sendall(exchange.next_line())
                line = answers.readline()
                exchange.take(line) if line else exchange.ended()
        ours.shutdown(socket.SHUT_RDWR)
        child.wait(SECONDS)
    status = Status.PROTOCOL_ERROR if exchange.fault else Status.EXITED
    return Observation(
        status=status, exit_code=0, returned=tuple(exchange.returned), detail=exchange.fault
    )
