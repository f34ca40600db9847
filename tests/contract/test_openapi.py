"""What the OpenAPI document promises, tried by schemathesis on a service in its own process."""

from __future__ import annotations

from typing import Any

import schemathesis
from hypothesis import HealthCheck, Phase, given, settings

from tests.running_service import running


def test_every_answer_is_one_that_is_documented() -> None:
    tried = []
    with running("all") as (url, _):
        for found in schemathesis.openapi.from_url(f"{url}/openapi.json").get_all_operations():
            operation: Any = found.ok()  # type: ignore[union-attr]

            @given(case=operation.as_strategy())
            @settings(
                max_examples=25,
                deadline=None,
                suppress_health_check=list(HealthCheck),
                phases=[Phase.generate],
            )
            def call(case: Any) -> None:
                case.call_and_validate()

            call()
            tried.append(operation.label)
    assert "POST /v1/verify" in tried
    assert len(tried) >= 6
