"""What a `unittest.TestCase` asserts, and which exceptions a name stands for."""

from __future__ import annotations

import ast
import builtins
from typing import TYPE_CHECKING, Any, Final

from services.code.suite.values import RaisedError, UnsupportedError, Value

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_COUNTED: Final = 2_000


def _almost_equal(
    one: Value,
    other: Value,
    places: int = 7,
    msg: object = None,
    delta: Value = None,
) -> bool:
    if delta is not None:
        return bool(abs(one - other) <= delta)
    return bool(one == other or round(abs(one - other), places) == 0)


def _counted(items: Value) -> list[tuple[Any, int]]:
    if len(items) > MAX_COUNTED:
        raise UnsupportedError(f"it counts more than {MAX_COUNTED:,} items")
    return [(one, items.count(one)) for one in items]


ASSERTIONS: Final[dict[str, Callable[..., Any]]] = {
    **dict.fromkeys(
        ("assertEqual", "assertListEqual", "assertDictEqual", "assertSetEqual", "assertTupleEqual"),
        lambda one, other, msg=None: one == other,
    ),
    "assertNotEqual": lambda one, other, msg=None: one != other,
    "assertTrue": lambda one, msg=None: bool(one),
    "assertFalse": lambda one, msg=None: not one,
    "assertIs": lambda one, other, msg=None: one is other,
    "assertIsNone": lambda one, msg=None: one is None,
    "assertIsNotNone": lambda one, msg=None: one is not None,
    "assertIn": lambda one, other, msg=None: one in other,
    "assertNotIn": lambda one, other, msg=None: one not in other,
    "assertGreater": lambda one, other, msg=None: one > other,
    "assertGreaterEqual": lambda one, other, msg=None: one >= other,
    "assertLess": lambda one, other, msg=None: one < other,
    "assertLessEqual": lambda one, other, msg=None: one <= other,
    "assertAlmostEqual": _almost_equal,
    "assertCountEqual": lambda one, other, msg=None: (
        len(one) == len(other) and all(other.count(item) == n for item, n in _counted([*one]))
    ),
}


def names_of(node: ast.expr | None) -> list[str]:
    """Return the names of the exceptions that an expression stands for."""
    if isinstance(node, ast.Tuple):
        return [name for one in node.elts for name in names_of(one)]
    if isinstance(node, ast.Call):
        return names_of(node.func)
    if isinstance(node, ast.Attribute):
        return [node.attr]
    if isinstance(node, ast.Name):
        return [node.id]
    raise UnsupportedError("it names an exception in an unusual way")


def handles(handler: ast.ExceptHandler, error: RaisedError) -> bool:
    """Say whether an `except` is for an exception."""
    names = ["BaseException"] if handler.type is None else names_of(handler.type)
    return catches(names, error)


def catches(names: list[str], error: RaisedError) -> bool:
    """Say whether an exception is one of those named; what a class not built in derives from is not known."""
    if error.is_final:
        return False
    if error.name in names:
        return True
    raised = getattr(builtins, error.name, None)
    if not (isinstance(raised, type) and issubclass(raised, BaseException)):
        if {"Exception", "BaseException"}.isdisjoint(names):
            raise UnsupportedError(f"it may catch the solution's exception '{error.name[:100]}'")
        raised = Exception
    kinds = [getattr(builtins, name, None) for name in names]
    known = tuple(k for k in kinds if isinstance(k, type) and issubclass(k, BaseException))
    return issubclass(raised, known)
