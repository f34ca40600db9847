from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction

import pytest
import sympy  # type: ignore[import-untyped]

from services.math.algebra import symbolic
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

x, y, z, n, k = map(Symbol, "xyznk")
PI, E, IMAGINARY, INFINITY = map(Constant, ("pi", "e", "i", "infinity"))


def tree(item: Value | int) -> Value:
    return Number(item) if isinstance(item, int) else item


def plus(*terms: Value | int) -> Value:
    return Sum(tuple(map(tree, terms)))


def times(*factors: Value | int) -> Value:
    return Product(tuple(map(tree, factors)))


def power(base: Value | int, exponent: Value | int) -> Value:
    return Power(tree(base), tree(exponent))


def over(top: Value | int, bottom: Value | int) -> Value:
    return quotient(tree(top), tree(bottom))


def root(value: Value | int, degree: int = 2) -> Value:
    return Power(tree(value), Number(Fraction(1, degree)))


def call(name: str, *arguments: Value | int) -> Value:
    return Call(name, tuple(map(tree, arguments)))


def sin(value: Value) -> Value:
    return call("sin", value)


def cos(value: Value) -> Value:
    return call("cos", value)


def square(value: Value) -> Value:
    return power(value, 2)


HALF = Number(Fraction(1, 2))


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (square(plus(x, 1)), plus(square(x), times(2, x), 1)),
        (over(plus(square(x), -1), plus(x, -1)), plus(x, 1)),
        (plus(square(sin(x)), square(cos(x))), Number(1)),
        (sin(times(2, x)), times(2, sin(x), cos(x))),
        (call("tan", over(x, 2)), over(sin(x), plus(1, cos(x)))),
        (call("arsinh", x), call("ln", plus(x, root(plus(square(x), 1))))),
        (over(1, plus(root(plus(square(x), 1)), negative(x))), plus(root(plus(square(x), 1)), x)),
        (power(8, x), power(2, times(3, x))),
        (power(E, times(x, call("ln", 2))), power(2, x)),
        (over(call("factorial", plus(x, 1)), call("factorial", x)), plus(x, 1)),
        (call("binom", x, 2), over(times(x, plus(x, -1)), 2)),
        (root(square(x)), call("abs", x)),
        (call("f", plus(x, 1)), call("f", plus(1, x))),
        (root(plus(5, times(2, root(6)))), plus(root(2), root(3))),
        (over(1, root(2)), over(root(2), 2)),
        (power(E, times(IMAGINARY, PI)), Number(-1)),
        (call("cos", call("degrees", 60)), HALF),
        (call("percent", 50), HALF),
        (call("log", 2, 8), Number(3)),
        (call("max", 1, PI), PI),
        (call("gcd", 12, 18), Number(6)),
        (call("mod", 7, 4), Number(3)),
        (call("factorial", 7, 2), Number(105)),
        # In whatever base.
        (call("log", 8), times(3, call("log", 2))),
        # The real root of an odd degree.
        (root(-8, 3), Number(-2)),
        (power(root(x, 3), 3), x),
        (
            plus(root(plus(7, times(5, root(2))), 3), root(plus(7, times(-5, root(2))), 3)),
            Number(2),
        ),
        (root(times(27, power(x, 3)), 3), times(3, x)),
        (over(1, root(x, 3)), over(power(x, Number(Fraction(2, 3))), x)),
        (times(root(x, 3), root(y, 3)), root(times(x, y), 3)),
        # For either sign of a symbol.
        (call("ln", square(x)), times(2, call("ln", call("abs", x)))),
        (times(x, call("sign", x)), call("abs", x)),
        # Sums and the like.
        (call("sum", k, k, 1, n), over(times(n, plus(n, 1)), 2)),
        (call("sum", square(k), k, 1, 100), Number(338_350)),
        (call("sum", power(k, -2), k, 1, INFINITY), over(square(PI), 6)),
        (call("sum", power(x, k), k, 0, INFINITY), over(1, plus(1, negative(x)))),
        (call("sum", power(-1, times(2, k)), k, 1, n), n),
        (call("prod", k, k, 1, n), call("factorial", n)),
        (call("integral", square(x), x, 0, 1), Number(Fraction(1, 3))),
        (call("integral", square(x), x, 0, y), over(power(y, 3), 3)),
        (call("limit", over(sin(x), x), x, 0), Number(1)),
        (call("limit", power(plus(1, over(1, x)), x), x, INFINITY), E),
        (call("derivative", power(x, 3), x), times(3, square(x))),
        # A bound symbol hides the one of that name.
        (plus(x, call("sum", x, x, 1, 3)), plus(x, 6)),
        (call("sum", call("sum", k, k, 1, k), k, 1, 2), Number(4)),
    ],
)
def test_equal_values_are_proved_equal(a: Value, b: Value) -> None:
    assert symbolic.prove(a, b) is True
    assert symbolic.prove(b, a) is True


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (Number(2), Number(3)),
        (power(3, -60), power(3, -61)),
        (root(plus(5, times(2, root(7)))), plus(root(2), root(3))),
        (PI, Number(Fraction(22, 7))),
        (root(-8, 3), Number(2)),
        (root(2), root(2, 3)),
        (call("sum", k, k, 1, 100), Number(5051)),
        (IMAGINARY, negative(IMAGINARY)),
        # Their difference is a number.
        (x, plus(x, 1)),
    ],
)
def test_different_numbers_are_proved_different(a: Value, b: Value) -> None:
    assert symbolic.prove(a, b) is False


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (x, times(2, x)),
        (sin(x), cos(x)),
        # True of some real numbers alone.
        (root(square(x)), x),
        (call("ln", square(x)), times(2, call("ln", x))),
        (times(root(x), root(y)), root(times(x, y))),
        (root(power(over(1, x), Number(Fraction(2, 3)))), root(over(1, x), 3)),
        (root(power(call("ln", x), Number(Fraction(2, 3)))), root(call("ln", x), 3)),
        # True of real numbers alone, and these speak of complex ones.
        (call("conj", y), y),
        (times(call("re", y), IMAGINARY), times(y, IMAGINARY)),
        (square(call("abs", z)), square(z)),
        # A base that nobody stated is neither 10 nor e.
        (call("log", 100), Number(2)),
        (call("log", x), call("ln", x)),
        # Undefined, or read in two ways.
        (INFINITY, INFINITY),
        (power(0, 0), Number(1)),
        (power(power(0, -1), -1), Number(0)),
        (power(-8, Number(Fraction(2, 3))), Number(4)),
        (call("arccot", -1), negative(over(PI, 4))),
        (call("pm", 2), call("pm", 2)),
        (call("sum", k, k, 5, 1), Number(-9)),
        (call("sum", over(1, k), k, 1, INFINITY), Number(0)),
        (call("limit", over(call("abs", x), x), x, 0), Number(1)),
        (call("integral", over(1, x), x, -1, 1), Number(0)),
        (call("integral", x, x), over(square(x), 2)),
        (call("gcd", x, y), Number(1)),
        # Arguments that the functions do not take.
        (call("sin", x, y), Number(0)),
        (call("binom", x), Number(0)),
        (call("log"), Number(0)),
        (call("derivative", x, 2), Number(0)),
        (call("sum", k, 2, 1, 3), Number(0)),
        (call("limit", x, x), Number(0)),
    ],
)
def test_what_is_not_proved_is_left_open(a: Value, b: Value) -> None:
    assert symbolic.prove(a, b) is None


