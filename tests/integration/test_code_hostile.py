"""The code verifier on a real sandbox: wrong programs that would be paid, and right ones after them."""

from __future__ import annotations

from typing import Any

import httpx

from rewarden.contracts import Outcome, Sample
from services.__main__ import make_app
from services.code.verifier import CodeVerifier
from services.settings import Settings

PAIRS = [(1, 2, 3), (-5, 5, 0), (10, 20, 30)]
LIMITS = {"cpu_seconds": 2}
FUNCTION: dict[str, Any] = {
    "tests": {
        "kind": "function",
        "entry_point": "add",
        "cases": [{"args": [a, b], "expected": c} for a, b, c in PAIRS],
    },
    "limits": LIMITS,
}
SUITE: dict[str, Any] = {
    "tests": {
        "kind": "assert",
        "entry_point": "add",
        "code": "def check(candidate):\n"
        + "".join(f"    assert candidate({a}, {b}) == {c}\n" for a, b, c in PAIRS),
    },
    "limits": LIMITS,
}
STDIO: dict[str, Any] = {
    "tests": {
        "kind": "stdio",
        "cases": [{"stdin": f"{a} {b}\n", "stdout": f"{c}\n"} for a, b, c in PAIRS],
    },
    "limits": LIMITS,
}
PYTEST: dict[str, Any] = {
    "tests": {
        "kind": "pytest",
        "files": {
            "test_add.py": "import pytest\nfrom solution import add\n\n"
            f"@pytest.mark.parametrize('a, b, c', {PAIRS})\n"
            "def test_add(a, b, c):\n    assert add(a, b) == c\n",
        },
    },
    "limits": LIMITS,
}
PROXIED: dict[str, Any] = {
    "tests": {
        "kind": "assert",
        "entry_point": "add",
        # Names of a class's own cannot be followed outside.
        "code": "class Case:\n    __slots__ = ('a', 'b', 'c')\n\n"
        "def check(candidate):\n"
        f"    for a, b, c in {PAIRS}:\n"
        "        case = Case()\n        case.a, case.b, case.c = a, b, c\n"
        "        assert candidate(case.a, case.b) == case.c\n",
    },
    "limits": LIMITS,
}
CHECKER: dict[str, Any] = {
    "tests": {
        "kind": "checker",
        "cases": STDIO["tests"]["cases"],
        "checker": "import sys\n"
        "said, known = (open(name).read().split() for name in sys.argv[2:4])\n"
        "sys.exit(0 if said == known else 1)\n",
        "checker_language": "python",
    },
    "limits": LIMITS,
}
RIGHT = """\
def add(a, b):
    return a + b

if __name__ == "__main__":
    print(add(*map(int, input().split())))
"""
HOSTILE = {
    "exits at once": "import os\nos._exit(0)",
    "exits in the call": "def add(a, b):\n    raise SystemExit(0)",
    "exits at the end": "import atexit, os\natexit.register(os._exit, 0)\nadd = lambda a, b: 0",
    "is equal to all": """\
class Equal(int):
    __eq__ = lambda self, other: True
    __ne__ = lambda self, other: False
    __hash__ = int.__hash__
add = lambda a, b: Equal(7)
""",
    "hides its class": """\
class Any:
    __class__ = int
    __eq__ = lambda self, other: True
add = lambda a, b: Any()
""",
    "answers for others": """\
import os
for descriptor in range(3, 30):
    try:
        os.write(descriptor, b'{"value": 3}\\n' * 3)
    except OSError:
        pass
add = lambda a, b: 0
""",
    "reads the frames": """\
import sys
def add(a, b):
    frame = sys._getframe()
    while frame:
        for value in list(frame.f_locals.values()):
            if isinstance(value, dict) and "expected" in value:
                return value["expected"]
        frame = frame.f_back
    return 0
""",
    "says it passed": "print('All tests passed\\nOK')\nadd = lambda a, b: 0",
    "knows the first test": "add = lambda a, b: 3 if a == 1 else 0\nprint(3)",
    "never ends": "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
    "prints without end": "while True:\n    print('x' * 100_000)",
    "takes all memory": "x = []\nwhile True:\n    x.append(bytearray(1 << 24))",
    "kills everyone": "import os\nos.kill(-1, 9)",
    "stops everyone": "import os\nos.kill(0, 19)",
    "breaks the interpreter": "import ctypes\nctypes.string_at(0)",
    "returns itself": "def add(a, b):\n    x = []\n    x.append(x)\n    return x",
    "raises a skip": "from unittest import SkipTest\ndef add(a, b):\n    raise SkipTest",
    "raises a failed assertion": "def add(a, b):\n    raise AssertionError(a + b + 1)",
    "returns what is not there": "def add(a, b):\n    return {'$': 'opaque', 'v': '@0 int'}",
    "returns a lie": """\
class Number(int):
    def __new__(cls, value):
        return int.__new__(cls, 7)
    __getattribute__ = lambda self, name: True
    __sub__ = __rsub__ = __radd__ = lambda self, other: 0
    __repr__ = __str__ = lambda self: "3"
add = lambda a, b: Number(a + b)
""",
    "yields without end": "def add(a, b):\n    while True:\n        yield a + b",
    "changes the module": """\
import sys
class Module(type(sys)):
    __getattr__ = lambda self, name: lambda *_: 3
sys.modules["solution"] = sys.modules[__name__] = Module("solution")
add = lambda a, b: 0
""",
    "prints other digits": "print('\\uff13')",
}


