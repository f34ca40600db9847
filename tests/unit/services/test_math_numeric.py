from __future__ import annotations

import ast
import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import mpmath  # type: ignore[import-untyped]
import pytest
from hypothesis import given, settings, strategies as st

from services.math.algebra import normal, numeric
from services.math.algebra.numeric import Finding
from services.math.tree import (
    Call,
    Constant,
    Number,
    Power,
    Product,
    Sum,
    Symbol,
    Value,
    negative,
    quotient,
)

OPERATORS: dict[type[ast.operator], Callable[[Value, Value], Value]] = {
    ast.Add: lambda a, b: Sum((a, b)),
    ast.Sub: lambda a, b: Sum((a, negative(b))),
    ast.Mult: lambda a, b: Product((a, b)),
    ast.Div: quotient,
    ast.Pow: Power,
}
CONSTANTS = {"pi": "pi", "e": "e", "i": "i", "oo": "infinity"}
HALF = Fraction(1, 2)
PI = Constant("pi")


def tree(text: str) -> Value:
    """Return the tree of a Python expression; `sqrt(x)` and `cbrt(x)` are powers."""
    return _tree(ast.parse(text, mode="eval").body)


def _tree(node: ast.expr) -> Value:
    match node:
        case ast.Constant(value=value):
            return Number(value if isinstance(value, int) else Fraction(str(value)))
        case ast.Name(id=name):
            return Constant(CONSTANTS[name]) if name in CONSTANTS else Symbol(name)
        case ast.UnaryOp(operand=operand):
            return negative(_tree(operand))
        case ast.BinOp(left=left, op=op, right=right):
            return OPERATORS[type(op)](_tree(left), _tree(right))
        case ast.Call(func=ast.Name(id="sqrt" | "cbrt" as name), args=[argument]):
            return Power(_tree(argument), Number(Fraction(1, 2 if name == "sqrt" else 3)))
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return Call(name, tuple(_tree(each) for each in arguments))
    raise ValueError(ast.dump(node))


AGREE = """
1/3 == 2/6
sqrt(8) == 2*sqrt(2)
sqrt(3+2*sqrt(2)) == 1+sqrt(2)
cbrt(-8) == -2
cbrt(x)**3 == x
sqrt(-4) == 2*i
sqrt(-3)*sqrt(-3) == -3
e**(i*pi) == -1
sin(pi) == 0
cos(pi/7)-cos(2*pi/7)+cos(3*pi/7) == 1/2
arctan(1/2)+arctan(1/3) == pi/4
sin(x)**2+cos(x)**2 == 1
e**(i*x) == cos(x)+i*sin(x)
ln(x**2) == 2*ln(x)
sqrt(x*y) == sqrt(x)*sqrt(y)
sqrt(x**2) == abs(x)
(x**2-1)/(x-1) == x+1
(-1)**n == cos(pi*n)
(-1)**(2*n) == 1
factorial(n+1)/factorial(n) == n+1
binom(n, k) == binom(n, n-k)
binom(n, 2) == n*(n-1)/2
sum(k, k, 1, n) == n*(n+1)/2
prod(k, k, 1, n) == factorial(n)
sum(1/k, k, 1, 3) == 11/6
floor(log(2, 8)) == 3
ceil(ln(e**2)) == 2
f(x+1) == f(1+x)
f(2*x)/f(x+x) == 1
conj(z)*z == abs(z)**2
re(3+4*i) == 3
mod(-7, 3) == 2
max(pi, 3) == pi
cos(degrees(60)) == percent(50)
arcsin(x)+arccos(x) == pi/2
arcosh(x) == ln(x+sqrt(x**2-1))
(x+1)**3000 == (1+x)**3000
10**5000 == 10**4999*10
"""

DIFFERENT = """
1/3 | 0.333333333333333333333333
10**30 | 10**30+1
10**5000 | 10**5000+1
1/3**60 | 1/3**61
sqrt(1+10**(-200)) | 1
e**(pi*sqrt(163)) | 262537412640768744
x+1/10**60 | x+1/10**61
1+e**(-1000) | 1
sin(e**(-1000)) | 0
sin(10**40) | sin(10**40+1)
(1+1/10**9)**(10**9) | e
sqrt(x**2) | x
x | -x
i | -i
x**2 | y**2
n**2 | m**2
(x+1)**3000 | (x+1)**3001
f(x) | g(x)
f(x) | f(2*x)
floor(x) | x
abs(z)**2 | z**2
conj(z) | z
2**x | x**2
cosh(5000)+1/3 | cosh(5000)+1/4
x*(1/3-0.333333333333333333333333) | 0
"""

UNKNOWN = """
1/0 | 5
1/sin(pi) | 5
0**0 | 1
oo | oo
log(8) | 3*log(2)
pm(5) | 5
integral(f(x), x, 0, 1) | integral(f(x), x, 0, 1)
sum(k, k, 1, 1000000) | 500000500000
sqrt(-1-x**2)*sqrt(x-x) | ln(-x**2-1)
"""


