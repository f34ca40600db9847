"""Functions with a name: what their argument is, with and without parentheses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from services.math.language.cursor import ParseError, as_product, as_value
from services.math.tree import MINUS_ONE, Call, Number, Power, Value, negative

if TYPE_CHECKING:
    from services.math.language.grammar import Grammar

_SIMPLE: Final = frozenset(("number", "letter", "constant", "frac", "sqrt", "binom"))
"""Kinds that belong to the argument of a function without parentheses."""
_INVERSES: Final = {name: f"arc{name}" for name in ("sin", "cos", "tan", "cot", "sec", "csc")} | {
    f"{name}h": f"ar{name}h" for name in ("sin", "cos", "tan", "cot", "sec", "csc")
}


def function(grammar: Grammar) -> Value:
    """Parse a function: its name, perhaps a base and an exponent, and its argument."""
    name = grammar.take().text
    base: Value | None = None
    exponent: Value | None = None
    if name == "log" and _has_plain_base(grammar):
        base = Number(int(grammar.take().text))
    for _ in range(2):
        if grammar.next.kind == "_" and base is None:
            grammar.take()
            base = grammar.argument()
        elif grammar.next.kind == "^" and exponent is None:
            grammar.take()
            exponent = grammar.argument(grammar.exponent)
    arguments = _operands(grammar)
    if exponent == MINUS_ONE and name in _INVERSES:
        name, exponent = _INVERSES[name], None
    call = _call(name, base, arguments)
    return call if exponent is None else Power(call, exponent)


def _has_plain_base(grammar: Grammar) -> bool:
    """Whether the 2 of `log2(8)` comes next."""
    token = grammar.next
    is_number = token.kind == "number" and token.text.isdecimal() and not token.blank
    return is_number and grammar.after_next().kind == "("


def _operands(grammar: Grammar) -> tuple[Value, ...]:
    if grammar.next.kind in ("(", "{", "[", "\\{"):
        return grammar.arguments()
    if grammar.next.kind in ("function", "|"):
        return (as_value(grammar.power()),)
    negated = grammar.accept("-")
    factors = [as_value(grammar.power())]
    while grammar.next.kind in _SIMPLE and grammar.is_factor(grammar.next.kind):
        factors.append(as_value(grammar.power()))
    operand = as_value(as_product(list(factors)))
    return (negative(operand) if negated else operand,)


def _call(name: str, base: Value | None, arguments: tuple[Value, ...]) -> Value:
    if name == "lg":
        name, base = "log", Number(10)
    if base is not None:
        if name not in ("log", "ln"):
            msg = f"{name} has no base"
            raise ParseError(msg)
        return Call("log", (base, *arguments))
    return Call(name, arguments)
