"""The suites are executed with answers that a function of the test gives in the solution's place."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from sandbox.runner import values
from services.code.suite.answers import Answer, Request, read_value
from services.code.suite.values import UnsupportedError
from services.code.suites import Reading, Suite

Solve = Callable[..., Any]


def _answer(solve: Solve, request: Request) -> Answer:
    args = [values.decode(one) for one in request.args]
    kwargs = {key: values.decode(one) for key, one in request.kwargs.items()}
    try:
        return Answer(read_value(values.encode(solve(*args, **kwargs))))
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        return Answer(exception=type(error).__name__, message=str(error))


def _read(code: str, solve: Solve, entry_point: str | None = "f", setup: str = "") -> Reading:
    suite = Suite(code, entry_point, setup)
    answers: dict[str, Answer] = {}
    reading = suite.first
    for _ in range(8):
        answers |= {one.key: _answer(solve, one) for one in reading.requests}
        reading = suite.read(answers)
        if not reading.requests:
            break
    return reading


def _holds(code: str, solve: Solve, **options: Any) -> bool:
    reading = _read(code, solve, **options)
    assert reading.is_complete
    assert reading.checks
    return all(check.holds for check in reading.checks)


CHECKS: list[tuple[str, Solve, Solve]] = [
    ("assert f(1, 2) == 3", lambda a, b: a + b, lambda a, b: a - b),
    ("def check(candidate):\n  assert candidate(2) == 4", lambda x: x * 2, lambda x: 0),
    ("assert abs(f(1) - 0.33) < 1e-6", lambda x: 0.33, lambda x: 0.34),
    ("import math\nassert math.isclose(f(1), math.pi)", lambda x: 3.141592653589793, lambda x: 3.1),
    ("assert f([1]) is None", lambda x: None, lambda x: 0),
    ("assert f(3)", lambda x: True, lambda x: False),
    ("assert not f(3)", lambda x: [], lambda x: [1]),
    ("assert f(1) in (1, 2)", lambda x: 2, lambda x: 3),
    ("assert f(1) != 2", lambda x: 1, lambda x: 2),
    ("assert f(1) == 1 and f(2) == 4", lambda x: x * x, lambda x: 1),
    ("assert f(5) == 2 ** 5 - 1", lambda x: 31, lambda x: 32),
    ("assert tuple(f(1)) == tuple([1, 2])", lambda x: [1, 2], lambda x: [2, 1]),
    ("assert set(f(1)) == {1, 2}", lambda x: [2, 1, 1], lambda x: [1]),
    ("assert sorted(f(1)) == [1, 2]", lambda x: [2, 1], lambda x: [1]),
    ("for x, y in [(1, 2), (2, 4)]:\n  assert f(x) == y", lambda x: 2 * x, lambda x: x + 1),
    ("for x in range(5):\n  assert f(x) == str(x)", str, lambda x: "0"),
    ("r = f(1)\nassert len(r) == 2\nassert r[0] == 'a'", lambda x: "ab", lambda x: "ba"),
    ("assert all(f(x) == x for x in range(3))", lambda x: x, lambda x: 0),
    ("assert isinstance(f(1), list)", lambda x: [], lambda x: ()),
    ("assert f({'a': (1, 2)}, k={3}) == {4: None}", lambda x, k: {4: None}, lambda x, k: {}),
    ("assert f(f(1)) == 3", lambda x: x + 1, lambda x: x),
    ("if f(1) > 2:\n  assert f(2) == 4\nelse:\n  assert False", lambda x: x + 2, lambda x: x),
    ("try:\n  f(-1)\n  assert False\nexcept ValueError:\n  pass", lambda x: int("x"), lambda x: 1),
    (
        "try:\n  f(-1)\nexcept KeyError:\n  pass\nelse:\n  raise AssertionError",
        lambda x: {}[x],
        lambda x: 1,
    ),
    ("import pytest\nwith pytest.raises(ValueError):\n  f(1)", lambda x: int("x"), lambda x: {}[x]),
    ("def test_it():\n  x = [1, 2]\n  assert f(x) == sum(x)", sum, lambda x: 0),
    ("def twice(x):\n  return [y * 2 for y in x]\nassert f([1]) == twice([1])", lambda x: [2], len),
    ("want = {}\nfor k in 'ab':\n  want[k] = want.get(k, 0) + 1\nassert f() == want",
     lambda: {"a": 1, "b": 1}, dict),
    (
        "import unittest\nclass T(unittest.TestCase):\n  def test_a(self):\n"
        "    self.assertEqual(f(1), 2)\n    self.assertRaises(KeyError, f, 9)\n"
        "    with self.assertRaises(LookupError):\n      f(9)\n",
        lambda x: {1: 2}[x],
        lambda x: {1: 3, 9: 1}[x],
    ),
    ("assert Solution().f(2) == 4", lambda x: x * x, lambda x: 0),
]  # fmt: skip


@pytest.mark.parametrize(("code", "right", "wrong"), CHECKS, ids=[c[0][:40] for c in CHECKS])
def test_a_check_holds_for_the_right_solution_and_not_for_a_wrong_one(
    code: str, right: Solve, wrong: Solve
) -> None:
    entry_point = "Solution.f" if "Solution" in code else "f"
    assert _holds(code, right, entry_point=entry_point)
    assert not _holds(code, wrong, entry_point=entry_point)


@pytest.mark.parametrize(
    "code",
    [
        "import os\nassert f(1) == os.getcwd()",
        "assert f(1) == open('/etc/passwd').read()",
        "assert f(1) == eval('1')",
        "assert f(1) == (1).__class__",
        "assert f(1) == ''.join.__self__",
        "assert f(1) == 9 ** 9 ** 9",
        "assert f(1) == 'x' * 10 ** 10",
        "assert f(1) == sum(range(10 ** 12))",
        "x = []\nx.extend(range(10 ** 12))\nassert f(1) == x",
        "while True:\n  pass\nassert f(1)",
        "def g(x):\n  return g(x)\nassert f(1) == g(1)",
        "assert f(1) == 'a'.replace('', 'x' * 10 ** 6).replace('x', 'y' * 10 ** 6)",
        "assert f(1) == '{:1000000000}'.format(1)",
        "assert f(1) == '%1000000000d' % 1",
        "x = [2, 1]\nf(x)\nassert x == [1, 2]",
        "assert f(1) == g(1)",
        "q = Queue()\nassert q.pop() == 1",
        "assert 1 == 2",
        "assert 1 == 1",
        "f(1)",
        "x = {}[1]\nassert f(1) == x",
        "assert f(1) ==",
        "assert f(\0)",
        "",
        "(" * 500,
    ],
)  # fmt: skip
def test_what_cannot_be_followed_is_refused_with_a_reason(code: str) -> None:
    with pytest.raises(UnsupportedError, match=r"\w{3}"):
        Suite(code, "f")


def test_a_check_that_always_holds_is_no_test() -> None:
    reading = _read("assert True, 'so far'\nassert f(1) == 1\nassert 1 < 2", lambda x: 0)
    assert [check.holds for check in reading.checks] == [False]


def test_an_exception_outside_of_a_check_fails_the_test() -> None:
    assert not _holds("x = f(1)\nassert x == 1", lambda x: {}[x])


def test_checks_that_were_not_come_to_are_missed() -> None:
    code = "assert f(1) == 1\nx = f(2)\ny = x[0]\nassert y == 1"
    assert len(Suite(code, "f").first.checks) == 2
    assert not _holds(code, lambda x: 1)


def test_a_test_may_change_what_the_solution_returned() -> None:
    assert _holds("r = f(1)\nr.sort()\nassert f(r) == [1, 2]", lambda x: x if x != 1 else [2, 1])


def test_functions_of_the_setup_are_trusted_and_its_stub_of_the_solution_is_not() -> None:
    setup = "def shift(s):\n  return s[1:] + s[:1]\ndef f(s):\n  '''Undo shift.'''\n"
    code = "def check(candidate):\n  for s in ('abc', 'xy'):\n    assert candidate(shift(s)) == s"
    assert _holds(code, lambda s: s[-1:] + s[:-1], setup=setup)
    assert not _holds(code, lambda s: s, setup=setup)


def test_without_an_entry_point_what_is_not_defined_is_the_solution() -> None:
    suite = Suite("assert first_repeated('abb') == 'b'", None)
    assert [one.entry_point for one in suite.first.requests] == ["first_repeated"]


def test_random_inputs_are_the_same_every_time() -> None:
    code = "import random\nx = random.randint(0, 10 ** 9)\nassert f(x) == x"
    assert _holds(code, lambda x: x)


def test_an_object_of_the_solution_equals_no_data() -> None:
    for code in ("assert f(1) == 2", "assert f(1) in [2]", "assert f(1) is None"):
        assert not _holds(code, lambda x: object())
    assert _holds("assert f(1) is not None", lambda x: object())


@pytest.mark.parametrize(
    ("code", "function"),
    [
        ("assert f(1) == f(1)", lambda x: object()),
        ("assert f(1) != 2", lambda x: object()),
        ("assert list(f(1)) == [1]", lambda x: iter([1])),
        ("assert [y for y in f(1)] == [1]", lambda x: iter([1])),
        ("assert sorted(f(1)) == [1]", lambda x: {1: 2}.keys()),
        ("assert 1 in f(1)", lambda x: {1: 2}.keys()),
        ("assert f(1) > 0", lambda x: Fraction(1, 2)),
        ("assert f(1) == 0.5", lambda x: Fraction(1, 2)),
        ("assert [f(1)] == [0.5]", lambda x: Fraction(1, 2)),
        ("assert abs(f(1) - 0.5) < 1", lambda x: Fraction(1, 2)),
        ("assert len(f(1)) == 1", lambda x: {1: 2}.keys()),
    ],
)
def test_what_an_object_of_the_solution_does_is_not_guessed(
    code: str, function: Callable[[int], object]
) -> None:
    with pytest.raises(UnsupportedError):
        _read(code, function)


def test_whether_an_object_is_true_is_not_decided() -> None:
    with pytest.raises(UnsupportedError):
        _read("assert f(1)", lambda x: object())
    with pytest.raises(UnsupportedError):
        _read("assert all([f(1)])", lambda x: object())


def test_numbers_chosen_to_collide_do_not_stop_the_judge() -> None:
    with pytest.raises(UnsupportedError):
        _read("assert set(f(1)) == {1}", lambda x: [i * (2**61 - 1) for i in range(20_000)])


@pytest.mark.parametrize("name", ["passed", "ValueErrors", "type", "__import__", "\0"])
def test_what_an_exception_of_the_solution_derives_from_is_not_guessed(name: str) -> None:
    suite = Suite("try:\n  f(1)\nexcept ValueError:\n  pass", "f")
    answers = {one.key: Answer(exception=name) for one in suite.first.requests}
    with pytest.raises(UnsupportedError):
        suite.read(answers)


def test_another_exception_of_pythons_is_not_caught() -> None:
    suite = Suite("try:\n  f(1)\nexcept ValueError:\n  pass", "f")
    answers = {one.key: Answer(exception="KeyError") for one in suite.first.requests}
    assert [check.holds for check in suite.read(answers).checks] == [False]


def test_an_answer_that_never_came_is_not_an_exception_that_was_expected() -> None:
    suite = Suite("try:\n  f(1)\nexcept:\n  pass", "f")
    answers = {one.key: Answer(fault="timeout") for one in suite.first.requests}
    assert [check.holds for check in suite.read(answers).checks] == [False]
