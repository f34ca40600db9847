from __future__ import annotations

import ast
import pickle
from collections.abc import Callable
from fractions import Fraction

import pytest

from services.math.algebra import normal, polynomial
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
HALF = Number(Fraction(1, 2))


def tree(text: str) -> Value:
    """Return the tree of a Python expression; `sqrt(x)` and `root(3, x)` are powers."""
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
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return _call(name, [_tree(each) for each in arguments])
    raise ValueError(ast.dump(node))


def _call(name: str, arguments: list[Value]) -> Value:
    if name == "sqrt":
        return Power(arguments[0], HALF)
    if name == "root":
        assert isinstance(arguments[0], Number)
        return Power(arguments[1], Number(1 / Fraction(arguments[0].value)))
    return Call(name, tuple(arguments))


EQUAL = """
1/2 == 2/4
0.5 == 1/2
x/x == 1
(x**2-1)/(x-1) == x+1
1/(x+1) + 1/(x-1) == 2*x/(x**2-1)
-(x-1) == 1-x
(27*x**3)**(1/3) == 3*x
sqrt(8) == 2*sqrt(2)
1/sqrt(2) == sqrt(2)/2
sqrt(1/3) == sqrt(3)/3
1/(1+sqrt(2)) == sqrt(2)-1
1/(sqrt(2)+sqrt(3)+sqrt(5)) == (2*sqrt(3)+3*sqrt(2)-sqrt(30))/12
root(3, -8) == -2
root(3, 16) == 2*root(3, 2)
root(4, 4) == sqrt(2)
sqrt(1000003**2*2) == 1000003*sqrt(2)
sqrt(-4) == 2*i
sqrt(i) == (1+i)/sqrt(2)
(1+i)**8 == 16
1/(1+i) == (1-i)/2
abs(3+4*i) == 5
abs(e**(i*x)) == 1
re(3+4*i) == 3
im(3+4*i) == 4
conj(3+4*i) == 3-4*i
e**(i*pi) == -1
sin(x)**2 + cos(x)**2 == 1
tan(x)**2 + 1 == sec(x)**2
cot(x) == 1/tan(x)
sin(2*x) == 2*sin(x)*cos(x)
sin(x)*cos(y) == (sin(x+y)+sin(x-y))/2
sin(3*x) == 3*sin(x) - 4*sin(x)**3
sin(x)**40 == ((1-cos(2*x))/2)**20
tan(2*x) == 2*tan(x)/(1-tan(x)**2)
sin(pi/2-x) == cos(x)
cos(pi/3) == 1/2
cos(degrees(60)) == 1/2
sin(pi/12) == (sqrt(6)-sqrt(2))/4
cos(pi/5) == (1+sqrt(5))/4
sin(pi/5) == sqrt(10-2*sqrt(5))/4
sin(2*pi/5) == sin(pi/5)*(1+sqrt(5))/2
sin(pi/8)**2 == (2-sqrt(2))/4
tan(pi/8) == sqrt(2)-1
cos(pi/24)**2 == (1+cos(pi/12))/2
sin(pi/120)**2 + cos(pi/120)**2 == 1
sin(pi/7)**2 + cos(pi/7)**2 == 1
cosh(x)**2 - sinh(x)**2 == 1
arsinh(x) == ln(x+sqrt(x**2+1))
arcsin(1/2) == pi/6
arctan(sqrt(3)) == pi/3
arctan(-1) == -pi/4
arccos(-sqrt(3)/2) == 5*pi/6
arcsin(x) + arccos(x) == pi/2
sin(arctan(x)) == x/sqrt(1+x**2)
cos(arcsin(3/5)) == 4/5
2**(n+1) == 2*2**n
4**x == 2**(2*x)
6**x == 2**x*3**x
(1/4)**(-x) == 2**(2*x)
e**(x+y) == e**x*e**y
e**(1/x) == 1/e**(-1/x)
x**n*x == x**(n+1)
(x**n)**2 == x**(2*n)
sqrt(2)**(2*n) == 2**n
ln(8) == 3*ln(2)
ln(6) == ln(2)+ln(3)
ln(1/2) == -ln(2)
log(2, 8) == 3
log(4, 8) == 3/2
log(8) == 3*log(2)
2**log(2, 3) == 3
e**ln(x) == x
ln(e**x) == x
ln(x**3) == 3*ln(x)
ln(2*x) == ln(2)+ln(x)
factorial(5) == 120
factorial(7, 2) == 105
factorial(n+1)/factorial(n) == n+1
binom(10, 3) == 120
binom(n, 2) == n*(n-1)/2
binom(n, n-1) == n
binom(n, k) == binom(n, n-k)
sum(k, k, 1, n) == n*(n+1)/2
sum(k**2, k, 1, n) == n*(n+1)*(2*n+1)/6
sum(k, k, 1, 100) == 5050
sum(k, k, 1, 1000000) == 500000500000
sum(2**k, k, 0, n) == 2**(n+1)-1
sum((1/2)**k, k, 0, oo) == 2
sum(x**k, k, 0, oo) == 1/(1-x)
sum(f(k), k, 1, n) == sum(f(j), j, 1, n)
sum(k*x, k, 1, 3) == 6*x
prod(k, k, 1, 5) == 120
integral(f(x), x, 0, 1) == integral(f(t), t, 0, 1)
sqrt(4*x+4) == 2*sqrt(x+1)
sqrt(x+1)**2 == x+1
1/sqrt(x+1) == sqrt(x+1)/(x+1)
sqrt(3*x) == sqrt(3)*sqrt(x)
sqrt(x**3) == x*sqrt(x)
sqrt(x)**2 == x
root(3, -x) == -root(3, x)
root(3, x**3) == x
sqrt(x**2) == abs(x)
sqrt(x**2*y) == abs(x)*sqrt(y)
sqrt(x/y)*abs(y) == sqrt(x*y)
abs(-x) == abs(x)
abs(x-1) == abs(1-x)
abs(x)**2 == x**2
floor(7/2) == 3
ceil(7/2) == 4
floor(x+1) == floor(x)+1
ceil(x) == -floor(-x)
max(1, 2, 3) == 3
min(1, 1/2) == 1/2
gcd(12, 18) == 6
lcm(4, 6) == 12
mod(17, 5) == 2
sign(-3) == -1
percent(50) == 1/2
f(x+1, 2) == f(1+x, 4/2)
(x+1)**3000 == (1+x)**3000
10**5000 == 10**4999*10
7**(7**(7**(7**7))) == 7**(7**(7**(7**7)))
0**pi == 0**pi
root(3, ln(pi)) == e**(ln(ln(pi))/3)
oo == oo
"""

