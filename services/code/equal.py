"""Compares a value that a function returned with the expected one: data only, types and all.

Both are plain Python data, as `sandbox.runner.values` decodes it, so nothing here calls a method
that untrusted code has written. A bool is not an int; a list is not a tuple, unless the options say
so; an int and a float are equal if their values are. Where a float is expected, a number within the
tolerance will do, however deep it lies in lists, tuples and values of dicts; members of sets and
keys of dicts are matched exactly, and else by their order if all of them are numbers. An expected
nan equals a nan. Opaque values, which stand for objects of other types, equal nothing.
"""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

MAX_DEPTH: Final = 200


class Rules(NamedTuple):
    """What is to count as equal."""

    rel_tol: float = 1e-6
    abs_tol: float = 1e-6
    tuple_is_list: bool = False


EXACT: Final = Rules(0.0, 0.0)


def equal(expected: object, returned: object, rules: Rules) -> bool:
    """Say whether `returned` is the expected value. Never raises; deeper than 200 is unequal."""
    return _equal(expected, returned, rules, MAX_DEPTH)


def _equal(expected: Any, returned: Any, rules: Rules, depth: int) -> bool:  # noqa: ANN401
    if depth < 0:
        return False
    if _is_number(expected):
        return _is_number(returned) and _same_number(expected, returned, rules)
    if isinstance(expected, list | tuple):
        return _same_sequence(expected, returned, rules, depth)
    if type(expected) is not type(returned):
        return False
    return _same_kind(expected, returned, rules, depth)


def _same_kind(expected: Any, returned: Any, rules: Rules, depth: int) -> bool:  # noqa: ANN401
    if isinstance(expected, dict):
        return _same_dict(expected, returned, rules, depth)
    if _is_set(expected):
        return _same_set(expected, returned, rules)
    return bool(expected == returned)


def _is_number(value: object) -> bool:
    return type(value) in (int, float, complex)


def _is_set(value: object) -> bool:
    return isinstance(value, set | frozenset)


def _same_number(expected: Any, returned: Any, rules: Rules) -> bool:  # noqa: ANN401
    if expected == returned:
        return True
    if type(expected) is int:
        return False
    try:
        return _is_close(expected, returned, rules)
    except OverflowError:  # an int beyond any float
        return False


def _is_close(expected: Any, returned: Any, rules: Rules) -> bool:  # noqa: ANN401
    if type(expected) is float and math.isnan(expected):
        return type(returned) is float and math.isnan(returned)
    difference = abs(expected - returned)
    return math.isfinite(difference) and difference <= _allowed(abs(expected), rules)


def _allowed(size: float, rules: Rules) -> float:
    return max(rules.abs_tol, rules.rel_tol * size)


def _same_sequence(expected: Any, returned: Any, rules: Rules, depth: int) -> bool:  # noqa: ANN401
    kinds = (list, tuple) if rules.tuple_is_list else (type(expected),)
    return (
        type(returned) in kinds
        and len(expected) == len(returned)
        and all(
            _equal(one, other, rules, depth - 1)
            for one, other in zip(expected, returned, strict=True)
        )
    )


def _same_dict(expected: Any, returned: Any, rules: Rules, depth: int) -> bool:  # noqa: ANN401
    if len(expected) != len(returned):
        return False
    there = {_Typed(key, rules): item for key, item in returned.items()}
    absent = object()
    for key, item in expected.items():
        other = there.get(_Typed(key, rules), absent)
        if other is absent or not _equal(item, other, rules, depth - 1):
            return False
    return True


def _same_set(expected: Any, returned: Any, rules: Rules) -> bool:  # noqa: ANN401
    if len(expected) != len(returned):
        return False
    if {_Typed(one, rules) for one in expected} == {_Typed(one, rules) for one in returned}:
        return True
    both = [*expected, *returned]
    if any(type(one) not in (int, float) or math.isnan(one) for one in both):
        return False
    pairs = zip(sorted(expected), sorted(returned), strict=True)
    return all(_same_number(one, other, rules) for one, other in pairs)


class _Typed:
    """A member of a set or a key: as Python compares it, but with its types."""

    __slots__ = ("_hash", "_rules", "_value")

    def __init__(self, value: Any, rules: Rules) -> None:  # noqa: ANN401 - any hashable value
        # As a list may be equal to a tuple elsewhere, but never lies in a set, the value will do.
        self._value = value
        self._rules = EXACT._replace(tuple_is_list=rules.tuple_is_list)
        self._hash = hash(value)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Typed) and equal(self._value, other._value, self._rules)
