"""`report.html`: one page with everything in it, readable without a network."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from trainer.plots import draw_plots
from trainer.recipe_file import dump_recipe
from trainer.summary import result_rows, seconds_rows, versions

if TYPE_CHECKING:
    from trainer.run_folder import RunFolder
    from trainer.summary import Summary

TEMPLATES: Final = Path(__file__).parent / "templates"
SHOWN_SAMPLES: Final = 6
"""Completions shown of each phase."""


def write_report(folder: RunFolder, summary: Summary) -> None:
    """Write the page from the summary and from `samples.jsonl`."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined
    )
    page = environment.get_template("report.html.j2").render(
        summary=summary,
        results=result_rows(summary),
        seconds=seconds_rows(summary),
        facts=_facts(summary),
        plots=draw_plots(summary.history) if summary.history else [],
        phases=_phases(folder.samples),
        recipe=dump_recipe(summary.recipe),
        made=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    )
    folder.report.write_text(page, encoding="utf-8")


def _facts(summary: Summary) -> list[tuple[str, str]]:
    unscored = summary.unscored_fraction
    terms = ", ".join(
        f"{t.weight:g} x {t.name} ({t.verifier})" for t in summary.recipe.rewards.terms
    )
    return [
        ("model", f"{summary.parameters:,} parameters"),
        ("steps", str(len(summary.history))),
        ("seed", str(summary.recipe.seed)),
        ("paid", "random numbers (control)" if summary.control else terms),
        ("unscored", "-" if unscored is None else f"{unscored:.2%} of completions"),
        ("versions", ", ".join(f"{name} {number}" for name, number in versions().items())),
    ]


def _phases(path: Path) -> list[dict[str, Any]]:
    """Take a few samples of each phase; of training, the last group that was kept."""
    if not path.exists():
        return []
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    titles = {
        "before": "Before training (greedy, held out)",
        "train": "Training, step {step} (one group)",
        "after": "After training (greedy, held out)",
    }
    last = {line["phase"]: line["step"] for line in lines}
    kept = [line for line in lines if line["step"] == last[line["phase"]]]
    return [
        {
            "title": titles[phase].format(step=last[phase] + 1),
            "samples": list(group)[:SHOWN_SAMPLES],
        }
        for phase, group in groupby(kept, key=lambda line: line["phase"])
    ]
