"""The math verifier against math-verify 0.9.0, in the same process, on the same completions.

Both extract and compare, on one core; speed is verifications per second of CPU time. math-verify
is called as its documentation shows, with its own defaults and time-outs. The corpora come from
`_math_corpus` with their truth, no gold twice. Then the service: two cores against one, batches of
256 over HTTP, and the first verdict after a start. Nothing is a failure here: the last lines say
which aims hold. `--verbose` lists the wrong verdicts; `--count N` makes the corpora smaller.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import importlib
import logging
import os
import time
from collections import Counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from benchmarks._math_corpus import KINDS, Item, chain_of_thought, mixed
from benchmarks._math_service import http, scaling
from rewarden.contracts import Outcome
from services.math.judge import Judge
from services.math.workers.nursery import COLLECT_AFTER

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks._math_service import Http

COUNT: Final = 800
INSTALL: Final = "pip install 'math-verify[antlr4_13_2]==0.9.0'"

Grade = bool | None
"""Whether an answer is right; None where the grader leaves it open."""


class Run(NamedTuple):
    """What one grader did with one corpus."""

    grades: list[Grade]
    seconds: list[float]

    @property
    def speed(self) -> float:
        """Verifications per second."""
        return len(self.seconds) / sum(self.seconds)

    def quantile(self, share: float) -> float:
        """Return the milliseconds that a share of the samples stays below."""
        return sorted(self.seconds)[int(share * (len(self.seconds) - 1))] * 1_000


class Aim(NamedTuple):
    """A figure to reach, and the one that was measured (None where it was not)."""

    name: str
    measured: float | None
    limit: float
    is_minimum: bool


def rewarden_grader() -> Callable[[Item], Grade]:
    """Return our grader, with a memory of the warm-up alone."""
    judge = Judge()

    def grade(item: Item) -> Grade:
        outcome = judge.judge({"answer": item.gold}, item.completion).outcome
        return outcome is Outcome.CORRECT if outcome.is_scored else None

    return warmed_up(grade)


def math_verify_grader() -> Callable[[Item], Grade] | None:
    """Return math-verify's grader, or None where it is not installed."""
    try:
        module: Any = importlib.import_module("math_verify")
    except ImportError:
        return None
    logging.getLogger("math_verify").setLevel(logging.CRITICAL)
    parse, verify = module.parse, module.verify

    def grade(item: Item) -> Grade:
        return bool(verify(parse(f"${item.gold}$"), parse(item.completion)))

    return warmed_up(grade)


def warmed_up(grade: Callable[[Item], Grade]) -> Callable[[Item], Grade]:
    """Return the grader once it has loaded what it loads on first use."""
    run(grade, mixed(8, seed=9_999))
    return grade


def run(grade: Callable[[Item], Grade], items: list[Item]) -> Run:
    """Grade every item, and take the CPU time of each."""
    gc.collect()
    gc.freeze()  # nobody pays for walking what the other one left in memory
    gc.set_threshold(COLLECT_AFTER)  # as in the workers of the service; for both sides
    grades, seconds = [], []
    for item in items:
        began = time.process_time()
        grades.append(grade(item))
        seconds.append(time.process_time() - began)
    return Run(grades, seconds)


def of_kind(run: Run, items: list[Item], kind: str) -> tuple[Run, list[Item]]:
    """Return the part of a run that is about one kind."""
    places = [place for place, item in enumerate(items) if item.kind == kind]
    part = Run([run.grades[i] for i in places], [run.seconds[i] for i in places])
    return part, [items[i] for i in places]


def counted(run: Run, items: list[Item]) -> Counter[Grade]:
    """Count what is right (True), wrong (False) and left open (None)."""
    return Counter(
        None if grade is None else grade == item.is_right
        for grade, item in zip(run.grades, items, strict=True)
    )


def truth(run: Run, items: list[Item]) -> str:
    """Return what is right, wrong and left open, as `97.5% -2 ?3`."""
    counts = counted(run, items)
    return f"{counts[True] / len(items):.1%} -{counts[False]} ?{counts[None]}"


def line(name: str, items: list[Item], ours: Run, theirs: Run | None) -> None:
    """Print a line of the table."""
    peer = (f"{theirs.speed:,.0f}", f"{ours.speed / theirs.speed:,.1f}") if theirs else ("-", "-")
    print(
        f"{name:18}{len(items):>6}{ours.speed:>12,.0f}{peer[0]:>15}{peer[1]:>8}"
        f"{ours.quantile(0.5):>9.3f}{ours.quantile(0.99):>9.3f}"
        f"  {truth(ours, items):18}{truth(theirs, items) if theirs else '-'}"
    )


