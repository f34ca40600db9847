"""What the reader of test code does with values: it computes, calls, and finds names.

A call of the solution is not made here. If its answer is known, that is its value; if not, it is
written down, and its value is pending, as is whatever is computed from it. Steps, the size of values
and the depth of calls are bounded.
"""

from __future__ import annotations

import ast
import builtins
import copy
import json
from collections import Counter
from typing import TYPE_CHECKING, Final

from sandbox.runner import values as typed_values
from sandbox.runner.values import Opaque
from services.code.suite import library
from services.code.suite.answers import Answer, Request
from services.code.suite.values import (
    MAX_ITEMS,
    PENDING,
    BlockedError,
    Builtin,
    Function,
    RaisedError,
    Scope,
    Solution,
    UnsupportedError,
    Value,
    is_pending,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

SOLUTION_CLASS: Final = "Solution"
"""A class that holds no state, by convention; other classes are not followed."""
MAX_STEPS: Final = 400_000
MAX_ALLOCATED: Final = 10 * MAX_ITEMS
MAX_CALLS: Final = 1_000
MAX_CALL_DEPTH: Final = 40
_FAULTS: Final = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


class Caller:
    """Computes and calls; `Evaluator` reads expressions, and `Machine` statements."""

    def __init__(self, answers: Mapping[str, Answer], entry_point: str | None) -> None:
        self.answers = answers
        self.requests: dict[str, Request] = {}
        self.is_incomplete = False
        self.called = 0
        self.reserved: set[str] = set()
        """Names of the setup that could not be followed: neither ours to use nor the solution's."""
        self._entry_point = entry_point
        self._asked: Counter[str] = Counter()
        self._steps = 0
        self._allocated = 0
        self._depth = 0
        self._has_pending = False
        self._escaped: dict[int, Value] = {}

    def step(self) -> None:
        """Count a step."""
        self._steps += 1
        if self._steps > MAX_STEPS:
            raise UnsupportedError("it takes too many steps")

    def account(self, value: Value) -> Value:
        """Count what a value may have taken of memory."""
        if isinstance(value, str | bytes | list | tuple | dict | set):
            self._allocated += len(value) if len(value) > 100 else 0
            if self._allocated > MAX_ALLOCATED:
                raise UnsupportedError("it makes too much")
        return value

    def compute(self, function: Callable[..., Value], *args: Value, **kwargs: Value) -> Value:
        """Compute with plain data; pending if any of it is, and its exceptions are the test's."""
        if any(isinstance(one, Opaque) for one in (*args, *kwargs.values())):
            raise UnsupportedError("it computes with an object of the solution")
        if self._has_pending and (is_pending(list(args)) or is_pending(kwargs)):
            return PENDING
        try:
            return function(*args, **kwargs)
        except _FAULTS as error:
            raise RaisedError(type(error).__name__, str(error)[:200]) from None

    def truth(self, value: Value) -> bool:
        """Say whether a value is true, where that is known."""
        if value is PENDING:
            raise BlockedError
        if isinstance(value, Opaque):
            raise UnsupportedError(f"it asks whether {value!r} is true")
        return bool(value)

    def items(self, value: Value) -> list[Value]:
        """Return what an iteration goes through."""
        if value is PENDING:
            raise BlockedError
        if isinstance(value, Opaque):
            raise UnsupportedError(f"it goes through {value!r}")
        found: list[Value] = self.compute(library.bounded, value) if not _holds(value) else [*value]
        return found

    def call(self, function: Value, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """Call anything that can be called."""
        self.step()
        if function is PENDING:
            return PENDING
        if isinstance(function, Solution):
            return self._ask(function, args, kwargs)
        if isinstance(function, Function):
            return self.enter(function, args, kwargs)
        if not isinstance(function, Builtin):
            raise UnsupportedError("it calls a value that is no function")
        if function.name != "range" and any(_is_long(one) for one in args):
            raise UnsupportedError("it goes through too long a range")
        wrapped = [self.wrapped(one) for one in args]
        named = {key: self.wrapped(one) for key, one in kwargs.items()}
        return self.compute(function.function, *wrapped, **named)

    def enter(self, function: Function, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """Call a function of the test code."""
        raise NotImplementedError

    def wrapped(self, value: Value) -> Value:
        """Make a function of the test code, or of the solution, one of Python's."""
        if isinstance(value, Builtin) and value.kind is None:
            return value.function
        if isinstance(value, Function | Solution):
            return lambda *args, **kwargs: self.call(value, [*args], kwargs)
        return value

    def _ask(self, function: Solution, args: list[Value], kwargs: dict[str, Value]) -> Value:
        if function.entry_point == SOLUTION_CLASS and not args and not kwargs:
            return function  # its methods are called on a new object each
        is_class = function.entry_point.rpartition(".")[2][0].isupper()
        if is_class and function.entry_point != self._entry_point:
            raise UnsupportedError(f"it makes an object of '{function.entry_point}'")
        self.called += 1
        if self._has_pending and (is_pending(args) or is_pending(kwargs)):
            self.is_incomplete = True
            return PENDING
        for one in [*args, *kwargs.values()]:
            if isinstance(one, list | dict | set):
                self._escaped[id(one)] = one
        request = self._request(function.entry_point, args, kwargs)
        answer = self.answers.get(request.key)
        if answer is None:
            self._has_pending = True
            if len(self.requests) >= MAX_CALLS:
                raise UnsupportedError(f"it makes more than {MAX_CALLS:,} calls")
            self.requests[request.key] = request
            return PENDING
        if answer.fault or answer.exception is not None:
            name = answer.exception or answer.fault
            raise RaisedError(name, answer.message, is_final=bool(answer.fault))
        # The test may change it, and will be executed again.
        return copy.deepcopy(answer.value)

    def _request(self, entry_point: str, args: list[Value], kwargs: dict[str, Value]) -> Request:
        try:
            typed = tuple(typed_values.encode(one) for one in args)
            named = {key: typed_values.encode(one) for key, one in kwargs.items()}
        except typed_values.ValueRefused as error:
            raise UnsupportedError(f"it passes an argument that cannot cross: {error}") from None
        said = json.dumps([entry_point, typed, named])
        if '"$": "opaque"' in said:
            raise UnsupportedError("it passes an object to the solution")
        self._asked[said] += 1
        return Request(f"{self._asked[said]} {said}", entry_point, typed, named)

    def mentions_escaped(self, node: ast.AST, scope: Scope) -> bool:
        """Say whether an expression names a value that was an argument, and may have been changed."""
        names = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
        found = (self._find(name, scope) for name in names)
        return any(id(value) in self._escaped for value in found)

    def _find(self, name: str, scope: Scope) -> Value:
        at: Scope | None = scope
        while at is not None:
            if name in at.names:
                return at.names[name]
            at = at.around
        return library.BUILTINS.get(name)

    def _name(self, node: ast.Name, scope: Scope) -> Value:
        found = self._find(node.id, scope)
        if found is not None or self._is_bound(node.id, scope):
            return found
        head = (self._entry_point or "").partition(".")[0]
        # A function of Python's that is not followed here is not the solution's for that.
        is_foreign = node.id in self.reserved or hasattr(builtins, node.id)
        if node.id != head and (head or is_foreign):
            raise UnsupportedError(f"it uses '{node.id}', which is not defined in it")
        return Solution(node.id)

    def _is_bound(self, name: str, scope: Scope | None) -> bool:
        while scope is not None:
            if name in scope.names:
                return True
            scope = scope.around
        return False


def _holds(value: Value) -> bool:
    return isinstance(value, list | tuple)


def _is_long(value: Value) -> bool:
    return isinstance(value, range) and len(value) > MAX_ITEMS


def bound(function: Function, args: list[Value], kwargs: dict[str, Value]) -> dict[str, Value]:
    """Pair the arguments of a call with their names."""
    wanted = function.arguments
    if wanted.vararg or wanted.kwarg:
        raise UnsupportedError("it defines a function with '*'")
    names = [one.arg for one in (*wanted.posonlyargs, *wanted.args)]
    found = {**function.defaults, **dict(zip(names, args, strict=False)), **kwargs}
    known = {*names, *(one.arg for one in wanted.kwonlyargs)}
    if len(args) > len(names) or found.keys() != known:
        raise UnsupportedError(f"it calls '{function.name}' with other arguments than it takes")
    return found


def loaded(target: ast.expr) -> ast.expr:
    """Return the expression that reads what a statement assigns to."""
    if isinstance(target, ast.Name):
        return ast.Name(target.id, ast.Load())
    if isinstance(target, ast.Subscript):
        return ast.Subscript(target.value, target.slice, ast.Load())
    raise UnsupportedError("it assigns to an attribute")
