"""What a service counts."""

from __future__ import annotations

from typing import Any

from rewarden.contracts import Outcome, Verdict
from services.metrics import Metrics


def _verdict(verifier: str = "code", **details: Any) -> Verdict:
    return Verdict(
        verifier=verifier, outcome=Outcome.INCORRECT, score=0.0, reason="No.", details=details
    )


def _told(*verdicts: Verdict) -> list[str]:
    metrics = Metrics()
    metrics.count(verdicts)
    lines = metrics.exposition().decode().splitlines()
    return [one for one in lines if one.startswith("rewarden_code_flags_total")]


def test_flags_of_programs_are_counted_by_name() -> None:
    flagged = [_verdict(flags={"exits": 1, "tried_network": 3}), _verdict(flags={"exits": 2})]
    assert sorted(_told(*flagged, _verdict(flags={}), _verdict())) == [
        'rewarden_code_flags_total{flag="exits"} 2.0',
        'rewarden_code_flags_total{flag="tried_network"} 1.0',
    ]


def test_flags_of_other_verifiers_are_not_those_of_programs() -> None:
    assert _told(_verdict("math", flags={"exits": 1})) == []
