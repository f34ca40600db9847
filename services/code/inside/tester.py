"""The main file of a sandbox that runs trusted tests: lists them, and runs one at a time.

The module `solution` is a proxy, unless the suite says that the program itself lies beside it. What
a test does with it is answered from what is given here, or asked for: see `proxies`. A test's result
counts only if nothing that it asked for is open.
"""

from __future__ import annotations

import importlib
import itertools
import json
import os
import random
import sys
import unittest
from types import ModuleType

from services.code.inside.proxies import EndedError, Lazy, Log, UnansweredError, UnsupportedError
from services.code.inside.rewriting import (
    REPLACED,
    check_apart,
    free_names,
    is_checked_at_once,
    rewritten,
    stubs,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any, Final, TypeAlias

    Test: TypeAlias = Callable[[], None]

    from services.code.inside.proxies import Value


_OF_OTHER_CLASS: Final = (AttributeError, KeyError, TypeError)
"""What is raised where a named tuple has become a tuple, and a counter a dict."""
_GENERATOR: Final = 0x20
"""In the flags of a function's code: that it has a `yield`."""


class Solution(ModuleType):
    """The module under test."""

    def __init__(self, log: Log) -> None:
        super().__init__("solution")
        self.__dict__["_rewarden_module_log"] = log

    def __getattr__(self, name: str) -> Value:
        if name.startswith("__"):
            raise AttributeError(name)
        return Lazy(self.__dict__["_rewarden_module_log"], None, name)

    def __setattr__(self, name: str, value: Value) -> None:
        if name.startswith("__"):
            super().__setattr__(name, value)
        else:
            self.__dict__["_rewarden_module_log"].ask("set", None, name, [value])


def run(test: str | None, answers: list[dict[str, Any]]) -> dict[str, Any]:
    """List the tests of the suite, or run the one with this name."""
    random.seed(0)
    suite = _read_suite()
    log = Log(answers)
    found: dict[str, Any] = {"tests": [], "result": "passed", "why": ""}
    try:
        tests = _Suite(suite, log).tests()
        if test is None:
            found["tests"] = [*tests]
        else:
            tests[test]()
    except unittest.SkipTest:
        found.update(result="unsupported", why="it skips a test")
    except UnsupportedError as error:
        found.update(result="unsupported", why=str(error))
    except EndedError as error:
        found.update(result="ended", why=str(error))
    except UnansweredError:
        log.is_open = True
    except BaseException as error:  # noqa: BLE001 - whatever a test raises
        found.update(_failed(error, suite, log))
    return {**found, "asked": log.asked, "is_open": log.is_open}


def _failed(error: BaseException, suite: dict[str, Any], log: Log) -> dict[str, str]:
    """Tell a test that failed from one that could not be run as it was meant."""
    why = f"{type(error).__name__}: {error}"[:500]
    if suite["is_beside"]:
        return {"result": "failed", "why": why}
    if log.has_kin and isinstance(error, _OF_OTHER_CLASS):
        return {
            "result": "unsupported",
            "why": f"a class of the program is a plain one here, {why}",
        }
    if "seed(" in (suite.get("code") or "".join(suite["files"].values())):
        return {"result": "unsupported", "why": f"the program has a random state of its own, {why}"}
    return {"result": "failed", "why": why}


def _read_suite() -> dict[str, Any]:
    here = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - pathlib is slow
    with open(here + "/suite.json", encoding="utf-8") as stream:  # noqa: PTH123 - likewise
        suite: dict[str, Any] = json.load(stream)
    return suite


class _Suite:
    """The tests of some files, or of one piece of test code."""

    def __init__(self, suite: dict[str, Any], log: Log) -> None:
        self._suite = suite
        self._pytest: Any = importlib.import_module("services.code.inside.pytest_part")
        sys.modules.pop("solution", None)  # the name under which this file was loaded
        if suite["is_beside"]:
            self._solution = importlib.import_module("solution")
        else:
            self._solution = sys.modules["solution"] = Solution(log)
        sys.modules["pytest"] = self._pytest

    def tests(self) -> dict[str, Test]:
        """Return the tests by name; executes the files."""
        return self._of_code() if "code" in self._suite else self._of_files()

    def _of_files(self) -> dict[str, Test]:
        found: dict[str, Test] = {}
        shared: dict[str, Any] = {}
        for name in sorted(self._suite["files"], key=lambda one: ("conftest" not in one, one)):
            module = vars(self._executed(self._suite["files"][name], name))
            if name.rpartition("/")[2] == "conftest.py":
                shared.update(self._fixtures(module))
            else:
                found.update((f"{name}::{t}", call) for t, call in self._of_module(module, shared))
        return found

    def _of_code(self) -> dict[str, Test]:
        code, point = self._suite["code"], self._suite["entry_point"]
        names = self._of_setup(self._suite["setup"], (point or "").partition(".")[0])
        wanted = free_names(code) - names.keys()
        names.update({name: getattr(self._solution, name) for name in wanted})
        module = vars(self._executed(code, "tests", names))
        found: dict[str, Test] = {"code": _pass} if is_checked_at_once(code) else {}
        found.update(self._of_module(module, {}))
        check = module.get("check")
        if point and getattr(check, "__code__", None) and not isinstance(check, Lazy):
            candidate: Value = self._solution
            for part in point.split("."):
                candidate = getattr(candidate, part)
            found["check"] = lambda: check(candidate)  # type: ignore[misc]
        return found

    def _of_setup(self, code: str, head: str) -> dict[str, Any]:
        """Return what the setup defines for the tests to use, apart from what is to be written."""
        try:
            left_out = stubs(code) | {head}
            module = vars(self._executed(code, "setup"))
        except Exception:  # noqa: BLE001 - it may be the beginning of a program, and is no test
            return {}
        return {name: value for name, value in module.items() if name not in left_out}

    def _executed(self, code: str, name: str, names: dict[str, Any] | None = None) -> ModuleType:
        if not self._suite["is_beside"]:
            check_apart(code)
        module = ModuleType(name.removesuffix(".py").replace("/", "."))
        vars(module).update({**(names or {}), **REPLACED, "__name__": module.__name__})
        sys.modules[module.__name__] = module
        star = "from solution import *"
        if star in code:
            wanted = sorted(free_names(code))
            code = code.replace(star, f"from solution import {', '.join(wanted)}" if wanted else "")
        exec(compile(rewritten(code, name), name, "exec"), vars(module))  # noqa: S102 - trusted
        return module

    def _fixtures(self, names: Mapping[str, Any]) -> dict[str, Any]:
        kind = self._pytest.Fixture
        return {one.name: one for one in names.values() if isinstance(one, kind)}

    def _of_module(
        self, names: dict[str, Any], shared: dict[str, Any]
    ) -> Iterator[tuple[str, Test]]:
        fixtures = {**shared, **self._fixtures(names)}
        for name, value in names.items():
            if isinstance(value, Lazy):
                continue
            if isinstance(value, type) and issubclass(value, unittest.TestCase):
                yield from _of_case(name, value)
            elif isinstance(value, type) and name.startswith("Test"):
                yield from self._of_class(name, value, fixtures)
            elif name.startswith("test") and callable(value):
                yield from _variants(name, value, None, fixtures)

    def _of_class(
        self, name: str, kind: type, around: dict[str, Any]
    ) -> Iterator[tuple[str, Test]]:
        if set(dir(kind)) & {"setup_class", "teardown_class"}:
            raise UnsupportedError("it has a 'setup_class'")
        fixtures = {**around, **self._fixtures(vars(kind))}
        for member, value in vars(kind).items():
            if member.startswith("test") and callable(value):
                for test, call in _variants(member, value, kind, fixtures):
                    yield f"{name}::{test}", call


def _variants(
    name: str, function: Value, kind: type | None, fixtures: dict[str, Any]
) -> Iterator[tuple[str, Test]]:
    sets = getattr(function, "_parameters", [])
    for number, chosen in enumerate(itertools.product(*sets)):
        given = {key: value for one in chosen for key, value in one.items()}

        def call(given: dict[str, Any] = given) -> None:
            _call(function, kind, _Requests(fixtures, given))

        yield f"{name}[{number}]" if sets else name, call


def _call(function: Value, kind: type | None, requests: _Requests) -> None:
    """Run one test, with what it asks for."""
    owner = requests.owner = kind() if kind else None
    method = [] if owner is None else [owner]
    for name in requests.automatic():
        requests.value(name)
    getattr(owner, "setup_method", _pass)()
    _check_plain(function(*method, **requests.arguments(function, len(method))))
    getattr(owner, "teardown_method", _pass)()
    requests.close()


def _pass() -> None:
    """Do nothing."""


def _check_plain(returned: Value) -> None:
    """Refuse a test that has only begun when its call is over, such as a coroutine."""
    if returned is not None:
        raise UnsupportedError("it has a test that returns something")


class _Requests:
    """The fixtures that one test asks for."""

    def __init__(self, fixtures: dict[str, Any], given: dict[str, Any]) -> None:
        self._fixtures = fixtures
        self._values = dict(given)
        self._open: list[Iterator[Any]] = []
        self.owner: Value = None

    def automatic(self) -> list[str]:
        """Return the names of those that every test gets."""
        return [name for name, one in self._fixtures.items() if one.is_automatic]

    def value(self, name: str) -> Value:
        """Return the value of a fixture, or of a parameter."""
        if name not in self._values:
            if name not in self._fixtures:
                raise UnsupportedError(f"it asks for the fixture '{name}'")
            function = self._fixtures[name].function
            made = function(**self.arguments(function))
            if function.__code__.co_flags & _GENERATOR:
                self._open.append(made)
                made = next(made)
            self._values[name] = made
        return self._values[name]

    def arguments(self, function: Value, skipped: int = 0) -> dict[str, Any]:
        """Return what a function asks for by the names of its arguments."""
        code = function.__code__
        names = code.co_varnames[skipped : code.co_argcount]
        wanted = names[: len(names) - len(function.__defaults__ or ())]
        return {name: self.owner if name == "self" else self.value(name) for name in wanted}

    def close(self) -> None:
        """Let fixtures clean up."""
        for generator in reversed(self._open):
            next(generator, None)


def _of_case(name: str, kind: type[unittest.TestCase]) -> Iterator[tuple[str, Test]]:
    for test in unittest.defaultTestLoader.getTestCaseNames(kind):
        yield f"{name}::{test}", lambda test=test: _run_case(kind(test))  # type: ignore[misc]


def _run_case(case: unittest.TestCase) -> None:
    """Run without a result of unittest's, so that every exception comes here."""
    type(case).setUpClass()
    case.setUp()
    try:
        _check_plain(getattr(case, case._testMethodName)())
    finally:
        case.tearDown()
        type(case).tearDownClass()
