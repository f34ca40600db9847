"""Suites of test code: the calls of the solution that they make, and what follows from the answers.

A suite is executed here, outside the sandbox, by `services.code.suite`, which makes no calls: it
writes them down. Once the sandbox has answered them, the suite is executed again, with the answers.
Where a call depends on the answer of another one, this is repeated. So the expected values never
enter the sandbox, however they are written: as literals, as a table that is gone through, or as
what a function of the tests computes.

What is covered: `assert` statements at the top, in functions `test_…`, in `check(candidate)`, and
methods of a `unittest.TestCase`. What is not is told by an `UnsupportedError`, whose message goes
on from "the test code cannot be followed:".
"""

from __future__ import annotations

import ast
import random
from typing import TYPE_CHECKING, Final, NamedTuple

from services.code.suite.library import modules
from services.code.suite.machine import Check, Machine, case_scope
from services.code.suite.values import BlockedError, RaisedError, Scope, Solution, UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from services.code.suite.answers import Answer, Request

MAX_ROUNDS: Final = 8
_SEED: Final = 20_260_101
"""Of tests that choose their input at random: they choose the same every time."""


class Reading(NamedTuple):
    """What a suite asks and finds, given some answers."""

    requests: list[Request]
    """The calls that have no answer yet, in the order in which the tests make them."""
    checks: list[Check]
    is_complete: bool
    """Whether these are all the calls that there will be."""


class Suite:
    """One suite, read once and executed for every solution."""

    def __init__(self, code: str, entry_point: str | None, setup: str = "") -> None:
        """Read the code; `UnsupportedError` if it cannot be followed, or checks nothing."""
        self._entry_point = entry_point
        self._tests = _parse(code, "the test code")
        try:
            self._setup = _parse(setup, "the setup").body
        except UnsupportedError:
            self._setup = []
        self._constant: frozenset[tuple[int, int, int]] = frozenset()
        self._dependent: frozenset[tuple[int, int, int]] = frozenset()
        machine = self._execute({}, is_first=True)
        self.first = _reading(machine)
        self._constant = frozenset(machine.constant)
        self._dependent = frozenset(machine.checks)
        if not self.first.requests:
            raise UnsupportedError("it calls no function of the solution")
        if self.first.is_complete and not self.first.checks:
            raise UnsupportedError("it checks nothing")

    def read(self, answers: Mapping[str, Answer]) -> Reading:
        """Execute the suite with answers to some of its calls, by the key of the request."""
        return _reading(self._execute(answers, is_first=False))

    def _execute(self, answers: Mapping[str, Answer], *, is_first: bool) -> Machine:
        seeded = random.Random(_SEED)  # noqa: S311 - inputs of tests, the same every time
        machine = Machine(answers, self._entry_point, modules(seeded), is_first=is_first)
        machine.constant = set(self._constant)
        machine.dependent = self._dependent
        try:
            self._run_all(machine)
        except RecursionError:
            raise UnsupportedError("it is nested too deeply") from None
        return machine

    def _run_all(self, machine: Machine) -> None:
        scope = Scope(is_module=True)
        self._set_up(machine, scope)
        classes = [node for node in self._tests.body if isinstance(node, ast.ClassDef)]
        body = [node for node in self._tests.body if not _is_left_out(node)]
        if body:
            machine.run(body, scope)
        called = {name for n in ast.walk(self._tests) if (name := _called_name(n))}
        for node in body:
            if isinstance(node, ast.FunctionDef) and node.name not in called:
                self._run_function(machine, node, scope)
        for case in classes:
            self._run_case(machine, case, scope)

    def _set_up(self, machine: Machine, scope: Scope) -> None:
        """Take over what the setup defines and we can follow; the rest must not be asked for."""
        head = (self._entry_point or "").partition(".")[0]
        for node in self._setup:
            names = _names_bound(node)
            if head in names or (isinstance(node, ast.FunctionDef) and _is_stub(node)):
                continue
            try:
                machine.block([node], scope)
            except (UnsupportedError, BlockedError, RaisedError):
                machine.reserved |= names - {head}

    def _run_function(self, machine: Machine, node: ast.FunctionDef, scope: Scope) -> None:
        arguments = [one.arg for one in node.args.args]
        required = len(arguments) - len(node.args.defaults)
        if node.name == "check" and required == 1:
            name = self._entry_point
            if name is None:
                raise UnsupportedError("'check' needs the entry point of the spec")
            inner = Scope({arguments[0]: Solution(name)}, scope)
        elif node.name.startswith("test") and required == 0:
            inner = Scope(dict(machine.defaults(node.args, scope)), scope)
        else:
            return
        machine.run(node.body, inner)

    def _run_case(self, machine: Machine, case: ast.ClassDef, scope: Scope) -> None:
        for node in case.body:
            if not isinstance(node, ast.FunctionDef):
                if not _is_docstring(node):
                    raise UnsupportedError("its test case holds more than methods")
            elif not node.name.startswith("test"):
                raise UnsupportedError(f"its test case has a method '{node.name}'")
            elif node.decorator_list or len(node.args.args) != 1:
                raise UnsupportedError("a method of its test case takes arguments")
            else:
                machine.run(node.body, case_scope(scope))


def _reading(machine: Machine) -> Reading:
    requests = list(machine.requests.values())
    return Reading(requests, list(machine.checks.values()), not machine.is_incomplete)


def _parse(code: str, what: str) -> ast.Module:
    try:
        return ast.parse(code)
    except SyntaxError as error:
        raise UnsupportedError(f"{what} is no Python: line {error.lineno}, {error.msg}") from None
    except (ValueError, RecursionError, MemoryError):
        raise UnsupportedError(f"{what} is no Python") from None


def _is_left_out(node: ast.stmt) -> bool:
    """Say whether a statement is none of those that run as they stand."""
    if isinstance(node, ast.ClassDef):
        return True
    return isinstance(node, ast.If) and "__name__" in ast.unparse(node.test)


def _called_name(node: ast.AST) -> str:
    return node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Pass) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    )


def _is_stub(node: ast.FunctionDef) -> bool:
    return all(_is_docstring(one) for one in node.body)


def _names_bound(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {(one.asname or one.name).partition(".")[0] for one in node.names}
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
