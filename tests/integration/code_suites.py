"""Suites of test code, each with a right and a wrong program: values and ways of asking of every kind.

`paid` says what becomes of the right one: it is paid, or left open (`open`) because its values do
not cross as what they are, or the suite is refused as a whole (`refused`). The wrong one is never paid.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Case(NamedTuple):
    """A suite, and two programs."""

    suite: str
    right: str
    wrong: str
    paid: str = "paid"


CASES: Final[dict[str, Case]] = {
    "a generator": Case(
        "assert list(gen(3)) == [0, 1, 2]",
        """\
def gen(n):
    yield from range(n)
""",
        """\
def gen(n):
    yield from range(n + 1)
""",
    ),
    "keys of a dict": Case(
        """\
assert list(f({'a': 1})) == ['a']
assert sorted(f({'b': 1, 'a': 2})) == ['a', 'b']
""",
        """\
def f(d):
    return d.keys()
""",
        """\
def f(d):
    return d.values()
""",
    ),
    "a map": Case(
        "assert list(f([1, 2])) == [2, 4]",
        """\
def f(xs):
    return map(lambda x: 2 * x, xs)
""",
        """\
def f(xs):
    return map(lambda x: x * x, xs)
""",
    ),
    "a fraction": Case(
        """\
from fractions import Fraction
assert f(1, 3) == Fraction(1, 3)
""",
        """\
from fractions import Fraction
def f(a, b):
    return Fraction(a, b)
""",
        """\
def f(a, b):
    return a / b
""",
        paid="open",
    ),
    "a decimal": Case(
        """\
from decimal import Decimal
assert f('1.10') == Decimal('1.1')
""",
        """\
from decimal import Decimal
def f(a):
    return Decimal(a)
""",
        """\
def f(a):
    return float(a)
""",
        paid="open",
    ),
    "a date": Case(
        """\
import datetime
assert f(2024, 2) == datetime.date(2024, 2, 29)
""",
        """\
import datetime
def f(y, m):
    return datetime.date(y, m, 29)
""",
        """\
import datetime
def f(y, m):
    return datetime.date(y, m, 28)
""",
        paid="open",
    ),
    "a named tuple": Case(
        """\
assert f(1, 2) == (1, 2)
assert f(1, 2).x == 1
""",
        """\
from collections import namedtuple
P = namedtuple('P', 'x y')
def f(a, b):
    return P(a, b)
""",
        """\
from collections import namedtuple
P = namedtuple('P', 'x y')
def f(a, b):
    return P(b, a)
""",
        paid="open",
    ),
    "a data class": Case(
        """\
assert f(1).x == 1
assert f(2).double() == 4
""",
        """\
from dataclasses import dataclass
@dataclass
class P:
    x: int
    def double(self):
        return 2 * self.x
def f(a):
    return P(a)
""",
        """\
class P:
    def __init__(self, x):
        self.x = x
    def double(self):
        return self.x
def f(a):
    return P(a)
""",
    ),
    "an enumeration": Case(
        """\
assert f(1).name == 'RED'
assert f(2).value == 2
""",
        """\
from enum import Enum
class C(Enum):
    RED = 1
    BLUE = 2
def f(n):
    return C(n)
""",
        """\
from enum import Enum
class C(Enum):
    BLUE = 1
    RED = 2
def f(n):
    return C(n)
""",
    ),
    "a complex number": Case(
        "assert f(2) == 2j",
        """\
def f(x):
    return x * 1j
""",
        """\
def f(x):
    return x
""",
    ),
    "a range": Case(
        """\
assert f(3) == range(3)
assert list(f(2)) == [0, 1]
""",
        """\
def f(n):
    return range(n)
""",
        """\
def f(n):
    return range(1, n)
""",
    ),
    "bytes": Case(
        "assert f('ab') == b'ab'",
        """\
def f(s):
    return s.encode()
""",
        """\
def f(s):
    return s
""",
    ),
    "a deque": Case(
        """\
from collections import deque
assert f([1, 2]) == deque([1, 2])
""",
        """\
from collections import deque
def f(xs):
    return deque(xs)
""",
        """\
def f(xs):
    return xs
""",
        paid="open",
    ),
    "a counter": Case(
        "assert f('aab') == {'a': 2, 'b': 1}",
        """\
from collections import Counter
def f(s):
    return Counter(s)
""",
        """\
def f(s):
    return set(s)
""",
    ),
    "a default dict": Case(
        """\
assert f('ab')['a'] == 1
assert f('ab') == {'a': 1, 'b': 1}
""",
        """\
from collections import defaultdict
def f(s):
    d = defaultdict(int)
    for c in s:
        d[c] += 1
    return d
