"""`python -m trainer run RECIPE`: the command line, and the one place where errors are caught.

Exit codes: 0 done, 1 ended early with a checkpoint, 2 something in the recipe or around it is
wrong, said in one sentence on standard error, 130 interrupted outside of training.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from rich.console import Console

from rewarden.errors import ConfigurationError
from trainer.recipe_file import dump_recipe, read_recipe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trainer.preparation import Prepared
    from trainer.recipe import Recipe

DONE: Final = 0
ENDED_EARLY: Final = 1
MISUSED: Final = 2
INTERRUPTED: Final = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    options = _parser().parse_args(arguments)
    try:
        return _run(options)
    except ConfigurationError as error:
        _complain(f"error: {error}")
        return MISUSED
    except KeyboardInterrupt:
        _complain("interrupted")
        return INTERRUPTED


def _complain(sentence: str) -> None:
    console = Console(stderr=True, soft_wrap=True)
    console.print(sentence, style="red", markup=False, highlight=False)


def _parser() -> ArgumentParser:
    parser = ArgumentParser(prog="python -m trainer", description="GRPO, paid by verifiers.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    run = commands.add_parser("run", help="train as a recipe says")
    run.add_argument("recipe", type=Path, metavar="RECIPE", help="a YAML file")
    run.add_argument("--output", type=Path, metavar="DIR", help="default: the next free runs/NAME")
    run.add_argument("--seed", type=int, metavar="N", help="in place of the recipe's")
    run.add_argument("--queue", metavar="URL", help="verifiers to use: redis://… or http://…")
    run.add_argument("--control", action="store_true", help="pay random rewards")
    run.add_argument("--print-config", action="store_true", help="show the resolved recipe")
    run.add_argument("--dry-run", action="store_true", help="check everything, train nothing")
    return parser


def _run(options: Namespace) -> int:
    recipe = read_recipe(options.recipe, seed=options.seed)
    console = Console()
    if options.print_config:
        console.out(dump_recipe(recipe), highlight=False, end="")
        return DONE
    from trainer.silence import silence_libraries

    silence_libraries()
    from trainer.preparation import prepare

    with console.status("checking the recipe"):
        prepared = prepare(recipe)
    return _dry_run(prepared, options, console) if options.dry_run else _train(prepared, options)


def _dry_run(prepared: Prepared, options: Namespace, console: Console) -> int:
    from trainer.preparation import reach_verifiers

    with TemporaryDirectory(prefix="rewarden-") as scratch:
        log = Path(scratch) / "services.log"
        with reach_verifiers(prepared, options.queue, log):
            console.print(_describe(prepared, prepared.recipe), highlight=False, soft_wrap=True)
    return DONE


def _describe(prepared: Prepared, recipe: Recipe) -> str:
    train, heldout = len(prepared.data.train), len(prepared.data.heldout)
    verifiers = ", ".join(sorted({term.verifier for term in recipe.rewards.terms}))
    return (
        f"{recipe.name} can run on {prepared.hardware.device}: {train} samples to train on and "
        f"{heldout} held out; these verifiers answer: {verifiers}"
    )


def _train(prepared: Prepared, options: Namespace) -> int:
    from trainer.job import train

    return train(prepared, options)
