"""A verifier that costs nothing, to measure what surrounds it; and a service of it, as a process."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import resource
import subprocess
import sys
import time
from typing import TYPE_CHECKING, ClassVar

import httpx
from pydantic import BaseModel

from rewarden.contracts import Outcome, Sample, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class TrivialSpec(BaseModel):
    """Nothing is needed to find everything correct."""


class TrivialVerifier:
    """Finds everything correct."""

    name: ClassVar[str] = "trivial"
    version: ClassVar[str] = "1"
    spec_model: ClassVar[type[BaseModel]] = TrivialSpec
    chunk_size: ClassVar[int] = 64

    async def start(self) -> None:
        """Need nothing."""

    async def close(self) -> None:
        """Hold nothing."""

    async def verify(self, samples: Sequence[Sample]) -> list[Verdict]:
        """Judge nothing."""
        return [Verdict.of(s, Outcome.CORRECT, "It is.", verifier="trivial") for s in samples]


def samples(count: int) -> list[Sample]:
    """Completions as a small model writes them."""
    text = "<thinking>tens 2+2=4, ones 3+4=7, so it is 47</thinking> \\boxed{47}"
    return [
        Sample(id=str(i), verifier="trivial", completion=text, spec={"answer": "47"})
        for i in range(count)
    ]


@contextlib.contextmanager
def child(module: str, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run `python -m module` until the block ends."""
    process = subprocess.Popen([sys.executable, "-m", module, *arguments])
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def cpu_seconds(pid: int | None = None) -> float:
    """Processor time that a process, or this one, has used so far."""
    if pid is None:
        used = resource.getrusage(resource.RUSAGE_SELF)
        return used.ru_utime + used.ru_stime
    with open(f"/proc/{pid}/stat", encoding="ascii") as stat:  # noqa: PTH123 - not a real file
        fields = stat.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wait_until_ready(url: str) -> None:
    """Wait for a service to say that it is."""
    for _ in range(300):
        with contextlib.suppress(httpx.TransportError):
            if httpx.get(f"{url}/readyz").status_code == httpx.codes.OK:
                return
        time.sleep(0.1)
    sys.exit(f"{url} did not become ready")


def main() -> None:
    """Serve the trivial verifier: `python -m benchmarks._trivial PORT [QUEUE]`."""
    import uvicorn

    from services.app import create_app

    port, queue = int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None
    app = create_app(
        "trivial", {"trivial": TrivialSpec}, verifiers=[TrivialVerifier()], queue_url=queue
    )
    gc.freeze()  # as `python -m services` does
    config = uvicorn.Config(app, port=port, log_level="warning", access_log=False)
    with asyncio.Runner(loop_factory=config.get_loop_factory()) as runner:
        runner.run(uvicorn.Server(config).serve())


if __name__ == "__main__":
    main()