""",
        """\
def f(s):
    return {c: 2 for c in s}
""",
    ),
    "an ordered dict": Case(
        "assert list(f('ba').items()) == [('b', 0), ('a', 1)]",
        """\
from collections import OrderedDict
def f(s):
    return OrderedDict((c, i) for i, c in enumerate(s))
""",
        """\
def f(s):
    return {c: i for i, c in enumerate(sorted(s))}
""",
    ),
    "no number": Case(
        """\
import math
assert math.isnan(f(0))
assert f(1) == 1
""",
        """\
def f(x):
    return float('nan') if x == 0 else x
""",
        """\
def f(x):
    return x
""",
    ),
    "a huge number": Case(
        """\
assert f(400) == 10 ** 400
assert f(5) > 0
""",
        """\
def f(n):
    return 10 ** n
""",
        """\
def f(n):
    return 10.0 ** min(n, 300)
""",
    ),
    "an object with its own equality": Case(
        """\
a, b = P(1), P(1)
assert a.x == b.x
assert a == b
""",
        """\
class P:
    def __init__(self, x):
        self.x = x
    def __eq__(self, other):
        return self.x == other.x
""",
        """\
class P:
    def __init__(self, x):
        self.x = x
""",
    ),
    "a built-in that nobody follows": Case(
        "assert eval('f(2)') == 4",
        """\
def f(x):
    return 2 * x
""",
        """\
def f(x):
    return x
""",
        paid="refused",
    ),
    "an exec": Case(
        """\
exec('y = f(2)')
assert y == 4
""",
        """\
def f(x):
    return 2 * x
""",
        """\
def f(x):
    return x
""",
        paid="refused",
    ),
    "a shadowed name": Case(
        """\
def sorted(x):
    return x
assert sorted(f([2, 1])) == [2, 1]
""",
        """\
def f(x):
    return x
""",
        """\
def f(x):
    return [1, 2]
""",
    ),
    "a star": Case(
        """\
from math import *
assert f(2) == sqrt(4) * 2
""",
        """\
def f(x):
    return 4
""",
        """\
def f(x):
    return 5
""",
    ),
    "a helper in the test": Case(
        """\
def helper(x):
    return [y for y in x if y]
assert helper(f(2)) == [1]
""",
        """\
def f(x):
    return [0, 1]
""",
        """\
def f(x):
    return [0, 2]
""",
    ),
    "an argument that changes": Case(
        """\
x = [3, 1, 2]
f(x)
assert x == [1, 2, 3]
""",
        """\
def f(x):
    x.sort()
""",
        """\
def f(x):
    return sorted(x)
""",
    ),
    "an argument that must not change": Case(
        """\
x = [3, 1, 2]
assert f(x) == [1, 2, 3]
assert x == [3, 1, 2]
""",
        """\
def f(x):
    return sorted(x)
""",
        """\
def f(x):
    x.sort()
    return x
""",
    ),
    "a function in": Case(
        "assert f(lambda x: x + 1, 2) == 3",
        """\
def f(g, x):
    return g(x)
""",
        """\
def f(g, x):
    return x
""",
        paid="refused",
    ),
    "a function out": Case(
        "assert f(2)(3) == 5",
        """\
def f(a):
    return lambda b: a + b
""",
        """\
def f(a):
    return lambda b: a * b
""",
    ),
    "a closure with state": Case(
        """\
g = f()
assert g() == 1
assert g() == 2
""",
        """\
def f():
    n = 0
    def g():
        nonlocal n
        n += 1
        return n
    return g
""",
        """\
def f():
    return lambda: 1
""",
    ),
    "a chain": Case(
        "assert 0 < f(2) < 5 == 5",
        """\
def f(x):
    return x
""",
        """\
def f(x):
    return 7
""",
    ),
    "a raise in try": Case(
        """\
try:
    f(-1)
    assert False
except ValueError as e:
    assert 'neg' in str(e)
""",
        """\
def f(x):
    if x < 0:
        raise ValueError('neg')
""",
        """\
def f(x):
    raise TypeError('neg')
""",
    ),
    "a raise without": Case(
        """\
try:
    f(-1)
    assert False, 'no error'
except ValueError:
    pass
""",
        """\
def f(x):
    raise ValueError
""",
        """\
def f(x):
    return None
""",
    ),
    "an own exception": Case(
        """\
try:
    f()
except Exception as e:
    assert type(e).__name__ == 'Mine'
else:
    assert False
""",
        """\
class Mine(Exception):
    pass
def f():
    raise Mine()
""",
        """\
def f():
    raise ValueError()
""",
        paid="refused",
    ),
    "an assertion error of the program": Case(
        """\
