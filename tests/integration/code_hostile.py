"""Wrong programs that would be paid, right ones, and tests of every kind to try them on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

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
AGAINST_PROXIES = {
    "is equal to all": "class E:\n    __eq__ = lambda s, o: True\nadd = lambda a, b: E()",
    "is reflected": "class E(int):\n    __req__ = __eq__ = lambda s, o: True\n    __hash__ = None\n"
    "add = lambda a, b: E(99)",
    "lies about its class": "class E:\n    __class__ = property(lambda s: int)\n"
    "    __eq__ = lambda s, o: True\nadd = lambda a, b: E()",
    "has every attribute": "class E:\n    def __getattr__(self, name):\n        return lambda *a: True\n"
    "add = lambda a, b: E()",
    "is called as a class": "class add:\n    def __init__(self, a, b): pass\n"
    "    def __eq__(self, other): return True",
    "fails an assertion": "def add(a, b):\n    raise AssertionError",
    "skips": "import unittest\ndef add(a, b):\n    raise unittest.SkipTest('x')",
    "is called skipped": "class Skipped(BaseException): pass\ndef add(a, b):\n    raise Skipped",
    "is called unsupported": "class UnsupportedError(BaseException): pass\n"
    "def add(a, b):\n    raise UnsupportedError",
    "is called unanswered": "class UnansweredError(BaseException): pass\n"
    "def add(a, b):\n    raise UnansweredError",
    "exits with success": "import sys\ndef add(a, b):\n    sys.exit(0)",
    "stops a generator": "def add(a, b):\n    raise GeneratorExit",
    "never ends a generator": "def add(a, b):\n    while True:\n        yield 3",
    "forges a handle": "def add(a, b):\n    return {'$': 'handle', 'v': 0, 'type': 'int'}",
    "forges a number of a step": "class Opaque:\n    type_name = '#0'\nadd = lambda a, b: Opaque()",
    "names its class after a step": "add = lambda a, b: type('@0 int', (), {})()",
    "forges an answer": "def add(a, b):\n    return {'value': 3, 'exception': None}",
    "forges an exception class": "add = lambda a, b: {'exception class': ['AssertionError']}",
    "changes the runner": "import sys\nfor m in list(sys.modules.values()):\n"
    "    if hasattr(m, '_KINDS'):\n        m._KINDS['call'] = lambda *a: 3\nadd = lambda a, b: 7",
    "replaces operators": "import operator\noperator.eq = lambda a, b: True\nadd = lambda a, b: 7",
    "has a huge repr": "class E:\n    __repr__ = lambda s: 'x' * (1 << 27)\nadd = lambda a, b: E()",
    "has a huge message": "def add(a, b):\n    raise ValueError('x' * (1 << 26))",
    "has a huge value": "add = lambda a, b: 'x' * (1 << 26)",
    "pickles": "class E:\n    __reduce__ = lambda s: (print, ('x',))\nadd = lambda a, b: E()",
}
"""What attacks tests that run in a sandbox of their own."""
BOMBS = {
    path.stem: path.read_text("utf-8")
    for path in sorted(Path(__file__).with_name("hostile").glob("*.py"))
}
"""What attacks the sandbox itself."""
CALLS: dict[str, Any] = {
    "tests": {
        "kind": "function",
        "entry_point": "Adder",
        "cases": [
            {"args": [], "calls": [{"method": "add", "args": [a, b], "expected": c}]}
            for a, b, c in PAIRS
        ],
    },
    "limits": LIMITS,
}
ADDER = "\nclass Adder:\n    def add(self, a, b):\n        return add(a, b)\n"
"""What makes a class of a function, for `CALLS`."""
SPECS = {
    "function": FUNCTION,
    "calls": CALLS,
    "assert": SUITE,
    "assert, proxied": PROXIED,
    "pytest": PYTEST,
    "stdio": STDIO,
    "checker": CHECKER,
}
