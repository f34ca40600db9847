"""A cell and its link, with a supervisor at the other end that says what the test wants."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from sandbox.driver import CellBrokenError
from sandbox.drivers import link as link_module
from sandbox.drivers.link import Link, accept
from sandbox.drivers.slot_cell import SlotCell
from sandbox.jobs import Call, Job, Run, Status
from sandbox.runner import frames

Frame = tuple[dict[str, Any], bytes]
JOB = Job(language="python", source=b"pass", runs=(Run(),))


def ended(**changed: Any) -> bytes:
    told: dict[str, Any] = {
        "stdout_bytes": 3,
        "truncated": [False, True],
        "wait_status": 0,
        "fault": "",
        "cause": "",
        "cpu_seconds": 0.5,
        "wall_seconds": 1.5,
        "peak_memory_bytes": 7,
        "process_limit_hits": 2,
        "network_attempts": 1,
    }
    return frames.pack("ended", b"outerr", **(told | changed))


class Supervisor:
    """Answers each frame with what was put down for its kind."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self.writer = reader, writer
        self.heard: list[Frame] = []
        self._closes = False
        self.answers: dict[str, Callable[[Frame], bytes]] = {
            "open": lambda _: frames.pack("opened"),
            "close": lambda _: frames.pack("closed"),
            "run": lambda _: ended(),
        }
        self.task = asyncio.create_task(self._serve())

    async def _serve(self) -> None:
        received = frames.Reader()
        while data := await self._reader.read(65_536):
            received.feed(data)
            while frame := received.next():
                self.heard.append(frame)
                self._closes = self._closes or frame[0].get("closes", False)
                if answer := self.answers.get(frame[0]["kind"]):
                    self.writer.write(said := answer(frame))
                    if self._closes and b'"kind": "ended"' in said:
                        self.writer.write(frames.pack("closed"))


@pytest.fixture
async def ends(tmp_path: Path) -> AsyncIterator[tuple[Link, Supervisor]]:
    path = tmp_path / "slot.sock"
    server, calling = await accept(path)
    supervisor = Supervisor(*await asyncio.open_unix_connection(path))
    link = await calling
    yield link, supervisor
    await link.close()
    supervisor.writer.close()
    await supervisor.task
    server.close()


Ends = tuple[Link, Supervisor]


async def run(ends: Ends, run: Run, job: Job = JOB) -> Any:
    cell = SlotCell(ends[0], is_warm=True)
    await cell.prepare(job)
    seen = await cell.run(run)
    await cell.close()
    return seen


async def test_an_observation_holds_what_was_told(ends: Ends) -> None:
    seen = await run(ends, Run(stdin=b"in"))
    assert (seen.status, seen.exit_code, seen.stdout, seen.stderr) == ("exited", 0, b"out", b"err")
    assert (seen.stdout_truncated, seen.stderr_truncated) == (False, True)
    assert (seen.telemetry.network_attempts, seen.telemetry.process_limit_hits) == (1, 2)
    assert (seen.cpu_seconds, seen.wall_seconds, seen.peak_memory_bytes) == (0.5, 1.5, 7)
    kinds = [header["kind"] for header, _ in ends[1].heard]
    assert kinds == ["files", "run"]
    assert ends[1].heard[1][0]["closes"]
    assert ends[1].heard[1][1] == b"in"


async def test_a_program_is_compiled_once_with_limits_of_its_own(ends: Ends) -> None:
    runs = (Run(argv=("a",)), Run())
    job = Job(language="c", source=b"int main;", runs=runs)
    cell = SlotCell(ends[0], is_warm=True)
    compiled = await cell.prepare(job)
    assert compiled is not None
    assert compiled.status is Status.EXITED
    for each in runs:
        await cell.run(each)
    orders = [header for header, _ in ends[1].heard if header["kind"] == "run"]
    assert [header["is_compiling"] for header in orders] == [True, False, False]
    assert [header["is_followed"] for header in orders] == [True, True, False]
    assert orders[0]["order"]["argv"][0] == "gcc"
    assert orders[0]["order"]["memory_bytes"] == job.limits.compile_memory_mb << 20
    assert orders[1]["order"]["argv"] == ["./main", "a"]
    assert orders[1]["order"]["memory_bytes"] == job.limits.memory_mb << 20
    assert not any(header["order"]["main"] for header in orders)


