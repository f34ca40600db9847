from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from rewarden.contracts import Outcome
from services.sql.profiles import Progress, overlap, partial_score, reward

FOUND = Progress(is_found=True)
PARSED = Progress(is_found=True, is_parsed=True)
RAN = Progress(is_found=True, is_parsed=True, is_run=True)


@pytest.mark.parametrize(
    ("progress", "scores"),
    [
        (Progress(), {"binary": 0, "arctic": 0, "graded": 0}),
        (FOUND, {"binary": 0, "arctic": 0, "graded": 0.05}),
        (PARSED, {"binary": 0, "arctic": 0, "graded": 0.1}),
        (RAN, {"binary": 0, "arctic": 0.1, "graded": 0.2}),
        (RAN._replace(overlap=1.0), {"binary": 0, "arctic": 0.1, "graded": 0.5}),
    ],
)
def test_partial_credit(progress: Progress, scores: dict[str, float]) -> None:
    assert {name: partial_score(name, progress) for name in scores} == scores  # type: ignore[arg-type]


@given(st.builds(Progress, st.booleans(), st.booleans(), st.booleans(), st.floats(0, 1)))
def test_partial_credit_is_never_above_a_half(progress: Progress) -> None:
    assert 0 <= partial_score("graded", progress) <= 0.5
    assert 0 <= partial_score("arctic", progress) <= 0.5


@pytest.mark.parametrize(
    ("outcome", "progress", "skyrl", "sqlr1"),
    [
        (Outcome.CORRECT, RAN, 1.0, 6.0),
        (Outcome.INCORRECT, RAN, 0.0, 0.0),
        (Outcome.INCORRECT, PARSED, 0.0, -1.0),
        (Outcome.NO_ANSWER, Progress(), -1.0, -1.0),
        (Outcome.BAD_SPEC, Progress(), None, None),
    ],
)
def test_rewards_of_other_scales(
    outcome: Outcome, progress: Progress, skyrl: float | None, sqlr1: float | None
) -> None:
    assert reward("skyrl", outcome, progress) == skyrl
    assert reward("sqlr1", outcome, progress) == sqlr1
    assert reward("binary", outcome, progress) is None


def test_overlap_counts_repeated_rows() -> None:
    assert overlap([("a",), ("a",)], [("a",)]) == pytest.approx(2 / 3)
    assert overlap([("a",)], [("b",)]) == 0
    assert overlap([], []) == 0
