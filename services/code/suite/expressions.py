"""Evaluates the expressions of test code: an interpreter of a small, pure part of Python.

What is covered: literals, operators, comparisons, comprehensions, slices, lambdas, f-strings without
formats, functions of the test code, and the builtins and modules of `library`. What is not raises
`UnsupportedError`.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Final

from sandbox.runner.values import Opaque
from services.code.suite import library, operations
from services.code.suite.calling import Caller
from services.code.suite.values import (
    PENDING,
    BlockedError,
    Builtin,
    Failure,
    Function,
    Namespace,
    RaisedError,
    Scope,
    Solution,
    UnsupportedError,
    Value,
    check_hashes,
    is_pending,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Evaluator(Caller):
    """Evaluates expressions in a scope; `Machine` executes statements."""

    def evaluate(self, node: ast.expr, scope: Scope) -> Value:
        """Return the value of an expression."""
        self.step()
        rule = _RULES.get(type(node))
        if rule is None:
            raise UnsupportedError(f"it uses {type(node).__name__}")
        return self.account(rule(self, node, scope))

    def _constant(self, node: ast.Constant, _: Scope) -> Value:
        return node.value

    def _sequence(self, node: ast.List | ast.Tuple | ast.Set, scope: Scope) -> Value:
        found: list[Value] = []
        for item in node.elts:
            if isinstance(item, ast.Starred):
                found.extend(self.items(self.evaluate(item.value, scope)))
            else:
                found.append(self.evaluate(item, scope))
        if isinstance(node, ast.List):
            return found
        return tuple(found) if isinstance(node, ast.Tuple) else self._set_of(found)

    def _set_of(self, found: list[Value]) -> Value:
        return self.compute(library.BUILTINS["set"].function, found)

    def _dict(self, node: ast.Dict, scope: Scope) -> Value:
        made: dict[Value, Value] = {}
        for key, item in zip(node.keys, node.values, strict=True):
            if key is None:
                made.update(self.evaluate(item, scope))
                continue
            name, value = self.evaluate(key, scope), self.evaluate(item, scope)
            if is_pending(name):
                return PENDING
            self.compute(made.__setitem__, name, None)
            made[name] = value
        check_hashes([*made])
        return made

    def _binary(self, node: ast.BinOp, scope: Scope) -> Value:
        one, other = self.evaluate(node.left, scope), self.evaluate(node.right, scope)
        operate = operations.BINARY.get(type(node.op))
        if operate is None:
            raise UnsupportedError("it uses '@'")
        return self.compute(operate, one, other)

    def _unary(self, node: ast.UnaryOp, scope: Scope) -> Value:
        value = self.evaluate(node.operand, scope)
        if isinstance(node.op, ast.Not):
            return PENDING if value is PENDING else not self.truth(value)
        return self.compute(operations.UNARY[type(node.op)], value)

    def _boolean(self, node: ast.BoolOp, scope: Scope) -> Value:
        decides = isinstance(node.op, ast.Or)
        value: Value = None
        is_known = True
        for part in node.values:
            if is_known:
                value = self.evaluate(part, scope)
                is_known = value is not PENDING
                if is_known and self.truth(value) is decides:
                    return value
            else:
                self._look_ahead(part, scope)
        return value if is_known else PENDING

    def _look_ahead(self, node: ast.expr, scope: Scope) -> None:
        """Note the calls of what may come to be evaluated."""
        try:
            self.evaluate(node, scope)
        except (BlockedError, RaisedError):
            self.is_incomplete = True

    def _compare(self, node: ast.Compare, scope: Scope) -> Value:
        left = self.evaluate(node.left, scope)
        outcome: Value = True
        for sign, part in zip(node.ops, node.comparators, strict=True):
            right = self.evaluate(part, scope)
            if isinstance(left, Opaque | Builtin) or isinstance(right, Opaque | Builtin):
                found = _compare_objects(sign, left, right)
            else:
                _check_identity(sign, left, right)
                found = self.compute(operations.COMPARE[type(sign)], left, right)
            if found is PENDING:
                outcome = PENDING
            elif not found:
                return False
            left = right
        return outcome

    def _choice(self, node: ast.IfExp, scope: Scope) -> Value:
        is_true = self.truth(self.evaluate(node.test, scope))
        return self.evaluate(node.body if is_true else node.orelse, scope)

    def _attribute(self, node: ast.Attribute, scope: Scope) -> Value:
        return self.attribute(self.evaluate(node.value, scope), node.attr)

    def attribute(self, owner: Value, name: str) -> Value:
        """Return an attribute of a module or of plain data."""
        if owner is PENDING:
            return PENDING
        if isinstance(owner, Solution):
            return Solution(f"{owner.entry_point}.{name}")
        if isinstance(owner, Namespace):
            if name not in owner.members:
                raise UnsupportedError(f"it uses '{owner.name}.{name}'")
            return owner.members[name]
        if isinstance(owner, Opaque):
            raise UnsupportedError(f"it uses '.{name}' of {owner!r}")
        if isinstance(owner, Failure | Builtin | Function):
            raise UnsupportedError(f"it uses '.{name}' of a {type(owner).__name__.lower()}")
        return Builtin(name, operations.method(owner, name))

    def _subscript(self, node: ast.Subscript, scope: Scope) -> Value:
        owner = self.evaluate(node.value, scope)
        key = self.index(node.slice, scope)
        if isinstance(owner, dict) and not is_pending(key) and not isinstance(key, slice):
            self.compute(hash, key)
            if key not in owner:  # it may be a dict that makes up what it lacks
                raise UnsupportedError("it looks up a key that is not there")
        return self.compute(lambda whole, at: whole[at], owner, key)

    def index(self, node: ast.expr, scope: Scope) -> Value:
        """Return what stands in the brackets of a subscript."""
        if not isinstance(node, ast.Slice):
            return self.evaluate(node, scope)
        parts = [
            self.evaluate(p, scope) if p else None for p in (node.lower, node.upper, node.step)
        ]
        return PENDING if is_pending(parts) else slice(*parts)

    def _call(self, node: ast.Call, scope: Scope) -> Value:
        function = self.evaluate(node.func, scope)
        args: list[Value] = []
        for one in node.args:
            if isinstance(one, ast.Starred):
                args.extend(self.items(self.evaluate(one.value, scope)))
            else:
                args.append(self.evaluate(one, scope))
        kwargs: dict[str, Value] = {}
        for keyword in node.keywords:
            value = self.evaluate(keyword.value, scope)
            kwargs.update({keyword.arg: value} if keyword.arg else value)
        return self.call(function, args, kwargs)

    def _lambda(self, node: ast.Lambda, scope: Scope) -> Value:
        return Function("lambda", node.args, node.body, scope, self.defaults(node.args, scope))

    def defaults(self, arguments: ast.arguments, scope: Scope) -> dict[str, Value]:
        """Evaluate the defaults of a function's arguments."""
        named = [*arguments.posonlyargs, *arguments.args]
        found = {
            one.arg: self.evaluate(value, scope)
            for one, value in zip(reversed(named), reversed(arguments.defaults), strict=False)
        }
        for one, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
            if default is not None:
                found[one.arg] = self.evaluate(default, scope)
        return found

    def _formatted(self, node: ast.JoinedStr, scope: Scope) -> Value:
        parts: list[Value] = []
        for part in node.values:
            if not isinstance(part, ast.FormattedValue):
                parts.append(self.evaluate(part, scope))
                continue
            if part.format_spec is not None or part.conversion not in (-1, ord("s")):
                raise UnsupportedError("it formats a value")
            parts.append(
                self.compute(library.BUILTINS["str"].function, self.evaluate(part.value, scope))
            )
        return self.compute(lambda found: "".join(found), parts)

    def _comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, scope: Scope
    ) -> Value:
        found: list[Value] = []
        for inner in self._rounds(node.generators, Scope(around=scope)):
            if isinstance(node, ast.DictComp):
                found.append((self.evaluate(node.key, inner), self.evaluate(node.value, inner)))
            else:
                found.append(self.evaluate(node.elt, inner))
        if isinstance(node, ast.DictComp):
            return self.compute(library.BUILTINS["dict"].function, found)
        return self._set_of(found) if isinstance(node, ast.SetComp) else found

    def _rounds(self, generators: list[ast.comprehension], scope: Scope) -> Iterator[Scope]:
        first, *rest = generators
        for item in self.items(self.evaluate(first.iter, scope)):
            self.bind(first.target, item, scope)
            if all(self.truth(self.evaluate(test, scope)) for test in first.ifs):
                if rest:
                    yield from self._rounds(rest, scope)
                else:
                    yield Scope(dict(scope.names), scope.around)

    def bind(self, target: ast.expr, value: Value, scope: Scope) -> None:
        """Assign a value to a name, to several, or to an item."""
        if isinstance(target, ast.Name):
            scope.names[target.id] = value
        elif isinstance(target, ast.Tuple | ast.List):
            self._unpack(target.elts, value, scope)
        elif isinstance(target, ast.Subscript):
            owner, key = self.evaluate(target.value, scope), self.index(target.slice, scope)
            if owner is PENDING or is_pending(key):
                raise BlockedError
            self.compute(lambda: owner.__setitem__(key, value))
        else:
            raise UnsupportedError(f"it assigns to {type(target).__name__}")

    def _unpack(self, targets: list[ast.expr], value: Value, scope: Scope) -> None:
        parts = [PENDING] * len(targets) if value is PENDING else self.items(value)
        if any(isinstance(target, ast.Starred) for target in targets):
            raise UnsupportedError("it unpacks with '*'")
        if len(parts) != len(targets):
            raise RaisedError("ValueError", f"{len(targets)} values were expected")
        for target, part in zip(targets, parts, strict=True):
            self.bind(target, part, scope)


