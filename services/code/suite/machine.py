"""Executes the statements of test code, and notes every check that it makes.

An `assert` whose value is not known yet is passed over, so that all calls of a suite can be made in
one go. With the answers at hand the same code is executed again, and the checks hold or fail. A
check that fails does not end the test, but an exception outside of a check does.
"""

from __future__ import annotations

import ast
from collections import Counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from services.code.suite.assertions import ASSERTIONS, catches, handles, names_of
from services.code.suite.calling import MAX_CALL_DEPTH, bound, loaded
from services.code.suite.expressions import Evaluator
from services.code.suite.values import (
    PENDING,
    BlockedError,
    BreakError,
    Builtin,
    ContinueError,
    Failure,
    Function,
    Namespace,
    RaisedError,
    ReturnError,
    Scope,
    Solution,
    UnsupportedError,
    Value,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from services.code.suite.answers import Answer


class Check(NamedTuple):
    """One thing that the tests demand."""

    line: int
    number: int
    """Counts from 1 where a line is executed several times."""
    holds: bool | None
    """None as long as it depends on calls that were not made."""
    why: str = ""


class Machine(Evaluator):
    """Executes statements; see `Evaluator` for the expressions."""

    def __init__(
        self,
        answers: Mapping[str, Answer],
        entry_point: str | None,
        modules: Mapping[str, Namespace],
        *,
        is_first: bool,
    ) -> None:
        super().__init__(answers, entry_point)
        self.checks: dict[tuple[int, int, int], Check] = {}
        self.constant: set[tuple[int, int, int]] = set()
        """Checks that hold whatever the solution does."""
        self.dependent: frozenset[tuple[int, int, int]] = frozenset()
        """Checks that the first execution found to depend on the solution."""
        self.modules = modules
        self._is_first = is_first
        self._guarded = 0
        self._times: Counter[tuple[int, int]] = Counter()

    def run(self, body: list[ast.stmt], scope: Scope) -> None:
        """Execute one test to its end, or to where it cannot go on."""
        try:
            self.block(body, scope)
        except BlockedError:
            self.is_incomplete = True
        except ReturnError:
            return
        except RaisedError as error:
            self._fail_outside(body[0], error)

    def _fail_outside(self, node: ast.stmt, error: RaisedError) -> None:
        if self._is_first:
            raise UnsupportedError(f"it raises {error.name} by itself: {error.message}")
        self._note(node, holds=False, why=f"{error.name} was raised: {error.message}")

    def block(self, body: list[ast.stmt], scope: Scope) -> None:
        """Execute statements in turn."""
        for node in body:
            self.step()
            rule = _STATEMENTS.get(type(node))
            if rule is None:
                raise UnsupportedError(f"it uses {type(node).__name__}")
            rule(self, node, scope)

    def check(
        self, node: ast.stmt, decide: Callable[[], Value], mentions: ast.AST, scope: Scope
    ) -> None:
        """Note a check: `decide` returns whether it holds."""
        try:
            value = decide()
            holds = None if value is PENDING else self.truth(value)
        except BlockedError:
            holds, self.is_incomplete = None, True
        except RaisedError as error:
            if self._guarded:
                raise
            if self._is_first:
                raise UnsupportedError(
                    f"it raises {error.name} by itself: {error.message}"
                ) from None
            self._note(node, holds=False, why=f"{error.name} was raised: {error.message}"[:300])
            return
        if self._guarded:
            self._check_guarded(holds)
        elif self._is_first and holds is not None:
            self._note_constant(node, mentions, scope, holds=holds)
        else:
            if (
                holds is False
                and self.mentions_escaped(mentions, scope)
                and not self._is_known(node)
            ):
                raise UnsupportedError("it may look for changes of an argument in place")
            self._note(node, holds=holds, why="" if holds else "the values differ")

    def _is_known(self, node: ast.stmt) -> bool:
        """Say whether the first execution knew that the check depends on the solution."""
        return any(key[:2] == (node.lineno, node.col_offset) for key in self.dependent)

    def _check_guarded(self, holds: bool | None) -> None:
        if holds is False and not self.requests:
            raise RaisedError("AssertionError")

    def _note_constant(
        self, node: ast.stmt, mentions: ast.AST, scope: Scope, *, holds: bool
    ) -> None:
        if self.mentions_escaped(mentions, scope):
            raise UnsupportedError("it looks for changes of an argument in place")
        if not holds:
            raise UnsupportedError(f"line {node.lineno} fails whatever the solution returns")
        self.constant.add(self._key(node))

    def _key(self, node: ast.stmt) -> tuple[int, int, int]:
        place = (node.lineno, node.col_offset)
        self._times[place] += 1
        return (*place, self._times[place])

    def _note(self, node: ast.stmt, *, holds: bool | None, why: str = "") -> None:
        key = self._key(node)
        if holds and key in self.constant:
            return
        self.checks[key] = Check(node.lineno, key[2], holds, why)

    def enter(self, function: Function, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """Call a function of the test code."""
        scope = Scope(bound(function, args, kwargs), function.scope)
        self._depth += 1
        if self._depth > MAX_CALL_DEPTH:
            raise UnsupportedError("its functions call one another too deeply")
        try:
            if isinstance(function.body, ast.expr):
                return self.evaluate(function.body, scope)
            self.block(function.body, scope)
        except ReturnError as end:
            return end.value
        finally:
            self._depth -= 1
        return None

    def _assert(self, node: ast.Assert, scope: Scope) -> None:
        self.check(node, lambda: self.evaluate(node.test, scope), node.test, scope)

    def _expression(self, node: ast.Expr, scope: Scope) -> None:
        value = node.value
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
            owner = value.func.value
            is_self = isinstance(owner, ast.Name) and self._find(owner.id, scope) is _CASE
            if is_self and value.func.attr.startswith("assert"):
                self._assert_method(node, value, value.func.attr, scope)
                return
        self.evaluate(value, scope)

    def _assert_method(self, node: ast.Expr, call: ast.Call, name: str, scope: Scope) -> None:
        if name == "assertRaises":
            name_node, function, *args = call.args
            made = ast.Call(func=function, args=args, keywords=call.keywords)
            body: list[ast.stmt] = [
                ast.copy_location(ast.Expr(ast.copy_location(made, call)), node)
            ]
            self._expect(node, name_node, body, scope)
            return
        decide = ASSERTIONS.get(name)
        if decide is None:
            raise UnsupportedError(f"it uses 'self.{name}'")
        made = ast.Call(func=ast.Name("$", ast.Load()), args=call.args, keywords=call.keywords)
        inner = Scope({"$": Builtin(name, decide)}, scope)
        self.check(node, lambda: self.evaluate(made, inner), call, scope)

    def _expect(self, node: ast.stmt, kind: ast.expr, body: list[ast.stmt], scope: Scope) -> None:
        """Note a check that the body raises what it should."""
        before = self.called
        names = names_of(kind)
        self._guarded += 1
        holds: bool | None = None if self.requests else False
        why = f"{' or '.join(names)} was not raised"
        try:
            self.block(body, scope)
        except BlockedError:
            holds, self.is_incomplete = None, True
        except RaisedError as error:
            holds = catches(names, error)
            why = f"{error.name} was raised instead"
        finally:
            self._guarded -= 1
        if self.called == before:
            raise UnsupportedError("it expects an exception of its own code")
        if holds is False and self._guarded:
            raise RaisedError("AssertionError")
        self._note(node, holds=holds, why="" if holds else why)

    def _with(self, node: ast.With, scope: Scope) -> None:
        call = node.items[0].context_expr
        name = ast.unparse(call.func) if isinstance(call, ast.Call) else ""
        if name in ("self.assertRaises", "pytest.raises") and isinstance(call, ast.Call):
            if call.keywords or len(call.args) != 1 or node.items[0].optional_vars:
                raise UnsupportedError("it looks into an exception")
            self._expect(node, call.args[0], node.body, scope)
        elif name == "self.subTest":
            self.block(node.body, scope)
        else:
            raise UnsupportedError("it uses 'with'")

    def _try(self, node: ast.Try, scope: Scope) -> None:
        before = self.called
        self._guarded += 1
        try:
            self._try_body(node, scope)
        except RaisedError as error:
            self._guarded -= 1
            if self._guarded or self.called == before:
                raise
            self._note(node, holds=False, why=f"{error.name} was raised: {error.message}"[:300])
            return
        except BaseException:
            self._guarded -= 1
            raise
        self._guarded -= 1
        if self.called > before and not self._guarded:
            self._note(node, holds=None if self.requests else True)

    def _try_body(self, node: ast.Try, scope: Scope) -> None:
        try:
            self.block(node.body, scope)
        except RaisedError as error:
            handler = next((one for one in node.handlers if handles(one, error)), None)
            if handler is None:
                raise
            if handler.name:
                scope.names[handler.name] = Failure(error.name, error.message)
            self.block(handler.body, scope)
        else:
            self.block(node.orelse, scope)
        self.block(node.finalbody, scope)

    def _raise(self, node: ast.Raise, _: Scope) -> None:
        if self.requests:
            raise BlockedError
        raise RaisedError(names_of(node.exc)[0] if node.exc else "AssertionError")

    def _assign(self, node: ast.Assign, scope: Scope) -> None:
        value = self._value_of(node.value, scope)
        for target in node.targets:
            self.bind(target, value, scope)

    def _value_of(self, node: ast.expr, scope: Scope) -> Value:
        try:
            return self.evaluate(node, scope)
        except BlockedError:
            self.is_incomplete = True
            return PENDING

    def _annotated(self, node: ast.AnnAssign, scope: Scope) -> None:
        if node.value is not None:
            self.bind(node.target, self._value_of(node.value, scope), scope)

    def _augmented(self, node: ast.AugAssign, scope: Scope) -> None:
        load = ast.BinOp(left=loaded(node.target), op=node.op, right=node.value)
        self.bind(node.target, self.evaluate(load, scope), scope)

    def _for(self, node: ast.For, scope: Scope) -> None:
        try:
            for item in self.items(self.evaluate(node.iter, scope)):
                self.step()
                self.bind(node.target, item, scope)
                try:
                    self.block(node.body, scope)
                except ContinueError:
                    continue
        except BreakError:
            return
        self.block(node.orelse, scope)

    def _while(self, node: ast.While, scope: Scope) -> None:
        try:
            while self.truth(self.evaluate(node.test, scope)):
                self.step()
                try:
                    self.block(node.body, scope)
                except ContinueError:
                    continue
        except BreakError:
            return
        self.block(node.orelse, scope)

    def _if(self, node: ast.If, scope: Scope) -> None:
        is_true = self.truth(self.evaluate(node.test, scope))
        self.block(node.body if is_true else node.orelse, scope)

    def _define(self, node: ast.FunctionDef, scope: Scope) -> None:
        if node.decorator_list:
            raise UnsupportedError("it decorates a function")
        if any(isinstance(one, ast.Yield | ast.YieldFrom) for one in ast.walk(node)):
            raise UnsupportedError("it defines a generator")
        defaults = self.defaults(node.args, scope)
        scope.names[node.name] = Function(node.name, node.args, node.body, scope, defaults)

    def _return(self, node: ast.Return, scope: Scope) -> None:
        raise ReturnError(self.evaluate(node.value, scope) if node.value else None)

    def _import(self, node: ast.Import, scope: Scope) -> None:
        for one in node.names:
            name = one.asname or one.name
            if one.name == "solution":
                raise UnsupportedError("it imports the whole module 'solution'")
            scope.names[name] = self._module(one.name)

    def _import_from(self, node: ast.ImportFrom, scope: Scope) -> None:
        if node.module == "typing":
            return
        for one in node.names:
            if node.module == "solution":
                value: Value = Solution(one.name)
            else:
                value = self.attribute(self._module(node.module or ""), one.name)
            scope.names[one.asname or one.name] = value

    def _module(self, name: str) -> Namespace:
        if name in ("pytest", "unittest", "sys", "typing"):
            return Namespace(name, {})
        if name not in self.modules:
            raise UnsupportedError(f"it imports '{name}'")
        return self.modules[name]

    def _pass(self, _node: ast.stmt, _scope: Scope) -> None:
        """Do nothing."""

    def _break(self, _node: ast.stmt, _scope: Scope) -> None:
        raise BreakError

    def _continue(self, _node: ast.stmt, _scope: Scope) -> None:
        raise ContinueError


_CASE: Final = Namespace("self", {})
"""The object of a `unittest.TestCase`."""


def case_scope(around: Scope) -> Scope:
    """Return the scope of a method of a test case."""
    return Scope({"self": _CASE}, around)


_STATEMENTS: Final[dict[type[ast.stmt], Callable[[Machine, Any, Scope], None]]] = {
    ast.Assert: Machine._assert,
    ast.Expr: Machine._expression,
    ast.Assign: Machine._assign,
    ast.AnnAssign: Machine._annotated,
    ast.AugAssign: Machine._augmented,
    ast.For: Machine._for,
    ast.While: Machine._while,
    ast.If: Machine._if,
    ast.FunctionDef: Machine._define,
    ast.Return: Machine._return,
    ast.Import: Machine._import,
    ast.ImportFrom: Machine._import_from,
    ast.Try: Machine._try,
    ast.With: Machine._with,
    ast.Raise: Machine._raise,
    ast.Pass: Machine._pass,
    ast.Break: Machine._break,
    ast.Continue: Machine._continue,
}
