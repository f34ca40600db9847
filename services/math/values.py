"""Decide whether two values are equal, by the cheapest tier that can tell.

`rational`: exact arithmetic. `symbolic`: the normal form of both (`services.math.algebra.normal`), and at
the very end sympy. `numeric`: many digits at many points; it says "no" at once, and "yes" for values
without variables, whose digits were chosen by the size of everything that is written in them.

There is no tolerance unless the spec gives one. A decimal answer equals an exact gold if it agrees
to 12 significant digits or more; an exact answer equals a decimal gold that it rounds to.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

import mpmath  # type: ignore[import-untyped]

from services.math.algebra import normal, numeric, symbolic
from services.math.algebra.bounds import OutOfBoundsError
from services.math.algebra.numeric import Finding as Numeric
from services.math.language.vocabulary import KNOWN_FUNCTIONS
from services.math.tree import (
    VALUES,
    Call,
    Constant,
    Number,
    Product,
    Symbol,
    Value,
    calls,
    children,
    has_calls,
    walk,
)

if TYPE_CHECKING:
    from services.math.algebra.normal import Form
    from services.math.spec import MathSpec
    from services.math.tree import Tree

Tier = Literal["exact", "normalised", "rational", "numeric", "symbolic", "structural"]

SAME_DIGITS: Final = 12
_ROUNDED_DIGITS: Final = 2
_SURE_DIGITS: Final = 4
_DIGITS: Final = 40
_SPECIAL: Final = frozenset(("zeta", "erf", "Li", "Ei", "Si", "Ci", "W"))

_TYPED: Final = {"percent": "%", "degrees": "°"}


class Finding(NamedTuple):
    """What was found out about two trees: the same, different, or (None) unknown."""

    same: bool | None
    tier: Tier | None = None
    why: str = ""
    """The end of a sentence about a difference, where there is more to say than "differs"."""


UNKNOWN: Final = Finding(None)


def same_value(gold: Value, answer: Value, spec: MathSpec) -> Finding:
    """Compare two values, typed as they may be by a percent or degree sign."""
    if gold == answer:
        return Finding(True, "rational" if isinstance(gold, Number) else "symbolic")
    wanted, given = _type(gold), _type(answer)
    if wanted == given:
        if wanted:
            gold, answer = children(gold)[0], children(answer)[0]
        return _same(gold, answer, spec)
    if wanted and given:
        return Finding(False, "structural", f"the units differ: {wanted} and {given}")
    return _same_with_one_sign(gold, answer, spec, wanted or given or "")


def _type(value: Value) -> str | None:
    return _TYPED.get(value.name) if isinstance(value, Call) else None


def _same_with_one_sign(gold: Value, answer: Value, spec: MathSpec, sign: str) -> Finding:
    """Compare where only one has a sign: `37%` is 0.37, and 37 if a missing sign is forgiven."""
    worth = _same(*_in_one_measure(gold, answer, sign), spec)
    if worth.same or not _is_forgiven(sign, is_missing=_type(answer) is None, spec=spec):
        return worth
    bare = _same(_untyped(gold), _untyped(answer), spec)
    if bare.same and sign == "%" and _type(gold) is None and _is_a_part(gold):
        return UNKNOWN  # 0.4% may be 0.4 of a hundred, or the 0.4 that was asked for
    return worth if bare.same is False and worth.same is None else bare


def _in_one_measure(gold: Value, answer: Value, sign: str) -> tuple[Value, Value]:
    """Bring both to what the gold one is given in, so that its digits can be rounded to."""
    if sign != "%":
        return gold, answer
    if _type(gold):
        return _untyped(gold), _scaled(answer, 2)
    return gold, _scaled(_untyped(answer), -2)


def _scaled(value: Value, places: int) -> Value:
    """Return the value with its point moved to the right."""
    factor = Fraction(10) ** places
    if isinstance(value, Number):
        kept = None if value.places is None else value.places - places
        return Number(value.value * factor, kept)
    return Product((value, Number(factor)))


def _untyped(value: Value) -> Value:
    return children(value)[0] if _type(value) else value


def _is_a_part(value: Value) -> bool:
    """Whether it is a number between 0 and 1, which a percentage could be given as."""
    number = real_value(value)
    return number is not None and abs(number) <= 1


def _is_forgiven(sign: str, *, is_missing: bool, spec: MathSpec) -> bool:
    if sign == "%":
        return spec.percent == "either"
    return spec.units != "required" or not is_missing


def _same(gold: Value, answer: Value, spec: MathSpec) -> Finding:
    if isinstance(gold, Number) and isinstance(answer, Number):
        found = Finding(gold.value == answer.value, "rational")
    else:
        found = same_expression(gold, answer)
    return found if found.same else _within_rounding(gold, answer, spec) or found


def same_expression(gold: Value, answer: Value) -> Finding:
    """Compare two values without looking at signs and roundings."""
    if not has_calls(gold) and not has_calls(answer):
        return _same_for_base(gold, answer, None)
    called = [*calls(gold)], [*calls(answer)]
    findings = [_same_for_base(gold, answer, base) for base in _readings_of_log(*called)]
    special = [any(call.name in _SPECIAL for call in side) for side in called]
    if findings[0].same is False and special[0] != special[1]:
        return UNKNOWN  # what a function with a name of its own is worth is not computed
    return next((found for found in findings if found.same), findings[0])


def _readings_of_log(*sides: list[Call]) -> tuple[normal.Base, ...]:
    """Return the bases that a logarithm without one may have: schools say 10, and analysts e."""
    logs = (call for side in sides for call in side if call.name == "log")
    return (10, "e") if any(len(log.arguments) == 1 for log in logs) else (None,)


def _same_for_base(gold: Value, answer: Value, base: normal.Base) -> Finding:
    same, is_rational = _same_form(gold, answer, base)
    if same is not None:
        return Finding(same, "rational" if is_rational else "symbolic")
    if _same_form(gold, answer, base, positive=True)[0] is False:
        return Finding(False, "symbolic")
    found = numeric.compare(gold, answer, log_base=base)
    if found is Numeric.DIFFERENT:
        return Finding(False, "numeric")
    if found is Numeric.AGREE:
        if is_constant(gold) and is_constant(answer):
            return Finding(True, "numeric")
        if _same_form(gold, answer, base, positive=True)[0]:
            return Finding(True, "symbolic")
    return Finding(symbolic.prove(gold, answer), "symbolic")


def _same_form(
    gold: Value, answer: Value, base: normal.Base, *, positive: bool = False
) -> tuple[bool | None, bool]:
    """Compare normal forms; also tells whether both are rational numbers."""
    try:
        wanted, given = (
            form_of(gold, base, positive=positive),
            form_of(answer, base, positive=positive),
        )
    except normal.TooLargeError:
        return None, False
    is_rational = normal.rational(wanted) is not None and normal.rational(given) is not None
    return normal.same(wanted, given), is_rational


def form_of(value: Value, base: normal.Base = None, *, positive: bool = False) -> Form:
    """Return the normal form; golds and answers come again and again."""
    return _form(value, base, positive)


@lru_cache(maxsize=4_096)
def _form(value: Value, base: normal.Base, positive: bool) -> Form:
    return normal.form(value, positive=positive, log_base=base)


def is_constant(value: Value) -> bool:
    """Whether it holds no variable, and no function that nobody knows."""
    return not any(
        isinstance(node, Symbol) or (isinstance(node, Call) and node.name not in KNOWN_FUNCTIONS)
        for node in walk(value)
    )


def has_value(tree: Tree) -> bool:
    """Whether a gold value can be computed: `1/0` cannot, and neither can a tower of powers."""
    if not isinstance(tree, VALUES):
        return True
    try:
        form_of(tree)
    except normal.UndefinedError:
        return False
    except (OutOfBoundsError, normal.TooLargeError):
        return True
    return True


# -- rounding and tolerance


def _within_rounding(gold: Value, answer: Value, spec: MathSpec) -> Finding | None:
    """Accept what the spec's tolerance covers, and roundings of one to the digits of the other."""
    is_decimal = [isinstance(v, Number) and v.places is not None for v in (gold, answer)]
    has_tolerance = bool(spec.rel_tol or spec.abs_tol)
    if not any(is_decimal) and not has_tolerance:
        return None
    wanted, given = real_value(gold), real_value(answer)
    if wanted is None or given is None:
        return None
    distance = abs(wanted - given)
    if has_tolerance and distance <= max(_exact(spec.abs_tol), _exact(spec.rel_tol) * abs(wanted)):
        return Finding(True, "numeric")
    if is_decimal[0]:
        return _rounds_to(gold, answer, distance)
    return _agrees(gold, answer, wanted, distance) if is_decimal[1] else None


