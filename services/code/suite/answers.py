"""Calls of the solution as test code makes them, and what came back."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from sandbox.runner import values as typed_values
from sandbox.runner.values import Opaque
from services.code.suite.values import UnsupportedError, Value


class Request(NamedTuple):
    """A call of the solution that the tests make."""

    key: str
    entry_point: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


class Answer(NamedTuple):
    """What became of a call: a value, an exception, or why there is neither."""

    value: Any = None
    exception: str | None = None
    message: str = ""
    fault: str = ""


VALUES: Final = frozenset(
    (
        *("Decimal", "Fraction", "dict_keys", "dict_items", "odict_keys", "odict_items", "ndarray"),
        *("date", "datetime", "time", "timedelta", "deque", "array", "memoryview", "mappingproxy"),
    )
)
"""Types of the standard library whose objects may equal data, which cannot be found out here."""


class Unknown(Opaque):
    """An object of the solution's: nobody here knows whether it is true, or different."""

    __slots__ = ()
    __hash__ = Opaque.__hash__

    def __bool__(self) -> bool:
        raise UnsupportedError(f"it asks whether {self!r} is true")

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Unknown) or self.type_name in VALUES:
            raise UnsupportedError(f"it compares {self!r}")
        return False

    def __ne__(self, other: object) -> bool:
        raise UnsupportedError(f"it compares {self!r}")

    def __repr__(self) -> str:
        return f"an object of the solution's class '{self.type_name}'"


def read_value(data: Any) -> Value:  # noqa: ANN401 - typed JSON
    """Decode what a call returned; `ValueRefused` if that cannot be."""
    names: list[str] = []
    return typed_values.decode(_with_handles(data, names), lambda number: Unknown(names[number]))


def _with_handles(data: Any, names: list[str]) -> Any:  # noqa: ANN401 - typed JSON
    if isinstance(data, list):
        return [_with_handles(item, names) for item in data]
    if not isinstance(data, dict):
        return data
    if data.get("$") in ("opaque", "handle"):
        names.append(str(data.get("type" if data["$"] == "handle" else "v"))[:100])
        return {"$": "handle", "v": len(names) - 1}
    return {key: _with_handles(item, names) for key, item in data.items()}
