"""What the code verifier is told about one sample: the tests, and what a program may use."""

from __future__ import annotations

import ast
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictStr, field_validator, model_validator
from pydantic_core import PydanticCustomError

from sandbox.jobs import Language, Limits
from sandbox.names import fault_of_name
from sandbox.runner import values
from services.code.equal import Rules
from services.code.stdout import Mode, Tolerance, is_yes_or_no

MAX_CASES: Final = 1_000
MAX_TEST_BYTES: Final = 8 * 1024 * 1024
MAX_SUITE_BYTES: Final = 1024 * 1024
CALLED: Final = ("python", "javascript")
"""The languages whose functions can be called."""

Preset = Literal["livecodebench", "apps", "taco", "code_contests", "codeforces"]
EntryPoint = Annotated[
    StrictStr, Field(max_length=200, pattern=r"^[A-Za-z_$][\w$]*(\.[A-Za-z_$][\w$]*)*$")
]


class _Closed(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class _Case(_Closed):
    weight: float = Field(default=1.0, gt=0, le=1e6, examples=[2.0])
    """How much the case counts where `scoring` is `fraction`."""
    visible: bool = Field(default=False, examples=[True])
    """Whether the model was shown this case; visible and hidden results are counted apart."""


class FunctionCase(_Case):
    """One call of the function: what goes in, and what must come back."""

    args: list[Any] = Field(default_factory=list, examples=[[[1, 2, 3], "asc"]])
    """Positional arguments, as typed JSON: JSON values stand for themselves, `{"$": "tuple", "v":
    [1, 2]}` is a tuple; so are `set`, `frozenset`, `bytes` (base64), `dict` (a list of pairs). With
    `notation: python` each is the text of a Python literal, `"(1, 2)"`."""
    kwargs: dict[str, Any] = Field(default_factory=dict, examples=[{"reverse": True}])
    """Keyword arguments, likewise."""
    expected: Any = Field(default=None, examples=[6, {"$": "set", "v": [1, 2]}])
    """What must be returned, likewise. Left out, it is None."""
    raises: StrictStr | None = Field(default=None, max_length=200, examples=["ValueError"])
    """The name of the exception that must be raised instead."""


class FunctionTests(_Closed):
    """Calls of a function, whose values are compared outside the sandbox."""

    kind: Literal["function"]
    entry_point: EntryPoint = Field(examples=["add", "Solution.twoSum"])
    """The function, or `Class.method`: the class is made without arguments first."""
    cases: list[FunctionCase] = Field(min_length=1, max_length=MAX_CASES)
    """1 to 1,000 calls: `[{"args": [1, 2], "expected": 3}]`."""
    notation: Literal["json", "python"] = Field(default="json", examples=["python"])
    """How values are written: typed JSON, or the text of Python literals."""
    tuple_is_list: bool = Field(default=False, examples=[True])
    """Whether a tuple equals a list with the same items."""
    rel_tol: float = Field(default=1e-6, ge=0, lt=1, allow_inf_nan=False, examples=[1e-9])
    """Where a float is expected, a number that is off by this part of it will do."""
    abs_tol: float = Field(default=1e-6, ge=0, allow_inf_nan=False, examples=[0.0])
    """Where a float is expected, a number that is off by this much will do."""

    @model_validator(mode="after")
    def _values_can_be_read(self) -> FunctionTests:
        for number, case in enumerate(self.cases):
            try:
                self.typed(case)
                self.expected(case)
            except (ValueError, SyntaxError, RecursionError, MemoryError) as error:
                raise _unusable(
                    f"case {number} holds a value that cannot be read: {error}"
                ) from None
        return self

    @property
    def rules(self) -> Rules:
        """What is to count as equal."""
        return Rules(self.rel_tol, self.abs_tol, self.tuple_is_list)

    def typed(self, case: FunctionCase) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the arguments as typed JSON; a `ValueError` if they cannot be read."""
        if self.notation == "json":
            values.decode([case.args, list(case.kwargs.values())])
            return tuple(case.args), dict(case.kwargs)
        args = tuple(values.encode(_literal(text)) for text in case.args)
        return args, {key: values.encode(_literal(text)) for key, text in case.kwargs.items()}

    def expected(self, case: FunctionCase) -> object:
        """Return the expected value; a `ValueError` if it cannot be read."""
        if self.notation == "python" and case.expected is not None:
            return _literal(case.expected)
        return values.decode(case.expected)


class StdioCase(_Case):
    """One run of the program: what it reads, and what it must print."""

    stdin: StrictStr = Field(default="", examples=["3 4\n"])
    """Standard input, whole; an end of file follows."""
    stdout: StrictStr = Field(examples=["7\n"])
    """What must be printed to standard output. What goes to standard error does not count."""


class StdioTests(_Closed):
    """Runs of a program, each in a fresh process, whose output is compared outside the sandbox."""

    kind: Literal["stdio"]
    cases: list[StdioCase] = Field(min_length=1, max_length=MAX_CASES)
    """1 to 1,000 runs: `[{"stdin": "3 4", "stdout": "7"}]`; together at most 8 MiB."""
    compare: Mode = Field(default="auto", examples=["lines"])
    """How outputs are compared; see `services.code.stdout`."""
    preset: Preset | None = Field(default=None, examples=["livecodebench"])
    """How a dataset compares, instead of `compare` and the tolerances. `livecodebench`: `auto`
    without tolerance. `apps`, `taco`, `code_contests`: `auto` within 1e-5. `codeforces`: `yesno`
    where that is all that is expected, and else `tokens`."""
    rel_tol: float = Field(default=1e-6, ge=0, lt=1, allow_inf_nan=False, examples=[1e-9])
    """Where a fraction is expected, a number that is off by this part of it will do."""
    abs_tol: float = Field(default=1e-6, ge=0, allow_inf_nan=False, examples=[0.0])
    """Where a fraction is expected, a number that is off by this much will do."""

    @model_validator(mode="after")
    def _is_of_a_sane_size(self) -> StdioTests:
        size = sum(len(case.stdin) + len(case.stdout) for case in self.cases)
        if size > MAX_TEST_BYTES:
            raise _unusable(
                f"the cases hold {size:,} characters, and {MAX_TEST_BYTES:,} is the most"
            )
        return self

    def comparison(self, expected: bytes) -> tuple[Mode, Tolerance]:
        """Return how an output is compared with the expected one."""
        if self.preset == "livecodebench":
            return "auto", Tolerance(0.0, 0.0)
        if self.preset == "codeforces":
            return ("yesno" if is_yes_or_no(expected) else "tokens"), Tolerance(0.0, 0.0)
        if self.preset:
            return "auto", Tolerance(1e-5, 1e-5)
        return self.compare, Tolerance(self.rel_tol, self.abs_tol)


class AssertTests(_Closed):
    """Python test code, of which only the calls of the solution enter the sandbox."""

    kind: Literal["assert"]
    code: StrictStr = Field(
        min_length=1, examples=["assert add(1, 2) == 3", "def check(candidate): …"]
    )
    """`assert` statements, a `check(candidate)`, functions `test_…`, or a `unittest.TestCase`."""
    entry_point: EntryPoint | None = Field(default=None, examples=["add"])
    """The function that `check` is given. Left out, every function that the tests call and do not
    define is the solution's."""

    @field_validator("code")
    @classmethod
    def _is_of_a_sane_size(cls, code: str) -> str:
        if len(code) > MAX_SUITE_BYTES:
            raise _unusable(f"the code is longer than {MAX_SUITE_BYTES:,} characters")
        return code


class PytestTests(_Closed):
    """Files of pytest. Not supported yet: a spec with them is refused."""

    kind: Literal["pytest"]
    files: dict[str, StrictStr] = Field(min_length=1, examples=[{"test_add.py": "…"}])
    """The test files by name; the solution is the module `solution`."""

    @model_validator(mode="after")
    def _is_not_supported(self) -> PytestTests:
        raise _unusable(
            "tests of kind 'pytest' are not supported yet; 'assert' takes test functions"
        )


class CheckerTests(_Closed):
    """A checker program. Not supported yet: a spec with one is refused."""

    kind: Literal["checker"]
    cases: list[StdioCase] = Field(min_length=1, max_length=MAX_CASES)
    """The runs whose output the checker looks at."""
    checker: StrictStr = Field(min_length=1, examples=["#include <testlib.h>"])
    """Its source."""

    @model_validator(mode="after")
    def _is_not_supported(self) -> CheckerTests:
        raise _unusable("tests of kind 'checker' are not supported yet")


Tests = Annotated[
    FunctionTests | StdioTests | AssertTests | PytestTests | CheckerTests,
    Field(discriminator="kind"),
]


class CodeLimits(Limits):
    """What a program may use in one test, and in all of them."""

    total_seconds: float = Field(default=120.0, gt=0, le=600, examples=[60.0])
    """Wall time of all tests together; those that it does not suffice for are `timeout`."""

    def of_a_run(self) -> Limits:
        """Return what the sandbox is told."""
        return Limits(**self.model_dump(exclude={"total_seconds"}))


class CodeSpec(_Closed):
    """The spec of a code sample: the tests that its program must pass.

    The program is the last fenced block of the language in the completion. Tests and expected
    values never enter its sandbox: arguments go in, values come out and are compared outside.
    """

    language: Language = Field(default="python", examples=["cpp"])
    """Function and assert tests are for `python` (function tests for `javascript` too)."""
    tests: Tests = Field(
        examples=[
            {"kind": "function", "entry_point": "add", "cases": [{"args": [1], "expected": 2}]}
        ]
    )
    """The tests; their `kind` is `function`, `stdio` or `assert`."""
    limits: CodeLimits = Field(default=CodeLimits(), examples=[{"cpu_seconds": 2}])
    """What one test may use. CPU time decides, not the clock: a busy machine fails nobody."""
    scoring: Literal["all", "fraction"] = Field(default="all", examples=["fraction"])
    """`all`: every test must pass, and testing ends with the first that does not. `fraction`: the
    score is the weight of the tests that pass, as a part of the whole."""
    allow_low_trust: bool = Field(default=False, examples=[True])
    """Whether tests may be run in the solution's own process where nothing else is possible. There
    is no such run yet: test code that cannot be kept outside is refused."""
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
        for name in files:
            if fault := fault_of_name(name):
                raise _unusable(fault.removesuffix("."))
        return files

    @model_validator(mode="after")
    def _language_can_be_called(self) -> CodeSpec:
        kind = self.tests.kind
        can_be = {"function": CALLED, "assert": CALLED[:1]}.get(kind)
        if can_be and self.language not in can_be:
            raise _unusable(f"tests of kind '{kind}' are for {' and '.join(can_be)}")
        return self


def _literal(text: object) -> object:
    if not isinstance(text, str):
        msg = "with 'notation: python' it must be a text"
        raise ValueError(msg)  # noqa: TRY004 - an error of the spec, caught as such
    return ast.literal_eval(text)


def _unusable(problem: str) -> PydanticCustomError:
    return PydanticCustomError("unusable", "{problem}", {"problem": problem})
