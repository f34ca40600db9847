"""Reads a tree into a quotient of polynomials over generators."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from services.math.algebra.elementary import exponential, logarithm
from services.math.algebra.functions import apply
from services.math.algebra.polynomial import (
    IMAGINARY,
    ONE,
    Polynomial,
    Rational,
    Ring,
    UndefinedError,
    checked,
    plain,
    scale,
)
from services.math.algebra.powers import raised
from services.math.algebra.quotient import (
    NOTHING,
    UNIT,
    Quotient,
    constant,
    number,
    plus,
    product,
)
from services.math.algebra.series import ENDLESS, closed_sum
from services.math.algebra.unknown import opaque
from services.math.tree import MINUS_ONE, Call, Constant, Number, Power, Product, Sum, Symbol, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MAX_TERMS_ONE_BY_ONE: Final = 200


class Reader:
    """Walks a tree. Recursive: a caller limits the depth of its trees to some 200."""

    def __init__(self, ring: Ring) -> None:
        self.ring = ring
        self.indices: dict[str, Quotient] = {}
        self.depth = 0

    def read(self, value: Value) -> Quotient:
        """Read a value; `UndefinedError` for infinity in it."""
        self.ring.spend(1)
        return _READERS[type(value)](self, value)

    def bound(self, value: Value) -> Quotient:
        """Read a value that may be infinity."""
        sign = 1
        while isinstance(value, Product) and len(value.factors) == 2:
            if value.factors[0] != Number(-1) or value.factors[1] != Constant("infinity"):
                break
            value, sign = value.factors[1], -sign
        if value == Constant("infinity"):
            return Quotient(scale(ENDLESS.top, sign))
        return self.read(value)

    def _number(self, value: Number) -> Quotient:
        return number(plain(value.value))

    def _symbol(self, value: Symbol) -> Quotient:
        if value.name in self.indices:
            return self.indices[value.name]
        name = value.name if value.name.isidentifier() else repr(value.name)
        return Quotient({((f"${name}", 1),): 1})

    def _constant(self, value: Constant) -> Quotient:
        if value.name == "infinity":
            raise UndefinedError("infinity inside arithmetic")
        if value.name == "e":
            return exponential(self.ring, UNIT)
        return Quotient(IMAGINARY if value.name == "i" else {(("p", 1),): 1})

    def _sum(self, value: Sum) -> Quotient:
        total: Polynomial = {}
        rest = NOTHING
        for term in value.terms:
            part = self.read(term)
            if part.bottom is not ONE:
                rest = plus(self.ring, rest, part)
                continue
            for monomial, factor in part.top.items():
                total[monomial] = total.get(monomial, 0) + factor
        whole = Quotient(checked(total))
        return plus(self.ring, whole, rest) if rest.top else whole

    def _product(self, value: Product) -> Quotient:
        result = UNIT
        for factor in value.factors:
            result = product(self.ring, result, self.read(factor))
        return result

    def _power(self, value: Power) -> Quotient:
        if value.exponent == MINUS_ONE and type(value.base) is Number and value.base.value:
            return number(plain(1 / Fraction(value.base.value)))
        if type(value.exponent) is Number and type(value.base) is Symbol:
            return self._power_of_symbol(value.base, plain(value.exponent.value))
        exponent = self.read(value.exponent)
        if value.base == Constant("e"):
            return exponential(self.ring, exponent)
        base = self.read(value.base)
        known = constant(exponent)
        if known is not None:
            return raised(self.ring, base, known)
        if not base.top:
            # Zero or not defined, as the exponent is positive or not.
            return opaque(self.ring, "0^", [exponent])
        return exponential(self.ring, product(self.ring, exponent, logarithm(self.ring, base)))

    def _power_of_symbol(self, value: Symbol, exponent: Rational) -> Quotient:
        base = self._symbol(value)
        if type(exponent) is not int or exponent < 1 or value.name in self.indices:
            return raised(self.ring, base, exponent)
        (((generator, _),),) = base.top
        return Quotient({((generator, exponent),): 1})

    def _call(self, value: Call) -> Quotient:
        bind = _BINDERS.get((value.name, len(value.arguments)))
        if bind:
            return bind(self, value)
        return apply(self.ring, value.name, [self.read(each) for each in value.arguments])

    def _binder(self, value: Call) -> Quotient:
        """Read a call whose second argument is an index that only its first one sees."""
        outside = [self.bound(each) for each in value.arguments[2:]]
        return opaque(self.ring, value.name, [*self._body(value), *outside])

    def _body(self, value: Call) -> tuple[Quotient, Quotient]:
        """Read the first argument, with the second one as a nameless index."""
        index = Quotient({((f"${self.depth}", 1),): 1})
        return self._indexed(value, index), index

    def _indexed(self, value: Call, index: Quotient) -> Quotient:
        name = value.arguments[1]
        if not isinstance(name, Symbol):
            raise UndefinedError("an index that is no symbol")
        before = self.indices
        self.indices = {**before, name.name: index}
        self.depth += 1
        try:
            return self.read(value.arguments[0])
        finally:
            self.indices = before
            self.depth -= 1

    def _derivative(self, value: Call) -> Quotient:
        """Read a call that depends on its own symbol: nothing is renamed."""
        return opaque(self.ring, value.name, [self.read(each) for each in value.arguments])

    def _series(self, value: Call) -> Quotient:
        """Read a sum or product: term by term if it is short, else in closed form."""
        first, last = (self.bound(each) for each in value.arguments[2:])
        ends = [constant(each) for each in (first, last)]
        low, high = (
            int(each) if each is not None and each.denominator == 1 else None for each in ends
        )
        if low is not None and high is not None and high - low < MAX_TERMS_ONE_BY_ONE:
            parts = (self._indexed(value, number(each)) for each in range(low, high + 1))
            return self._joined(value.name, parts)
        body, index = self._body(value)
        ((((name, _),), _),) = index.top.items()
        closed = None
        if value.name == "sum":
            closed = closed_sum(self.ring, body, name, first, last)
        return (
            opaque(self.ring, value.name, [body, index, first, last]) if closed is None else closed
        )

    def _joined(self, name: str, parts: Iterator[Quotient]) -> Quotient:
        result = NOTHING if name == "sum" else UNIT
        for part in parts:
            join = plus if name == "sum" else product
            result = join(self.ring, result, part)
        return result


_READERS: Final[dict[type, Callable[[Reader, Any], Quotient]]] = {
    Number: Reader._number,
    Symbol: Reader._symbol,
    Constant: Reader._constant,
    Sum: Reader._sum,
    Product: Reader._product,
    Power: Reader._power,
    Call: Reader._call,
}

_BINDERS: Final[dict[tuple[str, int], Callable[[Reader, Call], Quotient]]] = {
    ("sum", 4): Reader._series,
    ("prod", 4): Reader._series,
    ("integral", 4): Reader._binder,
    ("integral", 2): Reader._derivative,
    ("derivative", 2): Reader._derivative,
    ("limit", 3): Reader._binder,
}