@pytest.mark.parametrize(
    ("told", "status", "exit_code", "number"),
    [
        ({"wait_status": 7 << 8}, Status.EXITED, 7, None),
        ({"wait_status": 11}, Status.SIGNALLED, None, 11),
        ({"cause": "cpu", "wait_status": None}, Status.TIMEOUT, None, None),
        ({"cause": "wall", "wait_status": None}, Status.TIMEOUT, None, None),
        ({"cause": "memory", "wait_status": 9}, Status.MEMORY_LIMIT, None, 9),
        ({"cause": "output", "wait_status": None}, Status.OUTPUT_LIMIT, None, None),
    ],
)
async def test_each_ending_has_its_status(
    ends: Ends, told: dict[str, Any], status: Status, exit_code: int | None, number: int | None
) -> None:
    ends[1].answers["run"] = lambda _: ended(**told)
    seen = await run(ends, Run())
    assert (seen.status, seen.exit_code, seen.signal) == (status, exit_code, number)


@pytest.mark.parametrize("told", [{"fault": "mount"}, {"wait_status": None}])
async def test_a_fault_of_ours_is_a_broken_cell(ends: Ends, told: dict[str, Any]) -> None:
    ends[1].answers["run"] = lambda _: ended(**told)
    with pytest.raises(CellBrokenError):
        await run(ends, Run())


async def test_calls_go_in_one_by_one_and_the_first_that_raises_is_the_last(ends: Ends) -> None:
    def answer(frame: Frame) -> bytes:
        call = json.loads(frame[1])
        (x,) = call["args"]
        said = {"exception": "E", "message": "m"} if x == 2 else {"value": x}
        return frames.pack("answer", json.dumps({"nonce": call["nonce"], **said}).encode())

    ends[1].answers |= {"call": answer, "run": lambda _: b"", "last": lambda _: ended()}
    calls = tuple(Call(entry_point="f", args=(x,)) for x in (1, 2, 3))
    seen = await run(ends, Run(calls=calls))
    assert [(each.value, each.exception) for each in seen.returned] == [(1, None), (None, "E")]
    nonces = {
        json.loads(body)["nonce"] for header, body in ends[1].heard if header["kind"] == "call"
    }
    assert len(nonces) == 2


@pytest.mark.parametrize(
    "line", [b"", b"{", b"[]", b'{"nonce": "x", "value": 1}', b"[" * 200_000, b'{"value": 1}']
)
async def test_an_answer_that_is_not_one_stops_the_run(ends: Ends, line: bytes) -> None:
    ends[1].answers |= {
        "call": lambda _: frames.pack("answer", line),
        "run": lambda _: b"",
        "stop": lambda _: ended(cause="stopped", wait_status=None),
    }
    seen = await run(ends, Run(calls=(Call(entry_point="f"),)))
    assert (seen.status, seen.returned) == (Status.PROTOCOL_ERROR, ())


async def test_python_that_is_called_has_the_fixed_hash_seed_too(ends: Ends) -> None:
    """`-I` would ignore it."""
    cell = SlotCell(ends[0], is_warm=False)
    await cell.prepare(JOB)
    await cell.run(Run(calls=(Call(entry_point="f"),)))
    await cell.close()
    (order,) = (header["order"] for header, _ in ends[1].heard if header["kind"] == "run")
    assert order["environment"]["PYTHONHASHSEED"] == "0"
    assert not {"-I", "-E"} & set(order["argv"])


async def test_an_end_without_an_answer_is_a_protocol_error(ends: Ends) -> None:
    ends[1].answers["call"] = lambda _: b""
    seen = await run(ends, Run(calls=(Call(entry_point="f"),)))
    assert seen.status is Status.PROTOCOL_ERROR