def _rounds_to(gold: Value, answer: Value, distance: Fraction) -> Finding | None:
    """Accept what a decimal gold rounds: a third for 0.33, pi for 3.14.

    Open where the gold looks exact (2.5, 0.75, and 2.0 above all), and where the answer ends too: of
    0.333 and 0.33 nobody knows which was rounded. One digit is too few: 0.48 is not 0.5.
    """
    if not isinstance(gold, Number) or distance * 2 > _unit(gold):
        return None
    is_exact = not isinstance(answer, Number) or not _terminates(answer.value)
    digits = _significant(gold)
    if digits < _ROUNDED_DIGITS:
        return UNKNOWN if is_exact else None
    looks_exact = int(gold.value / _unit(gold)) % 5 == 0 and digits < _SURE_DIGITS
    return Finding(True, "numeric") if is_exact and not looks_exact else UNKNOWN


def _agrees(gold: Value, answer: Value, wanted: Fraction, distance: Fraction) -> Finding | None:
    """Accept the first 12 digits or more of a value whose digits never end."""
    if not isinstance(answer, Number) or _significant(answer) < SAME_DIGITS:
        return None
    if normal.rational(form_of(gold)) is not None and _terminates(wanted):
        return None
    is_same = distance <= _unit(answer) and distance * 10**SAME_DIGITS <= abs(wanted) * 10
    return Finding(True, "numeric") if is_same else None


