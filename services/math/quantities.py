"""Compare numbers with a unit, ratios, and numbers in another base.

Units are typed: those of one kind are converted, a different one is wrong, and a missing one is
forgiven unless the spec says otherwise. Things that are counted ("5 apples") are no kind of unit:
two different nouns are left open.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Final

from services.math.language.units import differ, ratio, unit
from services.math.show import show
from services.math.tree import (
    VALUES,
    Based,
    Call,
    Number,
    Product,
    Quantity,
    Ratio,
    Sum,
    Symbol,
    Value,
    quotient,
)
from services.math.values import UNKNOWN, Finding, same_expression, same_value

if TYPE_CHECKING:
    from services.math.language.units import Unit
    from services.math.structure import Matcher
    from services.math.tree import Tree

_NO: Final = Finding(False, "structural")
_SIGNS: Final = {"percent": "%", "degrees": "°"}


def same_quantity(matcher: Matcher, gold: Tree, answer: Tree) -> Finding | None:
    """Compare where at least one side has a unit."""
    if not (isinstance(gold, Quantity) or isinstance(answer, Quantity)):
        return None
    (wanted, unit_wanted), (given, unit_given) = _parted(gold), _parted(answer)
    if wanted is None or given is None:
        return Finding(False, "structural")
    if matcher.spec.units == "ignored":
        return same_value(wanted, given, matcher.spec)
    if unit_wanted and unit_given:
        return _same_units(matcher, wanted, given, (unit_wanted, unit_given))
    if unit_wanted and matcher.spec.units == "required":
        return Finding(False, "structural", f"the unit {unit_wanted} is missing")
    return _same_without_a_unit(matcher, gold, answer, wanted, given)


def _same_without_a_unit(
    matcher: Matcher, gold: Tree, answer: Tree, wanted: Value, given: Value
) -> Finding:
    """Compare where one side has a unit and the other has none, which is forgiven."""
    found = same_value(wanted, given, matcher.spec)
    if not found.same:
        return _same_products(matcher, gold, answer) or found
    names = [tree.unit for tree in (gold, answer) if isinstance(tree, Quantity)]
    return UNKNOWN if any(map(_is_scale, names)) else found  # 5 ppm is not 5


def _is_scale(name: str) -> bool:
    """Whether it is no unit but a factor, such as ppm."""
    measure = unit(name)
    return measure is not None and not measure.dimension and name != "%"


def _parted(tree: Tree) -> tuple[Value | None, str]:
    if isinstance(tree, Quantity):
        return tree.value, tree.unit
    if isinstance(tree, Call) and tree.name in _SIGNS:
        return tree.arguments[0], _SIGNS[tree.name]
    return (tree, "") if isinstance(tree, VALUES) else (None, "")


def _same_units(matcher: Matcher, wanted: Value, given: Value, names: tuple[str, str]) -> Finding:
    measures = [unit(name) for name in names]
    if names[0] == names[1]:
        return same_value(wanted, given, matcher.spec)
    if set(names) == {"°", "rad"}:
        return same_expression(_angle(wanted, names[0]), _angle(given, names[1]))
    if measures[0] is None or measures[1] is None:
        found = same_value(wanted, given, matcher.spec)
        return UNKNOWN if found.same is not False else found
    if measures[0].dimension == measures[1].dimension:
        return _converted(matcher, wanted, given, measures[0], measures[1])
    is_sure = differ(measures[0], measures[1])
    why = f"the units differ: {names[0]} and {names[1]}"
    return Finding(False, "structural", why) if is_sure else UNKNOWN


def _converted(matcher: Matcher, wanted: Value, given: Value, to: Unit, of: Unit) -> Finding:
    factor = ratio(of, to)
    if factor is None:  # temperatures, whose scales begin at different points
        return same_value(_in_kelvin(wanted, to), _in_kelvin(given, of), matcher.spec)
    found = same_value(wanted, Product((given, _number(factor))), matcher.spec)
    if found.same is False and same_value(wanted, given, matcher.spec).same:
        return found._replace(why=f"the units differ: {to.name} and {of.name}")
    return found


def _angle(value: Value, measure: str) -> Value:
    return Call("degrees", (value,)) if measure == "°" else value


def _in_kelvin(value: Value, scale: Unit) -> Value:
    """Return a temperature in its base unit; scales that begin elsewhere have no ratio."""
    return Sum((Product((value, _number(scale.factor))), _number(scale.offset)))


def _same_products(matcher: Matcher, gold: Tree, answer: Tree) -> Finding | None:
    """Compare again with units of one letter as variables: `5 m` may be five times m."""
    pair = [_as_product(tree) for tree in (gold, answer)]
    if pair[0] is None or pair[1] is None:
        return None
    found = same_value(pair[0], pair[1], matcher.spec)
    return found if found.same else None


def _as_product(tree: Tree) -> Value | None:
    if isinstance(tree, Quantity):
        is_letter = len(tree.unit) == 1 and tree.unit.isalpha()
        return Product((tree.value, Symbol(tree.unit))) if is_letter else None
    return tree if isinstance(tree, VALUES) else None


def same_ratio(matcher: Matcher, gold: Tree, answer: Tree) -> Finding | None:
    """Compare ratios by cross-multiplying; `3:2` is 3/2 next to a value."""
    if not (isinstance(gold, Ratio) or isinstance(answer, Ratio)):
        return None
    if isinstance(gold, Ratio) and isinstance(answer, Ratio):
        return _same_ratios(matcher, gold.parts, answer.parts)
    values = [_as_quotient(tree) for tree in (gold, answer)]
    if values[0] is None or values[1] is None:
        return _NO
    return same_value(values[0], values[1], matcher.spec)


def _same_ratios(matcher: Matcher, wanted: tuple[Value, ...], given: tuple[Value, ...]) -> Finding:
    zeros = [[_is_zero(part) for part in parts] for parts in (wanted, given)]
    if zeros[0] != zeros[1] or all(zeros[0]):
        return _NO
    first = zeros[0].index(False)
    pairs = [
        (Product((given[first], one)), Product((wanted[first], other)))
        for one, other in zip(wanted, given, strict=True)
    ]
    found = [same_value(left, right, matcher.spec).same for left, right in pairs]
    return Finding(None if None in found and False not in found else all(found), "structural")


def _is_zero(value: Value) -> bool:
    return same_expression(value, Number(0)).same is True


def _as_quotient(tree: Tree) -> Value | None:
    if isinstance(tree, Ratio):
        return quotient(*tree.parts) if len(tree.parts) == 2 else None
    return tree if isinstance(tree, VALUES) else None


def same_based(matcher: Matcher, gold: Tree, answer: Tree) -> Finding | None:
    """Compare numbers in a stated base by value; a missing base is forgiven, as a unit is."""
    if not (isinstance(gold, Based) or isinstance(answer, Based)):
        return None
    values = [_based_value(tree) for tree in (gold, answer)]
    if values[0] is None or values[1] is None:
        return _NO
    found = same_value(values[0], values[1], matcher.spec)
    if found.same is False and isinstance(gold, Based) and isinstance(answer, Number):
        return Finding(gold.digits == show(answer), "structural")
    return found


def _based_value(tree: Tree) -> Value | None:
    if not isinstance(tree, Based):
        return tree if isinstance(tree, VALUES) else None
    whole, _, part = tree.digits.partition(".")
    try:
        value = Fraction(int(whole + part, tree.base), tree.base ** len(part))
    except ValueError:
        return None
    return _number(value)


def _number(value: Fraction) -> Number:
    return Number(int(value) if value.denominator == 1 else value)
