"""What is looked at before a run begins: hardware, model, data and verifiers, but no weights.

All that can be wrong with a recipe shows here, as a `ConfigurationError` of one sentence.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rewarden.rewards import Breaker, Rewards
from trainer.data import Data, load_data
from trainer.embedded import embedded_services
from trainer.hardware import Hardware, resolve_hardware
from trainer.model import load_tokenizer
from trainer.recipe import FileData, HubData, Recipe

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from transformers import PreTrainedTokenizerBase

PROBED_ROWS: Final = 8
"""Rows of the data on which every verifier is tried before a run."""


@dataclass(frozen=True)
class Prepared:
    """A recipe whose every reference was followed."""

    recipe: Recipe
    hardware: Hardware
    tokenizer: PreTrainedTokenizerBase
    data: Data


def prepare(recipe: Recipe) -> Prepared:
    """Look at what is quick to look at first: what lies here, then what a hub may have."""
    local = None if isinstance(recipe.data, HubData) else load_data(recipe)
    hardware = resolve_hardware(recipe.hardware)
    chat = isinstance(recipe.data, FileData | HubData) and recipe.data.chat
    tokenizer = load_tokenizer(recipe.model, chat=chat)
    return Prepared(recipe, hardware, tokenizer, local or load_data(recipe))


@contextmanager
def reach_verifiers(prepared: Prepared, queue: str | None, log: Path) -> Iterator[Rewards]:
    """Connect to the verifiers at `queue`, or to embedded ones, once each has answered."""
    if queue is None:
        with embedded_services(log) as url, reach_verifiers(prepared, url, log) as rewards:
            yield rewards
        return
    recipe, train = prepared.recipe, prepared.data.train
    rewards = Rewards(
        recipe.rewards.terms,
        queue,
        timeout_seconds=recipe.rewards.timeout_seconds,
        breaker=Breaker(patience_seconds=recipe.rewards.patience_seconds),
    )
    try:
        rewards.probe(train.select(range(min(PROBED_ROWS, len(train)))).to_dict())
        yield rewards
    finally:
        rewards.close()
