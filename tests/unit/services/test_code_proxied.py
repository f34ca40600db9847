"""Trusted tests in a sandbox of their own, on real processes: what they can do with a program."""

from __future__ import annotations

import pytest

from rewarden.contracts import Outcome
from tests.unit.services.code_proxied import HEAD, PROGRAM, assert_right, check, files

RIGHT = {
    "calls and attributes": """
    s = Stack(1)
    s.push(2).push(3)
    assert s.pop() == 3
    assert s.size == 2 and len(s) == 2
    assert s.items == [1, 2]
    assert s.items[0] == 1
    s.items = [5]
    assert s.pop() == 5""",
    "exceptions go on": """
    s = Stack()
    with pytest.raises(IndexError, match="empty") as raised:
        s.pop()
    assert "empty" in str(raised.value)
    s.push(1)
    assert s.size == 1
    with pytest.raises(Refused):
        divide(1, 0)
    with pytest.raises(ValueError):
        solution.divide(1, 0)""",
    "exceptions that are caught": """
    try:
        divide(1, 0)
    except solution.Refused as error:
        assert str(error) == "by zero"
    else:
        pytest.fail("not raised")""",
    "arguments changed in place": """
    items = [3, 1, 2]
    assert order(items) is None
    assert items == [1, 2, 3]""",
    "operators of objects": """
    v = Vector(1, 2) + Vector(3, 4)
    assert v.x == 4
    assert v == Vector(4, 6)
    assert v != Vector(4, 7)
    assert v == (4, 6)
    assert repr(v) == "Vector(4, 6)" and f"{v}" == "Vector(4, 6)"
    assert Vector(1, 0) < Vector(2, 0)
    assert len({Vector(1, 1), Vector(1, 1)}) == 1""",
    "kinds of objects": """
    s = Stack()
    assert isinstance(s, Stack) and not isinstance(s, solution.Vector)
    assert isinstance(s.size, int)
    assert hasattr(s, "push") and not hasattr(s, "shove")
    assert getattr(s, "shove", 3) == 3
    assert callable(s.push) and not callable(s)""",
    "iterating": """
    assert list(count(3)) == [0, 1, 2]
    assert sum(x for x in count(2000)) == 1999000
    assert sorted(Stack(3, 1, 2)) == [1, 2, 3]
    s = Stack(1, 2)
    assert s.size == 2
    assert 2 in s and 3 not in s
    it = iter(count(2))
    assert next(it) == 0 and next(it) == 1""",
    "names of the module": """
    assert LIMIT == 7 and solution.LIMIT + 1 == 8
    assert ",".join(NAMES) == "a,b"
    assert Stack.of([1, 2]).size == 2
    before = Stack.made
    Stack()
    assert Stack.made == before + 1""",
    "who is who": """
    assert only() is only()
    assert Door() is not Door()
    assert only() is not None""",
    "contexts": """
    with Door() as door:
        assert door.is_open is True
    assert not door.is_open""",
    "values of every kind": """
    assert tree(1) == {"depth": 1, "below": [{"depth": 0, "below": None, (1, 2): {3}}], (1, 2): {3}}
    assert divide(1, 3) == pytest.approx(0.3333333)
    assert divide(1, 3) != pytest.approx(0.3334)
    assert round(divide(1, 3), 2) == 0.33""",
    "results decide what is called next": """
    total, n = 0, 1
    while total < 10:
        total = total + divide(n, 1)
        n += 1
    assert total == 10""",
}


@pytest.mark.parametrize("body", RIGHT.values(), ids=RIGHT)
async def test_a_right_program_passes(body: str) -> None:
    await assert_right(files(f"{HEAD}\ndef test_it():{body}\n"), 1)


@pytest.mark.parametrize(
    ("old", "new", "body"),
    [
        ("items.pop()", "items.pop(0)", "calls and attributes"),
        ('IndexError("it is empty")', 'KeyError("it is empty")', "exceptions go on"),
        ("it is empty", "it is", "exceptions go on"),
        ("Refused(ValueError)", "Refused(Exception)", "exceptions go on"),
        ('raise Refused("by zero")', "return 0", "exceptions that are caught"),
        ("items.sort()", "return sorted(items)", "arguments changed in place"),
        ("self.x + other.x", "self.x", "operators of objects"),
        ("hash((self.x, self.y))", "id(self)", "operators of objects"),
        ("self.items = list(items)", "self.items = self.shove = list(items)", "kinds of objects"),
        ("range(n)", "range(n + 1)", "iterating"),
        ("LIMIT = 7", "LIMIT = 8", "names of the module"),
        ("return _only", "return Door()", "who is who"),
        ("self.is_open = False", "pass", "contexts"),
        ("[tree(depth - 1)]", "(tree(depth - 1),)", "values of every kind"),
        ("a / b", "a / b + 1", "results decide what is called next"),
        ("import collections", "import os; os._exit(0)", "iterating"),
        ("import collections", "raise SystemExit(0)", "iterating"),
        ("import collections", "import nothing_of_this_name", "iterating"),
    ],
)
async def test_a_wrong_one_does_not(old: str, new: str, body: str) -> None:
    assert old in PROGRAM
    verdict = await check(
        PROGRAM.replace(old, new), files(f"{HEAD}\ndef test_it():{RIGHT[body]}\n")
    )
    assert (verdict.outcome, verdict.score) == (Outcome.INCORRECT, 0), verdict.reason


