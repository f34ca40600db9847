"""Random expressions for the tests of the math verifier: made, changed, valued.

An expression is a small tree of its own, so that it owes nothing to the parser under test; `differ`
tells by numbers of 50 digits whether two have different values, and `math_writer` writes them.
Not covered: functions other than the square root, and rewritings that need algebra.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import count
from random import Random
from typing import Final

VARIABLES: Final = ("x", "y", "z", r"\theta")
"""No letter that is also a unit, a constant or a usual name of a function."""

DIGITS: Final = 50
CLEAR_DIFFERENCE: Final = Decimal("1e-9")
POINTS: Final = tuple(
    dict(zip(VARIABLES, map(Decimal, values), strict=True))
    for values in (
        ("1.3717", "2.1931", "0.7193", "3.3119"),
        ("4.1311", "0.5397", "2.8711", "1.1173"),
        ("0.3571", "5.7191", "1.6197", "0.9137"),
    )
)


@dataclass(frozen=True, slots=True)
class Num:
    value: Fraction


@dataclass(frozen=True, slots=True)
class Var:
    name: str


@dataclass(frozen=True, slots=True)
class Neg:
    body: Node


@dataclass(frozen=True, slots=True)
class Add:
    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Mul:
    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Div:
    top: Node
    bottom: Node


@dataclass(frozen=True, slots=True)
class Pow:
    base: Node
    exponent: int


@dataclass(frozen=True, slots=True)
class Root:
    """A square root; what is under it has a positive value at every point."""

    body: Node


Node = Num | Var | Neg | Add | Mul | Div | Pow | Root


def number(random: Random) -> Num:
    """Make a positive rational number."""
    top = random.randint(1, 30)
    is_whole = random.random() < 0.6
    return Num(Fraction(top, 1 if is_whole else random.choice((2, 3, 4, 5, 7, 8, 10))))


def expression(random: Random, depth: int = 2, variables: tuple[str, ...] = VARIABLES) -> Node:
    """Make an expression; without variables it is a number."""
    if depth == 0:
        is_number = not variables or random.random() < 0.5
        return number(random) if is_number else Var(random.choice(variables))

    def smaller() -> Node:
        return expression(random, depth - 1, variables)

    makers: tuple[Callable[[], Node], ...] = (
        lambda: Add(tuple(_signed(random, smaller()) for _ in range(random.randint(2, 3)))),
        lambda: Mul(tuple(smaller() for _ in range(random.randint(2, 3)))),
        lambda: Div(smaller(), _not_zero(smaller())),
        lambda: Pow(smaller(), random.randint(2, 3)),
        lambda: Root(_positive(random, variables)),
        lambda: expression(random, 0, variables),
    )
    return random.choice(makers)()


def _signed(random: Random, node: Node) -> Node:
    return Neg(node) if random.random() < 0.35 else node


def _not_zero(node: Node) -> Node:
    is_safe = all(abs(value(node, point)) > CLEAR_DIFFERENCE for point in POINTS)
    return node if is_safe else Num(Fraction(7))


def _positive(random: Random, variables: tuple[str, ...]) -> Node:
    constant = Num(Fraction(random.randint(2, 30)))
    if not variables or random.random() < 0.7:
        return constant
    return Add((Pow(Var(random.choice(variables)), 2), constant))


def value(node: Node, point: dict[str, Decimal]) -> Decimal:
    """Return the value at a point."""
    with localcontext() as context:
        context.prec = DIGITS
        return _value(node, point)


def _value(node: Node, point: dict[str, Decimal]) -> Decimal:
    match node:
        case Num(number):
            return Decimal(number.numerator) / number.denominator
        case Var(name):
            return point[name]
        case Neg(body):
            return -_value(body, point)
        case Div(top, bottom):
            return _value(top, point) / _value(bottom, point)
        case Pow(base, exponent):
            return _value(base, point) ** exponent
        case _:
            return _value_of_parts(node, point)


def _value_of_parts(node: Add | Mul | Root, point: dict[str, Decimal]) -> Decimal:
    if isinstance(node, Root):
        return _value(node.body, point).sqrt()
    result = Decimal(isinstance(node, Mul))
    for part in node.parts:
        term = _value(part, point)
        result = result * term if isinstance(node, Mul) else result + term
    return result


def differ(one: Node, other: Node) -> bool:
    """Tell whether two expressions clearly have different values."""
    for point in POINTS:
        try:
            a, b = value(one, point), value(other, point)
        except ArithmeticError:  # a change may have put zero below a fraction bar
            continue
        if abs(a - b) > CLEAR_DIFFERENCE * max(abs(a), abs(b)):
            return True
    return False


def changed(node: Node, random: Random) -> Node:
    """Return the expression with one of its numbers changed, or a number where it has none."""
    steps = count()
    size = sum(1 for _ in _numbers(node))
    if size == 0:
        return number(random)
    chosen, step = random.randrange(size), random.choice((1, 1, 2, 10))
    return _with_step(node, steps, chosen, step)


def _numbers(node: Node) -> Iterator[int]:
    if isinstance(node, Num | Pow):
        yield 1
    for part in _parts(node):
        yield from _numbers(part)


def _parts(node: Node) -> tuple[Node, ...]:
    match node:
        case Add(parts) | Mul(parts):
            return parts
        case Div(top, bottom):
            return (top, bottom)
        case Pow(body, _) | Neg(body) | Root(body):
            return (body,)
        case _:
            return ()


def _with_step(node: Node, steps: Iterator[int], chosen: int, step: int) -> Node:
    """Rebuild the tree; numbers and exponents are counted in the order of `_numbers`."""
    here = step if isinstance(node, Num | Pow) and next(steps) == chosen else 0
    if isinstance(node, Num):
        return Num(node.value + Fraction(here, node.value.denominator))
    parts = tuple(_with_step(part, steps, chosen, step) for part in _parts(node))
    if isinstance(node, Pow):
        return Pow(parts[0], node.exponent + min(here, 1))
    return _with_parts(node, parts)


def _with_parts(node: Node, parts: tuple[Node, ...]) -> Node:
    match node:
        case Add() | Mul():
            return type(node)(parts)
        case Div():
            return Div(parts[0], parts[1])
        case Pow():
            return Pow(parts[0], node.exponent)
        case Neg() | Root():
            return type(node)(parts[0])
        case _:
            return node


def rewritten(node: Node, random: Random) -> Node:
    """Return an expression of the same value in which some steps of algebra are undone."""
    new = _with_parts(node, tuple(rewritten(part, random) for part in _parts(node)))
    return _unreduced(new, random) if random.random() < 0.3 else new


def _unreduced(node: Node, random: Random) -> Node:
    extra = number(random)
    match node:
        case Mul(parts) if any(isinstance(part, Add) for part in parts):
            return _distributed(parts)
        case Add(parts):
            return Neg(Add(tuple(_opposite(part) for part in parts)))
        case Pow(base, exponent):
            return Mul((base,) * exponent)
        case Div(top, bottom):
            return Mul((top, Div(Num(Fraction(1)), bottom)))
        case Root(Num() as body):
            return Div(body, Root(body))
        case _:
            return Add((node, extra, Neg(extra)))


def _distributed(parts: tuple[Node, ...]) -> Node:
    place, total = next((i, part) for i, part in enumerate(parts) if isinstance(part, Add))
    rest = parts[:place] + parts[place + 1 :]
    return Add(
        tuple(
            Neg(Mul((*rest, term.body))) if isinstance(term, Neg) else Mul((*rest, term))
            for term in total.parts
        )
    )


def _opposite(node: Node) -> Node:
    return node.body if isinstance(node, Neg) else Neg(node)
