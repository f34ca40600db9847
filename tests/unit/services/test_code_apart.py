"""Trusted tests are kept apart from the program that they judge, or the verdict says that they are not."""

from __future__ import annotations

import pytest

from rewarden.contracts import Outcome
from tests.unit.services.code_processes import Processes
from tests.unit.services.code_proxied import PROGRAM, check, files


async def test_no_test_and_no_expected_value_is_sent_to_the_program() -> None:
    processes = Processes()
    test = "from solution import divide\ndef test_it():\n    assert divide(4, 2) == 987654321\n"
    assert (await check(PROGRAM, files(test), processes)).score == 0
    jobs = {job.source == processes.jobs[0].source: job for job in processes.jobs}
    assert "987654321" in str(jobs[True].files)
    assert "987654321" not in str(jobs[False])
    assert "test_it" not in str(jobs[False])
    assert PROGRAM.encode() not in [*jobs[True].files.values(), jobs[True].source]


LIAR = """\
class Liar:
    __eq__ = __lt__ = __le__ = __gt__ = __ge__ = __contains__ = lambda *_: True
    __ne__ = lambda *_: False
    __sub__ = __rsub__ = __add__ = lambda *_: 0.0
    __abs__ = __float__ = __round__ = lambda *_: 0.0
    __hash__ = lambda _: 0
    __class__ = float

def f(*_):
    return Liar()
"""


@pytest.mark.parametrize(
    "demand",
    [
        "f(1) == 3",
        "3 == f(1)",
        "not f(1) != 3",
        "abs(f(1) - 3) < 0.1",
        "abs(3 - f(1)) < 0.1",
        "3 in f(1)",
        "f(1) >= 3",
        "f(1) in [3]",
        "[f(1)] == [3]",
        "{'a': f(1)} == {'a': 3}",
        "f(1) == pytest.approx(3)",
        "isinstance(f(1), int)",
        "str(f(1)) == '3'",
        "f(1) is None",
    ],
)
async def test_an_object_that_says_it_is_equal_to_all_is_equal_to_nothing(demand: str) -> None:
    test = f"import pytest\nfrom solution import f\ndef test_it():\n    assert {demand}\n"
    verdict = await check(LIAR, files(test))
    assert verdict.outcome is Outcome.INCORRECT, verdict.reason


async def test_what_an_object_of_a_tested_class_is_equal_to_is_left_open() -> None:
    test = "from solution import Sum\ndef test_it():\n    assert Sum().add(1, 2) == 3\n"
    program = f"{LIAR}\nclass Sum(Liar):\n    def add(self, *_):\n        return Sum()\n"
    verdict = await check(program, files(test))
    assert (verdict.outcome, verdict.score) == (Outcome.UNDECIDED, None)


async def test_a_function_with_the_name_of_a_class_gives_no_object_of_the_tests() -> None:
    test = "from solution import Sum\ndef test_it():\n    assert Sum(1, 2) == 3\n"
    processes = Processes()
    verdict = await check(f"{LIAR}\nSum = f\n", files(test), processes)
    assert (verdict.outcome, verdict.score) == (Outcome.UNDECIDED, None)
    assert '"eq"' not in "".join(job.model_dump_json() for job in processes.jobs)
    assert (await check("Sum = lambda a, b: a + b", files(test))).score == 1


async def test_a_program_cannot_replace_functions_that_the_tests_use() -> None:
    program = "abs = len = sorted = isinstance = lambda *_: 3\ndef f(x):\n    return x\n"
    test = "from solution import *\ndef test_it():\n    assert abs(f(-4)) == 3\n"
    assert (await check(program, files(test))).outcome is Outcome.INCORRECT


IMPOSSIBLE = {
    "hands the program a function": "from solution import f\ndef test_it():\n    f(lambda x: x)",
    "returns something": "from solution import f\nasync def test_it():\n    f(1)",
    "never uses the program": "def test_it():\n    assert True",
    "fails whatever": "def test_it():\n    assert False",
    "fails by itself: SyntaxError": "def test_it(:",
    "No module named 'nothing'": "import nothing\ndef test_it():\n    pass",
    "the fixture 'request'": "def test_it(request):\n    pass",
    "'capsys', which the program would have to share": "def test_it(capsys):\n    pass",
    "pytest.mark.skip": "import pytest\n@pytest.mark.skip\ndef test_it():\n    pass",
    "pytest.warns": "import pytest\ndef test_it():\n    with pytest.warns(Warning):\n        pass",
    "skips": "import unittest\nclass T(unittest.TestCase):\n    @unittest.skip('x')\n    def test_it(self):\n        pass",
    "0 tests": "import solution",
    "'__dict__'": "import solution\ndef test_it():\n    assert solution.__dict__",
}


@pytest.mark.parametrize(("said", "test"), IMPOSSIBLE.items())
async def test_tests_that_cannot_be_run_so_are_a_bad_spec(said: str, test: str) -> None:
    verdict = await check("def f(x):\n    return 1\n", files(test))
    assert (verdict.outcome, verdict.score) == (Outcome.BAD_SPEC, None)
    assert said in verdict.reason


APPLY = "def apply(function, value):\n    return function(value)\n"
CALLBACK = """
from solution import apply

def test_one():
    assert apply(lambda x: x + 1, 3) == 4

def test_two():
    assert apply(len, [1]) == 1
"""
LOW = files(CALLBACK, allow_low_trust=True, reference=APPLY)


async def test_with_leave_tests_are_run_beside_the_program_and_it_is_told() -> None:
    verdict = await check(f"{APPLY}# mine", LOW)
    assert verdict.outcome is Outcome.CORRECT, verdict.reason
    assert verdict.details["trust"] == "low"
    assert verdict.details["counts"]["passed"] == 2


@pytest.mark.parametrize(
    "program",
    [
        "def apply(function, value):\n    return 4\n",
        "import os\nos._exit(0)",
        "import sys\nsys.exit(0)",
        "apply = None",
        "raise KeyboardInterrupt",
        "x = (",
    ],
)
async def test_beside_the_program_as_many_tests_count_as_the_reference_has(program: str) -> None:
    verdict = await check(program, LOW)
    assert (verdict.outcome, verdict.score) == (Outcome.INCORRECT, 0)
    assert verdict.details["counts"]["total"] == 2


async def test_low_trust_needs_a_reference_that_passes() -> None:
    for reference, said in ((None, "needs a reference"), ("apply = None", "does not pass")):
        verdict = await check(f"{APPLY}# {said}", {**LOW, "reference": reference})
        assert verdict.outcome is Outcome.BAD_SPEC
        assert said in verdict.reason


async def test_tests_that_can_be_kept_apart_are_so_whatever_is_allowed() -> None:
    told = files("import solution\ndef test_it():\n    assert solution.apply(1, 2)", reference=None)
    verdict = await check("def apply(a, b):\n    return b", {**told, "allow_low_trust": True})
    assert verdict.details["trust"] == "proxied"
