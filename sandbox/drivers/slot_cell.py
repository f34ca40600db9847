"""One job in a slot: what it asks of the supervisor, and what the supervisor's answers mean."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from sandbox.driver import CellBrokenError
from sandbox.exchange import Exchange
from sandbox.jobs import Limits, Observation, Returned, Status, Telemetry
from sandbox.languages import ENVIRONMENT, TOOLCHAINS
from sandbox.names import fault_of_name, same_place

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sandbox.drivers.link import Frame, Link
    from sandbox.jobs import Job, Run

WORK: Final = "/work"
_CALLERS: Final = {
    # Not `-I`, with which the fixed hash seed would be ignored; nothing else of it is missed, as
    # jobs have no environment but ours, and `call.py` takes its own folder off the path.
    "python": ("python3", "-s", "/opt/runner/call.py"),
    "javascript": ("node", "/opt/runner/call.js"),
}
_CALLS: Final = "3"
"""The number of the descriptor for calls."""
_COMPILE_DISK_MB: Final = 1_024
_COMPILE_PROCESSES: Final = 256
_MEBIBYTE: Final = 1024 * 1024
_STATUS: Final = {
    "cpu": Status.TIMEOUT,
    "wall": Status.TIMEOUT,
    "memory": Status.MEMORY_LIMIT,
    "output": Status.OUTPUT_LIMIT,
    "babble": Status.PROTOCOL_ERROR,
    "stopped": Status.PROTOCOL_ERROR,
}
_DETAIL: Final = {
    "wall": "it slept for too long",
    "babble": "it answered more than it was asked",
}


class SlotCell:
    """A cell in a slot's container."""

    def __init__(
        self, link: Link, *, is_warm: bool, environment: Mapping[str, str] = ENVIRONMENT
    ) -> None:
        """`is_warm` where Python programs are forked; those have the slot's own environment."""
        self._link = link
        self._is_warm = is_warm
        self._environment = dict(environment)
        self._job: Job | None = None
        self._runs_left = 0
        self._is_running = False
        self._closes_itself = False

    async def prepare(self, job: Job) -> Observation | None:
        """Write the files, and compile."""
        self._job = job
        self._runs_left = len(job.runs)
        toolchain = TOOLCHAINS[job.language]
        if fault := fault_of(job):
            return Observation(status=Status.SANDBOX_ERROR, detail=fault)
        contents = {**job.files, toolchain.main_file: job.source}
        sizes = [[name, len(content)] for name, content in contents.items()]
        self._link.send("files", b"".join(contents.values()), files=sizes)
        if toolchain.compile is None:
            return None
        order = _order(job.limits, argv=[*toolchain.compile]) | {
            "cpu_seconds": job.limits.compile_cpu_seconds,
            "wall_seconds": _wall_seconds(job.limits.compile_cpu_seconds),
            "memory_bytes": job.limits.compile_memory_mb * _MEBIBYTE,
            "processes": max(job.limits.processes, _COMPILE_PROCESSES),
            "disk_bytes": max(job.limits.disk_mb, _COMPILE_DISK_MB) * _MEBIBYTE,
            "files": job.limits.files * 4,
        }
        return _observation(*await self._run(order, b"", is_compiling=True))

    async def run(self, run: Run) -> Observation:
        """Run once, in a fresh process."""
        if self._job is None:
            raise CellBrokenError("a cell is prepared before anything is run in it")
        if not self._runs_left:
            raise CellBrokenError("a run was asked for after the last one")
        self._runs_left -= 1
        order = self._order_of(self._job, run)
        if run.calls is None:
            return _observation(*await self._run(order, run.stdin))
        return await self._call(order, run)

    async def execute(self, argv: Sequence[str]) -> Observation:
        """Run a command of ours, such as a compiler that is asked for its version."""
        return _observation(*await self._run(_order(Limits(memory_mb=1_024), argv=[*argv]), b""))

    async def close(self) -> None:
        """End every process of the job, and remove all that it left."""
        with suppress(CellBrokenError):
            if self._is_running:
                await self._link.ask("stop", "ended")
            if self._closes_itself:
                await self._link.await_answer("closed")
            else:
                await self._link.ask("close", "closed")

    def _order_of(self, job: Job, run: Run) -> dict[str, Any]:
        toolchain = TOOLCHAINS[job.language]
        is_called = run.calls is not None
        if self._is_warm and job.language == "python":
            main = f"{WORK}/{toolchain.main_file}"
            argv = [toolchain.main_file, *run.argv]
            return _order(job.limits, argv=argv, main=main, is_called=is_called)
        if is_called:
            argv = [*_CALLERS[job.language], toolchain.main_file, _CALLS]
        else:
            argv = [*toolchain.run_command(job.limits), *run.argv]
        return _order(job.limits, argv=argv, is_called=is_called)

    async def _run(
        self, order: dict[str, Any], stdin: bytes, *, is_compiling: bool = False
    ) -> Frame:
        self._begin(order, stdin, is_compiling=is_compiling)
        while (frame := await self._link.receive())[0]["kind"] != "ended":
            pass
        self._is_running = False
        return frame

    def _begin(self, order: dict[str, Any], stdin: bytes, *, is_compiling: bool = False) -> None:
        self._is_running = True
        order["environment"] = None if order["main"] else self._environment
        is_followed = self._runs_left > 0
        self._closes_itself = self._job is not None and not is_followed
        self._link.send(
            "run",
            stdin,
            order=order,
            is_compiling=is_compiling,
            is_followed=is_followed,
            closes=self._closes_itself,
        )

    async def _call(self, order: dict[str, Any], run: Run) -> Observation:
        """Make the calls in turn: the next goes in when the one before has been answered."""
        exchange = Exchange(run.calls or ())
        self._begin(order, run.stdin)
        self._ask(exchange)
        while (frame := await self._link.receive())[0]["kind"] != "ended":
            if frame[0]["kind"] == "answer":
                exchange.take(frame[1])
                self._ask(exchange)
        self._is_running = False
        exchange.ended()
        return _observation(*frame, returned=tuple(exchange.returned), fault=exchange.fault)

    def _ask(self, exchange: Exchange) -> None:
        if exchange.fault:
            self._link.send("stop")
        elif exchange.is_over:
            self._link.send("last")
        else:
            self._link.send("call", exchange.next_line())