async def test_a_limit_that_was_reached_in_a_call_keeps_its_status(ends: Ends) -> None:
    ends[1].answers["run"] = lambda _: ended(cause="cpu", wait_status=None)
    seen = await run(ends, Run(calls=(Call(entry_point="f"),)))
    assert seen.status is Status.TIMEOUT


async def test_a_supervisor_that_hangs_up_is_told_at_once_and_again(ends: Ends) -> None:
    link, supervisor = ends
    supervisor.answers["run"] = lambda _: b""
    cell = SlotCell(link, is_warm=True)
    await cell.prepare(JOB)
    running = asyncio.create_task(cell.run(Run()))
    await asyncio.sleep(0.01)
    supervisor.writer.close()
    with pytest.raises(CellBrokenError):
        await running
    await cell.close()
    with pytest.raises(CellBrokenError):
        await link.receive()
    assert link.is_broken


def test_sending_to_nobody_is_silent_with_uvloop_too(tmp_path: Path) -> None:
    uvloop = pytest.importorskip("uvloop")

    async def hang_up_and_close() -> None:
        server, calling = await accept(tmp_path / "slot.sock")
        _, writer = await asyncio.open_unix_connection(tmp_path / "slot.sock")
        link = await calling
        writer.close()
        with pytest.raises(CellBrokenError):
            await link.receive()
        await SlotCell(link, is_warm=True).close()
        await link.close()
        server.close()

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(hang_up_and_close())


async def test_a_supervisor_that_cannot_work_says_why(ends: Ends) -> None:
    link, supervisor = ends
    supervisor.writer.write(frames.pack("broken", why="no groups"))
    supervisor.writer.close()
    with pytest.raises(CellBrokenError, match="no groups"):
        await link.ask("open", "opened")


async def test_silence_is_noticed_but_beats_are_not_silence(
    ends: Ends, monkeypatch: pytest.MonkeyPatch
) -> None:
    link, supervisor = ends
    monkeypatch.setattr(link_module, "SILENCE_SECONDS", 0.2)
    supervisor.answers["open"] = lambda _: b""
    asking = asyncio.create_task(link.ask("open", "opened"))
    for _ in range(4):
        await asyncio.sleep(0.1)
        supervisor.writer.write(frames.pack("beat"))
    assert not asking.done()
    with pytest.raises(CellBrokenError, match="silent"):
        await asking


async def test_a_supervisor_that_speaks_otherwise_is_broken(ends: Ends) -> None:
    link, supervisor = ends
    supervisor.writer.write(b"\xff" * 64)
    with pytest.raises(CellBrokenError, match="as agreed"):
        await link.receive()


async def test_an_abandoned_run_is_stopped_before_the_cell_is_closed(ends: Ends) -> None:
    link, supervisor = ends
    supervisor.answers |= {"run": lambda _: b"", "stop": lambda _: ended(wait_status=9)}
    cell = SlotCell(link, is_warm=True)
    await cell.prepare(JOB)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(cell.run(Run()), 0.05)
    await cell.close()
    assert [header["kind"] for header, _ in supervisor.heard] == ["files", "run", "stop"]


async def test_a_job_that_ends_before_its_last_run_is_closed_by_order(ends: Ends) -> None:
    cell = SlotCell(ends[0], is_warm=True)
    await cell.prepare(Job(language="python", source=b"pass", runs=(Run(), Run())))
    await cell.run(Run())
    await cell.close()
    assert [header["kind"] for header, _ in ends[1].heard] == ["files", "run", "close"]


async def test_a_job_with_a_bad_name_is_not_written(ends: Ends) -> None:
    cell = SlotCell(ends[0], is_warm=True)
    job = Job(language="python", source=b"", files={"../x": b""}, runs=(Run(),))
    seen = await cell.prepare(job)
    assert seen is not None
    assert seen.status is Status.SANDBOX_ERROR
    await cell.close()
    assert [header["kind"] for header, _ in ends[1].heard] == ["close"]
