"""Write a tree as plain text, for people: `x^2/9 + sqrt(5)`, `(1, 2]`, `5 km`.

The text shows how an answer was understood. It is not read back anywhere.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from services.math.tree import (
    MINUS_ONE,
    Based,
    Builder,
    Call,
    Combination,
    Constant,
    Either,
    Matrix,
    Moment,
    NamedSet,
    Number,
    Power,
    Product,
    Quantity,
    Ratio,
    Relation,
    Sequence,
    Sum,
    Symbol,
    Text,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from services.math.tree import Tree, Value

MAX_CHARS: Final = 500
_HALF: Final = Number(Fraction(1, 2))
_SUM, _PRODUCT, _POWER = range(3)  # what binds looser than the place needs brackets


def show(tree: Tree) -> str:
    """Return the tree as text of at most 500 characters."""
    text = _text(tree)
    return text if len(text) <= MAX_CHARS else text[: MAX_CHARS - 1] + "…"


def _text(tree: Tree) -> str:
    return _WRITERS[type(tree)](tree)


def _number(tree: Number) -> str:
    value = tree.value
    if tree.places is None or tree.places < 0:
        return str(value)
    digits = str(abs(int(value * 10**tree.places))).rjust(tree.places + 1, "0")
    point = len(digits) - tree.places
    return f"{'-' if value < 0 else ''}{digits[:point]}.{digits[point:]}".rstrip(".")


def _symbol(tree: Symbol) -> str:
    return tree.name


def _constant(tree: Constant) -> str:
    return tree.name


def _sum(tree: Sum) -> str:
    text = " + ".join(_within(term, _SUM) for term in tree.terms)
    return text.replace("+ -", "- ")


def _product(tree: Product) -> str:
    negative = tree.factors[0] == MINUS_ONE
    above, below = [], ""
    for factor in tree.factors[1:] if negative else tree.factors:
        if type(factor) is Power and factor.exponent == MINUS_ONE:
            below += f"/{_within(factor.base, _POWER)}"
        else:
            above.append(_within(factor, _PRODUCT))
    text = ("*".join(above) or "1") + below
    return f"-{text}" if negative else text


def _power(tree: Power) -> str:
    exponent = tree.exponent
    if exponent == _HALF:
        return f"sqrt({_text(tree.base)})"
    return f"{_within(tree.base, _POWER)}^{_within(exponent, _POWER)}"


def _call(tree: Call) -> str:
    if tree.name == "percent":
        return f"{_within(tree.arguments[0], _POWER)}%"
    if tree.name == "degrees":
        return f"{_within(tree.arguments[0], _POWER)}°"
    if tree.name in ("pm", "mp"):
        return f"{'±' if tree.name == 'pm' else '∓'}{_within(tree.arguments[0], _PRODUCT)}"
    return f"{tree.name}({_list(tree.arguments)})"


def _quantity(tree: Quantity) -> str:
    value = tree.value
    number = _text(value) if isinstance(value, Number) else _within(value, _PRODUCT)
    return f"{number} {tree.unit}"


def _sequence(tree: Sequence) -> str:
    return f"{tree.left}{_list(tree.items)}{tree.right}"


def _relation(tree: Relation) -> str:
    pieces = [_text(tree.operands[0])]
    for operator, operand in zip(tree.operators, tree.operands[1:], strict=True):
        pieces += [operator, _text(operand)]
    return " ".join(pieces)


def _either(tree: Either) -> str:
    return " or ".join(map(_text, tree.parts))


def _combination(tree: Combination) -> str:
    return f" {tree.operator} ".join(map(_text, tree.parts))


def _builder(tree: Builder) -> str:
    return f"{{{_text(tree.head)} | {_list(tree.conditions)}}}"


def _named_set(tree: NamedSet) -> str:
    return "the empty set" if tree.name == "empty" else tree.name


def _matrix(tree: Matrix) -> str:
    return f"[{'; '.join(map(_list, tree.rows))}]"


def _ratio(tree: Ratio) -> str:
    return ":".join(_within(part, _PRODUCT) for part in tree.parts)


def _based(tree: Based) -> str:
    return f"{tree.digits} in base {tree.base}"


def _moment(tree: Moment) -> str:
    numbers = [f"{part:02}" for part in tree.parts if isinstance(part, int)]
    halves = [part for part in tree.parts if isinstance(part, str)]
    return " ".join([("-" if tree.kind == "date" else ":").join(numbers), *halves])


def _words(tree: Text) -> str:
    return f'"{tree.words}"'


def _list(items: Iterable[Tree]) -> str:
    return ", ".join(map(_text, items))


def _within(value: Value, place: int) -> str:
    """Return the text of a value, in brackets if it binds looser than its place."""
    text = _text(value)
    if type(value) is Symbol:
        return text
    if isinstance(value, Sum):
        loose = place > _SUM
    elif isinstance(value, Product) or text.startswith("-") or "/" in text[:-1]:
        loose = place > _PRODUCT or (place == _PRODUCT and text.startswith("-"))
    else:
        loose = isinstance(value, Power) and place == _POWER and not text.startswith("sqrt")
    return f"({text})" if loose else text


_WRITERS: Final[dict[type, Callable[[Any], str]]] = {
    Number: _number,
    Symbol: _symbol,
    Constant: _constant,
    Sum: _sum,
    Product: _product,
    Power: _power,
    Call: _call,
    Quantity: _quantity,
    Sequence: _sequence,
    Relation: _relation,
    Either: _either,
    Combination: _combination,
    Builder: _builder,
    NamedSet: _named_set,
    Matrix: _matrix,
    Ratio: _ratio,
    Based: _based,
    Moment: _moment,
    Text: _words,
}
