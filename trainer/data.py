"""Samples to train on and to evaluate on, from whichever source the recipe names.

Whatever its columns were called, a data set leaves here with `prompt`, `answer` where it has one,
`demonstration` where the warm-up needs it, and every other column as it was. All errors about data
are raised here, before a weight is loaded.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from datasets import Dataset, load_dataset  # type: ignore[import-untyped]
from datasets.exceptions import DatasetGenerationError  # type: ignore[import-untyped]

from rewarden.errors import ConfigurationError
from trainer.addition import count_sums, draw_sums
from trainer.one_liners import draw_tasks
from trainer.recipe import (
    ANSWER_COLUMN,
    AdditionData,
    FileData,
    HubData,
    OneLinerData,
    SelectionData,
)
from trainer.selection import draw_questions

if TYPE_CHECKING:
    from trainer.recipe import Recipe

DEMONSTRATION_COLUMN = "demonstration"


@dataclass(frozen=True)
class Data:
    """The two parts; no prompt of `heldout` was trained on."""

    train: Dataset
    heldout: Dataset


def load_data(recipe: Recipe) -> Data:
    """Load, rename and split; a ConfigurationError names what is wrong with the data."""
    if isinstance(recipe.data, AdditionData):
        data = _addition(recipe.data, recipe.evaluation.prompts, recipe.seed)
    elif isinstance(recipe.data, SelectionData):
        asked = draw_questions(recipe.seed)
        rows: list[dict[str, Any]] = [{"prompt": q.prompt, "query": q.query} for q in asked]
        data = _made_up(rows, "query", recipe.data.train_size, recipe.evaluation.prompts)
    elif isinstance(recipe.data, OneLinerData):
        rows = [
            {"prompt": t.prompt, "tests": t.tests, "program": t.program}
            for t in draw_tasks(recipe.seed)
        ]
        data = _made_up(rows, "program", recipe.data.train_size, recipe.evaluation.prompts)
    else:
        data = _loaded(recipe.data, recipe.evaluation.prompts, recipe.seed)
    _check_terms(recipe, data)
    return data


def _addition(source: AdditionData, heldout_size: int, seed: int) -> Data:
    available = count_sums(source.digits) - heldout_size
    size = min(source.train_size or 10_000, available)
    if size < 1:
        msg = f"evaluation.prompts takes all the sums of {source.digits} digits; lower it"
        raise ConfigurationError(msg)
    rows = [
        {"prompt": s.prompt, ANSWER_COLUMN: s.answer, DEMONSTRATION_COLUMN: s.demonstration}
        for s in draw_sums(size + heldout_size, source.digits, seed)
    ]
    return Data(Dataset.from_list(rows[heldout_size:]), Dataset.from_list(rows[:heldout_size]))


def _made_up(
    rows: list[dict[str, Any]], solution: str, train_size: int | None, heldout_size: int
) -> Data:
    """Split made-up rows, in whose column `solution` stands what shows the way in the warm-up."""
    rows = [{**row, DEMONSTRATION_COLUMN: row[solution]} for row in rows]
    train = rows[heldout_size:][:train_size]
    if not train:
        msg = f"evaluation.prompts takes all {len(rows)} questions; lower it"
        raise ConfigurationError(msg)
    return Data(Dataset.from_list(train), Dataset.from_list(rows[:heldout_size]))


def _loaded(source: FileData | HubData, heldout_size: int, seed: int) -> Data:
    if isinstance(source, FileData):
        train = _read_file(source.path)
        other = _read_file(source.heldout_path) if source.heldout_path else None
    else:
        train = _read_hub(source, source.split)
        other = _read_hub(source, source.heldout_split) if source.heldout_split else None
    train = _rename(train, source).shuffle(seed=seed)
    heldout = train if other is None else _rename(other, source).shuffle(seed=seed)
    heldout = heldout.select(range(min(heldout_size, len(heldout))))
    if other is None:
        if len(train) <= heldout_size:
            msg = (
                f"the data holds {len(train)} samples and evaluation.prompts takes {heldout_size}; "
                "lower evaluation.prompts or give a held-out set"
            )
            raise ConfigurationError(msg)
        train = train.select(range(heldout_size, len(train)))
    return Data(train.select(range(min(source.train_size or len(train), len(train)))), heldout)


def _read_file(name: str) -> Dataset:
    path = Path(name)
    if not path.is_file():
        raise ConfigurationError(f"the data file {path} does not exist; correct data.path")
    try:
        dataset = Dataset.from_json(os.fspath(path))
    except (DatasetGenerationError, ValueError, TypeError):
        msg = (
            f"{path} cannot be read as JSON or JSONL with the same keys in every sample; correct it"
        )
        raise ConfigurationError(msg) from None
    if not isinstance(dataset, Dataset) or len(dataset) == 0:
        raise ConfigurationError(f"the data file {path} holds no samples; fill it")
    return dataset


def _read_hub(source: HubData, split: str) -> Dataset:
    try:
        dataset = load_dataset(source.name, source.config, split=split)
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0]
        msg = f"cannot load the data set '{source.name}' (split '{split}'): {reason}; "
        raise ConfigurationError(msg + "check data.name, data.config and the network") from None
    if not isinstance(dataset, Dataset):
        raise ConfigurationError(f"'{source.name}' has several splits; name one in data.split")
    return dataset


def _rename(dataset: Dataset, source: FileData | HubData) -> Dataset:
    wanted = {
        "prompt": source.prompt_column,
        ANSWER_COLUMN: source.answer_column,
        DEMONSTRATION_COLUMN: source.demonstration_column,
    }
    named = {name: column for name, column in wanted.items() if column is not None}
    for name, column in named.items():
        if column not in dataset.column_names:
            raise ConfigurationError(_no_column(column, f"data.{name}_column", dataset))

    def reshape(row: dict[str, Any]) -> dict[str, Any]:
        new = {name: row[column] for name, column in named.items()}
        return new | _shape(new["prompt"], new.get(ANSWER_COLUMN), source)

    # A new column may carry the name of an old one (`answer` from `answer`): map overwrites it.
    renamed = [column for name, column in named.items() if column != name]
    dropped = [column for column in renamed if column not in named]
    mapped: Dataset = dataset.map(reshape, remove_columns=dropped)
    return mapped


def _shape(prompt: Any, answer: Any, source: FileData | HubData) -> dict[str, Any]:  # noqa: ANN401
    shaped: dict[str, Any] = {}
    if source.chat and isinstance(prompt, str):
        system = [{"role": "system", "content": source.system_prompt}]
        user = [{"role": "user", "content": prompt}]
        shaped["prompt"] = (system if source.system_prompt is not None else []) + user
    if source.answer_after is not None:
        _, mark, rest = str(answer).rpartition(source.answer_after)
        if not mark:
            msg = f"an answer has no '{source.answer_after}' in it; correct data.answer_after"
            raise ConfigurationError(msg)
        shaped[ANSWER_COLUMN] = rest.strip()
    return shaped


def _check_terms(recipe: Recipe, data: Data) -> None:
    for term in recipe.rewards.terms:
        for column in term.columns.values():
            for part in (data.train, data.heldout):
                if column not in part.column_names:
                    place = f"the columns of the reward term '{term.name}'"
                    raise ConfigurationError(_no_column(column, place, part))


def _no_column(column: str, place: str, dataset: Dataset) -> str:
    near = get_close_matches(column, dataset.column_names, n=1)
    hint = f"; did you mean '{near[0]}'?" if near else ""
    there = ", ".join(dataset.column_names)
    return f"the data has no column '{column}' (it has {there}); correct {place}{hint}"
