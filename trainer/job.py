"""From a sound recipe to an exit code: the folder, the verifiers, the run, the table at its end."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from rich.console import Console

from rewarden.errors import RewardenError
from trainer.display import Display
from trainer.preparation import reach_verifiers
from trainer.ranks import Rank
from trainer.run import Run
from trainer.run_folder import RunFolder, open_run_folder
from trainer.summary import result_table

if TYPE_CHECKING:
    from argparse import Namespace

    from trainer.preparation import Prepared
    from trainer.summary import Summary

RUNS: Final = Path("runs")


def train(prepared: Prepared, options: Namespace) -> int:
    """Run the recipe; 0 when it is done, 1 when it ended early with a checkpoint."""
    rank = Rank.from_environment()
    if rank.is_main:
        folder = open_run_folder(options.output, RUNS, prepared.recipe.name)
        return _train_in(folder, prepared, options, rank)
    # Only the main process keeps what it writes.
    with TemporaryDirectory(prefix="rewarden-rank-") as scratch:
        return _train_in(RunFolder(Path(scratch), made=False), prepared, options, rank)


def _train_in(folder: RunFolder, prepared: Prepared, options: Namespace, rank: Rank) -> int:
    console = Console(quiet=not rank.is_main)
    begun = False
    try:
        with reach_verifiers(prepared, options.queue, folder.services_log) as rewards:
            begun = True
            run = Run(
                prepared, rewards, folder, Display(console), control=options.control, rank=rank
            )
            summary = run.execute()
    except (RewardenError, KeyboardInterrupt):
        if not begun:
            folder.discard()
        raise
    _conclude(console, folder, summary)
    return 0 if summary.stopped is None else 1


def _conclude(console: Console, folder: RunFolder, summary: Summary) -> None:
    console.print(result_table(summary))
    if summary.stopped is not None:
        console.print(f"Ended early: {summary.stopped}", style="red", markup=False)
        if folder.checkpoint.exists():
            kept = f"The checkpoint is in {folder.checkpoint}."
        else:
            kept = "Training had not begun, so there is no checkpoint."
        console.print(kept, highlight=False, soft_wrap=True)
    console.print(f"Report: {folder.report}", highlight=False, soft_wrap=True)