def list_wrong(name: str, run: Run, items: list[Item]) -> None:
    """Print every wrong or open verdict."""
    for grade, item in zip(run.grades, items, strict=True):
        if grade is not item.is_right:
            said = {True: "paid", False: "refused", None: "left open"}[grade]
            print(f"  {name} {said}: {item.completion[-60:]!r} for {item.gold!r}")


def compare(count: int, *, verbose: bool) -> list[Aim]:
    """Run both graders over both corpora."""
    print(
        f"{'CPU time, one core':18}{'items':>6}{'rewarden/s':>12}{'math-verify/s':>15}{'ratio':>8}"
        f"{'p50 ms':>9}{'p99 ms':>9}  {'rewarden: right':18}math-verify (-wrong, ?left open)"
    )
    corpora = {
        "chain of thought": chain_of_thought(count),
        "even mix": mixed(-(-count // len(KINDS))),
    }
    peer, aims = math_verify_grader(), []
    for (name, items), least in zip(corpora.items(), (10, 50), strict=True):
        ours, theirs = run(rewarden_grader(), items), run(peer, items) if peer else None
        line(name, items, ours, theirs)
        for kind in KINDS if name == "even mix" else ():
            part, chosen = of_kind(ours, items, kind)
            line(f"  {kind}", chosen, part, of_kind(theirs, items, kind)[0] if theirs else None)
        if verbose:
            list_wrong("rewarden", ours, items)
            list_wrong("math-verify", theirs, items) if theirs else None
        counts = counted(ours, items)
        right = counts[True] / len(items) * 100
        aims.append(Aim(f"{name}: right, %", right, 99, is_minimum=True))
        aims.append(Aim(f"{name}: wrong rewards", counts[False], 0, is_minimum=False))
        ratio = ours.speed / theirs.speed if theirs else None
        aims.append(Aim(f"{name}: times math-verify", ratio, least, is_minimum=True))
        aims.append(Aim(f"{name}: p50, ms", ours.quantile(0.5), 0.2, is_minimum=False))
        aims.append(Aim(f"{name}: p99, ms", ours.quantile(0.99), 10, is_minimum=False))
    if peer is None:
        print(f"math-verify is not installed: {INSTALL}")
    return aims


def on_one_core() -> set[int]:
    """Keep this process on one core, and return those that it had."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    return cores


def say(aim: Aim) -> None:
    """Print whether an aim holds."""
    sign = ">=" if aim.is_minimum else "<="
    if aim.measured is None:
        said = "not measured"
    else:
        holds = (aim.measured >= aim.limit) is aim.is_minimum or aim.measured == aim.limit
        said = f"{aim.measured:,.2f}: {'holds' if holds else 'DOES NOT HOLD'}"
    print(f"{aim.name:40}{sign} {aim.limit:<6g}{said}")


def service_aims() -> list[Aim]:
    """Measure the worker processes and the service."""
    speeds = asyncio.run(scaling())
    print(f"\nbatches of 256: {speeds[1]:,.0f} samples/s on one worker, {speeds[2]:,.0f} on two")
    found: Http = http()
    print(f"over HTTP: {found.milliseconds:.3f} ms a sample, in batches of 256")
    print(f"first verdict {found.first_seconds * 1_000:.1f} ms after the service is ready")
    ratio = speeds[2] / speeds[1]
    return [
        Aim("two workers: times one", ratio, 1.8, is_minimum=True),
        Aim("over HTTP: ms a sample", found.milliseconds, 1, is_minimum=False),
    ]


def main() -> None:
    """Measure, print, and say which aims hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--verbose", action="store_true", help="list wrong and open verdicts")
    parser.add_argument("--count", type=int, default=COUNT, help=f"items of a corpus ({COUNT})")
    options = parser.parse_args()
    print(f"load average at the start: {os.getloadavg()[0]:.2f}; near 0 the figures are sound")
    cores = on_one_core()
    aims = compare(options.count, verbose=options.verbose)
    os.sched_setaffinity(0, cores)
    aims += service_aims()
    print()
    for aim in aims:
        say(aim)


if __name__ == "__main__":
    main()