def rows(table: str, separator: str) -> list[list[str]]:
    return [line.split(f" {separator} ") for line in table.strip().splitlines()]


@pytest.mark.parametrize(("left", "right"), rows(AGREE, "=="))
def test_equal_values_agree(left: str, right: str) -> None:
    assert numeric.compare(tree(left), tree(right)) is Finding.AGREE


@pytest.mark.parametrize(("left", "right"), rows(DIFFERENT, "|"))
def test_different_values_are_different_however_close(left: str, right: str) -> None:
    assert numeric.compare(tree(left), tree(right)) is Finding.DIFFERENT


@pytest.mark.parametrize(("left", "right"), rows(UNKNOWN, "|"))
def test_what_cannot_be_computed_is_unknown(left: str, right: str) -> None:
    assert numeric.compare(tree(left), tree(right)) is Finding.UNKNOWN


@pytest.mark.parametrize(
    "text",
    [
        "7**(7**(7**(7**7)))",
        "10**(10**10)",
        "10**(-10**10)",
        "10.5**(10.5**(10.5**10.5))",
        "factorial(10**9)",
        "factorial(factorial(20))",
        "exp(10**7)",
        "cosh(10**30)",
        "e**(e**(e**e))*e**(e**(e**(e**e)))",
        "x**(10**10)",
    ],
)
def test_astronomical_values_are_refused_before_they_are_computed(text: str) -> None:
    with pytest.raises(numeric.OutOfBoundsError):
        numeric.compare(tree(text), Number(1))


def test_the_base_of_a_bare_log_may_be_given() -> None:
    assert numeric.compare(tree("log(1000)"), tree("3"), log_base=10) is Finding.AGREE
    assert numeric.compare(tree("log(x)"), tree("ln(x)"), log_base="e") is Finding.AGREE
    assert numeric.compare(tree("log(1000)"), tree("3"), log_base="e") is Finding.DIFFERENT


def test_constants_have_values_with_enough_digits() -> None:
    with mpmath.workdps(60):
        assert abs(numeric.value(tree("sqrt(2)"), 50) - mpmath.sqrt(2)) < mpmath.mpf(10) ** -50
    value = numeric.value(tree("10**30+1/3"))
    assert value is not None
    assert 10**30 < value < 10**30 + 1


def test_a_hidden_zero_has_the_value_zero() -> None:
    assert numeric.value(tree("sin(pi)")) == 0
    assert numeric.value(tree("sqrt(3+2*sqrt(2))-1-sqrt(2)")) == 0


@pytest.mark.parametrize("text", ["x", "1/0", "oo", "log(5)", "ln(0)", "limit(x, x, 0)"])
def test_what_is_no_constant_has_no_value(text: str) -> None:
    assert numeric.value(tree(text)) is None


def test_an_index_is_no_free_symbol() -> None:
    assert numeric.value(tree("sum(k**2, k, 1, 3)")) == 14


def test_a_tree_of_depth_two_hundred_is_no_problem() -> None:
    deep: Value = Symbol("x")
    for _ in range(66):
        deep = Call("abs", (Sum((Power(deep, Number(HALF)), Number(1))),))
    assert numeric.compare(deep, deep) is Finding.AGREE
    assert numeric.compare(deep, Sum((deep, Number(1)))) is Finding.DIFFERENT


def test_a_symbol_gets_even_and_odd_whole_numbers() -> None:
    for name in ("n", "k", "m"):
        assert numeric.compare(tree(f"(-1)**{name}"), Number(1)) is Finding.DIFFERENT
        assert numeric.compare(tree(f"(-1)**{name}"), Number(-1)) is Finding.DIFFERENT


def test_threads_do_not_disturb_one_another() -> None:
    pairs = [("sqrt(1+10**(-200))", "1"), ("sqrt(8)", "2*sqrt(2)")] * 20
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda pair: numeric.compare(*map(tree, pair)), pairs))
    assert found == [Finding.DIFFERENT, Finding.AGREE] * 20


def test_too_much_work_is_unknown_and_says_so_each_time() -> None:
    heavy = tree("sum(sum(sin(j*k), j, 1, 2000), k, 1, 2000)")
    assert {numeric.compare(heavy, Number(0)) for _ in range(2)} == {Finding.UNKNOWN}


