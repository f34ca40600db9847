"""The SQL verifier: right and wrong verdicts on two real databases, and its speed, against aims.

Accuracy is that of `_sql_accuracy` on the databases of `_sql_data`; speed that of `_sql_speed`, in
seconds of CPU time, next to plain SQLite in the same run. `--verbose` lists the rewrites that were
refused and the near misses that were paid. Run it on an idle machine.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
from typing import Any, Final

from benchmarks import _sql_speed as speed
from benchmarks._sql_accuracy import Accuracy, measure
from benchmarks._sql_data import samples

_LINE: Final = "{:38} {:>10} {:14} (aim: {})"


def main() -> None:
    """Print what was measured, and the aims."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--verbose", action="store_true")
    show_accuracy(is_verbose=parser.parse_args().verbose)
    show_speed()
    show_runaways()


def show_accuracy(*, is_verbose: bool) -> None:
    """Golds against themselves, against rewrites and against near misses."""
    total = Accuracy()
    for sample in samples():
        measure(sample, total)
    if is_verbose:
        print(*total.odd, sep="\n")
    _show("golds against themselves", f"{total.itself}/{total.golds}", "paid", "all")
    rate = f"{total.right / total.rewrites:.1%}"
    _show(f"rewrites of golds ({total.rewrites})", rate, "paid", "99.5 %")
    rate = f"{total.paid / total.different:.2%}"
    _show(f"near misses ({total.different})", rate, "paid", "at most 1 %")


def show_speed() -> None:
    """Verdicts a second, registration, a large result."""
    spec: dict[str, Any] = {"query": speed.GOLDS[0], "schema_sql": speed.SCHEMA}
    limit = speed.plain_queries_a_second()
    _show("plain SQLite, no check", f"{limit:,.0f}", "queries/s", "none: the limit")
    single = speed.verdicts_a_second(spec | {"generate": False})
    _show("one database", f"{single:,.0f}", f"/s, x{single / limit:.2f}", "3,000")
    several = speed.verdicts_a_second(spec)
    _show("six databases, five of them generated", f"{several:,.0f}", "/s", "1,000")
    median = statistics.median(speed.registration_seconds())
    _show("registering a gold, median", f"{median:.2f}", "s", "at most 2")
    _show("comparing 200,000 rows", f"{speed.large_seconds():.2f}", "s", "at most 1.5")


def show_runaways() -> None:
    """Run queries without end next to right ones."""
    idle, busy, late = asyncio.run(speed.runaways())
    _show("a runaway ends after its limit and", f"{late:.3f}", "s", "at most 0.25")
    _show("p95 of right queries, idle", f"{idle * 1e3:.1f}", "ms", "none")
    beside = f"{busy / idle:.2f}"
    _show("the same beside 16 runaways", beside, "of that", "at most 2")


def _show(name: str, measured: str, unit: str, aim: str) -> None:
    print(_LINE.format(name, measured, unit, aim))


if __name__ == "__main__":
    main()
