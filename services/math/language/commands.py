r"""LaTeX commands: `\frac`, `\sqrt`, `\binom`, accents, sums, integrals, limits, matrices."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Final

from services.math.language import figures
from services.math.language.cursor import ParseError, as_value
from services.math.tree import (
    Call,
    Constant,
    Matrix,
    Number,
    Power,
    Product,
    Relation,
    Sequence,
    Symbol,
    Value,
    quotient,
)

if TYPE_CHECKING:
    from services.math.language.grammar import Grammar
    from services.math.tree import Tree

_MATRICES: Final = frozenset(("matrix", "pmatrix", "bmatrix", "Bmatrix", "smallmatrix", "array"))
_SYSTEMS: Final = frozenset(("cases", "aligned", "gathered"))
_TRANSPOSED: Final = frozenset(("T", "t", "top", "intercal"))
_UNIT_VECTORS: Final = {"i": "i", "j": "j", "k": "k", "imath": "i", "jmath": "j"}
_ACCENTS: Final = {"bar": "overline", "widehat": "hat", "overrightarrow": "vec"}
_HALF: Final = Number(Fraction(1, 2))


def fraction(grammar: Grammar) -> Value:
    r"""Parse `\frac`; a derivative such as `\frac{dy}{dx}` is a name."""
    grammar.take()
    start = grammar.place
    top, bottom = grammar.argument(), grammar.argument()
    tokens = grammar.tokens[start : grammar.place]
    texts = [token.text for token in tokens if token.text not in "{}"]
    if _is_derivative(texts):
        return Symbol("/".join(("".join(texts[:-2]), "".join(texts[-2:]))))
    return quotient(top, bottom)


def root(grammar: Grammar) -> Value:
    r"""Parse `\sqrt[3]{x}` and `sqrt(x)`."""
    grammar.take()
    degree = None
    if grammar.accept("["):
        degree = grammar.value()
        grammar.take("]")
    inside = grammar.argument() if grammar.next.kind != "(" else as_value(grammar.bracketed())
    return Power(inside, quotient(Number(1), degree) if degree else _HALF)


def binomial(grammar: Grammar) -> Value:
    r"""Parse `\binom{n}{k}`."""
    grammar.take()
    return Call("binom", (grammar.argument(), grammar.argument()))


def accented(grammar: Grammar) -> Value:
    r"""Parse a letter with an arrow or a bar: a name; `\hat i` is the unit vector that is also i."""
    start = grammar.place
    accent = grammar.take().text
    accent = _ACCENTS.get(accent, accent)
    name = grammar.raw_group()
    if accent == "overline":
        name = figures.segment(grammar, start, name)
    if accent in ("hat", "vec") and name in _UNIT_VECTORS:
        return Constant("i") if _UNIT_VECTORS[name] == "i" else Symbol(_UNIT_VECTORS[name])
    if not name.isalnum():
        msg = "an accent over more than a name"
        raise ParseError(msg)
    return Symbol(name if accent == "vec" else f"{accent} {name}")


def big(grammar: Grammar) -> Value:
    """Parse a sum, product, integral or limit."""
    name = grammar.take().text
    if name == "int":
        return _integral(grammar)
    grammar.bound += 1
    grammar.take("_")
    grammar.take("{")
    symbol = as_value(grammar.letter())
    if name == "lim":
        grammar.take("to")
    elif grammar.take("relation").text != "=":
        msg = "a sum has a first index"
        raise ParseError(msg)
    first = grammar.value()
    grammar.take("}")
    if name == "lim":
        call = Call("limit", (as_value(grammar.product()), symbol, first))
    else:
        grammar.take("^")
        last = _bound(grammar)
        call = Call(name, (as_value(grammar.product()), symbol, first, last))
    grammar.bound -= 1
    return call


def _bound(grammar: Grammar) -> Value:
    """Parse the end of a sum or an integral; more than one digit does without braces here."""
    if grammar.next.kind == "{":
        return grammar.argument()
    return as_value(grammar.signed_primary())


def _integral(grammar: Grammar) -> Value:
    bounds: list[Value] = []
    if grammar.accept("_"):
        bounds.append(_bound(grammar))
        grammar.take("^")
        bounds.append(_bound(grammar))
    grammar.integrals += 1
    body = Number(1) if grammar.is_differential() else grammar.value()
    grammar.integrals -= 1
    if not grammar.is_differential():
        msg = "an integral without its variable"
        raise ParseError(msg)
    grammar.take()
    return Call("integral", (body, grammar.letter(), *bounds))


def _is_derivative(texts: list[str]) -> bool:
    r"""Whether the letters are those of `\frac{d}{dx}` or `\frac{dy}{dx}`."""
    return len(texts) in (3, 4) and texts[0] == "d" and texts[-2] == "d"


def scaled(matrix: Matrix, factor: Value) -> Matrix:
    """Return the matrix with every entry multiplied."""
    rows = (tuple(Product((factor, as_value(entry))) for entry in row) for row in matrix.rows)
    return Matrix(tuple(rows))


def transposed(grammar: Grammar, tree: Matrix | Sequence) -> Matrix:
    """Parse the `^T` behind a matrix or a row of numbers."""
    grammar.take("^")
    if grammar.raw_group().lstrip("\\") not in _TRANSPOSED:
        msg = "a matrix has no other power here"
        raise ParseError(msg)
    if isinstance(tree, Matrix):
        return Matrix(tuple(zip(*tree.rows, strict=True)))
    if tree.left not in ("(", "["):
        msg = "this is no row of a matrix"
        raise ParseError(msg)
    return Matrix(tuple((item,) for item in tree.items))


def environment(grammar: Grammar) -> Tree:
    r"""Parse what stands between `\begin` and `\end`: a matrix, or a system of equations."""
    return _system(grammar) if grammar.next.text in _SYSTEMS else matrix(grammar)


def _system(grammar: Grammar) -> Sequence:
    """Parse equations, one a row; the columns of a function given by cases are not read."""
    grammar.take("begin")
    rows: list[Tree] = []
    while not grammar.accept("finish"):
        rows.append(grammar.statement())
        grammar.accept("sep")
        if not grammar.accept("row") and grammar.next.kind != "finish":
            msg = "a function by cases"
            raise ParseError(msg)
    if not all(isinstance(row, Relation) for row in rows):
        msg = "no system of equations"
        raise ParseError(msg)
    return Sequence(tuple(rows))


def matrix(grammar: Grammar) -> Matrix:
    r"""Parse `\begin{pmatrix}…\end{pmatrix}`."""
    name = grammar.take("begin").text
    if name not in _MATRICES:
        msg = f"{name} is not read"
        raise ParseError(msg)
    if name == "array":
        grammar.raw_group()
    rows: list[list[Tree]] = [[]]
    while not grammar.accept("finish"):
        rows[-1].append(grammar.statement())
        if grammar.accept("row"):
            rows.append([])
        elif grammar.next.kind != "finish":
            grammar.take("&")
    full = [tuple(row) for row in rows if row]
    if not full or any(len(row) != len(full[0]) for row in full):
        msg = "the rows are not of one length"
        raise ParseError(msg)
    return Matrix(tuple(full))
