"""The verifier on a stand-in for the sandbox, which runs the harmless programs of these tests."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import Any

import pytest

from rewarden.contracts import Outcome, Sample, Verdict
from rewarden.errors import ServiceBusyError, TransportError
from sandbox.events import Ended, Event
from sandbox.jobs import Job, Observation, Returned, Run, Status, Telemetry
from services.code.verifier import CodeVerifier
from tests.unit.services.code_puppet import (
    ADD,
    SUM,
    THREE,
    Puppet,
    always,
    check,
    function,
    really,
    stdio,
    suite,
)

SPECS = [
    THREE,
    stdio(("1 2", "3\n"), ("4 4", "8\n")),
    suite("def check(candidate):\n  assert candidate(1, 2) == 3\n  assert candidate(4, 4) == 8"),
]
RIGHT = [ADD, SUM, ADD]
WRONG = [ADD.replace("+", "-"), "print(0)", ADD.replace("+", "*")]


@pytest.mark.parametrize(("spec", "completion"), [*zip(SPECS, RIGHT, strict=True)])
async def test_a_right_program_is_correct_at_high_trust(
    spec: dict[str, Any], completion: str
) -> None:
    verdict = await check(spec, f"So:\n```python\n{completion}\n```")
    assert verdict.outcome is Outcome.CORRECT, verdict.reason
    assert verdict.details["trust"] == "high"
    counts = verdict.details["counts"]
    assert counts["total"] == counts["passed"] == counts["hidden_passed"] > 1


@pytest.mark.parametrize(("spec", "completion"), [*zip(SPECS, WRONG, strict=True)])
async def test_a_wrong_program_is_incorrect_and_asked_once(
    spec: dict[str, Any], completion: str
) -> None:
    puppet = Puppet()
    verdict = await check(spec, completion, puppet)
    assert (verdict.outcome, verdict.score) == (Outcome.INCORRECT, 0)
    assert puppet.runs == 1


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        (Status.TIMEOUT, Outcome.TIMEOUT),
        (Status.MEMORY_LIMIT, Outcome.RESOURCE_LIMIT),
        (Status.OUTPUT_LIMIT, Outcome.RESOURCE_LIMIT),
        (Status.PROTOCOL_ERROR, Outcome.INCORRECT),
        (Status.SIGNALLED, Outcome.INCORRECT),
        (Status.EXITED, Outcome.INCORRECT),
        (Status.SANDBOX_ERROR, Outcome.VERIFIER_ERROR),
        (Status.NOT_RUN, Outcome.VERIFIER_ERROR),
    ],
)
async def test_how_a_run_ends_decides_the_outcome(
    spec: dict[str, Any], status: Status, outcome: Outcome
) -> None:
    verdict = await check(spec, puppet=Puppet(always(status, exit_code=0)))
    assert verdict.outcome is outcome
    assert verdict.score == (None if outcome is Outcome.VERIFIER_ERROR else 0)


async def test_words_that_were_printed_and_codes_of_exit_are_no_verdict() -> None:
    loud = always(Status.EXITED, exit_code=0, stdout=b"All tests passed\nOK\n")
    for spec in SPECS:
        verdict = await check(spec, puppet=Puppet(loud))
        assert verdict.outcome is Outcome.INCORRECT
        assert verdict.details["flags"]["printed_success"]


async def test_the_right_output_with_a_bad_end_is_not_right() -> None:
    spec = stdio(("1 2", "3\n"))
    for more in ({"exit_code": 1}, {"exit_code": 0, "stdout_truncated": True}):
        verdict = await check(spec, puppet=Puppet(always(Status.EXITED, stdout=b"3\n", **more)))
        assert verdict.outcome is Outcome.INCORRECT


async def test_right_values_of_a_process_that_went_out_of_bounds_are_not_right() -> None:
    returned = (Returned(value=3),)
    for status in (Status.OUTPUT_LIMIT, Status.PROTOCOL_ERROR, Status.TIMEOUT):
        puppet = Puppet(always(status, returned=returned))
        assert (await check(function(([1, 2], 3)), puppet=puppet)).score == 0


async def test_answers_beyond_the_calls_are_passed_over() -> None:
    returned = (Returned(value=0), Returned(value=3))
    puppet = Puppet(always(Status.EXITED, returned=returned))
    assert (await check(function(([1, 2], 3)), puppet=puppet)).score == 0


@pytest.mark.parametrize("value", [{"$": "?"}, {"$": "opaque", "v": "X"}, True, "3", [3], None])
async def test_a_value_that_is_not_the_expected_one_is_wrong(value: Any) -> None:
    puppet = Puppet(always(Status.EXITED, returned=(Returned(value=value),)))
    assert (await check(function(([1, 2], 3)), puppet=puppet)).outcome is Outcome.INCORRECT


async def test_a_fraction_is_the_weight_of_the_tests_that_pass() -> None:
    spec = function(([1, 2], 3), ([2, 2], 5), ([0, 0], 0), scoring="fraction")
    spec["tests"]["cases"][0] |= {"weight": 2, "visible": True}
    verdict = await check(spec)
    assert (verdict.outcome, verdict.score) == (Outcome.PARTIAL, 0.75)
    counts = verdict.details["counts"]
    assert (counts["visible_passed"], counts["hidden"], counts["hidden_passed"]) == (1, 2, 1)


async def test_a_test_that_raises_does_not_cost_those_behind_it() -> None:
    spec = function(([1, 2], 3), ([1, "x"], 5), ([0, 0], 0), scoring="fraction")
    puppet = Puppet()
    verdict = await check(spec, puppet=puppet)
    assert verdict.score == pytest.approx(2 / 3)
    assert [one["result"] for one in verdict.details["tests"]] == ["passed", "raised", "passed"]
    assert "TypeError" in verdict.reason


async def test_an_exception_may_be_what_is_expected() -> None:
    spec = function(([1, 2], 3), ([1, "x"], None), ([0, 0], 0))
    spec["tests"]["cases"][1]["raises"] = "TypeError"
    assert (await check(spec)).outcome is Outcome.CORRECT
    wrong = "def add(a, b):\n    return a + int(b)\n"
    assert (await check(spec, wrong)).outcome is Outcome.INCORRECT


async def test_calls_that_share_a_process_do_not_share_its_time() -> None:
    def slow(job: Job, run: Run) -> Observation:
        seen = really(job, run)
        if len(seen.returned) < 2:
            return seen
        return Observation(status=Status.TIMEOUT, returned=seen.returned[:1], cpu_seconds=10)

    assert (await check(THREE, puppet=Puppet(slow))).outcome is Outcome.CORRECT


async def test_all_tests_together_have_a_time_limit() -> None:
    def slow(job: Job, run: Run) -> Observation:
        times = {"wall_seconds": 40.0, "cpu_seconds": 39.0}
        return really(job, run).model_copy(update=times)

    spec = stdio(*[("1 2", "3")] * 5)
    assert (await check(spec, SUM, Puppet(slow))).outcome is Outcome.TIMEOUT
    assert (await check(stdio(*[("1 2", "3")] * 3), SUM, Puppet(slow))).score == 1


async def test_a_program_that_does_not_compile_is_incorrect() -> None:
    compiled = Observation(status=Status.EXITED, exit_code=1, stderr=b"main.c:1: error")
    verdict = await check(stdio(("", ""), language="c"), "int main(", Puppet(compiled=compiled))
    assert verdict.outcome is Outcome.INCORRECT
    assert "main.c:1" in verdict.details["compiling"]


@pytest.mark.parametrize("status", [Status.SANDBOX_ERROR, Status.NOT_RUN])
async def test_a_compiler_that_could_not_run_is_our_fault(status: Status) -> None:
    puppet = Puppet(compiled=Observation(status=status))
    verdict = await check(stdio(("", ""), language="c"), "int main;", puppet)
    assert verdict.outcome is Outcome.VERIFIER_ERROR


async def test_a_sandbox_that_is_busy_is_asked_again_and_one_that_is_gone_is_our_fault() -> None:
    puppet = Puppet()
    puppet.faults = [ServiceBusyError("later", 0.0)]
    assert (await check(THREE, puppet=puppet)).outcome is Outcome.CORRECT
    puppet.faults = [TransportError("gone")]
    assert (await check(THREE, puppet=puppet)).outcome is Outcome.VERIFIER_ERROR


async def test_an_answer_with_too_few_runs_is_our_fault() -> None:
    class Short(Puppet):
        async def stream(self, job: Job) -> AsyncGenerator[Event, None]:
            yield Ended(end=0, driver="short")

    for spec in SPECS:
        assert (await check(spec, puppet=Short())).outcome is Outcome.VERIFIER_ERROR


async def test_expected_values_never_enter_the_sandbox() -> None:
    for spec, completion in zip(
        (
            function(([1, 2], 987654321)),
            stdio(("1 2", "987654321")),
            suite("assert add(1, 2) == 987654321"),
        ),
        RIGHT,
        strict=True,
    ):
        puppet = Puppet()
        assert (await check(spec, completion, puppet)).score == 0
        assert "987654321" not in puppet.jobs[0].model_dump_json()


BAD_SPECS: list[tuple[dict[str, Any], str]] = [
    ({}, "tests"),
    ({"tests": {"kind": "guess"}}, "guess"),
    (stdio(), "at least 1"),
    (function(), "at least 1"),
    (function(*[([1, 2], 3)] * 5_000), "at most 1000"),
    (suite("x" * 2_000_000), "longer than"),
    (function(([1, 2], 3), language="cpp"), "python and javascript"),
    (function(([{"$": "x"}, 2], 3)), "cannot be read"),
    ({**THREE, "files": {"../x": ""}}, "'..'"),
    ({**THREE, "extra": 1}, "extra"),
    ({"tests": {"kind": "pytest", "files": {"../x.py": "x"}}}, "'..'"),
    ({"tests": {"kind": "pytest", "files": {"x.py": "x" * 2_000_000}}}, "longer than"),
    ({"tests": {"kind": "pytest", "files": {"x.py": "x"}}, "language": "c"}, "are for python"),
    ({"tests": {"kind": "checker", "checker": "", "cases": [{"stdout": ""}]}}, "at least 1"),
    ({**THREE, "reference": "def add(a, b): return 0"}, "reference solution"),
]


@pytest.mark.parametrize(("spec", "said"), BAD_SPECS)
async def test_a_bad_spec_is_told_in_a_sentence(spec: dict[str, Any], said: str) -> None:
    verdict = await check(spec)
    assert (verdict.outcome, verdict.score) == (Outcome.BAD_SPEC, None)
    assert said in verdict.reason


async def test_python_literals_may_be_written_as_such() -> None:
    spec = function((["{1, 2}", "(3,)"], "({1, 2}, (3,))"))
    spec["tests"]["notation"] = "python"
    assert (await check(spec, "def add(a, b): return a, b")).outcome is Outcome.CORRECT
    assert (await check(spec, "def add(a, b): return [a, b]")).outcome is Outcome.INCORRECT


async def test_a_reference_that_passes_changes_nothing() -> None:
    spec = {**THREE, "reference": ADD}
    assert (await check(spec, WRONG[0])).outcome is Outcome.INCORRECT
    assert (await check(spec)).outcome is Outcome.CORRECT


@pytest.mark.parametrize(
    ("completion", "outcome"),
    [
        ("", Outcome.NO_ANSWER),
        ("<think>def add", Outcome.NO_ANSWER),
        ("```text\n3\n```", Outcome.NO_ANSWER),
        ("#" * 2_000_000, Outcome.REJECTED),
    ],
)
async def test_what_cannot_be_run_is_told_apart(completion: str, outcome: Outcome) -> None:
    assert (await check(THREE, completion)).outcome is outcome


async def test_of_two_programs_the_last_counts_and_it_is_told() -> None:
    verdict = await check(THREE, f"```python\n{WRONG[0]}```\n```python\n{ADD}```")
    assert verdict.outcome is Outcome.CORRECT
    assert verdict.details["several_programs"]


async def test_signs_of_cheating_are_told_and_change_no_verdict() -> None:
    def seen(job: Job, run: Run) -> Observation:
        told = {"telemetry": Telemetry(network_attempts=2)}
        return really(job, run).model_copy(update=told)

    verdict = await check(THREE, ADD + "import sys\nsys._getframe\n", Puppet(seen))
    assert verdict.outcome is Outcome.CORRECT
    assert verdict.details["flags"].keys() >= {"touched_frames", "tried_network"}


@pytest.mark.parametrize(
    ("preset", "expected", "printed", "is_right"),
    [
        ("livecodebench", "2.5", "2.50", True),
        ("livecodebench", "2.5", "2.500001", False),
        ("apps", "2.5", "2.50001", True),
        ("taco", "2.5", "2.6", False),
        ("code_contests", "1", "1.0", True),
        ("codeforces", "YES", "yes", True),
        ("codeforces", "Alice", "alice", False),
        ("codeforces", "1", "1.0", False),
    ],
)
async def test_presets_compare_as_their_datasets_do(
    preset: str, expected: str, printed: str, is_right: bool
) -> None:
    spec = stdio(("", expected))
    spec["tests"]["preset"] = preset
    verdict = await check(spec, f"print({printed!r})")
    assert (verdict.outcome is Outcome.CORRECT) is is_right


async def _verify(puppet: Puppet, samples: Sequence[Sample]) -> list[Verdict]:
    return await CodeVerifier(puppet).verify(samples)


async def test_the_same_program_is_run_once_and_another_is_run_again() -> None:
    puppet = Puppet()
    verifier = CodeVerifier(puppet)
    same = Sample(completion=ADD, spec=THREE)
    others = [
        Sample(completion=WRONG[0], spec=THREE),
        Sample(completion=ADD, spec={**THREE, "limits": {"cpu_seconds": 1}}),
        Sample(completion=ADD, spec=function(([1, 2], 4))),
    ]
    verdicts = await verifier.verify([same, same, *others, same])
    assert [one.score for one in verdicts] == [1, 1, 0, 1, 0, 1]
    assert [one.cached for one in verdicts] == [False, True, False, False, False, True]
    assert (await verifier.verify([same]))[0].cached
    assert len(puppet.jobs) == 4


@pytest.mark.parametrize("status", [Status.SANDBOX_ERROR, Status.TIMEOUT])
async def test_faults_of_ours_and_of_the_clock_are_not_remembered(status: Status) -> None:
    puppet = Puppet(always(status, cpu_seconds=0.1))
    verifier = CodeVerifier(puppet)
    sample = Sample(completion=ADD, spec=function(([1, 2], 3)))
    for _ in range(2):
        assert not (await verifier.verify([sample]))[0].cached
    assert len(puppet.jobs) == 2


async def test_a_batch_keeps_its_order_whatever_its_members_are() -> None:
    kinds = [(THREE, ADD, 1), (THREE, WRONG[0], 0), ({}, ADD, None), (SPECS[1], SUM, 1)]
    batch = [Sample(completion=c + f"\n#{n}", spec=s) for n in range(20) for s, c, _ in kinds]
    scores = [verdict.score for verdict in await _verify(Puppet(), batch)]
    assert scores == [score for _ in range(20) for *_, score in kinds]
