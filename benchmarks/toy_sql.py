"""A tiny model learns to write queries from the SQL verifier's rewards, and not from random ones.

Aims: held-out greedy accuracy from at most 60 % to at least 85 %, every sample scored, on two cores
in under five minutes of training; with random rewards no gain.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

RUNS = [("0",), ("1",), ("0", "--control")]


def main() -> None:
    """Train three times and print a line each."""
    columns = ("greedy before", "after", "mean@4", "unscored", "training")
    print(f"{'seed':12}" + "".join(f"{column:>14}" for column in columns))
    with tempfile.TemporaryDirectory() as folder:
        for number, (seed, *options) in enumerate(RUNS):
            output = Path(folder) / str(number)
            command = [sys.executable, "-m", "trainer", "run", "trainer/recipes/toy_sql.yaml"]
            command += ["--seed", seed, "--output", str(output), *options]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            summary = json.loads((output / "summary.json").read_text(encoding="utf-8"))
            before, after = summary["before"], summary["after"]
            shares = before["greedy"], after["greedy"], after["mean_at_4"]
            told = [f"{share:>14.1%}" for share in (*shares, summary["unscored_fraction"])]
            name = f"{seed} control" if options else seed
            seconds = summary["seconds"]["total"]
            print(f"{name:12}" + "".join(told) + f"{seconds:>12.0f} s", flush=True)


if __name__ == "__main__":
    main()
