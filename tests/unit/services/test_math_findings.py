"""What once was paid and should not have been, and the other way round; a line each."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rewarden.contracts import Outcome
from services.math.judge import Judge

FINDINGS = [
    json.loads(line)
    for line in Path(__file__).with_name("math_findings.jsonl").read_text("utf-8").splitlines()
]


@pytest.mark.parametrize("finding", FINDINGS, ids=lambda finding: finding["completion"][:40])
def test_a_finding_stays_mended(finding: dict[str, str]) -> None:
    judged = Judge().judge({"answer": finding["gold"]}, finding["completion"])
    if finding["expected"] == "paid":
        assert judged.outcome is Outcome.CORRECT, judged.reason
    elif finding["expected"] == "open":
        assert judged.outcome is Outcome.UNDECIDED, judged.reason
    else:
        assert judged.outcome is not Outcome.CORRECT, judged.reason
