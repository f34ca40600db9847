"""What a prediction is worth under the named reward profiles; partial credit is at most 0.5."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

from rewarden.contracts import Outcome

if TYPE_CHECKING:
    from services.sql.results import Row
    from services.sql.spec import Profile


class Progress(NamedTuple):
    """How far a prediction came that is not right."""

    is_found: bool = False
    is_parsed: bool = False
    is_run: bool = False
    overlap: float = 0.0
    """Order-free F1 of its rows, 0..1."""


_RUN_CREDIT: Final = 0.1
_ROWS_CREDIT: Final = 0.3
_STEP_CREDIT: Final = 0.05


def partial_score(profile: Profile, progress: Progress) -> float:
    """Return the score of a prediction that is wrong: 0..0.5."""
    if profile == "arctic":
        return _RUN_CREDIT if progress.is_run else 0.0
    if profile != "graded":
        return 0.0
    score = _STEP_CREDIT * (progress.is_found + progress.is_parsed)
    score += _RUN_CREDIT * progress.is_run + _ROWS_CREDIT * progress.overlap
    return round(min(score, 0.5), 4)


def reward(profile: Profile, outcome: Outcome, progress: Progress) -> float | None:
    """Return the reward of a profile whose scale is not 0..1; None if it has none, or none is due."""
    if not outcome.is_scored:
        return None
    is_right = outcome is Outcome.CORRECT
    if profile == "skyrl":
        return 1.0 if is_right else 0.0 if progress.is_found else -1.0
    return _sqlr1(progress, is_right=is_right) if profile == "sqlr1" else None


def _sqlr1(progress: Progress, *, is_right: bool) -> float:
    """Return 1 for the format, 2 for running and 3 for the rows, or minus it where it ends."""
    if not (progress.is_found or is_right):
        return -1.0
    if not (progress.is_run or is_right):
        return 1.0 - 2.0
    return 1.0 + 2.0 + (3.0 if is_right else -3.0)


def overlap(gold: list[Row], rows: list[Row]) -> float:
    """Return the F1 of two bags of rows; cells are compared exactly."""
    if not gold or not rows:
        return 0.0
    shared = (Counter(gold) & Counter(rows)).total()
    return 2 * shared / (len(gold) + len(rows))
