"""The part of pytest that tests of programs use; it is their module `pytest`.

Covered: `raises` (with `match`), `approx` (numbers, lists, dicts), `fixture` (also with `yield`),
`mark.parametrize`, other marks without effect, `fail`, `param`. All else is an `UnsupportedError`.
"""

from __future__ import annotations

import math
import re

from services.code.inside.proxies import UnansweredError, UnsupportedError, settled
from services.code.inside.rewriting import caught

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Any, Final

    from services.code.inside.proxies import Value

_HARMLESS: Final = frozenset({"slow", "timeout", "unit", "integration", "smoke", "basic", "edge"})


class ExceptionInfo:
    """What `raises` gives: the exception, once there is one."""

    value: BaseException
    type: type[BaseException]

    def match(self, pattern: str) -> bool:
        """Check the message."""
        if not re.search(pattern, str(self.value)):
            raise AssertionError(f"{pattern!r} does not match {str(self.value)!r}")
        return True


class raises:  # noqa: N801 - as pytest calls it
    """Checks that its block, or a function that it is given, raises one of some exceptions."""

    def __init__(
        self, kinds: Value, *call: Value, match: str | None = None, **named: Value
    ) -> None:
        self._kinds = kinds
        self._match = match
        self._info = ExceptionInfo()
        if call:
            with self:
                call[0](*call[1:], **named)

    def __enter__(self) -> ExceptionInfo:
        return self._info

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        if error is None or kind is None:
            raise AssertionError("nothing was raised")
        if not isinstance(error, caught(self._kinds)):
            return False
        self._info.value, self._info.type = error, kind
        if self._match is not None:
            self._info.match(self._match)
        return True


class approx:  # noqa: N801 - as pytest calls it
    """Equals a number, or numbers in a list, tuple or dict, that are close enough."""

    def __init__(
        self,
        expected: Value,
        rel: float | None = None,
        abs: float | None = None,  # noqa: A002 - as pytest calls it
        *,
        nan_ok: bool = False,
    ) -> None:
        self._expected = settled(expected)
        self._rel, self._abs, self._nan_ok = rel, abs, nan_ok

    def __eq__(self, other: object) -> bool:
        return self._close(self._expected, settled(other))

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None  # type: ignore[assignment]

    def _close(self, one: Value, other: Value) -> bool:
        if isinstance(one, dict):
            return (
                isinstance(other, dict)
                and one.keys() == other.keys()
                and all(self._close(item, other[key]) for key, item in one.items())
            )
        if isinstance(one, (list, tuple)):
            return (
                isinstance(other, (list, tuple))
                and len(one) == len(other)
                and all(self._close(*pair) for pair in zip(one, other))  # noqa: B905 (Python 3.9)
            )
        return self._close_number(one, other)

    def _close_number(self, one: Value, other: Value) -> bool:
        if not isinstance(one, (int, float, complex)) or isinstance(one, bool):
            return bool(one == other)
        if not isinstance(other, (int, float, complex)) or isinstance(other, bool):
            return False
        if one == other:
            return True
        if isinstance(one, float) and math.isnan(one):
            return self._nan_ok and isinstance(other, float) and math.isnan(other)
        if math.isinf(abs(one)) or math.isinf(abs(other)):
            return False
        absolute = 1e-12 if self._abs is None else self._abs
        # As in pytest: with an absolute tolerance alone, there is no relative one.
        relative = (1e-6 if self._abs is None else 0.0) if self._rel is None else self._rel
        return bool(abs(one - other) <= max(absolute, relative * abs(one)))


class Fixture:
    """A function whose result tests ask for by its name."""

    def __init__(
        self, function: Callable[..., Any], name: str | None, *, is_automatic: bool
    ) -> None:
        self.function = function
        self.name = name or function.__name__
        self.is_automatic = is_automatic


def fixture(*function: Callable[..., Any], **options: Value) -> Value:
    """Make a fixture; its scope is one test, as each test has a process of its own."""
    if options.get("params") is not None:
        raise UnsupportedError("it uses a fixture with parameters")
    name, is_automatic = options.get("name"), bool(options.get("autouse"))
    if function:
        return Fixture(function[0], name, is_automatic=is_automatic)
    return lambda decorated: Fixture(decorated, name, is_automatic=is_automatic)


def param(*values: Value, **_: Value) -> Value:
    """Hold one set of values for `parametrize`."""
    return Parameters(values)


class Parameters(tuple):  # type: ignore[type-arg]
    """Values that were given by `param`."""


class _Marks:
    def parametrize(self, names: Value, values: Value, **options: Value) -> Value:
        """Run a test once with each of some sets of values."""
        if options.keys() - {"ids"}:
            raise UnsupportedError("it uses 'parametrize' in an unusual way")
        listed = [one.strip() for one in names.split(",")] if isinstance(names, str) else [*names]
        sets = [_named(listed, one) for one in values]

        def mark(function: Value) -> Value:
            function._parameters = [*getattr(function, "_parameters", []), sets]
            return function

        return mark

    def __getattr__(self, name: str) -> Value:
        if name not in _HARMLESS:
            raise UnsupportedError(f"it uses 'pytest.mark.{name}'")
        return lambda *given, **_: given[0] if given and callable(given[0]) else lambda one: one


def _named(names: list[str], values: Value) -> dict[str, Any]:
    if isinstance(values, Parameters):
        values = values if len(names) > 1 else values[0]
    return dict(zip(names, values if len(names) > 1 else [values]))  # noqa: B905 (Python 3.9)


mark: Final = _Marks()


def fail(reason: str = "", **_: Value) -> None:
    """Fail the test."""
    raise AssertionError(reason)


def __getattr__(name: str) -> Value:
    if name.startswith("__"):
        raise AttributeError(name)
    raise UnsupportedError(f"it uses 'pytest.{name}'")


__all__ = [
    "ExceptionInfo",
    "UnansweredError",
    "approx",
    "fail",
    "fixture",
    "mark",
    "param",
    "raises",
]
