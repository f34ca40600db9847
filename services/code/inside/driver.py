"""The main file of a program whose objects are used step by step: does one step at a time.

The program is the file `solution.py` beside it. All of this shares a process with untrusted code,
so what it answers is data that the program may have chosen. What is covered: calls, attributes and
operators on the program's objects, which stay here and are spoken of by number; exceptions, which
are answers and end nothing; arguments that a call changed in place, which are sent back.

The standard library only, Python 3.9 and newer.
"""

from __future__ import annotations

import importlib.util
import operator
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Final, TypeAlias

    Value: TypeAlias = Any
    """Whatever the program makes."""

MAX_TAKEN: Final = 1_000
"""Items of an iterator that are sent at a time."""
MAX_DEPTH: Final = 100
_MUTABLE: Final = (list, dict, set, bytearray)


class Kept:
    """An object that never crosses as a value, even if it is a kind of list or number."""

    def __init__(self, value: Value) -> None:
        self.value = value


_results: list[Any] = []
_loaded: list[Any] = []


def step(kind: str, target: Value, path: str, args: list[Any], kwargs: dict[str, Any]) -> Value:
    """Do one step and answer: `value` or `exception`, and `changed` arguments by their place."""
    place = len(_results)
    _results.append(None)
    # An object crosses as one that is unknown; `#3` is the result of step 3.
    target = _known(target)
    given = [_known(item) for item in args]
    named = {key: _known(item) for key, item in kwargs.items()}
    before = [_written(item) for item in given]
    answer: dict[str, Any] = {}
    try:
        value = _KINDS[kind](target, path, given, named)
        _results[place] = value.value if type(value) is Kept else value
        answer["value"] = value
    except BaseException as error:  # noqa: BLE001  (SystemExit is an answer as well)
        answer.update(_exception(error))
    changed = {
        str(n): item
        for n, item in enumerate(given)
        if type(item) in _MUTABLE and _written(item) != before[n]
    }
    return {**answer, "changed": changed} if changed else answer


def _exception(error: BaseException) -> dict[str, Any]:
    names = [kind.__name__ for kind in type.mro(type(error)) if kind is not object]
    try:
        message = str(error)[:1_000]
    except BaseException:  # noqa: BLE001  (it is code of the program that runs here)
        message = ""
    plain = [
        item if type(item) in (str, int, float, bool, type(None)) else message
        for item in error.args
    ]
    return {"exception": names[0], "names": names[:20], "message": message, "args": plain[:20]}


def _solution() -> Value:
    if not _loaded:
        here = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120  (pathlib is slow)
        spec = importlib.util.spec_from_file_location("solution", here + "/solution.py")
        if spec is None or spec.loader is None:
            raise ImportError("solution.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules["solution"] = module
        spec.loader.exec_module(module)
        _loaded.append(module)
    return _loaded[0]


def _known(item: Value, depth: int = 0) -> Value:
    """Put objects in the place of their numbers, however deep they lie."""
    if type(item) is Kept:
        return item.value
    if depth > MAX_DEPTH:
        return item
    if type(item) in (list, tuple, set, frozenset):
        found = [_known(one, depth + 1) for one in item]
        return _filled(item, found)
    if type(item) is dict:
        return {_known(key, depth + 1): _known(one, depth + 1) for key, one in item.items()}
    name = getattr(item, "type_name", "") if type(item).__name__ == "Opaque" else ""
    return _results[int(name[1:])] if name.startswith("#") else item


def _filled(item: Value, found: list[Any]) -> Value:
    return found if type(item) is list else type(item)(found)


def _written(item: Value, depth: int = 0) -> Value:
    """Write down plain data, so that a change of it can be told."""
    if depth > MAX_DEPTH:
        return None
    if type(item) in (list, tuple):
        return [_written(one, depth + 1) for one in item]
    if type(item) is dict:
        return [(_written(k, depth + 1), _written(v, depth + 1)) for k, v in item.items()]
    if type(item) in (set, frozenset):
        return sorted(repr(_written(one, depth + 1)) for one in item)
    if type(item) in (str, bytes, bytearray, int, float, complex, bool, type(None)):
        return repr(item)
    return id(item)


def _walk(target: Value, names: list[str]) -> Value:
    found = _solution() if target is None else target
    for name in names:
        found = getattr(found, name)
    return found


def _call(target: Value, path: str, args: list[Any], kwargs: dict[str, Any]) -> Value:
    function = _walk(target, path.split(".") if path else [])
    value = function(*args, **kwargs)
    is_class = isinstance(function, type) and not issubclass(function, BaseException)
    return Kept(value) if is_class else value


def _get(target: Value, path: str, _: list[Any], __: dict[str, Any]) -> Value:
    value = _walk(target, path.split("."))
    if isinstance(value, type) and issubclass(value, BaseException):
        return {"exception class": [kind.__name__ for kind in type.mro(value)][:20]}
    return value


def _set(target: Value, path: str, args: list[Any], _: dict[str, Any]) -> None:
    *names, last = path.split(".")
    setattr(_walk(target, names), last, args[0])


def _delete(target: Value, path: str, _: list[Any], __: dict[str, Any]) -> None:
    *names, last = path.split(".")
    delattr(_walk(target, names), last)


def _has(target: Value, path: str, _: list[Any], __: dict[str, Any]) -> bool:
    try:
        _walk(target, path.split("."))
    except AttributeError:
        return False
    return True


def _operate(target: Value, path: str, args: list[Any], _: dict[str, Any]) -> Value:
    return _OPERATORS[path](target, *args)


def _is_instance(target: Value, path: str, args: list[Any], _: dict[str, Any]) -> bool:
    return isinstance(target, _walk(None, path.split(".")) if path else args[0])


def _items(source: Value) -> Value:
    """Return the first items, and the iterator that has the others."""
    found = []
    iterator = iter(source)
    for item in iterator:
        found.append(item)
        if len(found) == MAX_TAKEN:
            return [found, Kept(iterator)]
    return [found, None]


def _swapped(operate: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda one, other: operate(other, one)


_BINARY: Final = (
    *("eq", "ne", "lt", "le", "gt", "ge", "add", "sub", "mul", "truediv", "floordiv", "mod"),
    *("pow", "matmul", "and_", "or_", "xor", "lshift", "rshift"),
)
_UNARY: Final = (
    *("neg", "pos", "invert", "abs", "contains", "getitem", "setitem", "delitem", "is_"),
)
_OPERATORS: Final[dict[str, Callable[..., Any]]] = {
    **{name: getattr(operator, name) for name in _BINARY + _UNARY},
    **{"r" + name: _swapped(getattr(operator, name)) for name in _BINARY},
    **{
        one.__name__: one
        for one in (len, bool, str, repr, hash, int, float, next, callable, format)
    },
    "items": _items,
    "enter": lambda target: type(target).__enter__(target),
    "exit": lambda target: type(target).__exit__(target, None, None, None),
}
_KINDS: Final[dict[str, Callable[..., Any]]] = {
    "call": _call,
    "get": _get,
    "set": _set,
    "delete": _delete,
    "has": _has,
    "operate": _operate,
    "instance": _is_instance,
}
