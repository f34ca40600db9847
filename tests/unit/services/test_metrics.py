"""What a service counts of its verdicts."""

from __future__ import annotations

from rewarden.contracts import Outcome, Sample, Verdict
from services.metrics import Metrics


def test_flags_are_counted_once_a_verdict_whether_they_are_names_or_numbers_by_name() -> None:
    metrics = Metrics()
    code = Sample(verifier="code", completion="", spec={})
    math = Sample(verifier="math", completion="", spec={})
    metrics.count(
        [
            Verdict.of(code, Outcome.INCORRECT, "", details={"flags": {"exits": 3, "forks": 1}}),
            Verdict.of(code, Outcome.CORRECT, "", details={"flags": {"exits": 1}}),
            Verdict.of(math, Outcome.UNDECIDED, "", details={"flags": ["rivals"]}),
            Verdict.of(math, Outcome.CORRECT, "", details={"flags": []}),
            Verdict.of(math, Outcome.CORRECT, ""),
        ]
    )
    told = metrics.exposition().decode()
    counted = {line for line in told.splitlines() if line.startswith("rewarden_flags_total")}
    assert counted == {
        'rewarden_flags_total{flag="exits",verifier="code"} 2.0',
        'rewarden_flags_total{flag="forks",verifier="code"} 1.0',
        'rewarden_flags_total{flag="rivals",verifier="math"} 1.0',
    }
