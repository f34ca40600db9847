"""Train a toy recipe with two seeds, and once with random rewards; print a line each."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

RUNS = [("0",), ("1",), ("0", "--control")]


def train(recipe: str) -> None:
    """Train three times and print what became of the held-out prompts."""
    columns = ("greedy before", "after", "mean@4", "unscored", "training")
    print(f"{'seed':12}" + "".join(f"{column:>14}" for column in columns))
    with tempfile.TemporaryDirectory() as folder:
        for number, (seed, *options) in enumerate(RUNS):
            output = Path(folder) / str(number)
            command = [sys.executable, "-m", "trainer", "run", recipe]
            command += ["--seed", seed, "--output", str(output), *options]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            summary = json.loads((output / "summary.json").read_text(encoding="utf-8"))
            before, after = summary["before"], summary["after"]
            shares = before["greedy"], after["greedy"], after["mean_at_4"]
            told = [f"{share:>14.1%}" for share in (*shares, summary["unscored_fraction"])]
            name = f"{seed} control" if options else seed
            seconds = summary["seconds"]["total"]
            print(f"{name:12}" + "".join(told) + f"{seconds:>12.0f} s", flush=True)