def fault_of(job: Job) -> str:
    """Say what is wrong with the names of a job's files; nothing if they are fine."""
    for name in job.files:
        if fault := fault_of_name(name):
            return f"{fault} ({name[:100]!r})"
    clash = same_place(job.files)
    return f"'{clash[0]}' cannot be a file and a folder." if clash else ""


def _wall_seconds(cpu_seconds: float) -> float:
    return 2 * cpu_seconds + 1


def _order(
    limits: Limits, *, argv: list[str], main: str | None = None, is_called: bool = False
) -> dict[str, Any]:
    """Write what `sandbox.runner.attempt.Order` reads."""
    return {
        "argv": argv,
        "main": main,
        "is_called": is_called,
        "cpu_seconds": limits.cpu_seconds,
        "wall_seconds": _wall_seconds(limits.cpu_seconds),
        "memory_bytes": limits.memory_mb * _MEBIBYTE,
        "processes": limits.processes,
        "output_bytes": limits.output_kb * 1024,
        "disk_bytes": limits.disk_mb * _MEBIBYTE,
        "files": limits.files,
    }


def _observation(
    told: dict[str, Any], output: bytes, returned: tuple[Returned, ...] = (), fault: str = ""
) -> Observation:
    """Say what became of a run; `CellBrokenError` if it did not come about by our fault."""
    if told["fault"]:
        raise CellBrokenError(f"a run could not begin: {told['fault']}")
    wait_status = told["wait_status"]
    status = _STATUS.get(told["cause"])
    if status is None and wait_status is None:
        raise CellBrokenError("a run ended, and nobody knows how")
    code = None if wait_status is None else os.waitstatus_to_exitcode(wait_status)
    if status is None:
        status = Status.SIGNALLED if code is not None and code < 0 else Status.EXITED
        if fault:
            status = Status.PROTOCOL_ERROR
    return Observation(
        status=status,
        exit_code=code if code is not None and code >= 0 else None,
        signal=-code if code is not None and code < 0 else None,
        stdout=output[: told["stdout_bytes"]],
        stderr=output[told["stdout_bytes"] :],
        stdout_truncated=told["truncated"][0],
        stderr_truncated=told["truncated"][1],
        returned=returned,
        cpu_seconds=max(0.0, told["cpu_seconds"]),
        wall_seconds=told["wall_seconds"],
        peak_memory_bytes=told["peak_memory_bytes"],
        telemetry=Telemetry(
            network_attempts=max(0, told["network_attempts"]),
            process_limit_hits=told["process_limit_hits"],
        ),
        detail=fault or _DETAIL.get(told["cause"], ""),
    )
