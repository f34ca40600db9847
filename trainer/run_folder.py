"""The folder of one run, made only when the run can begin and never written over.

::

    runs/toy/
    ├── recipe.yaml      the resolved recipe
    ├── metrics.jsonl    a line a step
    ├── samples.jsonl    completions with their verdicts
    ├── summary.json     before and after, seconds, versions
    ├── report.html      all of it to look at, readable offline
    ├── services.log     what the embedded verifiers said
    └── checkpoint/      the trained model and its tokenizer
"""

from __future__ import annotations

import shutil
from itertools import count
from typing import TYPE_CHECKING

from rewarden.errors import ConfigurationError

if TYPE_CHECKING:
    from pathlib import Path


class RunFolder:
    """Where a run writes. `discard` takes it back if nothing came of it."""

    def __init__(self, path: Path, *, made: bool) -> None:
        self.path = path
        self._made = made
        self.recipe = path / "recipe.yaml"
        self.metrics = path / "metrics.jsonl"
        self.samples = path / "samples.jsonl"
        self.summary = path / "summary.json"
        self.report = path / "report.html"
        self.services_log = path / "services.log"
        self.checkpoint = path / "checkpoint"
        self.states = path / "states"
        """Resumable trainer states, where the recipe asks for them."""

    def drop_empty_states(self) -> None:
        """Remove the folder that TRL makes for states, if it was given none."""
        if self.states.is_dir() and not any(self.states.iterdir()):
            self.states.rmdir()

    def discard(self) -> None:
        """Remove what was written so far: a run that never began leaves nothing."""
        for entry in self.path.iterdir():
            if entry.is_dir():
                shutil.rmtree(entry)
            else:
                entry.unlink()
        if self._made:
            self.path.rmdir()


def open_run_folder(output: Path | None, runs: Path, name: str) -> RunFolder:
    """Take `output`, which must be new or empty, or the next free of `runs/name`, `runs/name-2` and so on."""
    if output is None:
        return RunFolder(_next_free(runs, name), made=True)
    if output.exists() and not output.is_dir():
        raise ConfigurationError(f"the output {output} is a file; give a folder in --output")
    if output.exists() and any(output.iterdir()):
        msg = f"the output folder {output} is not empty; give another one in --output"
        raise ConfigurationError(msg)
    made = not output.exists()
    _make(output)
    return RunFolder(output, made=made)


def _next_free(runs: Path, name: str) -> Path:
    _make(runs)
    for number in count(1):
        path = runs / (name if number == 1 else f"{name}-{number}")
        try:
            path.mkdir()
        except FileExistsError:
            continue
        return path
    raise AssertionError("unreachable")


def _make(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        msg = f"cannot make the folder {path}: {error.strerror}; give another one in --output"
        raise ConfigurationError(msg) from None
