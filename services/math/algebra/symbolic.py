"""Prove two values equal with a computer algebra system, built from the tree alone.

Covered: what the system can bring to zero. Symbols are real and no more than that (complex where
the values speak of complex numbers; `z` and `w` always), an odd root is the real one, a logarithm
without a base has one unknown base. "No" is said where the difference is a number. What could not
be computed in little time and memory is refused before it is built (`_size`, `_breadth`).
Not covered, and so None: integrals without bounds, plus-minus, arccot of what may be negative,
powers like `(-8)^(2/3)` that are read in two ways, infinite values, `0^0`.

A caller limits the time from outside, by an exception that is no `Exception`. It passes through,
and may leave half-made entries in the caches of the system: call `forget` after it.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import islice, product
from math import comb
from typing import TYPE_CHECKING, Final, NamedTuple, cast

import sympy  # type: ignore[import-untyped]
from mpmath.libmp import NoConvergence  # type: ignore[import-untyped]
from sympy import Expr, S
from sympy.core.function import AppliedUndef  # type: ignore[import-untyped]
from sympy.polys.polyerrors import BasePolynomialError  # type: ignore[import-untyped]

from services.math import tree
from services.math.algebra.magnitude import MAX_SIZE, MAX_STEPS, size_of
from services.math.algebra.realset import INFINITY, MINUS_INFINITY, exact

if TYPE_CHECKING:
    from collections.abc import Callable

    from services.math.tree import Value

SYSTEM_ERRORS: Final = (
    *(ArithmeticError, AssertionError, AttributeError, LookupError, NotImplementedError),
    *(RecursionError, TypeError, ValueError, BasePolynomialError, NoConvergence, sympy.PoleError),
)
"""What the system raises where it gives up; anything else goes to the caller."""

_MAX_NODES: Final = 500
_SERIES: Final = frozenset({"sum", "prod"})
_MAX_RADICAND: Final = 2**512
_MAX_TERMS: Final = 2_000
_MAX_DEGREE: Final = 200
_UNDEFINED: Final = (S.NaN, S.ComplexInfinity, S.Infinity, S.NegativeInfinity)
_CALCULUS: Final = (sympy.Sum, sympy.Product, sympy.Integral, sympy.Limit, sympy.Derivative)
_CONSTANTS: Final = {"pi": sympy.pi, "e": sympy.E, "i": sympy.I}
_INFINITE: Final = {INFINITY: S.Infinity, MINUS_INFINITY: S.NegativeInfinity}
_RENAMED: Final = {"abs": "Abs", "ceil": "ceiling", "conj": "conjugate"}
_PLAIN: Final = ("exp", "sign", "floor", "re", "im")
_TRIGONOMETRIC: Final = ("sin", "cos", "tan", "cot", "sec", "csc")
_RULES: Final[tuple[Callable[[Expr], Expr], ...]] = (
    sympy.expand,
    lambda value: sympy.cancel(sympy.together(value)),
    sympy.radsimp,
    lambda value: sympy.expand(sympy.powsimp(sympy.powdenest(value))),
    sympy.gammasimp,
    lambda value: sympy.expand_log(value.rewrite(sympy.log)),
    lambda value: sympy.trigsimp(sympy.expand(value, trig=True)),
    sympy.simplify,
    lambda value: sympy.simplify(sympy.expand_log(value)),
    lambda value: sympy.simplify(value.rewrite(sympy.exp)),
    sympy.factor,
)


class _RefusedError(Exception):
    """Too large to be built, or without one meaning."""


class Signs(NamedTuple):
    """Where a function may change its sign: at edges of an odd count; poles are edges too."""

    edges: Counter[Value]
    poles: frozenset[Value]
    is_positive_at_end: bool


def forget() -> None:
    """Empty the caches of the system, which an interruption may have left half-made."""
    sympy.core.cache.clear_cache()


def prove(a: Value, b: Value) -> bool | None:
    """Return whether two values are equal, where that can be proved; False for numbers alone."""
    sympy.core.random.seed(0)  # what was asked before must not change an answer
    try:
        _check_size(a, b)
        builder = _Builder(a, b)
        written = builder.build(a) - builder.build(b)
        _breadth(written)
        return _is_zero(written.replace(lambda node: isinstance(node, _CALCULUS), _done))
    except (_RefusedError, *SYSTEM_ERRORS):
        return None


def _is_zero(difference: Expr) -> bool | None:
    if difference.is_zero is True:
        return True
    if not difference.free_symbols and not difference.has(AppliedUndef):
        is_other = difference.is_zero is False or _is_clearly_not_zero(difference)
        return False if is_other else cast("bool | None", difference.equals(0))
    if any(_is_clearly_not_zero(_at(difference, sign)) for sign in (1, -1)):
        return None
    return True if _vanishes(difference) or _vanishes_by_cases(difference) else None


def _vanishes(difference: Expr) -> bool:
    """Try the rules from the cheapest to the dearest."""
    for rule in _RULES:
        try:
            if rule(difference).is_zero:
                return True
        except SYSTEM_ERRORS:
            continue
    return False


def _vanishes_by_cases(difference: Expr) -> bool:
    """Try real symbols of either sign; their zeros are single places, and left out."""
    reals = [symbol for symbol in difference.free_symbols if symbol.is_real]
    if len(reals) > 2 or not difference.has(sympy.Abs, sympy.sign):
        return False
    cases = product(*((p, -p) for p in [sympy.Dummy(positive=True) for _ in reals]))
    return all(_vanishes(difference.subs(dict(zip(reals, case, strict=True)))) for case in cases)


def _at(value: Expr, sign: int) -> Expr:
    """Put numbers in place of the symbols: which ones does not matter, but that they differ."""
    symbols = sorted(value.free_symbols, key=str)
    return value.subs({s: sign * sympy.Rational(17 + 5 * i, 13) for i, s in enumerate(symbols)})


def _is_clearly_not_zero(number: Expr) -> bool:
    try:
        found = number.evalf(15, strict=True)
        return bool(found.is_number and found.is_finite and abs(found) > 1e-9)
    except SYSTEM_ERRORS:
        return False


def _done(node: Expr) -> Expr:
    """Compute a sum or the like; refuse what stays uncomputed or has no finite value."""
    done = node.doit().replace(sympy.Piecewise, _usual_case)
    is_computed = isinstance(node, sympy.Derivative) or not done.has(*_CALCULUS)
    if not is_computed or done.has(sympy.Piecewise, *_UNDEFINED) or not _agrees(node, done):
        raise _RefusedError
    return done


def _agrees(node: Expr, done: Expr) -> bool:
    """Check an integral or limit by inexact numbers, since the system errs in some."""
    precision = 1e-6
    if isinstance(node, sympy.Limit):
        body, symbol, point, _ = node.args
        step, precision = sympy.Float("1e-5", 20), 1e-2
        node = body.subs(symbol, sympy.sign(point) / step if point.is_infinite else point + step)
    elif not isinstance(node, sympy.Integral):
        return True
    before, after = _at(node, 1).evalf(10), _at(done, 1).evalf(10)
    return bool(abs(before - after) <= precision * (1 + abs(after)))


def _usual_case(*cases: sympy.Tuple) -> Expr:
    """Return the one case of a sum that is no exception and converges; else it is a ValueError."""
    (usual,) = (
        value
        for value, case in cases
        if not case.has(sympy.Eq) and not value.has(*_CALCULUS, *_UNDEFINED)
    )
    return usual


def signs(value: Value, symbol: tree.Symbol) -> Signs | None:
    """Return where a quotient of polynomials with rational coefficients may change its sign.

    None for any other value, for degrees above 6, and for roots that are not written with roots
    of rational numbers and sums of them.
    """
    try:
        _check_size(value)
        builder = _Builder(value)
        top, bottom = _polynomials(builder, value, symbol)
        edges, poles = _real_roots(top * bottom), _real_roots(bottom)
        for node in tree.walk(value):
            if isinstance(node, tree.Power | tree.Call) and symbol in tree.walk(node):
                poles += _poles(builder, node, symbol)
    except (_RefusedError, *SYSTEM_ERRORS):
        return None
    edges.update(dict.fromkeys(poles, 0))
    return Signs(edges, frozenset(poles), bool(top.LC() * bottom.LC() > 0))


def _poles(builder: _Builder, node: tree.Power | tree.Call, symbol: tree.Symbol) -> Counter[Value]:
    """Return where a divisor is 0 or undefined, which the system forgets where it cancels."""
    exponent = builder.build(node.exponent) if isinstance(node, tree.Power) else S.Zero
    if not isinstance(node, tree.Power) or not exponent.is_Integer or exponent.is_zero:
        raise _RefusedError
    parts = _polynomials(builder, node.base, symbol) if exponent < 0 else ()
    return sum(map(_real_roots, parts), Counter())


def _polynomials(builder: _Builder, value: Value, symbol: tree.Symbol) -> tuple[sympy.Poly, ...]:
    """Return the top and the bottom of a value, which is a quotient of polynomials."""
    built = builder.build(value)
    _breadth(built)
    parts = sympy.fraction(sympy.together(built))
    found = tuple(sympy.Poly(part, builder.build(symbol), domain="QQ") for part in parts)
    if any(part.is_zero or part.degree() > 6 for part in found):
        raise _RefusedError
    return found


def _real_roots(polynomial: sympy.Poly) -> Counter[Value]:
    found: Counter[Value] = Counter()
    for factor, times in polynomial.factor_list()[1]:
        roots = sympy.roots(factor, cubics=False, quartics=False) if factor.count_roots() else {}
        real = [root for root in roots if root.is_real]
        if len(real) != factor.count_roots():
            raise _RefusedError
        found.update({_node_of(root): times for root in real})
    return found


def _node_of(root: Expr) -> Value:
    if root.is_Rational:
        return exact(Fraction(int(root.p), int(root.q)))
    parts = tuple(_node_of(part) for part in root.args)
    if root.is_Pow:
        return tree.Power(*parts)
    if not (root.is_Add or root.is_Mul):
        raise _RefusedError
    return tree.Sum(parts) if root.is_Add else tree.Product(parts)


class _Builder:
    """Builds expressions of the system from values of checked size."""

    def __init__(self, *values: Value) -> None:
        nodes = [node for value in values for node in tree.walk(value)]
        self._is_complex = tree.Constant("i") in nodes or any(
            isinstance(node, tree.Call) and node.name in {"re", "im", "conj"} for node in nodes
        )
        self._bound: dict[str, Expr] = {}
        self._log_of_base = sympy.Dummy(real=True, nonzero=True)

    def build(self, value: Value) -> Expr:
        if (found := self._built(value)) in _UNDEFINED:
            raise _RefusedError
        return found

    def _built(self, value: Value) -> Expr:
        if isinstance(value, tree.Number):
            return sympy.Rational(value.value.numerator, value.value.denominator)
        if isinstance(value, tree.Symbol):
            is_real = None if self._is_complex or value.name in {"z", "w"} else True
            return self._bound.get(value.name) or sympy.Symbol(value.name, real=is_real)
        if isinstance(value, tree.Constant):
            return _CONSTANTS.get(value.name, S.NaN)
        if isinstance(value, tree.Call):
            return self._call(value)
        parts = [self.build(part) for part in tree.children(value)]
        if isinstance(value, tree.Power):
            return _power(parts[0], parts[1])
        return sympy.Add(*parts) if isinstance(value, tree.Sum) else sympy.Mul(*parts)

    def _call(self, call: tree.Call) -> Expr:
        if call.name in {"sum", "prod", "integral", "limit"}:
            return self._calculus(call)
        if call.name == "derivative":
            return sympy.Derivative(*map(self.build, call.arguments))
        arguments = [self.build(argument) for argument in call.arguments]
        if call.name == "log" and len(arguments) == 1:
            return sympy.log(arguments[0]) / self._log_of_base
        return _function(call.name, arguments)

    def _calculus(self, call: tree.Call) -> Expr:
        """Build what has a symbol of its own, which hides another one of that name."""
        body, symbol, *ends = call.arguments
        if len(ends) != (1 if call.name == "limit" else 2) or not isinstance(symbol, tree.Symbol):
            raise _RefusedError
        first, last = (_INFINITE.get(end) or self.build(end) for end in (ends[0], ends[-1]))
        own = sympy.Dummy(real=True)
        if call.name in _SERIES:
            # A long one is refused, and one whose end is before its start: that has two readings.
            is_long = last.is_number and last != S.Infinity and not 0 <= last - first <= MAX_STEPS
            if is_long or not first.is_Integer:
                raise _RefusedError
            own = sympy.Dummy(integer=True)
        outer, self._bound = self._bound, {**self._bound, symbol.name: own}
        built = self.build(body)
        self._bound = outer
        if call.name == "limit":
            return sympy.Limit(built, own, first, dir="-" if first.is_infinite else "+-")
        kinds = {"sum": sympy.Sum, "prod": sympy.Product, "integral": sympy.Integral}
        return kinds[call.name](built, (own, first, last))


def _function(name: str, arguments: list[Expr]) -> Expr:
    if name in {"gcd", "lcm", "mod"} and not all(part.is_Integer for part in arguments):
        raise _RefusedError
    if name in {"pm", "mp"} or (name == "arccot" and not arguments[0].is_positive):
        raise _RefusedError
    return (_FUNCTIONS.get(name) or sympy.Function(name))(*arguments)


_FUNCTIONS: Final[dict[str, Callable[..., Expr]]] = {
    **{name: getattr(sympy, name) for name in (*_TRIGONOMETRIC, *_PLAIN)},
    **{name: getattr(sympy, other) for name, other in _RENAMED.items()},
    **{f"arc{name}": getattr(sympy, f"a{name}") for name in _TRIGONOMETRIC},
    **{f"{name}h": getattr(sympy, f"{name}h") for name in _TRIGONOMETRIC},
    **{f"ar{name}h": getattr(sympy, f"a{name}h") for name in _TRIGONOMETRIC},
    "ln": lambda value: sympy.log(value),
    "log": lambda base, value: sympy.log(value) / sympy.log(base),
    "factorial": lambda n, step=1: (sympy.factorial2 if step == 2 else sympy.factorial)(n),
    "binom": sympy.binomial,
    "gcd": sympy.gcd,
    "lcm": sympy.lcm,
    "mod": sympy.Mod,
    "min": sympy.Min,
    "max": sympy.Max,
    "degrees": lambda value: value * sympy.pi / 180,
    "percent": lambda value: value / 100,
}


def _power(base: Expr, exponent: Expr) -> Expr:
    """Build a power; a root of odd degree is the real one, wherever its base may be real."""
    if base.is_zero and not exponent.is_positive:
        raise _RefusedError
    if not exponent.is_Rational or exponent.is_Integer:
        return base**exponent
    is_large = base.is_Rational and max(abs(base.p), base.q) > _MAX_RADICAND
    is_real = base.is_real is not False and all(s.is_real for s in base.free_symbols)
    is_odd = exponent.q % 2 == 1 and is_real and not base.is_nonnegative
    if is_large or (is_odd and base.is_number and abs(exponent.p) != 1):
        raise _RefusedError
    if not is_odd:
        return base**exponent
    root = sympy.Abs(base) ** exponent
    return sympy.sign(base) * root if exponent.p % 2 else root


def _breadth(value: Expr) -> tuple[int, int]:
    """Return how many terms and what degree the value has when multiplied out; refuse many."""
    parts = [_breadth(part) for part in value.args]
    terms = max((t for t, _ in parts), default=1)
    degree = max((d for _, d in parts), default=int(value.is_Symbol))
    if value.is_Add:
        terms = sum(t for t, _ in parts)
    elif value.is_Mul:
        terms, degree = sympy.prod(t for t, _ in parts), sum(d for _, d in parts)
    elif value.is_Pow and value.exp.is_Integer:
        times = abs(int(value.exp))
        terms, degree = comb(terms + min(times, _MAX_DEGREE) - 1, terms - 1), degree * times
    if terms > _MAX_TERMS or degree > _MAX_DEGREE:
        raise _RefusedError
    return terms, degree


def _check_size(*values: Value) -> None:
    for value in values:
        nodes = list(islice(tree.walk(value), _MAX_NODES + 1))
        has_index = any(isinstance(node, tree.Call) and node.name in _SERIES for node in nodes)
        if len(nodes) > _MAX_NODES or size_of(value, 10.0 if has_index else 2.0) > MAX_SIZE:
            raise _RefusedError