try:
    f(-1)
except AssertionError:
    pass
else:
    raise AssertionError
""",
        """\
def f(x):
    assert x > 0
""",
        """\
def f(x):
    return x
""",
    ),
    "a random order": Case(
        """\
import random
random.seed(0)
xs = [random.randint(0, 9) for _ in range(5)]
assert f(xs) == sorted(xs)
""",
        """\
def f(xs):
    return sorted(xs)
""",
        """\
def f(xs):
    return xs
""",
    ),
    "a type": Case(
        """\
assert isinstance(f(2), int)
assert type(f(2)) is int
assert f(2) == 4
""",
        """\
def f(x):
    return 2 * x
""",
        """\
def f(x):
    return 2.0 * x
""",
    ),
    "a true that is one": Case(
        "assert f(2) is True",
        """\
def f(x):
    return x == 2
""",
        """\
def f(x):
    return 1
""",
    ),
    "a printed line": Case(
        """\
import io, contextlib
buf = io.StringIO()
with contextlib.redirect_stdout(buf):
    f(2)
assert buf.getvalue() == '2\\n'
""",
        """\
def f(x):
    print(x)
""",
        """\
def f(x):
    print(x + 1)
""",
        paid="refused",
    ),
    "recursion": Case(
        "assert f(800) == 800",
        """\
def f(n):
    return 0 if n == 0 else 1 + f(n - 1)
""",
        """\
def f(n):
    return n - 1
""",
    ),
    "a set of tuples": Case(
        "assert f([1, 2]) == {(1, 1), (2, 4)}",
        """\
def f(xs):
    return {(x, x * x) for x in xs}
""",
        """\
def f(xs):
    return {(x, x) for x in xs}
""",
    ),
    "a nested dict": Case(
        "assert f() == {(1, 2): {'a': [None, {3}]}}",
        """\
def f():
    return {(1, 2): {'a': [None, {3}]}}
""",
        """\
def f():
    return {(1, 2): {'a': [None, [3]]}}
""",
    ),
    "a tuple is no list": Case(
        "assert f() == (1, 2)",
        """\
def f():
    return 1, 2
""",
        """\
def f():
    return [1, 2]
""",
    ),
    "an import of the solution": Case(
        """\
from solution import f
assert f(1) == 2
""",
        """\
def f(x):
    return x + 1
""",
        """\
def f(x):
    return x
""",
    ),
    "a test class": Case(
        """\
import unittest
class T(unittest.TestCase):
    def test_one(self):
        self.assertEqual(f(1), 2)
        self.assertRaises(TypeError, f)
""",
        """\
def f(x):
    return x + 1
""",
        """\
def f(x=0):
    return x + 1
""",
    ),
    "numbers that are nearly so": Case(
        """\
assert abs(f(3) - 0.333) < 1e-3
assert round(f(3), 2) == 0.33
""",
        """\
def f(x):
    return 1 / x
""",
        """\
def f(x):
    return 0.34
""",
    ),
    "a string method": Case(
        """\
assert f('a b').split() == ['a', 'b']
assert f('ab').upper() == 'AB'
assert len(f('abc')) == 3
""",
        """\
def f(s):
    return s
""",
        """\
def f(s):
    return s[::-1]
""",
    ),
    "a slice": Case(
        """\
assert f(5)[1:3] == [1, 2]
assert f(5)[-1] == 4
""",
        """\
def f(n):
    return list(range(n))
""",
        """\
def f(n):
    return list(range(n, 0, -1))
""",
    ),
    "any of several": Case(
        """\
assert f(4) in (1, 2, 4)
assert f(4) != 1
""",
        """\
def f(n):
    return 2
""",
        """\
def f(n):
    return 1
""",
    ),
    "an object's method": Case(
        """\
s = Stack()
s.push(1)
s.push(2)
assert s.pop() == 2
assert len(s) == 1
assert not s.empty()
""",
        """\
class Stack:
    def __init__(self):
        self.xs = []
    def push(self, x):
        self.xs.append(x)
    def pop(self):
        return self.xs.pop()
    def __len__(self):
        return len(self.xs)
    def empty(self):
        return not self.xs
""",
        """\
class Stack:
    def __init__(self):
        self.xs = []
    def push(self, x):
        self.xs.append(x)
    def pop(self):
        return self.xs.pop(0)
    def __len__(self):
        return len(self.xs)
    def empty(self):
        return not self.xs
""",
    ),
    "a seed": Case(
        """\
import random
random.seed(3)
assert f() == random.Random(3).random()
""",
        """\
import random
def f():
    return random.random()
""",
        """\
def f():
    return 2
""",
        paid="open",
    ),
}
