"""Folders of runs are never written over."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rewarden.errors import ConfigurationError
from trainer.run_folder import open_run_folder

if TYPE_CHECKING:
    from pathlib import Path


def test_each_run_gets_the_next_free_folder(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    names = [open_run_folder(None, runs, "toy").path.name for _ in range(3)]
    assert names == ["toy", "toy-2", "toy-3"]


def test_an_output_with_something_in_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").touch()
    with pytest.raises(ConfigurationError, match="is not empty; give another one in --output"):
        open_run_folder(tmp_path, tmp_path, "toy")
    with pytest.raises(ConfigurationError, match="is a file"):
        open_run_folder(tmp_path / "thesis.txt", tmp_path, "toy")


def test_a_folder_is_taken_back_whole(tmp_path: Path) -> None:
    new = open_run_folder(tmp_path / "new", tmp_path, "toy")
    new.services_log.touch()
    new.states.mkdir()
    new.discard()
    assert not new.path.exists()


def test_a_folder_that_was_there_stays(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    mine = open_run_folder(tmp_path / "mine", tmp_path, "toy")
    mine.services_log.touch()
    mine.discard()
    assert list(mine.path.iterdir()) == []
