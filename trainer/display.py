"""What a run shows while it is under way: a bar per stage, with the rewards on it."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

    from trainer.metrics import StepMetrics


class Advance(Protocol):
    """Called after each step of a stage."""

    def __call__(self, note: str = "", total: int | None = None) -> None:
        """Show one step more, with `note` beside the bar."""
        ...


class Display:
    """Progress on a terminal; where output is piped, ten lines a stage instead."""

    def __init__(self, console: Console) -> None:
        self.console = console

    @contextmanager
    def wait(self, what: str) -> Iterator[None]:
        """Show that something is going on whose end is not known."""
        with self.console.status(what):
            yield

    @contextmanager
    def stage(self, name: str, steps: int | None) -> Iterator[Advance]:
        """Show a bar while the block runs; call what it yields after each step."""
        columns = (
            TextColumn("[bold]{task.description:<8}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[note]}"),
            TimeRemainingColumn(compact=True),
        )
        with Progress(*columns, console=self.console) as progress:
            task = progress.add_task(name, total=steps, note="")
            done = 0

            def advance(note: str = "", total: int | None = None) -> None:
                nonlocal done
                done += 1
                known = steps if total is None else total
                progress.update(task, advance=1, note=note, total=known)
                piped = not self.console.is_terminal
                if piped and note and known and done % max(known // 10, 1) == 0:
                    progress.print(f"{name} {done}/{known} {note}")

            yield advance


def describe(metrics: StepMetrics) -> str:
    """Say the rewards of a step in a few words: what was paid per function, and how many are right."""
    paid = [f"{name} {_short(value)}" for name, value in metrics.paid.items()]
    return " · ".join([*paid, f"right {_short(metrics.accuracy)}"])


def _short(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
