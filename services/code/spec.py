"""What the code verifier is told about one sample: the tests, and what a program may use."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import Field, field_validator, model_validator

from sandbox.jobs import Language, Limits
from services.code.kinds import MAX_SUITE_BYTES, Closed, FunctionTests, Tests, check_names, unusable

CALLED: Final = ("python", "javascript")
"""The languages whose functions can be called."""


class CodeLimits(Limits):
    """What a program may use in one test, and in all of them."""

    total_seconds: float = Field(default=120.0, gt=0, le=600, examples=[60.0])
    """Wall time of all tests together; a program that it does not suffice for is a `timeout`, and
    undecided if it had no CPU for half of that time."""

    def of_a_run(self) -> Limits:
        """Return what the sandbox is told."""
        return Limits(**self.model_dump(exclude={"total_seconds"}))


class CodeSpec(Closed):
    """The spec of a code sample: the tests that its program must pass.

    The program is the last fenced block of the language in the completion. Tests and expected
    values never enter its sandbox: arguments go in, values come out and are compared outside.
    `details.trust` says how this was held: `high`, or `proxied` where trusted tests ran in a sandbox
    of their own, or `low` where the spec allows it.
    """

    language: Language = Field(default="python", examples=["cpp"])
    """Function, assert and pytest tests are for `python` (function tests for `javascript` too)."""
    tests: Tests = Field(
        examples=[
            {"kind": "function", "entry_point": "add", "cases": [{"args": [1], "expected": 2}]}
        ]
    )
    """The tests; their `kind` is `function`, `stdio`, `assert`, `pytest` or `checker`."""
    limits: CodeLimits = Field(default=CodeLimits(), examples=[{"cpu_seconds": 2}])
    """What one test may use. CPU time decides, not the clock: a busy machine fails nobody."""
    scoring: Literal["all", "fraction"] = Field(default="all", examples=["fraction"])
    """`all`: every test must pass, and testing ends with the first that does not. `fraction`: the
    score is the weight of the tests that pass, as a part of the whole."""
    allow_low_trust: bool = Field(default=False, examples=[True])
    """Whether tests may be run in the program's own process where nothing else is possible: as where
    they hand functions of their own to it. A hostile program could then say what it likes of them.
    Needs a `reference`, by which the tests are counted; `details.trust` is `low`."""
    setup: str = Field(
        default="", max_length=MAX_SUITE_BYTES, examples=["from typing import List\n"]
    )
    """Code put before the program, such as imports, or the prompt that a completion goes on from.
    Functions that it defines may be used by assert tests."""
    files: dict[str, str] = Field(
        default_factory=dict, max_length=64, examples=[{"data.txt": "1 2"}]
    )
    """Other files beside the program, by name."""
    reference: str | None = Field(default=None, max_length=MAX_SUITE_BYTES, examples=["def f(): …"])
    """A solution known to be right. If it fails the tests, the spec is at fault, and nobody else."""

    @field_validator("files")
    @classmethod
    def _names_are_plain(cls, files: dict[str, str]) -> dict[str, str]:
        check_names(files)
        return files

    @model_validator(mode="after")
    def _language_can_be_called(self) -> CodeSpec:
        kind = self.tests.kind
        can_be = {"function": CALLED, "assert": CALLED[:1], "pytest": CALLED[:1]}.get(kind)
        if can_be and self.language not in can_be:
            raise unusable(f"tests of kind '{kind}' are for {' and '.join(can_be)}")
        has_calls = isinstance(self.tests, FunctionTests) and self.tests.has_calls
        if has_calls and self.language != "python":
            raise unusable("calls of an object's methods are for python")
        return self
