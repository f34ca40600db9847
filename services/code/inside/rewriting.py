"""Changes test code so that it can go on before there are answers, and compares what stands there.

An `assert` that has to wait for an answer is passed over. Attributes are fetched where their value is
used. `is`, and the functions of Python that look at what an object is, ask the program.
"""

from __future__ import annotations

import ast
import builtins

from services.code.inside.proxies import (
    Handle,
    Proxy,
    UnansweredError,
    UnsupportedError,
    fetched,
    settled,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final, TypeGuard

    from services.code.inside.proxies import Value

_UNUSABLE: Final = frozenset(
    {"__class__", "__dict__", "__doc__", "__mro__", "__bases__", "__name__", "__annotations__"}
)
_COPIED: Final = (list, dict, set, frozenset, tuple, bytearray)
_SHARED: Final = frozenset(
    (
        *("stdin", "stdout", "stderr", "redirect_stdout", "redirect_stderr", "StringIO", "BytesIO"),
        *("patch", "monkeypatch", "environ", "putenv", "chdir", "argv", "modules", "tmp_path"),
        *("setrecursionlimit", "capsys", "capfd", "caplog"),
        *("write_text", "write_bytes", "read_text", "read_bytes"),
    )
)
"""Names of what a process has once: the program runs in another, where a change is not seen."""
_SHARED_ONCE_USED: Final = frozenset(
    (
        *("open", "input", "os", "shutil", "tempfile", "pathlib", "subprocess", "socket", "signal"),
        *("threading", "multiprocessing", "mock", "builtins", "importlib", "gc", "weakref"),
        *("inspect", "Path"),
    )
)
"""The same, of functions and modules: many tests import `os` and make no use of it."""


def same(one: Value, other: Value) -> bool:
    """Say whether two are the same object, in the program if they are the program's."""
    one, other = settled(one), settled(other)
    if isinstance(one, _COPIED) and isinstance(other, _COPIED) and one is not other:
        raise UnsupportedError("it asks whether two values are the same object")
    if one is other or not (isinstance(one, Proxy) and isinstance(other, Proxy)):
        return one is other
    return bool(settled(one._rewarden_operate("is_", other)))


def caught(kind: Value) -> Value:
    """Return the class, or classes, of exceptions that a name stands for."""
    if isinstance(kind, tuple):
        return tuple(map(caught, kind))
    return settled(kind)


def _is_instance(value: Value, kind: Value) -> bool:
    return isinstance(settled(value), kind)


def _has_attribute(value: Value, name: str) -> bool:
    if not isinstance(value, Proxy):
        return hasattr(value, name)
    found: Value = value.__getattr__(name)
    return bool(found._rewarden_exists())


def _attribute(value: Value, name: str, *default: Value) -> Value:
    if isinstance(value, Proxy) and default and not _has_attribute(value, name):
        return default[0]
    return fetched(getattr(value, name, *default))


def _is_callable(value: Value) -> bool:
    found = settled(value)
    return (
        bool(settled(found._rewarden_operate("callable")))
        if isinstance(found, Handle)
        else callable(found)
    )


def _type(*args: Value) -> Value:
    found = settled(args[0])
    if isinstance(found, Handle):
        raise UnsupportedError("it asks for the type of an object of the program")
    return type(found, *args[1:])


def _identity(value: Value) -> int:
    if isinstance(value, Proxy):
        raise UnsupportedError("it asks for the identity of an object of the program")
    return id(value)


REPLACED: Final[dict[str, Any]] = {
    "isinstance": _is_instance,
    "hasattr": _has_attribute,
    "getattr": _attribute,
    "callable": _is_callable,
    "type": _type,
    "id": _identity,
    "_rewarden_same": same,
    "_rewarden_caught": caught,
    "_rewarden_fetched": fetched,
    "_rewarden_Unanswered": UnansweredError,
}
"""What tests find under these names."""


def rewritten(code: str, name: str) -> ast.Module:
    """Parse test code and change it; a `SyntaxError` if it is no Python."""
    tree = ast.parse(code, name)
    changed = _Rewriter(_imported(tree)).visit(tree)
    module: ast.Module = ast.fix_missing_locations(changed)
    return module


def check_apart(code: str) -> None:
    """Raise if tests use what a program in another process would have to share."""
    tree = ast.parse(code)
    bound = {node.id for node in ast.walk(tree) if _is_name(node, ast.Store)}
    used = {node.id for node in ast.walk(tree) if _is_name(node, ast.Load)}
    for name in sorted(_mentioned(tree) & _SHARED | (used - bound) & _SHARED_ONCE_USED):
        raise UnsupportedError(f"it uses '{name}', which the program would have to share")


def _is_name(node: ast.AST, context: type[ast.expr_context]) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and isinstance(node.ctx, context)


def _mentioned(tree: ast.Module) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found |= {one.name for one in node.names}
    return found


def free_names(code: str) -> set[str]:
    """Return the names that code uses and does not bind, apart from those built in."""
    tree = ast.parse(code)
    used: set[str] = set()
    bound: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            (used if isinstance(node.ctx, ast.Load) else bound).add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            bound.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            bound |= {(one.asname or one.name).partition(".")[0] for one in node.names}
    return {one for one in used - bound if not hasattr(builtins, one)}


def is_checked_at_once(code: str) -> bool:
    """Say whether code asserts anything outside of functions and classes."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    outside = [node for node in ast.parse(code).body if not isinstance(node, kinds)]
    return any(isinstance(one, ast.Assert) for node in outside for one in ast.walk(node))


def stubs(code: str) -> set[str]:
    """Return the names of functions that have no body yet."""
    return {
        node.name
        for node in ast.parse(code).body
        if isinstance(node, ast.FunctionDef)
        and all(isinstance(one, (ast.Expr, ast.Pass)) for one in node.body)
    }


def _imported(tree: ast.Module) -> set[str]:
    return {
        one.asname or one.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "solution"
        for one in node.names
    }


class _Rewriter(ast.NodeTransformer):
    """Changes one module."""

    def __init__(self, imported: set[str]) -> None:
        self._imported = imported

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        return _patient(self.generic_visit(node))

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        call = node.value
        is_check = (
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Attribute)
            and call.func.attr.startswith("assert")
        )
        visited = self.generic_visit(node)
        return _patient(visited) if is_check else visited

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        sign = node.ops[0]
        if len(node.ops) > 1 or not isinstance(sign, (ast.Is, ast.IsNot)):
            return node
        call = _called("_rewarden_same", node, node.left, node.comparators[0])
        is_not = isinstance(sign, ast.IsNot)
        return ast.copy_location(ast.UnaryOp(ast.Not(), call), node) if is_not else call

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        self.generic_visit(node)
        if node.type is not None:
            node.type = _called("_rewarden_caught", node.type, node.type)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if isinstance(node.func, ast.Attribute):
            node.func.value = self._unfetched(node.func.value)
        elif not isinstance(node.func, ast.Name):
            node.func = self.visit(node.func)
        node.args = [self.visit(one) for one in node.args]
        node.keywords = [self.visit(one) for one in node.keywords]
        if isinstance(node.func, ast.Attribute) and node.func.attr.startswith("assertRaises"):
            node.args[:1] = [_called("_rewarden_caught", one, one) for one in node.args[:1]]
        return node

    def _unfetched(self, node: ast.expr) -> ast.expr:
        """Leave the way to what is called as it is: it is gone in one step."""
        if isinstance(node, ast.Attribute):
            node.value = self._unfetched(node.value)
            return node
        visited: ast.expr = node if isinstance(node, ast.Name) else self.visit(node)
        return visited

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if node.attr in _UNUSABLE:
            raise UnsupportedError(f"it uses '{node.attr}'")
        if not isinstance(node.ctx, ast.Load):
            return self.generic_visit(node)
        node.value = self._unfetched(node.value)
        return _called("_rewarden_fetched", node, node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id in self._imported and isinstance(node.ctx, ast.Load):
            return _called("_rewarden_fetched", node, node)
        return node


def _called(name: str, place: ast.AST, *args: ast.expr) -> ast.Call:
    made = ast.Call(func=ast.Name(name, ast.Load()), args=[*args], keywords=[])
    return ast.copy_location(made, place)


def _patient(node: ast.AST) -> ast.AST:
    handler = ast.ExceptHandler(
        type=ast.Name("_rewarden_Unanswered", ast.Load()), name=None, body=[ast.Pass()]
    )
    made = ast.Try(body=[node], handlers=[handler], orelse=[], finalbody=[])  # type: ignore[list-item]
    return ast.copy_location(made, node)