NUMBERS: st.SearchStrategy[int | Fraction] = st.sampled_from(
    [0, 1, 2, 3, 4, 8, 9, -1, -2, -8, HALF, Fraction(-27, 8), Fraction(5, 6)]
)
EXPONENTS: st.SearchStrategy[int | Fraction] = st.sampled_from(
    [2, 3, -1, -2, HALF, -HALF, Fraction(1, 3), Fraction(2, 3), Fraction(3, 2), Fraction(1, 6)]
)
NAMES = st.sampled_from(
    [
        "sin",
        "cos",
        "tan",
        "sec",
        "sinh",
        "cosh",
        "tanh",
        "exp",
        "ln",
        "abs",
        "floor",
        "ceil",
        "sign",
        "arcsin",
        "arccos",
        "arctan",
        "arsinh",
        "artanh",
        "arcosh",
        "factorial",
        "f",
        "degrees",
        "conj",
        "re",
        "im",
    ]
)
LEAVES: st.SearchStrategy[Value] = st.one_of(
    NUMBERS.map(lambda each: Number(each)),
    st.sampled_from([Symbol("x"), Symbol("y"), Symbol("n")]),
    st.sampled_from([PI, Constant("e"), Constant("i")]),
)


def _grown(inner: st.SearchStrategy[Value]) -> st.SearchStrategy[Value]:
    return st.one_of(
        st.lists(inner, min_size=2, max_size=3).map(lambda each: Sum(tuple(each))),
        st.lists(inner, min_size=2, max_size=3).map(lambda each: Product(tuple(each))),
        st.builds(lambda base, n: Power(base, Number(n)), inner, EXPONENTS),
        st.builds(Power, inner, inner),
        st.builds(lambda name, each: Call(name, (each,)), NAMES, inner),
    )


TREES: st.SearchStrategy[Value] = st.recursive(LEAVES, _grown, max_leaves=8)


def rewritten(value: Value, chance: random.Random) -> Value:
    """Rewrite by rules that hold for positive numbers, and only some of them for all."""
    if isinstance(value, Sum | Product):
        parts = value.terms if isinstance(value, Sum) else value.factors
        mixed = [rewritten(each, chance) for each in parts]
        chance.shuffle(mixed)
        if isinstance(value, Product) and isinstance(mixed[-1], Sum):
            return Sum(tuple(Product((*mixed[:-1], each)) for each in mixed[-1].terms))
        return type(value)(tuple(mixed))
    if isinstance(value, Power) and isinstance(value.exponent, Number):
        base, n = rewritten(value.base, chance), value.exponent.value
        return chance.choice(_powers(base, Fraction(n)))
    if isinstance(value, Call):
        inner = rewritten(value.arguments[0], chance)
        return chance.choice([Call(value.name, (inner,)), _other_call(value.name, inner)])
    return value


def _powers(base: Value, n: Fraction) -> list[Value]:
    ways: list[Value] = [
        Power(base, Number(n)),
        Power(Power(base, Number(n / 2)), Number(2)),
        Power(Power(base, Number(2)), Number(n / 2)),
        Power(Power(base, Number(-1)), Number(-n)),
        Call("exp", (Product((Number(n), Call("ln", (base,)))),)),
    ]
    if isinstance(base, Product):
        ways.append(Product(tuple(Power(each, Number(n)) for each in base.factors)))
    if isinstance(base, Power) and isinstance(base.exponent, Number):
        ways.append(Power(base.base, Number(n * base.exponent.value)))
    return ways


def _other_call(name: str, inner: Value) -> Value:
    square = Power(inner, Number(2))
    others: dict[str, Value] = {
        "sin": Call("cos", (Sum((Product((Number(HALF), PI)), negative(inner))),)),
        "tan": quotient(Call("sin", (inner,)), Call("cos", (inner,))),
        "cosh": Call("cos", (Product((Constant("i"), inner)),)),
        "abs": Power(square, Number(HALF)),
        "ln": negative(Call("ln", (Power(inner, Number(-1)),))),
        "exp": Power(Constant("e"), inner),
        "floor": negative(Call("ceil", (negative(inner),))),
        "arcsin": Sum((quotient(PI, Number(2)), negative(Call("arccos", (inner,))))),
    }
    return others.get(name, Call(name, (inner,)))


@settings(max_examples=300, deadline=None)
@given(TREES, st.randoms(use_true_random=False))
def test_exact_and_numeric_answers_never_contradict(value: Value, chance: random.Random) -> None:
    other = rewritten(value, chance)
    try:
        exact, finding = normal.compare(value, other), numeric.compare(value, other)
    except (normal.UndefinedError, numeric.OutOfBoundsError):
        return
    assert (exact, finding) not in {(True, Finding.DIFFERENT), (False, Finding.AGREE)}


@settings(max_examples=200, deadline=None)
@given(TREES, TREES)
def test_unlike_trees_get_no_contradiction_either(left: Value, right: Value) -> None:
    try:
        exact, finding = normal.compare(left, right), numeric.compare(left, right)
    except (normal.UndefinedError, numeric.OutOfBoundsError):
        return
    assert (exact, finding) not in {(True, Finding.DIFFERENT), (False, Finding.AGREE)}
