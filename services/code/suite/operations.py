"""Operators and methods of plain data, none of which may take long or make much.

A solution's value meets these as well as the test's own, so each is bounded by what it would make.
"""

from __future__ import annotations

import ast
import operator
import random
from collections.abc import Callable
from typing import Any, Final

from services.code.suite.values import MAX_ITEMS, UnsupportedError, Value

MAX_BITS: Final = 100_000
MAX_WIDTH: Final = 10_000

Operator = Callable[[Any, Any], Any]


def _sized(value: Value) -> bool:
    return isinstance(value, str | bytes | list | tuple)


def _bits(value: Value) -> int:
    return value.bit_length() if isinstance(value, int) else 64


def _too_large() -> UnsupportedError:
    return UnsupportedError("it makes a value that is too large")


def multiply(one: Value, other: Value) -> Value:
    """Multiply, or repeat."""
    for many, times in ((one, other), (other, one)):
        if _sized(many) and isinstance(times, int) and len(many) * times > MAX_ITEMS:
            raise _too_large()
    if not _sized(one) and not _sized(other) and _bits(one) + _bits(other) > MAX_BITS:
        raise _too_large()
    return one * other


def power(one: Value, other: Value) -> Value:
    """Raise to a power."""
    if isinstance(one, int) and isinstance(other, int) and _bits(one) * abs(other) > MAX_BITS:
        raise _too_large()
    return one**other


def shift_left(one: Value, other: Value) -> Value:
    """Shift bits up."""
    if isinstance(other, int) and _bits(one) + other > MAX_BITS:
        raise _too_large()
    return one << other


def remainder(one: Value, other: Value) -> Value:
    """Divide and keep the rest; no formatting of texts."""
    if isinstance(one, str | bytes):
        raise UnsupportedError("it formats a text with '%'")
    return one % other


BINARY: Final[dict[type[ast.operator], Operator]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: multiply,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: remainder,
    ast.Pow: power,
    ast.LShift: shift_left,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}

UNARY: Final[dict[type[ast.unaryop], Callable[[Any], Any]]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Invert: operator.invert,
    ast.Not: operator.not_,
}

COMPARE: Final[dict[type[ast.cmpop], Operator]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda one, other: one in other,
    ast.NotIn: lambda one, other: one not in other,
}

_STR: Final = (
    "capitalize casefold count encode endswith find index isalnum isalpha isascii isdecimal isdigit "
    "islower isnumeric isspace istitle isupper join lower lstrip partition removeprefix removesuffix "
    "replace rfind rindex rpartition rsplit rstrip split splitlines startswith strip swapcase title "
    "upper center ljust rjust zfill"
)
METHODS: Final[dict[type, frozenset[str]]] = {
    str: frozenset(_STR.split()),
    bytes: frozenset({"decode", "hex", "startswith", "endswith", "split", "strip"}),
    list: frozenset(
        "append clear copy count extend index insert pop remove reverse sort".split()  # noqa: SIM905
    ),
    tuple: frozenset({"count", "index"}),
    dict: frozenset(
        "clear copy get items keys pop setdefault update values".split()  # noqa: SIM905
    ),
    set: frozenset(
        [
            "add",
            "clear",
            "copy",
            "difference",
            "discard",
            "intersection",
            "isdisjoint",
            "issubset",
            "issuperset",
            "remove",
            "symmetric_difference",
            "union",
            "update",
        ]
    ),
    frozenset: frozenset({"difference", "intersection", "issubset", "issuperset", "union"}),
    int: frozenset({"bit_length", "bit_count"}),
    float: frozenset({"is_integer"}),
    random.Random: frozenset(
        "choice choices randint random randrange sample seed shuffle uniform".split()  # noqa: SIM905
    ),
}
_WIDTHS: Final = frozenset({"center", "ljust", "rjust", "zfill"})


def method(owner: Value, name: str) -> Callable[..., Value]:
    """Return a method of plain data, bounded."""
    if name not in METHODS.get(type(owner), ()):
        raise UnsupportedError(f"it uses '.{name}' of a {type(owner).__name__}")
    bound: Callable[..., Value] = getattr(owner, name)
    if name in _WIDTHS:
        return lambda width, *fill: bound(_narrow(width), *fill)
    if name == "replace":
        return lambda old, new, *count: _replace(owner, old, new, *count)
    if name == "choices":
        return lambda items, k=1: bound(items, k=_narrow(k))
    return bound


def _narrow(width: int) -> int:
    if width > MAX_WIDTH:
        raise _too_large()
    return width


def _replace(text: str, old: str, new: str, *count: int) -> str:
    if (text.count(old) + 1) * (len(new) + 1) + len(text) > MAX_ITEMS:
        raise _too_large()
    return text.replace(old, new, *count)
