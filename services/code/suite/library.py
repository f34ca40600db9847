"""The builtins and modules that test code may use: pure functions alone, each of them bounded."""

from __future__ import annotations

import collections
import copy
import functools
import itertools
import math
import random
import string
from typing import TYPE_CHECKING, Any, Final

from services.code.suite import operations
from services.code.suite.values import (
    MAX_ITEMS,
    Builtin,
    Failure,
    Namespace,
    UnsupportedError,
    Value,
    check_hashes,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

MAX_FACTORIAL: Final = 2_000


def bounded(items: Iterable[Value]) -> list[Value]:
    """Make a list of an iterable of bounded length."""
    if isinstance(items, range) and len(items) > MAX_ITEMS:
        raise UnsupportedError("it goes through too long a range")
    found = list(itertools.islice(items, MAX_ITEMS + 1))
    if len(found) > MAX_ITEMS:
        raise UnsupportedError("it makes too long a list")
    return found


def _distinct(items: Iterable[Value] = ()) -> set[Value]:
    found = bounded(items)
    check_hashes(found)
    return set(found)


def _counter(items: Iterable[Value] = ()) -> dict[Value, int]:
    found = bounded(items)
    check_hashes(found)
    return dict(collections.Counter(found))


def _sum(items: Iterable[Value], start: Value = 0) -> Value:
    total = start
    size = 0
    for item in bounded(items):
        total = total + item
        if isinstance(total, list | tuple):
            size += len(total)
            if size > MAX_ITEMS:
                raise UnsupportedError("it makes too long a list")
    return total


def _small(function: Callable[..., int], most: int) -> Callable[..., int]:
    def checked(*numbers: int) -> int:
        if any(number > most for number in numbers):
            raise UnsupportedError(f"it computes {function.__name__} of a large number")
        return function(*numbers)

    return checked


def _pow(base: Value, exponent: Value, modulus: Value = None) -> Value:
    if modulus is None:
        return operations.power(base, exponent)
    return pow(base, exponent, modulus)


def _print(*_values: Value, **_options: Value) -> None:
    """Say nothing: what tests print is for people."""


def _is_instance(value: Value, kinds: Value) -> bool:
    kinds = kinds if isinstance(kinds, tuple) else (kinds,)
    names = [kind for kind in kinds if isinstance(kind, Builtin) and kind.kind is not None]
    if len(names) < len(kinds):
        raise UnsupportedError("it asks for a type that is not built in")
    return any(isinstance(value, kind.kind) for kind in names if kind.kind)


def _type(value: Value) -> Value:
    return _TYPES.get(type(value), Builtin(type(value).__name__, _print))


def _text(value: Value = "") -> str:
    if isinstance(value, str | int | float | bool | None | Failure):
        return str(value)
    return repr(_plain(value))


def _plain(value: Value) -> Value:
    if isinstance(
        value, str | bytes | int | float | complex | list | tuple | dict | set | frozenset
    ):
        return value
    if value is None:
        return value
    raise UnsupportedError(f"it writes a {type(value).__name__} as text")


def _dict(*parts: Value, **members: Value) -> dict[Value, Value]:
    source: Value = parts[0] if parts else ()
    pairs = bounded(source.items() if isinstance(source, dict) else source)
    check_hashes([pair[0] for pair in pairs])
    return {**dict(pairs), **members}


def _as_type(kind: type, make: Callable[..., Value]) -> Builtin:
    return Builtin(kind.__name__, make, kind)


_TYPES: Final[dict[type, Builtin]] = {
    bool: _as_type(bool, bool),
    int: _as_type(int, int),
    float: _as_type(float, float),
    complex: _as_type(complex, complex),
    str: _as_type(str, _text),
    bytes: _as_type(bytes, lambda items=b"": bytes(bounded(items))),
    list: _as_type(list, lambda items=(): bounded(items)),
    tuple: _as_type(tuple, lambda items=(): tuple(bounded(items))),
    set: _as_type(set, _distinct),
    frozenset: _as_type(frozenset, lambda items=(): frozenset(_distinct(items))),
    dict: _as_type(dict, _dict),
    range: _as_type(range, range),
    type(None): Builtin("NoneType", _print, type(None)),
}

_FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "abs": abs,
    "all": lambda items: all(bounded(items)),
    "any": lambda items: any(bounded(items)),
    "bin": bin,
    "chr": chr,
    "divmod": divmod,
    "enumerate": lambda items, start=0: list(enumerate(bounded(items), start)),
    "filter": lambda test, items: [one for one in bounded(items) if (test(one) if test else one)],
    "hex": hex,
    "isinstance": _is_instance,
    "len": len,
    "map": lambda function, *items: [
        function(*each) for each in zip(*map(bounded, items), strict=False)
    ],
    "max": max,
    "min": min,
    "oct": oct,
    "ord": ord,
    "pow": _pow,
    "print": _print,
    "repr": lambda value: repr(_plain(value)),
    "reversed": lambda items: list(reversed(items)),
    "round": round,
    "sorted": lambda items, key=None, reverse=False: sorted(
        bounded(items), key=key, reverse=reverse
    ),
    "sum": _sum,
    "type": _type,
    "zip": lambda *items, strict=False: list(zip(*map(bounded, items), strict=strict)),
}
BUILTINS: Final[dict[str, Value]] = {
    **{kind.name: kind for kind in _TYPES.values()},
    **{name: Builtin(name, function) for name, function in _FUNCTIONS.items()},
}


