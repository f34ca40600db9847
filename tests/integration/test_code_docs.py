"""The examples of `docs/code.md` are specs, and are judged as it says."""

from __future__ import annotations

import json
import re
from pathlib import Path

from rewarden.contracts import Outcome, Sample
from services.code.verifier import CodeVerifier

DOCS = Path(__file__).parents[2] / "docs" / "code.md"
PROGRAM = """\
def add(a, b):
    return a + b

class Stack:
    def __init__(self, limit):
        self.items = []
    def push(self, item):
        self.items.append(item)
    def pop(self):
        return self.items.pop()
"""


async def test_the_examples_of_the_documentation_hold(verifier: CodeVerifier) -> None:
    found_blocks = re.findall(r"^```json\n(.*?)^```$", DOCS.read_text("utf-8"), re.S | re.M)
    request, answer, *specs = map(json.loads, found_blocks)
    (sample,) = request["samples"]
    (verdict,) = await verifier.verify([Sample(**sample)])
    assert verdict.outcome == answer["outcome"]
    assert verdict.reason == answer["reason"]
    assert set(verdict.details) == set(answer["details"])
    assert verdict.details["counts"] == answer["details"]["counts"]
    assert len(specs) == 2
    found = await verifier.verify([Sample(completion=PROGRAM, spec=spec) for spec in specs])
    assert [one.outcome for one in found] == [Outcome.CORRECT] * 2, [one.reason for one in found]
