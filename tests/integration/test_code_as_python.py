"""Suites judged on a real sandbox against plain Python: paid where it passes, or no reward at all."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Final

from rewarden.contracts import Outcome, Sample
from services.code.verifier import CodeVerifier

# Name: a right program, a wrong one, and the suite.
CASES: Final = {
    "a generator": (
        "def f(n):\n    yield from range(n)",
        "def f(n):\n    yield from range(n + 1)",
        "assert list(f(3)) == [0, 1, 2]",
    ),
    "an iterator, step by step": (
        "def f(n):\n    return iter([n, n + 1])",
        "def f(n):\n    return iter([n, n])",
        "it = f(1)\nassert next(it) == 1\nassert next(it) == 2",
    ),
    "a generator that never ends": (
        "def f():\n    n = 0\n    while True:\n        yield n\n        n += 1",
        "def f():\n    n = 1\n    while True:\n        yield n\n        n += 1",
        "from itertools import islice\nassert list(islice(f(), 3)) == [0, 1, 2]",
    ),
    "keys": (
        "def f(d):\n    return d.keys()",
        "def f(d):\n    return d.values()",
        "assert set(f({'a': 1, 'b': 2})) == {'a', 'b'}",
    ),
    "keys as they are": (
        "def f(d):\n    return d.keys()",
        "def f(d):\n    return {'c': 1}.keys()",
        "assert f({'a': 1}) == {'a'}",
    ),
    "items, sorted": (
        "def f(d):\n    return d.items()",
        "def f(d):\n    return list(d)",
        "assert sorted(f({'b': 2, 'a': 1})) == [('a', 1), ('b', 2)]",
    ),
    "a map": (
        "def f(xs):\n    return map(str, xs)",
        "def f(xs):\n    return map(repr, map(str, xs))",
        "assert list(f([1, 2])) == ['1', '2']",
    ),
    "reversed": (
        "def f(xs):\n    return reversed(xs)",
        "def f(xs):\n    return iter(xs)",
        "assert list(f([1, 2])) == [2, 1]",
    ),
    "a fraction": (
        "from fractions import Fraction\ndef f(a, b):\n    return Fraction(a, b)",
        "from fractions import Fraction\ndef f(a, b):\n    return Fraction(b, a)",
        "from fractions import Fraction\nassert f(1, 2) == Fraction(1, 2)",
    ),
    "a fraction that equals a number": (
        "from fractions import Fraction\ndef f(a, b):\n    return Fraction(a, b)",
        "from fractions import Fraction\ndef f(a, b):\n    return Fraction(b, a)",
        "assert f(1, 2) == 0.5",
    ),
    "a decimal": (
        "from decimal import Decimal\ndef f(a):\n    return Decimal(a) / 4",
        "from decimal import Decimal\ndef f(a):\n    return Decimal(a) / 5",
        "assert f(1) == 0.25",
    ),
    "a decimal as text": (
        "from decimal import Decimal\ndef f(a):\n    return Decimal(a)",
        "from decimal import Decimal\ndef f(a):\n    return Decimal(a) + 1",
        "assert str(f('1.50')) == '1.50'",
    ),
    "a date": (
        "from datetime import date\ndef f(y):\n    return date(y, 1, 2)",
        "from datetime import date\ndef f(y):\n    return date(y, 2, 1)",
        "from datetime import date\nassert f(2020) == date(2020, 1, 2)",
    ),
    "an attribute of a date": (
        "from datetime import date\ndef f(y):\n    return date(y, 1, 2)",
        "from datetime import date\ndef f(y):\n    return date(y, 1, 3)",
        "assert f(2020).day == 2",
    ),
    "a namedtuple": (
        "from collections import namedtuple\nP = namedtuple('P', 'x y')\ndef f(a):\n    return P(a, 2)",
        "from collections import namedtuple\nP = namedtuple('P', 'x y')\ndef f(a):\n    return P(2, a)",
        "assert f(1) == (1, 2)",
    ),
    "a field of a namedtuple": (
        "from collections import namedtuple\nP = namedtuple('P', 'x y')\ndef f(a):\n    return P(a, 2)",
        "from collections import namedtuple\nP = namedtuple('P', 'x y')\ndef f(a):\n    return P(2, a)",
        "assert f(1).x == 1",
    ),
    "a data class": (
        "from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\ndef f(a):\n    return P(a)",
        "from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\ndef f(a):\n    return P(-a)",
        "assert f(1).x == 1",
    ),
    "a data class that is compared": (
        "from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\ndef f(a):\n    return P(a)",
        "from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\ndef f(a):\n    return P(-a)",
        "assert f(1) == P(1)",
    ),
    "an enumeration": (
        "from enum import Enum\nclass C(Enum):\n    A = 1\n    B = 2\ndef f(n):\n    return C(n)",
        "from enum import Enum\nclass C(Enum):\n    A = 1\n    B = 2\ndef f(n):\n    return C(3 - n)",
        "assert f(1).name == 'A'",
    ),
    "an enumeration of numbers": (
        "from enum import IntEnum\nclass C(IntEnum):\n    A = 1\n    B = 2\ndef f(n):\n    return C(n)",
        "from enum import IntEnum\nclass C(IntEnum):\n    A = 1\n    B = 2\ndef f(n):\n    return C(3 - n)",
        "assert f(1) == 1",
    ),
    "a complex number": (
        "def f(a):\n    return complex(a, 1)",
        "def f(a):\n    return complex(1, a + 1)",
        "assert f(2) == 2 + 1j",
    ),
    "a range": (
        "def f(n):\n    return range(n)",
        "def f(n):\n    return range(n + 1)",
        "assert f(3) == range(3)",
    ),
    "bytes": (
        "def f(s):\n    return s.encode()",
        "def f(s):\n    return s",
        "assert f('a') == b'a'",
    ),
    "a byte array": (
        "def f(s):\n    return bytearray(s)",
        "def f(s):\n    return bytearray(s + b'b')",
        "assert f(b'a') == b'a'",
    ),
    "a deque": (
        "from collections import deque\ndef f(xs):\n    return deque(xs)",
        "from collections import deque\ndef f(xs):\n    return deque(xs[1:])",
        "from collections import deque\nassert f([1, 2]) == deque([1, 2])",
    ),
    "a counter": (
        "from collections import Counter\ndef f(s):\n    return Counter(s)",
        "from collections import Counter\ndef f(s):\n    return Counter(s[1:])",
        "assert f('aab') == {'a': 2, 'b': 1}",
    ),
    "a counter that is asked": (
        "from collections import Counter\ndef f(s):\n    return Counter(s)",
        "from collections import Counter\ndef f(s):\n    return Counter(s[1:])",
        "assert f('aab').most_common(1) == [('a', 2)]\nassert f('aab')['z'] == 0",
    ),
    "a default of a dict": (
        "from collections import defaultdict\ndef f():\n    return defaultdict(int, a=1)",
        "from collections import defaultdict\ndef f():\n    return defaultdict(list, a=1)",
        "d = f()\nassert d['a'] == 1\nassert d['b'] == 0",
    ),
    "not a number": (
        "def f():\n    return float('nan')",
        "def f():\n    return 0.0",
        "import math\nassert math.isnan(f())\nassert f() != f()",
    ),
    "infinity": (
        "def f():\n    return float('inf')",
        "def f():\n    return 1e308",
        "assert f() == float('inf')",
    ),
    "a huge number": (
        "def f(n):\n    return 7 ** n",
        "def f(n):\n    return 7 ** n + 1",
        "assert f(9000) % 1000003 == pow(7, 9000, 1000003)\nassert f(9000) == 7 ** 9000",
    ),
    "recursion": (
        "def f(n):\n    return n and 1 + f(n - 1)",
        "def f(n):\n    return n and 2 + f(n - 1)",
        "assert f(500) == 500",
    ),
    "a kind of number": (
        "class N(int):\n    pass\ndef f(n):\n    return N(n)",
        "class N(int):\n    pass\ndef f(n):\n    return N(n + 1)",
        "assert f(3) == 3\nassert f(3) + 1 == 4",
    ),
    "a kind of list": (
        "class L(list):\n    pass\ndef f(n):\n    return L([n])",
        "class L(list):\n    pass\ndef f(n):\n    return L([n, n])",
        "assert f(3) == [3]\nassert isinstance(f(3), list)",
    ),
    "a function it returns": (
        "def f(n):\n    return lambda m: n + m",
        "def f(n):\n    return lambda m: n - m",
        "assert f(1)(2) == 3",
    ),
    "eval": (
        "def f(n):\n    return str(n) + '+1'",
        "def f(n):\n    return str(n) + '+2'",
        "assert eval(f(2)) == 3",
    ),
    "exec": (
        "def f(n):\n    return f'x = {n}'",
        "def f(n):\n    return f'x = -{n}'",
        "d = {}\nexec(f(2), d)\nassert d['x'] == 2",
    ),
    "a shadowed name": (
        "def sum(a, b):\n    return a * b",
        "def sum(a, b):\n    return a + b",
        "assert sum(3, 4) == 12",
    ),
    "a shadowed name of one argument": (
        "def sorted(xs):\n    return xs[::-1]",
        "def sorted(xs):\n    xs.sort()\n    return xs",
        "assert sorted([1, 2]) == [2, 1]",
    ),
    "a shadowed length": (
        "def len(xs):\n    return 7",
        "def len(xs):\n    return 2",
        "assert len([1, 2]) == 7",
    ),
    "a star-import": (
        "def f(x):\n    return x * x",
        "def f(x):\n    return x + x",
        "from math import *\nassert f(3) == sqrt(81)",
    ),
    "a star-import over the solution's": (
        "def gcd(a, b):\n    return 1\ndef f(x):\n    return x",
        "gcd = 3",
        "from math import *\nassert gcd(7, 5) == 1\nassert f(1) == 1",
    ),
    "a helper of the tests": (
        "def f(x):\n    return x * x",
        "def f(x):\n    return x + x",
        "def twice(g, x):\n    return g(g(x))\nassert twice(f, 3) == 81",
    ),
    "an argument that is changed": (
        "def f(xs):\n    xs.sort()",
        "def f(xs):\n    return sorted(xs)",
        "a = [2, 1]\nf(a)\nassert a == [1, 2]",
    ),
    "an argument that must not change": (
        "def f(xs):\n    return sorted(xs)",
        "def f(xs):\n    xs.sort()\n    return xs",
        "a = [2, 1]\nb = f(a)\nassert a == [2, 1]\nassert b == [1, 2]",
    ),
    "an argument that comes back": (
        "def f(xs):\n    return xs",
        "def f(xs):\n    return xs[:]",
        "a = [1]\nassert f(a) is a",
    ),
    "state between calls": (
        "seen = []\ndef f(x):\n    seen.append(x)\n    return len(seen)",
        "def f(x):\n    return x",
        "assert f(1) == 1\nassert f(1) == 2",
    ),
    "a global of the program": (
        "LIMIT = 5\ndef f():\n    return LIMIT",
        "LIMIT = 6\ndef f():\n    return LIMIT",
        "assert LIMIT == 5\nassert f() == 5",
    ),
    "an exception": (
        "def f(x):\n    raise ValueError('no')",
        "def f(x):\n    return x",
        "try:\n    f(1)\nexcept ValueError as e:\n    assert str(e) == 'no'\nelse:\n    assert False",
    ),
    "a base of an exception": (
        "def f(d):\n    return d['x']",
        "def f(d):\n    return 1 / 0",
        "try:\n    f({})\n    assert False\nexcept LookupError:\n    pass",
    ),
    "an exception of its own": (
        "class E(ValueError):\n    pass\ndef f(x):\n    raise E(x)",
        "class E(TypeError):\n    pass\ndef f(x):\n    raise E(x)",
        "try:\n    f(1)\n    assert False\nexcept ValueError:\n    pass",
    ),
    "an object": (
        "class A:\n    def __init__(self):\n        self.n = 0\n    def up(self):\n        self.n += 1",
        "class A:\n    def __init__(self):\n        self.n = 0\n    def up(self):\n        self.n += 2",
        "a = A()\na.up()\nassert a.n == 1",
    ),
    "what is printed": (
        "def f():\n    print('hi')",
        "def f():\n    print('ho')",
        "import io, contextlib\ns = io.StringIO()\nwith contextlib.redirect_stdout(s):\n    f()\n"
        "assert s.getvalue() == 'hi\\n'",
    ),
    "what is read": (
        "def f():\n    return input()",
        "def f():\n    return ''",
        "import io, sys\nsys.stdin = io.StringIO('hi\\n')\nassert f() == 'hi'",
    ),
    "a type": (
        "def f(x):\n    return (x,)",
        "def f(x):\n    return [x]",
        "assert type(f(1)) is tuple\nassert f(1) == (1,)",
    ),
    "true is not one": (
        "def f(x):\n    return x > 0",
        "def f(x):\n    return 1 if x < 0 else 2",
        "assert f(1) is True",
    ),
    "a function of the tests that is handed over": (
        "def f(g, x):\n    return g(x)",
        "def f(g, x):\n    return x",
        "assert f(lambda x: x + 1, 2) == 3",
    ),
    "what is neither true nor false": (
        "def f(x):\n    return {x: x}.values()",
        "def f(x):\n    return []",
        "assert f(1)",
    ),
    "its length": (
        "def f(x):\n    return {x: x}.items()",
        "def f(x):\n    return {}.items()",
        "assert len(f(1)) == 1",
    ),
    "membership": (
        "def f(x):\n    return {x: x}.keys()",
        "def f(x):\n    return {}.keys()",
        "assert 1 in f(1)",
    ),
    "objects in a list": (
        "from fractions import Fraction\ndef f(n):\n    return [Fraction(1, n)]",
        "from fractions import Fraction\ndef f(n):\n    return [Fraction(n, 1)]",
        "assert f(2) == [0.5]",
    ),
    "a tuple for a list": (
        "def f(n):\n    return (n, n)",
        "def f(n):\n    return [n, n]",
        "assert f(2) == (2, 2)",
    ),
    "something else than": (
        "def f(n):\n    return n + 1",
        "def f(n):\n    return n",
        "assert f(2) != 2",
    ),
    "a bound on a fraction": (
        "from fractions import Fraction\ndef f(n):\n    return Fraction(1, n)",
        "from fractions import Fraction\ndef f(n):\n    return Fraction(n, 1)",
        "assert abs(f(3) - 1 / 3) < 1e-9",
    ),
}


async def test_a_program_is_paid_only_if_plain_python_passes_and_unpaid_only_if_it_fails(
    verifier: CodeVerifier, tmp_path: Path
) -> None:
    # An object of a class of the program's own equals no value: it would decide that itself.
    tried = [(name, code, tests) for name, (*both, tests) in CASES.items() for code in both]
    samples = [
        Sample(completion=code, spec={"tests": {"kind": "assert", "code": tests}})
        for _, code, tests in tried
    ]
    passes = await asyncio.to_thread(
        lambda: [_passes(code, tests, tmp_path) for _, code, tests in tried]
    )
    assert passes == [True, False] * len(CASES)
    verdicts = await verifier.verify(samples)
    unlike = {
        f"{name}: {'right' if is_right else 'wrong'}": f"{verdict.outcome} {verdict.reason}"
        for (name, _, _), is_right, verdict in zip(tried, passes, verdicts, strict=True)
        if verdict.score is not None and (verdict.outcome is Outcome.CORRECT) != is_right
    }
    assert unlike == {}
    decided = sum(verdict.score is not None for verdict in verdicts)
    assert decided >= 0.7 * len(verdicts)


def _passes(code: str, tests: str, folder: Path) -> bool:
    path = folder / "plain.py"
    path.write_text(f"{code}\n{tests}\n")
    done = subprocess.run([sys.executable, "-I", path], capture_output=True, timeout=20)
    return done.returncode == 0
