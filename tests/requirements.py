"""What a test does that cannot have a real part: it is skipped and says so, or it fails."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest


def missing(part: str, why: str) -> NoReturn:
    """Skip the test; fail it if `REWARDEN_TEST_REQUIRE`, a list with commas, names the part."""
    if part in os.environ.get("REWARDEN_TEST_REQUIRE", "").split(","):
        pytest.fail(f"{part} is required here: {why}")
    pytest.skip(f"needs {part}: {why}")
