"""`POST /v1/verify` against the plainest FastAPI route of the same models, in the same run.

A trivial verifier, batches of 256 from one client, each server in a process of its own. The plain
route has no chunks, deadlines, metrics or guards. Figures are samples per second of the server's
own CPU time: what one core can serve. Aim: 40,000.
"""

from __future__ import annotations

import statistics
import sys
import time

import httpx

from benchmarks._trivial import child, cpu_seconds, samples, wait_until_ready
from rewarden.contracts import Outcome, Verdict, VerifyRequest, VerifyResponse

BATCH = 256
BATCHES = 100
ROUNDS = 5
PORTS = {"rewarden": 18_432, "plain FastAPI": 18_433}


def serve_plain(port: int) -> None:
    """Serve the plain route."""
    import uvicorn
    from fastapi import FastAPI

    app = FastAPI()

    @app.get("/readyz")
    async def readyz() -> None:
        pass

    @app.post("/v1/verify")
    async def verify(request: VerifyRequest) -> VerifyResponse:
        return VerifyResponse(
            verdicts=[
                Verdict.of(s, Outcome.CORRECT, "It is.", verifier="trivial")
                for s in request.samples
            ]
        )

    uvicorn.run(app, port=port, log_level="warning", access_log=False)


def speed(port: int, pid: int) -> tuple[float, float]:
    """Return samples a second of server CPU, and of wall time."""
    body = VerifyRequest(samples=samples(BATCH)).model_dump_json(exclude_defaults=True).encode()
    headers = {"Content-Type": "application/json"}
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=headers) as client:
        began, cpu = time.perf_counter(), cpu_seconds(pid)
        for _ in range(BATCHES):
            client.post("/v1/verify", content=body).raise_for_status()
        seconds, cpu = time.perf_counter() - began, cpu_seconds(pid) - cpu
    return BATCH * BATCHES / cpu, BATCH * BATCHES / seconds


def main() -> None:
    """Measure in turns, and print the medians."""
    ours, plain = PORTS.values()
    with (
        child("benchmarks._trivial", str(ours)) as one,
        child("benchmarks.http_vs_plain_fastapi", str(plain)) as other,
    ):
        found: dict[str, list[tuple[float, float]]] = {name: [] for name in PORTS}
        for port in PORTS.values():
            wait_until_ready(f"http://127.0.0.1:{port}")
        for _ in range(ROUNDS + 1):
            for (name, port), process in zip(PORTS.items(), [one, other], strict=True):
                found[name].append(speed(port, process.pid))
    print(f"{'batches of 256':20}{'samples/CPU s':>16}{'samples/s':>14}")
    medians = {}
    for name, speeds in found.items():
        medians[name] = [statistics.median(s[i] for s in speeds[1:]) for i in range(2)]
        print(f"{name:20}{medians[name][0]:>16,.0f}{medians[name][1]:>14,.0f}")
    a, b = medians.values()
    print(f"{'ratio':20}{a[0] / b[0]:>16.2f}{a[1] / b[1]:>14.2f}")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        serve_plain(int(sys.argv[1]))
    else:
        main()
