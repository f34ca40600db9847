"""A program, and short ways to try files of pytest and suites on it, on real processes."""

from __future__ import annotations

from typing import Any

from rewarden.contracts import Outcome, Sample, Verdict
from services.code.verifier import CodeVerifier
from tests.unit.services.code_processes import Processes

PROGRAM = """\
import collections

LIMIT = 7
NAMES = ["a", "b"]


class Refused(ValueError):
    pass


class Stack:
    made = 0

    def __init__(self, *items):
        self.items = list(items)
        Stack.made += 1

    @classmethod
    def of(cls, items):
        return cls(*items)

    def push(self, item):
        self.items.append(item)
        return self

    def pop(self):
        if not self.items:
            raise IndexError("it is empty")
        return self.items.pop()

    @property
    def size(self):
        return len(self.items)

    def __len__(self):
        return len(self.items)

    def __iter__(self):
        return iter(self.items)

    def __contains__(self, item):
        return item in self.items

    def __getitem__(self, place):
        return self.items[place]


class Vector:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __eq__(self, other):
        if isinstance(other, tuple):
            return (self.x, self.y) == other
        return isinstance(other, Vector) and (self.x, self.y) == (other.x, other.y)

    def __lt__(self, other):
        return self.x < other.x

    def __hash__(self):
        return hash((self.x, self.y))

    def __repr__(self):
        return f"Vector({self.x}, {self.y})"


class Door:
    is_open = False

    def __enter__(self):
        self.is_open = True
        return self

    def __exit__(self, *_):
        self.is_open = False


def divide(a, b):
    if b == 0:
        raise Refused("by zero")
    return a / b


def order(items):
    items.sort()


def count(n):
    yield from range(n)


_only = Door()


def only():
    return _only


def tree(depth):
    return {"depth": depth, "below": [tree(depth - 1)] if depth else None, (1, 2): {3}}
"""
HEAD = "import pytest\nimport solution\nfrom solution import *\n"


def files(test: str, **more: Any) -> dict[str, Any]:
    return {"tests": {"kind": "pytest", "files": {"test_it.py": test}}, **more}


async def check(program: str, told: dict[str, Any], processes: Processes | None = None) -> Verdict:
    (verdict,) = await CodeVerifier(processes or Processes()).verify(
        [Sample(completion=program, spec=told)]
    )
    return verdict


async def assert_right(told: dict[str, Any], tests: int) -> None:
    verdict = await check(PROGRAM, told)
    assert verdict.outcome is Outcome.CORRECT, verdict.reason
    assert verdict.details["trust"] == "proxied"
    assert verdict.details["counts"]["passed"] == tests
