"""The kinds of tests of a code sample, as they are written in its spec."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictStr, field_validator, model_validator
from pydantic_core import PydanticCustomError

from sandbox.jobs import Language
from sandbox.names import fault_of_name
from sandbox.runner import values
from services.code.equal import Rules
from services.code.stdout import Mode, Tolerance, is_yes_or_no

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_CASES: Final = 1_000
MAX_TEST_BYTES: Final = 8 * 1024 * 1024
MAX_SUITE_BYTES: Final = 1024 * 1024

Preset = Literal["livecodebench", "apps", "taco", "code_contests", "codeforces"]
EntryPoint = Annotated[
    StrictStr, Field(max_length=200, pattern=r"^[A-Za-z_$][\w$]*(\.[A-Za-z_$][\w$]*)*$")
]


class Closed(BaseModel):
    """Takes no field that it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class _Case(Closed):
    weight: float = Field(default=1.0, gt=0, le=1e6, examples=[2.0])
    """How much the case counts where `scoring` is `fraction`."""
    visible: bool = Field(default=False, examples=[True])
    """Whether the model was shown this case; visible and hidden results are counted apart."""


class MethodCall(Closed):
    """One call of a method of the object that a case has made."""

    method: EntryPoint = Field(examples=["push"])
    args: list[Any] = Field(default_factory=list, examples=[[3]])
    kwargs: dict[str, Any] = Field(default_factory=dict, examples=[{"at": 0}])
    expected: Any = Field(default=None, examples=[3])
    """What must be returned. Left out, whatever is returned will do."""
    raises: StrictStr | None = Field(default=None, max_length=200, examples=["IndexError"])
    """The name of the exception that must be raised instead; the object lives on."""

    @property
    def is_checked(self) -> bool:
        """Whether anything but the absence of an exception is demanded."""
        return self.raises is not None or "expected" in self.model_fields_set


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
    calls: list[MethodCall] | None = Field(
        default=None,
        min_length=1,
        max_length=MAX_CASES,
        examples=[[{"method": "pop", "expected": 3}]],
    )
    """For an entry point that is a class: `args` make an object, whose methods are called in turn.
    Python only."""


class FunctionTests(Closed):
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
            if (case.calls is not None) != self.has_calls:
                raise unusable("either all cases have calls, or none has")
            if case.calls is not None and (fault := _fault_of_calls(case, case.calls)):
                raise unusable(f"case {number} {fault}")
            try:
                self._read(case)
            except (ValueError, SyntaxError, RecursionError, MemoryError) as error:
                raise unusable(
                    f"case {number} holds a value that cannot be read: {error}"
                ) from None
        return self

    def _read(self, case: FunctionCase) -> None:
        for one in (case, *(case.calls or ())):
            self.typed(one)
            self.expected(one)

    @property
    def has_calls(self) -> bool:
        """Whether objects are made, and their methods called."""
        return self.cases[0].calls is not None

    @property
    def rules(self) -> Rules:
        """What is to count as equal."""
        return Rules(self.rel_tol, self.abs_tol, self.tuple_is_list)

    def typed(self, case: FunctionCase | MethodCall) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the arguments as typed JSON; a `ValueError` if they cannot be read."""
        if self.notation == "json":
            values.decode([case.args, list(case.kwargs.values())])
            return tuple(case.args), dict(case.kwargs)
        args = tuple(values.encode(_literal(text)) for text in case.args)
        return args, {key: values.encode(_literal(text)) for key, text in case.kwargs.items()}

    def expected(self, case: FunctionCase | MethodCall) -> object:
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


class StdioTests(Closed):
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
        _check_size(self.cases)
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


class AssertTests(Closed):
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
            raise unusable(f"the code is longer than {MAX_SUITE_BYTES:,} characters")
        return code


class PytestTests(Closed):
    """Files of pytest, which run in a sandbox of their own; `solution` is the program's module.

    Covered: `raises`, `approx`, `fixture`, `mark.parametrize`, `unittest` cases, `conftest.py`.
    """

    kind: Literal["pytest"]
    files: dict[str, StrictStr] = Field(
        min_length=1,
        max_length=64,
        examples=[
            {
                "test_add.py": "from solution import add\n\ndef test_add():\n    assert add(1, 2) == 3"
            }
        ],
    )
    """The test files by name."""

    @model_validator(mode="after")
    def _files_are_sane(self) -> PytestTests:
        check_names(self.files)
        if sum(map(len, self.files.values())) > MAX_SUITE_BYTES:
            raise unusable(f"the files are longer than {MAX_SUITE_BYTES:,} characters")
        return self


class CheckerTests(Closed):
    """Runs of a program whose output a checker looks at, in a sandbox of its own.

    The checker is called as those of testlib are: with the names of the input, the output and the
    answer. It exits with 0 if the output is right, 1 or 2 if it is not, 3 if the test is at fault,
    and 7 for points, which it writes to standard error: `points 0.5`.
    """

    kind: Literal["checker"]
    cases: list[StdioCase] = Field(min_length=1, max_length=MAX_CASES)
    """1 to 1,000 runs; `stdout` is the answer that the checker is given."""
    checker: StrictStr = Field(
        min_length=1, max_length=MAX_SUITE_BYTES, examples=['#include "testlib.h" …']
    )
    """Its source."""
    checker_language: Language = Field(default="cpp", examples=["python"])
    checker_files: dict[str, StrictStr] = Field(
        default_factory=dict, max_length=16, examples=[{"testlib.h": "…"}]
    )
    """Other files beside the checker, by name; testlib does not come with the sandbox."""

    @model_validator(mode="after")
    def _files_are_sane(self) -> CheckerTests:
        _check_size(self.cases)
        check_names(self.checker_files)
        return self


Tests = Annotated[
    FunctionTests | StdioTests | AssertTests | PytestTests | CheckerTests,
    Field(discriminator="kind"),
]


def _fault_of_calls(case: FunctionCase, calls: list[MethodCall]) -> str:
    if case.raises is not None or case.expected is not None:
        return "has calls, which say themselves what is expected of them"
    return "" if any(call.is_checked for call in calls) else "has calls that expect nothing"


def _check_size(cases: list[StdioCase]) -> None:
    size = sum(len(case.stdin) + len(case.stdout) for case in cases)
    if size > MAX_TEST_BYTES:
        raise unusable(f"the cases hold {size:,} characters, and {MAX_TEST_BYTES:,} is the most")


def check_names(files: Iterable[str]) -> None:
    """Refuse names of files that lead elsewhere."""
    for name in files:
        if fault := fault_of_name(name):
            raise unusable(fault.removesuffix("."))


def _literal(text: object) -> object:
    if not isinstance(text, str):
        msg = "with 'notation: python' it must be a text"
        raise ValueError(msg)  # noqa: TRY004 - an error of the spec, caught as such
    return ast.literal_eval(text)


def unusable(problem: str) -> PydanticCustomError:
    """Say in a sentence why a spec cannot be used."""
    return PydanticCustomError("unusable", "{problem}", {"problem": problem})
