"""Calls of the solution as test code makes them, and what came back."""

from __future__ import annotations

from typing import Any, NamedTuple

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


class Unknown(Opaque):
    """An object of the solution's: nobody here knows whether it is true, or different."""

    __slots__ = ()
    __hash__ = Opaque.__hash__

    def __bool__(self) -> bool:
        raise UnsupportedError(f"it asks whether {self!r} is true")

    def __eq__(self, other: object) -> bool:
        return False

    def __ne__(self, other: object) -> bool:
        return False


def read_value(data: Any) -> Value:  # noqa: ANN401 - typed JSON
    """Decode what a call returned; `ValueRefused` if that cannot be."""
    return typed_values.decode(_with_handles(data), lambda _: Unknown("object"))


def _with_handles(data: Any) -> Any:  # noqa: ANN401 - typed JSON
    if isinstance(data, list):
        return [_with_handles(item) for item in data]
    if not isinstance(data, dict):
        return data
    if data.get("$") == "opaque":
        return {"$": "handle", "v": 0}
    return {key: _with_handles(item) for key, item in data.items()}