def nested(wrap: Callable[[Value], Value], inner: Value, times: int) -> Value:
    for _ in range(times):
        inner = wrap(inner)
    return inner


HOSTILE: dict[str, Value] = {
    "tower": nested(lambda inner: power(7, inner), Number(7), 4),
    "decimal tower": nested(lambda inner: Power(Number(Fraction(21, 2)), inner), Number(10), 3),
    "built exponent": power(7, times(10**5, 10**5)),
    "large power": power(7, 10**5),
    "small power": power(7, -(10**9)),
    "factorial": call("factorial", 10**9),
    "factorials": nested(lambda inner: call("factorial", inner), Number(9), 3),
    "double factorial": call("factorial", 10**9, 2),
    "binomial": call("binom", 10**9, 5 * 10**8),
    "product": call("prod", k, k, 1, 10**7),
    "sum": call("sum", k, k, 1, 10**9),
    "sum to a power": call("sum", k, k, 1, power(10, 9)),
    "sums": call("sum", call("sum", k, k, 1, power(x, 10**6)), x, 1, 10**6),
    "exponentials": nested(lambda inner: call("exp", inner), x, 4),
    "large argument": call("tanh", power(10, 5000)),
    "deep": nested(sin, x, 3_000),
    "deep but short": nested(sin, x, 480),
    "wide": Sum(tuple(times(i, x) for i in range(3_000))),
    "many terms": power(plus(x, y, z, n, k, 1), 80),
    "many radicals": power(plus(*map(root, (2, 3, 5, 7, 11, 13, 17))), 80),
    "high degree": power(power(x, 100), 100),
    "hidden degree": power(plus(x, 1), times(100, 100)),
    "large radicand": root(plus(power(10, 3000), 1)),
    "large number": Number(10**20_000),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_values_are_refused_before_anything_is_computed(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def computed(*_: object) -> bool:
        raise AssertionError

    monkeypatch.setattr(symbolic, "SYSTEM_ERRORS", (RecursionError, OverflowError))
    monkeypatch.setattr(symbolic, "_is_zero", computed)
    assert symbolic.prove(HOSTILE[name], Number(1)) is None
    assert symbolic.prove(Number(1), HOSTILE[name]) is None


def test_large_terms_that_cancel_are_no_proof_of_a_difference() -> None:
    """`(1 + r)^n + (1 - r)^n` with the root r of 2 is whole, and has 230 digits for n = 600."""
    before, after = 2, 2
    for _ in range(599):
        before, after = after, 2 * after + before
    radical = plus(power(plus(1, root(2)), 600), power(plus(1, negative(root(2))), 600))
    assert symbolic.prove(radical, Number(after)) is True
    assert symbolic.prove(radical, Number(after + 1)) is False


class BudgetSpentError(BaseException):
    """As a watchdog raises it from outside."""


@pytest.fixture
def _fresh_caches() -> Iterator[None]:
    symbolic.forget()
    yield
    symbolic.forget()


@pytest.mark.usefixtures("_fresh_caches")
@pytest.mark.parametrize("place", ["simplify", "Integral.doit"])
def test_a_spent_budget_reaches_the_caller(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def spend(*_: object, **__: object) -> None:
        raise BudgetSpentError

    monkeypatch.setattr(sympy.Integral, "doit", spend)
    monkeypatch.setattr(symbolic, "_RULES", (spend,))
    value = plus(square(sin(x)), square(cos(x)))
    if place == "Integral.doit":
        value = call("integral", square(x), x, 0, 1)
    with pytest.raises(BudgetSpentError):
        symbolic.prove(value, Number(1))


def test_a_rule_that_fails_leaves_the_others_to_prove_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: object) -> None:
        raise NotImplementedError

    monkeypatch.setattr(symbolic, "_RULES", (fail, sympy.expand))
    assert symbolic.prove(square(plus(x, 1)), plus(square(x), times(2, x), 1)) is True


def test_a_wrong_integral_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sympy.Integral, "doit", lambda *_, **__: sympy.Integer(7))
    assert symbolic.prove(call("integral", square(x), x, 0, 1), Number(7)) is None


def test_a_wrong_limit_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sympy.Limit, "doit", lambda *_, **__: sympy.Integer(7))
    assert symbolic.prove(call("limit", over(sin(x), x), x, 0), Number(7)) is None


