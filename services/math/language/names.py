r"""Names that are more than a letter: `f(x)` and `P(X = 2)` before an equals sign, `P(A|B)`, points.

What is covered: functions whose value is stated; probabilities of events with the letters A to H, M,
N; points with their coordinates (`P(2, 3)`, which says that P is `(2, 3)`). And what is only known
by all that is written: a quotient with its remainder, a condition in brackets at the end.

What is not: the same letter with one number in brackets. `C(5, 3)` chooses 3 out of 5, and is a point
in another reading (`Grammar.tight`); `P(5, 3)` is a point, and a number of permutations in the other.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from services.math.language.application import MAX_TOTAL, in_order
from services.math.language.cursor import ParseError
from services.math.language.digits import read_decimal
from services.math.tree import VALUES, Call, Number, Relation, Sequence, Symbol, Text

if TYPE_CHECKING:
    from services.math.language.grammar import Grammar
    from services.math.language.lex import Token
    from services.math.tree import Tree, Value

OPENINGS: Final = frozenset(("(", "_", "'"))
"""Kinds behind a letter that may begin a longer name."""
STATEMENT_ENDS: Final = frozenset(("end", "sep", "joint", ")", "]", "}", "\\}", "row", "&"))
_EVENTS: Final = frozenset("ABCDEFGHMN")
_EVENT_KINDS: Final = frozenset(("letter", "|", "mid", "setop", "accent", "{", "}", "sep"))
_EVENT_TEXTS: Final = {"mid": "|", "bar": "overline"}
_ONE_LETTER: Final = re.compile(r"\{(\w)\}|(?<=overline)(?=\w)")
_DIGITS: Final = re.compile(r"[0-9]{1,12}")
_MAX_NAME: Final = 16
"""Tokens in the brackets of a name."""
_MAX_COORDINATES: Final = 3
_SIMPLE: Final = frozenset(("letter", "number", "sep", "relation"))
_OPENING: Final = frozenset(("(", "[", "{", "\\{"))
_CLOSING: Final = frozenset((")", "]", "}", "\\}"))
SPELLED: Final = 5
"""Tokens of a quotient with its remainder and of `20C10`, with the two that end every answer."""


def name(parser: Grammar) -> Tree | None:
    """Parse what names something at the start of a statement: a letter, and one of `OPENINGS`."""
    opening = _opening(parser)
    closing = opening and _closing(parser.tokens, opening)
    if not closing or parser.tokens[closing].kind != ")":
        return None
    inside = parser.tokens[opening + 1 : closing]
    following = parser.tokens[closing + 1].kind
    if following == "relation" and opening == parser.place + 1:
        return _event(parser, inside, closing) or _head(parser, inside, closing)
    if following not in STATEMENT_ENDS:
        return None
    return _event(parser, inside, closing, alone=True) or _point(parser, opening, closing)


def _opening(parser: Grammar) -> int:
    """Return the place of the bracket behind a name such as `P`, `P_1` or `P'`; 0 without one."""
    place, tokens = parser.place + 1, parser.tokens
    if tokens[place].kind == "_" and tokens[place + 1].kind in ("number", "letter"):
        place += 2
    while tokens[place].kind == "'":
        place += 1
    return place if tokens[place].kind == "(" else 0


def _closing(tokens: list[Token], opening: int) -> int:
    """Return the place of the bracket that closes the one at `opening`; 0 without one."""
    depth = 0
    for place in range(opening, len(tokens)):
        depth += (tokens[place].kind in _OPENING) - (tokens[place].kind in _CLOSING)
        if depth == 0:
            return place
    return 0


def _head(parser: Grammar, inside: list[Token], closing: int) -> Tree | None:
    """Parse `y(x)`, `P(X = 2)`: what is said of a function."""
    head = parser.next.text
    is_simple = 0 < len(inside) < _MAX_NAME // 2 and all(t.kind in _SIMPLE for t in inside)
    if not is_simple or head == "x":
        return None
    parser.go_to(closing + 1)
    if any(token.kind == "relation" for token in inside):
        return Call(head, (Symbol("".join(token.text for token in inside)),))
    return Call(head, tuple(_argument(token) for token in inside if token.kind != "sep"))


def _argument(token: Token) -> Value:
    return read_decimal(token.text) if token.kind == "number" else Symbol(token.text)


def _event(
    parser: Grammar, inside: list[Token], closing: int, *, alone: bool = False
) -> Value | None:
    """Parse `P(A)`, `P(A|B)`; alone, only what is no product: `P(A)` may be one."""
    if parser.next.text != "P" or parser.after_next().kind != "(" or len(inside) > _MAX_NAME:
        return None
    letters = [token.text for token in inside if token.kind == "letter"]
    kinds = {token.kind for token in inside}
    is_event = bool(letters) and kinds <= _EVENT_KINDS and _EVENTS.issuperset(letters)
    if not is_event or (alone and kinds.isdisjoint(("|", "mid", "setop"))):
        return None
    parser.go_to(closing + 1)
    text = "".join(_EVENT_TEXTS.get(token.text, token.text) for token in inside)
    text = _ONE_LETTER.sub(r" \1", text)
    if alone:
        return Symbol(f"P({text})")
    return Call("P", (Call("event", (Symbol(text),)),))  # no variable, which may have another name


def _point(parser: Grammar, opening: int, closing: int) -> Tree | None:
    """Parse `P(2, 3)`: a name with the coordinates of a point."""
    tokens = parser.tokens[parser.place : opening]
    head = "".join(token.text for token in tokens)
    if len(tokens[0].text) > 1 or not head[0].isupper():
        return None
    if not 1 <= _commas(parser.tokens, opening, closing) < _MAX_COORDINATES:
        return None
    parser.go_to(opening)
    place = parser.bracketed()
    if not isinstance(place, Sequence) or not all(isinstance(item, VALUES) for item in place.items):
        msg = "a point has coordinates"
        raise ParseError(msg)
    point = Relation((Symbol(head), place), ("=",))
    other = _number(head, place)
    if not other:
        return point
    parser.ambiguous = True
    return point if parser.tight == (head == "C") else other


def _number(head: str, place: Sequence) -> Value | None:
    """Return the number of ways that `C(5, 3)`, `C(n, 2)` and `P(5, 3)` may be; `C(3, -5)` is none."""
    above, below = place.items[:2]
    if head not in ("C", "P") or len(place.items) != len((above, below)):
        return None
    if not (isinstance(above, VALUES) and isinstance(below, VALUES)):
        return None
    if head == "P":
        return in_order(above, below) if isinstance(above, Number) else None
    numbers = [item.value for item in (above, below) if isinstance(item, Number)]
    is_impossible = any(isinstance(number, Fraction) or number < 0 for number in numbers)
    if is_impossible or (len(numbers) > 1 and numbers[0] < numbers[1]):
        return None
    return Call("binom", (above, below))


def _commas(tokens: list[Token], opening: int, closing: int) -> int:
    depth = commas = 0
    for token in tokens[opening:closing]:
        depth += (token.kind in _OPENING) - (token.kind in _CLOSING)
        commas += depth == 1 and token.kind == "sep"
    return commas


def two_numbers(tokens: list[Token]) -> Tree | None:
    """Return what `12 R 3` says, a quotient with its remainder and nothing else, or `20C10`."""
    whole, sign, rest = tokens[:3]
    if whole.kind != "number" or rest.kind != "number" or sign.kind not in ("letter", "word"):
        return None
    if not (_DIGITS.fullmatch(whole.text) and _DIGITS.fullmatch(rest.text)):
        return None
    first, second = int(whole.text), int(rest.text)
    is_small = sign.text == "r" and (sign.kind == "word" or rest.blank)  # and not the r_2 of `3r2`
    if is_small or sign.text in ("R", "rem", "remainder"):
        return Text(f"{first} remainder {second}")
    is_tight = not (sign.blank or rest.blank) and sign.text in ("C", "P")
    if not is_tight or not 1 <= second <= first <= MAX_TOTAL:
        return None
    numbers = Number(first), Number(second)
    return Call("binom", numbers) if sign.text == "C" else in_order(*numbers)


def respelled(tokens: list[Token]) -> list[Token] | None:
    r"""Return what only the whole tells: a condition in brackets at the end, `\approx 3.61`.

    Of `\approx 4`, no digits say how near it is, so it is not read.
    """
    if not tokens:
        return None
    if tokens[-1].kind == ")":
        shown = _without_brackets(tokens)
        return None if shown is tokens else shown
    is_estimate = tokens[0].text == "~" and len(tokens) == 2 and tokens[1].kind == "number"
    return tokens[1:] if is_estimate and "." in tokens[1].text.rstrip("0.") else None


def _without_brackets(tokens: list[Token]) -> list[Token]:
    r"""Return the tokens with a comma for the brackets of a condition: `2k\pi\ (k\in\mathbb Z)`.

    The same tokens where the text does not end with a condition in brackets. `P(X > 2)` is none.
    """
    opening = _last_opening(tokens)
    if opening < 1 or tokens[opening - 1].kind not in _VALUE_ENDS:
        return tokens
    inside = tokens[opening + 1 : -1]
    relations = {token.text for token in inside if token.kind == "relation"}
    has_name = any(token.kind == "letter" for token in inside)
    last = tokens[opening - 1]
    is_function = last.kind == "letter" and (
        opening == 1
        or last.text in ("f", "g")
        or (last.text.isupper() and not tokens[opening].blank)
    )
    if not relations or "=" in relations or not has_name or is_function:
        return tokens
    return [*tokens[:opening], tokens[opening]._replace(kind="sep", text=","), *inside]


_VALUE_ENDS: Final = frozenset(
    ("number", "letter", "constant", "named", ")", "]", "}", "\\}", "!", "'", "|")
)


def _last_opening(tokens: list[Token]) -> int:
    depth = 0
    for place in range(len(tokens) - 1, -1, -1):
        depth += (tokens[place].kind == ")") - (tokens[place].kind == "(")
        if depth == 0:
            return place
    return -1