DIFFERENT = """
x | x+1
x | y
sqrt(2) | sqrt(3)
sqrt(2)+sqrt(3) | sqrt(5)
1/3 | 0.333333333333333
pi | 22/7
e | pi
i | -i
x*y | x+y
x**2 | x
sqrt(x) | x
10**30 | 10**30+1
7**5000 | 7**4999
10**(10**10) | 10**(10**10)+1
sin(x) | cos(x)
sin(1) | cos(1)
sin(pi/8) | cos(pi/8)
2**x | 3**x
2**x | x**2
e**x | e**(2*x)
ln(2) | ln(3)
log(8) | log(9)
sqrt(x**2) | x+1
ln(x**2) | ln(x)
f(x)+1 | f(x)+2
oo | 5
oo | -oo
"""

OPEN = """
sqrt(x**2) | x
ln(x**2) | 2*ln(x)
sqrt(x*y) | sqrt(x)*sqrt(y)
(x*y)**n | x**n*y**n
abs(x)*sqrt(-1-x)**2/(-1-x) | -x
sqrt(-2*x)**4 | 4*abs(x)*x
abs(z)**2 | z**2
(-1)**n | cos(pi*n)
(x+1)**3000 | (x+1)**3001
factorial(1000000000) | 5
10**(10**10) | 5
log(1000) | 3
f(x) | g(x)
floor(x) | x
sqrt(3+2*sqrt(2)) | 1+sqrt(2)
cos(pi/7) | sin(pi/7)
pm(5) | 5
root(3, 2*pi-8) | e**(ln(2*pi-8)/3)
root(4, pi-4) | (1/(pi-4))**(-1/4)
root(3, ln(ln(2))) | e**(ln(ln(ln(2)))/3)
"""


def rows(table: str, separator: str) -> list[list[str]]:
    return [line.split(f" {separator} ") for line in table.strip().splitlines()]


@pytest.mark.parametrize(("left", "right"), rows(EQUAL, "=="))
def test_equal_values_are_proven_equal(left: str, right: str) -> None:
    assert normal.compare(tree(left), tree(right)) is True
    assert normal.compare(tree(right), tree(left)) is True


@pytest.mark.parametrize(("left", "right"), rows(DIFFERENT, "|"))
def test_different_values_are_proven_different(left: str, right: str) -> None:
    assert normal.compare(tree(left), tree(right)) is False


@pytest.mark.parametrize(("left", "right"), rows(OPEN, "|"))
def test_what_cannot_be_told_stays_open(left: str, right: str) -> None:
    assert normal.compare(tree(left), tree(right)) is None


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("sqrt(x**2)", "x"),
        ("abs(x)", "x"),
        ("ln(x**2)", "2*ln(x)"),
        ("ln(x/y)", "ln(x)-ln(y)"),
        ("sqrt(x*y)", "sqrt(x)*sqrt(y)"),
        ("(x*y)**n", "x**n*y**n"),
        ("(x**2)**n", "x**(2*n)"),
    ],
)
def test_positive_symbols_are_an_assumption_that_is_asked_for(left: str, right: str) -> None:
    assert normal.compare(tree(left), tree(right), positive=True) is True
    assert normal.compare(tree(left), tree(right)) is None


