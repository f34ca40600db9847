"""Wrong programs that would be paid, against tests that run in a sandbox of their own, and objects."""

from __future__ import annotations

from typing import Any, Final

import pytest

from rewarden.contracts import Outcome, Sample
from services.code.verifier import CodeVerifier
from tests.integration.test_code_hostile import (
    HOSTILE,
    LIMITS,
    PAIRS,
    RIGHT,
)

CLASS: Final = "\nclass Adder:\n    def add(self, a, b):\n        return add(a, b)\n"
FILES: Final = {
    "test_add.py": "import pytest\nfrom solution import add\n\n"
    f"@pytest.mark.parametrize('a, b, c', {PAIRS})\n"
    "def test_add(a, b, c):\n    found = add(a, b)\n    assert found == c\n"
}
CHECKER: Final = """\
import sys
found, wanted = (open(name).read().split() for name in sys.argv[2:4])
sys.exit(0 if found == wanted else 1)
"""
SPECS: Final[dict[str, dict[str, Any]]] = {
    "pytest": {"kind": "pytest", "files": FILES},
    "calls": {
        "kind": "function",
        "entry_point": "Adder",
        "cases": [
            {"args": [], "calls": [{"method": "add", "args": [a, b], "expected": c}]}
            for a, b, c in PAIRS
        ],
    },
    "checker": {
        "kind": "checker",
        "checker": CHECKER,
        "checker_language": "python",
        "cases": [{"stdin": f"{a} {b}\n", "stdout": f"{c}\n"} for a, b, c in PAIRS],
    },
}
AGAINST_PROXIES: Final = {
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


@pytest.mark.parametrize("kind", SPECS)
async def test_no_hostile_program_is_paid_and_the_right_one_after_it_is(
    verifier: CodeVerifier, kind: str
) -> None:
    hostile = HOSTILE | (AGAINST_PROXIES if kind == "pytest" else {})
    spec = {"tests": SPECS[kind], "limits": LIMITS}
    more = CLASS if kind == "calls" else ""
    programs: list[str] = []
    for number, program in enumerate(hostile.values()):
        programs += [program + more, f"{RIGHT}{more}# {number}\n"]
    verdicts = await verifier.verify([Sample(completion=one, spec=spec) for one in programs])
    right = {f"{v.outcome}: {v.reason}" for v in verdicts[1::2] if v.outcome is not Outcome.CORRECT}
    assert right == set()
    unpaid = {Outcome.INCORRECT, Outcome.TIMEOUT, Outcome.RESOURCE_LIMIT, Outcome.UNDECIDED}
    found = dict(zip(hostile, verdicts[::2], strict=True))
    wrong = {n: f"{v.outcome}: {v.reason}" for n, v in found.items() if v.outcome not in unpaid}
    assert wrong == {}