def _unit(number: Number) -> Fraction:
    """Return what the last digit of a decimal counts."""
    return Fraction(10) ** -(number.places or 0)


def _significant(number: Value) -> int:
    if not isinstance(number, Number) or number.places is None:
        return 0
    return len(str(abs(int(number.value / _unit(number)))))


def _terminates(value: int | Fraction) -> bool:
    """Whether the decimal expansion ends, so that the value could have been the gold itself."""
    rest = Fraction(value).denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    return rest == 1


def _exact(tolerance: float) -> Fraction:
    return Fraction(str(tolerance))


def real_value(value: Value) -> Fraction | None:
    """Return the value to 40 digits, exactly where it is rational; None where it is not real."""
    if isinstance(value, Number):
        return Fraction(value.value)
    if not is_constant(value) or any(node == Constant("infinity") for node in walk(value)):
        return None
    found = numeric.value(value, _DIGITS)
    parts = getattr(found, "_mpf_", None)  # a complex number has none
    if parts is None or not mpmath.isfinite(found):
        return None
    return Fraction(*mpmath.libmp.to_rational(parts))


def order(first: Value, second: Value) -> int | None:
    """Return -1, 0 or 1 as the first is less than, equal to or greater than the second."""
    low, high = real_value(first), real_value(second)
    if low is None or high is None:
        return None
    if low != high:
        return -1 if low < high else 1
    return 0 if same_expression(first, second).same else None
