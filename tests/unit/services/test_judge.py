from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from rewarden.contracts import Outcome, Sample
from services.registry import VERIFIERS, make_verifier, spec_model
from services.verifier import judge, read_spec
from tests.puppet import PuppetSpec, PuppetVerifier

ORDERS = ["correct", "incorrect", "partial", "raise", "short", "expired"]


@given(st.lists(st.sampled_from(ORDERS), max_size=12))
@settings(deadline=None)
async def test_a_fault_costs_its_own_sample_only(orders: list[str]) -> None:
    verifier = PuppetVerifier()
    await verifier.start()
    verdicts = await judge(verifier, [Sample(completion=o, id=o) for o in orders])
    assert [verdict.id for verdict in verdicts] == orders
    for order, verdict in zip(orders, verdicts, strict=True):
        faulty = order in {"raise", "short"}
        assert verdict.outcome == ("verifier_error" if faulty else order)
        assert "told to" not in verdict.reason


@pytest.mark.parametrize("name", VERIFIERS)
def test_the_registry_tells_the_truth(name: str) -> None:
    verifier = make_verifier(name)
    assert verifier.name == name
    assert verifier.spec_model is spec_model(name)
    assert verifier.chunk_size >= 1


def test_a_bad_spec_is_a_sentence_with_the_place() -> None:
    told = read_spec(PuppetSpec, {"answer": ["4"]})
    assert told == "The spec is not valid at 'answer': Input should be a valid string."
    assert read_spec(PuppetSpec, {}) == PuppetSpec()


def test_outcomes_of_the_puppet_cover_the_contract() -> None:
    assert set(ORDERS) - {"raise", "short"} <= set(Outcome)