ROOT_OF_2 = root(2)


@pytest.mark.parametrize(
    ("value", "edges", "poles", "is_positive_at_end"),
    [
        (plus(square(x), -4), {Number(-2): 1, Number(2): 1}, [], True),
        (plus(4, negative(square(x))), {Number(-2): 1, Number(2): 1}, [], False),
        (plus(square(x), -2), {times(-1, ROOT_OF_2): 1, ROOT_OF_2: 1}, [], True),
        (square(plus(x, -1)), {Number(1): 2}, [], True),
        (plus(square(x), 1), {}, [], True),
        (plus(power(x, 4), x, 1), {}, [], True),
        (over(plus(x, -1), plus(times(2, x), -1)), {Number(1): 1, HALF: 1}, [HALF], True),
        (over(square(x), x), {Number(0): 1}, [Number(0)], True),
        (over(x, square(x)), {Number(0): 1}, [Number(0)], True),
    ],
)
def test_the_places_where_a_quotient_changes_its_sign_are_found(
    value: Value, edges: dict[Value, int], poles: list[Value], is_positive_at_end: bool
) -> None:
    found = symbolic.signs(value, x)
    assert found == (Counter(edges), frozenset(poles), is_positive_at_end)


@pytest.mark.parametrize(
    "value",
    [
        sin(x),
        root(x),
        square(root(x)),
        power(x, 0),
        power(x, 7),
        power(2, x),
        plus(times(x, y), 1),
        plus(square(x), PI),
        plus(x, negative(x)),
        plus(power(x, 3), times(-3, x), 1),
        power(plus(x, 1), times(100, 100)),
        times(call("exp", call("ln", x)), x),
    ],
)
def test_no_places_are_given_for_other_functions(value: Value) -> None:
    assert symbolic.signs(value, x) is None
