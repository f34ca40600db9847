"""Numbers as the parser meets them: decimals, mixed numbers, repeating decimals, other bases."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Final

from services.math.language.commands import fraction
from services.math.language.cursor import AmbiguousError, OutsizeError, ParseError
from services.math.tree import Based, Number, Power, Product, Sum, Value, quotient

if TYPE_CHECKING:
    from services.math.language.grammar import Grammar
    from services.math.tree import Tree

MAX_DIGITS: Final = 4_000
"""As many as Python turns into text again."""


SEPARATED: Final = frozenset(("sep", "end", "}", ")", "]", "letter", "+", "-", "relation", "*"))
"""Tokens behind digits that leave them a whole number."""
_SHORT_EXPONENT: Final = 3
"""Digits of an exponent that is worked out at once; a longer one makes a power of ten."""


def number(grammar: Grammar) -> Tree:
    """Parse digits; with what follows they may be a mixed number or have a base."""
    text = grammar.take().text
    if len(text) > MAX_DIGITS:
        msg = "a number with too many digits"
        raise OutsizeError(msg)
    following = grammar.next.kind
    if text.isdecimal():
        return Number(int(text)) if following in SEPARATED else _whole(grammar, text)
    mantissa, _, exponent = text.lower().partition("e")
    if len(exponent) > _SHORT_EXPONENT:
        return Product((read_decimal(mantissa), Power(Number(10), Number(int(exponent)))))
    return _decimal(grammar, text)


def _whole(grammar: Grammar, text: str) -> Tree:
    if grammar.next.kind == "...":
        return _continued(grammar, text)
    if grammar.next.kind == "_":
        return _based(grammar, text)
    return _mixed(grammar, read_decimal(text))


def _decimal(grammar: Grammar, text: str) -> Tree:
    following = grammar.next.kind
    if following == "(" and text[-1] == ".":
        return _repeating_in_brackets(grammar, text)
    if following == "accent" and "." in text:
        return _repeating(grammar, text)
    if following == "...":
        return _continued(grammar, text)
    if following == "_":
        return _based(grammar, text)
    whole = read_decimal(text)
    return _mixed(grammar, whole) if isinstance(whole.value, int) else whole


def read_decimal(text: str) -> Number:
    """Read digits, perhaps with a point and an exponent, exactly."""
    if text.isdecimal():
        return Number(int(text))
    mantissa, _, exponent = text.lower().partition("e")
    whole, point, digits = mantissa.partition(".")
    shift = int(exponent or 0) - len(digits)
    if abs(shift) > MAX_DIGITS:
        msg = "an exponent that is too large"
        raise OutsizeError(msg)
    count = int(whole + digits)
    value = Fraction(count * 10**shift) if shift >= 0 else Fraction(count, 10**-shift)
    places = max(-shift, 0) if point and digits else None
    return Number(int(value) if value.denominator == 1 else value, places)


def _based(grammar: Grammar, digits: str) -> Based:
    grammar.take("_")
    base = grammar.subscript()
    if not base.isdecimal() or not is_based(digits, int(base[:3])):
        msg = f"{base} is no base"
        raise ParseError(msg)
    return Based(digits, int(base))


def is_based(digits: str, base: int) -> bool:
    """Whether all are digits in this base; `A_{16}` is a name, as no digit shows what is meant."""
    if not 2 <= base <= 36 or not any(digit.isdecimal() for digit in digits):
        return False
    return all(digit == "." or int(digit, 36) < base for digit in digits)


def _mixed(grammar: Grammar, whole: Number) -> Value:
    r"""Read on where a fraction follows an integer: `2 1/3`, `2\frac{1}{3}`."""
    if grammar.next.kind == "frac":
        after = grammar.place
        part = fraction(grammar)
        integers = _integers(part)
        if integers is None:
            grammar.go_to(after)
            return whole
        top, bottom = integers
    elif grammar.next.kind == "number" and grammar.after_next().kind == "/":
        top, bottom = _plain_fraction(grammar)
        part = quotient(Number(top), Number(bottom))
    else:
        return whole
    if not 0 < top < bottom:
        msg = "a sum or a product"
        raise AmbiguousError(msg)
    return Sum((whole, part))


def _plain_fraction(grammar: Grammar) -> tuple[int, int]:
    if not grammar.next.blank:
        msg = "digits without a sign between them"
        raise ParseError(msg)
    top = grammar.take().text
    grammar.take("/")
    bottom = grammar.take("number").text
    if not (top.isdecimal() and bottom.isdecimal()) or len(top + bottom) > MAX_DIGITS:
        msg = "not a mixed number"
        raise ParseError(msg)
    return int(top), int(bottom)


def _integers(part: Value) -> tuple[int, int] | None:
    """Return the numerator and denominator of a fraction of two plain integers."""
    if not isinstance(part, Product) or not isinstance(part.factors[1], Power):
        return None
    top, bottom = part.factors[0], part.factors[1].base
    if not (isinstance(top, Number) and isinstance(bottom, Number)):
        return None
    if not (isinstance(top.value, int) and isinstance(bottom.value, int)):
        return None
    return top.value, bottom.value


def _repeating(grammar: Grammar, text: str) -> Number:
    r"""Read `0.1\overline{6}` exactly."""
    grammar.take("accent")
    period = grammar.raw_group()
    if not period.isdecimal() or len(period) > MAX_DIGITS:
        msg = "only digits repeat"
        raise ParseError(msg)
    if grammar.next.kind in ("number", "{"):
        msg = "digits after those that repeat"
        raise AmbiguousError(msg)
    return Number(read_decimal(text).value + _tail(period, len(text.partition(".")[2])))


def _repeating_in_brackets(grammar: Grammar, text: str) -> Number:
    """Read `0.(3)`."""
    grammar.take("(")
    period = grammar.take("number").text
    grammar.take(")")
    if not period.isdecimal():
        msg = "only digits repeat"
        raise ParseError(msg)
    return Number(read_decimal(text).value + _tail(period, 0))


def _continued(grammar: Grammar, text: str) -> Number:
    """Read `0.333…` as a third; other digits that go on are unknown."""
    grammar.take("...")
    digits = text.partition(".")[2]
    for size in range(1, len(digits) // 2 + 1):
        period = digits[-size:]
        if digits.endswith(period * (3 if size == 1 else 2)):
            return Number(read_decimal(text).value + _tail(period, len(digits)))
    msg = "digits that go on"
    raise AmbiguousError(msg)


def _tail(period: str, places: int) -> Fraction:
    """Return what the period is worth after so many digits behind the point."""
    return Fraction(int(period), (10 ** len(period) - 1) * 10**places)