def _check_identity(sign: ast.cmpop, left: Value, right: Value) -> None:
    """Refuse to say whether two containers are one: they cross in copies."""
    are_both = all(isinstance(one, list | dict | set | tuple) for one in (left, right))
    if isinstance(sign, ast.Is | ast.IsNot) and are_both:
        raise UnsupportedError("it asks whether two values are the same object")


def _compare_objects(sign: ast.cmpop, left: Value, right: Value) -> Value:
    """Compare where one side is an object of the solution, or a type."""
    if left is PENDING or right is PENDING:
        return PENDING
    if isinstance(left, Opaque) or isinstance(right, Opaque):
        return _compare_opaque(sign, left, right)
    are_same = left is right or (isinstance(left, Builtin) and left == right)
    if isinstance(sign, ast.Is | ast.Eq):
        return are_same
    if isinstance(sign, ast.IsNot):
        return not are_same
    both = isinstance(left, Builtin) and isinstance(right, Builtin)
    return both and not are_same and isinstance(sign, ast.NotEq)


def _compare_opaque(sign: ast.cmpop, left: Value, right: Value) -> bool:
    are_both = isinstance(left, Opaque) and isinstance(right, Opaque)
    if isinstance(sign, ast.Is | ast.IsNot) and not are_both:
        return isinstance(sign, ast.IsNot)
    is_told = isinstance(sign, ast.Eq) or (
        isinstance(sign, ast.In) and not isinstance(right, Opaque)
    )
    if not is_told:
        raise UnsupportedError("it compares objects of the solution")
    return bool(operations.COMPARE[type(sign)](left, right))


_RULES: Final[dict[type[ast.expr], Callable[[Evaluator, Any, Scope], Value]]] = {
    ast.Constant: Evaluator._constant,
    ast.Name: Evaluator._name,
    ast.List: Evaluator._sequence,
    ast.Tuple: Evaluator._sequence,
    ast.Set: Evaluator._sequence,
    ast.Dict: Evaluator._dict,
    ast.BinOp: Evaluator._binary,
    ast.UnaryOp: Evaluator._unary,
    ast.BoolOp: Evaluator._boolean,
    ast.Compare: Evaluator._compare,
    ast.IfExp: Evaluator._choice,
    ast.Attribute: Evaluator._attribute,
    ast.Subscript: Evaluator._subscript,
    ast.Call: Evaluator._call,
    ast.Lambda: Evaluator._lambda,
    ast.JoinedStr: Evaluator._formatted,
    ast.ListComp: Evaluator._comprehension,
    ast.SetComp: Evaluator._comprehension,
    ast.GeneratorExp: Evaluator._comprehension,
    ast.DictComp: Evaluator._comprehension,
}