def _namespace(name: str, members: Mapping[str, Value]) -> Namespace:
    wrapped = {
        key: Builtin(key, value) if callable(value) and not isinstance(value, Builtin) else value
        for key, value in members.items()
    }
    return Namespace(name, wrapped)


_MATH: Final = (
    "acos asin atan atan2 ceil copysign cos degrees dist e exp fabs floor fmod fsum gcd hypot inf "
    "isclose isfinite isinf isnan isqrt lcm log log10 log1p log2 modf nan pi pow radians sin sinh "
    "sqrt tan tanh tau trunc"
)


def modules(seeded: random.Random) -> dict[str, Namespace]:
    """Return the modules; randomness comes from `seeded`, so that a suite is always the same."""
    # No `seed`: it would be the program's as well, whose process is another.
    names = operations.METHODS[random.Random] - {"seed"}
    chance = {name: operations.method(seeded, name) for name in names}
    numbers = {name: getattr(math, name) for name in _MATH.split()}
    limited = {
        name: _small(getattr(math, name), MAX_FACTORIAL) for name in ("factorial", "comb", "perm")
    }
    return {
        "math": _namespace(
            "math",
            {
                **numbers,
                **limited,
                "prod": lambda items: functools.reduce(operations.multiply, bounded(items), 1),
            },
        ),
        "random": _namespace("random", {**chance, "Random": random.Random}),
        "copy": _namespace("copy", {"copy": copy.copy, "deepcopy": copy.deepcopy}),
        "string": _namespace(
            "string",
            {n: v for n, v in vars(string).items() if isinstance(v, str) and not n.startswith("_")},
        ),
        "collections": _namespace("collections", {"Counter": _counter}),
        "functools": _namespace(
            "functools",
            {"reduce": lambda f, items, *start: functools.reduce(f, bounded(items), *start)},
        ),
        "itertools": _namespace(
            "itertools",
            {
                "chain": lambda *parts: [one for part in parts for one in bounded(part)],
                "product": lambda *parts, repeat=1: bounded(
                    itertools.product(*parts, repeat=repeat)
                ),
                "permutations": lambda items, r=None: bounded(itertools.permutations(items, r)),
                "combinations": lambda items, r: bounded(itertools.combinations(items, r)),
            },
        ),
    }