def test_forms_under_different_assumptions_are_not_compared() -> None:
    assert normal.same(normal.form(tree("x")), normal.form(tree("x"), positive=True)) is None


def test_the_base_of_a_bare_log_may_be_read_as_ten_or_e() -> None:
    assert normal.compare(tree("log(1000)"), tree("3"), log_base=10) is True
    assert normal.compare(tree("log(x)"), tree("ln(x)"), log_base="e") is True
    assert normal.compare(tree("log(1000)"), tree("3"), log_base="e") is False


def test_a_rational_form_gives_its_number() -> None:
    assert normal.rational(normal.form(tree("sqrt(2)*sqrt(8)/6"))) == Fraction(2, 3)
    assert normal.rational(normal.form(tree("x-x"))) == 0
    assert normal.rational(normal.form(tree("sqrt(2)"))) is None
    assert normal.rational(normal.form(tree("1/(x+1)"))) is None


@pytest.mark.parametrize(
    ("left", "right", "factor"),
    [
        ("2*x-4", "x-2", 2),
        ("x-1", "1-x", -1),
        ("y-1/x", "x*y-1", 1),
        ("x/3+y/2-1", "2*x+3*y-6", Fraction(1, 6)),
        ("e**x*(x-1)", "x-1", 1),
        ("x-1", "x+1", None),
        ("x**2-x", "x-1", None),
        ("0*x", "x", None),
    ],
)
def test_equations_are_proportional_up_to_a_constant(
    left: str, right: str, factor: Fraction | None
) -> None:
    found = normal.proportional(normal.form(tree(left)), normal.form(tree(right)))
    assert found == factor


def test_an_irrational_factor_comes_as_a_form() -> None:
    forms = [normal.form(tree(each)) for each in ("sqrt(2)*x-2", "x-sqrt(2)")]
    assert normal.proportional(*forms) == normal.form(tree("sqrt(2)"))


def test_forms_are_hashable_and_canonical() -> None:
    spellings = ["x**2+2*x+1", "(x+1)**2", "(1+x)*(x+1)", "x*(x+2)+1"]
    assert len({normal.form(tree(each)) for each in spellings}) == 1


def test_forms_survive_the_way_to_another_process() -> None:
    there = pickle.loads(pickle.dumps(normal.form(tree("sqrt(x+1)*2"))))
    assert normal.same(there, normal.form(tree("sqrt(4*x+4)"))) is True
    assert normal.rational(pickle.loads(pickle.dumps(normal.form(tree("1/2+0*x"))))) == HALF.value


@pytest.mark.parametrize(
    "text", ["1/0", "1/(x-x)", "0**(-1)", "0**0", "ln(0)", "tan(pi/2)", "oo-oo", "2*oo", "mod(1,0)"]
)
def test_what_has_no_value_is_undefined(text: str) -> None:
    with pytest.raises(normal.UndefinedError):
        normal.form(tree(text))


@pytest.mark.parametrize(
    "text",
    [
        "*".join(f"(x{k}+y{k})" for k in range(20)),
        "+".join(f"1/(x{k}+y{k})" for k in range(20)),
        "(x+y+z+a+b)**20*(a+b+c)**20*(x+1)**100*(y+2)**100",
    ],
)
def test_a_form_that_would_explode_is_refused(text: str) -> None:
    with pytest.raises(normal.TooLargeError):
        normal.form(tree(text))
    assert normal.compare(tree(text), tree("x")) is None


def test_work_stays_within_its_bound_and_is_the_same_each_time() -> None:
    ring = polynomial.Ring()
    base: polynomial.Polynomial = {(("$x", 1),): 1, (("$y", 1),): 1, (): 1}
    assert not polynomial.affordable(base, 500)
    polynomial.power(ring, base, 10)
    again = polynomial.Ring()
    polynomial.power(again, base, 10)
    assert ring.steps == again.steps < polynomial.MAX_STEPS


def test_a_tree_of_depth_two_hundred_is_no_problem() -> None:
    deep: Value = Symbol("x")
    for _ in range(66):
        deep = Power(Sum((Call("f", (deep,)), Number(1))), HALF)
    assert normal.compare(deep, deep) is True


def test_names_cannot_be_made_to_collide() -> None:
    assert normal.compare(Symbol("x"), Symbol("x^2")) is False
    odd = Call("f(1*$x),g", (Symbol("y"),))
    assert normal.form(odd) != normal.form(Call("f", (Symbol("x"), Symbol("y"))))


ANGLES = [(first, second) for first in range(-7, 8) for second in (1, 2, 3, 4, 5, 8, 10, 12)]


@pytest.mark.parametrize(("first", "second"), ANGLES)
def test_exact_angles_satisfy_the_addition_theorem(first: int, second: int) -> None:
    a, b = f"{first}*pi/{second}", f"{second}*pi/15"
    assert (
        normal.compare(tree(f"cos({a}+{b})"), tree(f"cos({a})*cos({b})-sin({a})*sin({b})")) is True
    )