async def _outcomes(
    verifier: CodeVerifier, programs: list[str], spec: dict[str, Any]
) -> list[Outcome]:
    verdicts = await verifier.verify([Sample(completion=one, spec=spec) for one in programs])
    return [verdict.outcome for verdict in verdicts]


async def test_no_hostile_program_is_paid_and_right_ones_between_them_are(
    verifier: CodeVerifier,
) -> None:
    for spec in (FUNCTION, SUITE, STDIO, PYTEST, PROXIED, CHECKER):
        programs: list[str] = []
        for number, program in enumerate(HOSTILE.values()):
            programs += [program, f"{RIGHT}# {number}\n"]
        found = await _outcomes(verifier, programs, spec)
        assert found[1::2] == [Outcome.CORRECT] * len(HOSTILE), spec["tests"]["kind"]
        unpaid = {Outcome.INCORRECT, Outcome.TIMEOUT, Outcome.RESOURCE_LIMIT}
        wrong = {
            name: outcome
            for name, outcome in zip(HOSTILE, found[::2], strict=True)
            if outcome not in unpaid
        }
        assert wrong == {}, spec["tests"]["kind"]


async def test_what_is_in_a_sandbox_of_its_own_is_told_apart(verifier: CodeVerifier) -> None:
    samples = [Sample(completion=RIGHT, spec=spec) for spec in (SUITE, PYTEST, PROXIED, CHECKER)]
    trust = [verdict.details["trust"] for verdict in await verifier.verify(samples)]
    assert trust == ["high", "proxied", "proxied", "high"]


async def test_values_of_every_kind_cross_and_are_compared(verifier: CodeVerifier) -> None:
    values = ["{1, 2}", "{(1, 2): [None]}", "b'x'", "1.5", "10**30", "(1, [2])"]
    program = "def f(i):\n    return [" + ", ".join(values) + "][i]\n"
    cases = [
        {"args": ["0"], "expected": "{2, 1}"},
        {"args": ["1"], "expected": "{(1, 2): [None]}"},
        {"args": ["2"], "expected": "b'x'"},
        {"args": ["3"], "expected": "1.5000000001"},
        {"args": ["4"], "expected": "1" + "0" * 30},
        {"args": ["5"], "expected": "(1, [2])"},
        {"args": ["9"], "raises": "IndexError"},
    ]
    tests = {"kind": "function", "entry_point": "f", "notation": "python", "cases": cases}
    assert await _outcomes(verifier, [program], {"tests": tests}) == [Outcome.CORRECT]


async def test_a_method_of_a_class_can_be_the_entry_point(verifier: CodeVerifier) -> None:
    program = "class Solution:\n    def double(self, xs):\n        return [2 * x for x in xs]\n"
    cases = [{"args": [[1, 2]], "expected": [2, 4]}]
    tests = {"kind": "function", "entry_point": "Solution.double", "cases": cases}
    assert await _outcomes(verifier, [program], {"tests": tests}) == [Outcome.CORRECT]


async def test_the_service_answers_over_http_with_a_sandbox_of_its_own() -> None:
    app = make_app("code", Settings())
    samples = [
        {"id": "right", "completion": RIGHT, "spec": SUITE},
        {"id": "wrong", "completion": "def add(a, b):\n    return 3", "spec": SUITE},
        {"id": "pytest", "completion": RIGHT, "spec": {"tests": {"kind": "pytest", "files": {}}}},
    ]
    transport = httpx.ASGITransport(app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://code", timeout=150) as client,
    ):
        answer = await client.post("/v1/verify", json={"samples": samples, "timeout_seconds": 120})
    verdicts = {v["id"]: (v["outcome"], v["score"]) for v in answer.json()["verdicts"]}
    assert verdicts == {
        "right": ("correct", 1.0),
        "wrong": ("incorrect", 0.0),
        "pytest": ("bad_spec", None),
    }
