"""Keeps the libraries under the trainer quiet, so that what it says itself can be seen."""

from __future__ import annotations

import logging
import os
import warnings
from typing import Final

CHATTY_LOGGERS: Final = (
    "transformers",
    "trl",
    "accelerate",
    "datasets",
    "huggingface_hub",
    "httpx",
    "torch",
)


def silence_libraries() -> None:
    """Leave errors only. Called by the command line alone, before those libraries are imported."""
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    os.environ.setdefault("HF_DATASETS_DISABLE_PROGRESS_BARS", "1")
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    warnings.simplefilter("ignore")
    for name in CHATTY_LOGGERS:
        logging.getLogger(name).setLevel(logging.ERROR)
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()  # type: ignore[no-untyped-call]
