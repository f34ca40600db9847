"""What the reader of test code computes with: plain Python data, and the few kinds beside it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeAlias

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable, Mapping

Value: TypeAlias = Any
"""Plain data, or one of the kinds below."""

MAX_ITEMS: Final = 1_000_000
MAX_SAME_HASH: Final = 64


class UnsupportedError(Exception):
    """The test code does what cannot be followed here; the message says what."""


class BlockedError(Exception):
    """What happens next depends on a value of the solution that is not known yet."""


class RaisedError(Exception):
    """An exception of the program under test, or of a test that used its value."""

    def __init__(self, name: str, message: str = "", *, is_final: bool = False) -> None:
        super().__init__(name, message)
        self.name = name
        self.message = message
        self.is_final = is_final
        """Whether no test code can catch it: the call was never answered."""


class ReturnError(Exception):
    """The end of a function of the test code; no fault."""

    def __init__(self, value: Value) -> None:
        super().__init__()
        self.value = value


class BreakError(Exception):
    """`break`; no fault."""


class ContinueError(Exception):
    """`continue`; no fault."""


class Pending:
    """A value that depends on calls that were not made yet."""

    __slots__ = ()

    def __bool__(self) -> NoReturn:
        raise BlockedError


PENDING: Final = Pending()


@dataclass(frozen=True, slots=True)
class Solution:
    """The function of the solution with this name."""

    entry_point: str


@dataclass(frozen=True, slots=True)
class Builtin:
    """A function or a type of Python's that is known to be pure; `kind` if it is a type."""

    name: str
    function: Callable[..., Value]
    kind: type | None = None


@dataclass(slots=True)
class Scope:
    """Names, and the scope around them."""

    names: dict[str, Value] = field(default_factory=dict)
    around: Scope | None = None
    is_module: bool = False


@dataclass(frozen=True, slots=True)
class Function:
    """A function that the test code defines."""

    name: str
    arguments: ast.arguments
    body: list[ast.stmt] | ast.expr
    scope: Scope
    defaults: Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Namespace:
    """A module, or an object of a test framework: names and what they stand for."""

    name: str
    members: Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Failure:
    """An exception that was caught, as its handler sees it."""

    name: str
    message: str

    def __str__(self) -> str:
        return self.message


def is_pending(value: Value, depth: int = 50) -> bool:
    """Say whether a value is, or holds, one that is not known yet."""
    if value is PENDING:
        return True
    if depth and isinstance(value, dict):
        value = value.values()
    elif not (depth and isinstance(value, list | tuple | set | frozenset)):
        return False
    return any(is_pending(item, depth - 1) for item in value)


def check_hashes(items: Value) -> None:
    """Refuse members of a set that were chosen so that putting them there takes very long."""
    if len(items) > MAX_SAME_HASH:
        most = Counter(map(hash, items)).most_common(1)[0][1]
        if most > MAX_SAME_HASH and len(set(map(repr, items[:1_000]))) > MAX_SAME_HASH:
            raise UnsupportedError("it puts values with the same hash into a set")