FIXTURES = """
@pytest.fixture
def stack():
    made = Stack(1, 2)
    yield made
    assert made.size < 3

@pytest.fixture
def top(stack):
    return stack.pop()

@pytest.mark.parametrize("a, b", [(1, 2), pytest.param(4, 8), (0, 0)])
@pytest.mark.parametrize("by", [2.0])
def test_divide(a, b, by):
    assert divide(b, by) == a

def test_top(top, stack):
    assert top == 2
    assert stack.pop() == 1

class TestStack:
    def setup_method(self):
        self.stack = Stack()

    @pytest.fixture
    def one(self):
        return self.stack.push(1)

    def test_one(self, one):
        assert one.size == 1

    def test_none(self):
        assert self.stack.size == 0
"""


async def test_fixtures_parameters_and_classes_are_those_of_pytest() -> None:
    await assert_right(files(HEAD + FIXTURES), 6)


async def test_a_fixture_of_conftest_is_there_for_all_files_and_others_are_not_shared() -> None:
    fixture = "import pytest\nfrom solution import Stack\n\n@pytest.fixture\ndef stack():\n"
    tests = {
        "conftest.py": f"{fixture}    return Stack(1)\n",
        "test_a.py": "def test_a(stack):\n    assert stack.size == 1\n",
        "test_b.py": f"{fixture}    return Stack()\n\ndef test_b(stack):\n    assert stack.size == 0\n",
        "test_c.py": "import more\ndef test_c(stack):\n    assert stack.size == more.ONE\n",
        "more.py": "ONE = 1\n",
    }
    await assert_right({"tests": {"kind": "pytest", "files": tests}}, 3)


CASES = """
import unittest
from solution import Stack, divide, Refused

class TestIt(unittest.TestCase):
    def setUp(self):
        self.stack = Stack(1)

    def test_pop(self):
        self.assertEqual(self.stack.pop(), 1)
        with self.assertRaises(IndexError):
            self.stack.pop()
        self.assertRaises(Refused, divide, 1, 0)

    def test_size(self):
        self.assertTrue(self.stack.size)
        self.assertIsInstance(self.stack, Stack)
        self.assertAlmostEqual(divide(1, 3), 0.3333333, places=6)
"""


async def test_cases_of_unittest_are_tests() -> None:
    await assert_right(files(CASES), 2)
    assert (await check(PROGRAM.replace("a / b", "a"), files(CASES))).score == 0


SUITE = """
s = Stack()
s.push(4)
assert s.pop() == 4
items = [2, 1]
order(items)
assert items == [1, 2]
"""


async def test_asserts_that_cannot_be_followed_outside_are_run_this_way() -> None:
    told = {"tests": {"kind": "assert", "code": SUITE}}
    await assert_right(told, 1)
    assert (await check(PROGRAM.replace("items.sort()", "pass"), told)).score == 0


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("assert divide(1, 2) == 'a", "no Python"),
        ("pass", "calls no function"),
        ("assert divide(lambda x: x, 2) == 3", "hands the program a function"),
    ],
)
async def test_asserts_that_cannot_be_run_either_way_are_a_bad_spec(code: str, said: str) -> None:
    verdict = await check(PROGRAM, {"tests": {"kind": "assert", "code": code}})
    assert verdict.outcome is Outcome.BAD_SPEC
    assert said in verdict.reason


async def test_asserts_may_use_what_is_not_followed_outside() -> None:
    for code in ("assert divide(4, 2) == eval('2')", "import os\nassert divide(4, 2) == 2"):
        await assert_right({"tests": {"kind": "assert", "code": code}}, 1)
        verdict = await check(
            "divide = lambda a, b: 3", {"tests": {"kind": "assert", "code": code}}
        )
        assert verdict.score == 0


async def test_check_of_a_candidate_may_use_what_the_setup_defines() -> None:
    code = "def check(candidate):\n    assert list(candidate(twice(2))) == [0, 1, 2, 3]\n"
    setup = "def twice(n):\n    return type(n)(n * 2)\n\ndef count(n):\n    ...\n"
    told = {"tests": {"kind": "assert", "code": code, "entry_point": "count"}, "setup": setup}
    await assert_right(told, 1)


async def test_a_fraction_counts_the_tests_that_pass() -> None:
    told = files(HEAD + FIXTURES, scoring="fraction")
    verdict = await check(PROGRAM.replace("self.items = list(items)", "self.items = [1]"), told)
    assert verdict.outcome is Outcome.PARTIAL
    assert verdict.score == pytest.approx(3 / 6)
