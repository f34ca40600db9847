"""Tell what kind of thing an answer is: a number, a word, an expression, garbage.

This first reader understands plain numbers only. Anything that could have a value which it
cannot compute (roots, powers, variables, words, units, sets) is `EXPRESSION`, and comparing it
with something else is never a "no". `GARBLED` is kept for what no reading can save.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from services.math.normalise import bare, canonical
from services.math.number import Number, OutOfBoundsError, read_number

MAX_SHOWN_CHARS: Final = 60

_GREEK = (
    r"\\(?:var)?(?:alpha|beta|gamma|delta|epsilon|zeta|eta|theta|iota|kappa|lambda|mu|nu|xi|rho|sigma"
    r"|tau|upsilon|phi|chi|psi|omega|Gamma|Delta|Theta|Lambda|Xi|Sigma|Upsilon|Phi|Psi|Omega)"
)  # no pi, which has a value
_SYMBOL = re.compile(rf"(?:(?:[^\W\d_]|{_GREEK})(?:_\w|_\{{\w+\}})?)?=(?=[^=]+\Z)")
_PLAIN = re.compile(r"[\d\s.,;:+\-*/=()]*")
_PLAIN_PIECE = re.compile(r"\d+(?:\.\d*)?|\.\d+|[^\s\d]")
_OTHER_THOUSANDS = re.compile(r"-?\d{1,3}(?:[ .]\d{3})+(?:[.,]\d+)?")
_MARKS = frozenset("+-*/=:;,.()")
_BRACKET = re.compile(r"\\.|[{}()]", re.DOTALL)


class Shape(StrEnum):
    """What kind of thing an answer is."""

    BLANK = "blank"
    """Nothing at all."""
    NUMBER = "number"
    """A plain number; `Answer.number` holds it."""
    NUMBERS = "numbers"
    """Plain numbers with commas between: `5, 7`."""
    LETTER = "letter"
    """A single letter of the Latin alphabet: a choice or a variable."""
    WORD = "word"
    """Letters and nothing else."""
    GARBLED = "garbled"
    """Digits and signs that no reading makes sense of, unbalanced braces, a division by zero."""
    OUTSIZE = "outsize"
    """A number with too many digits or too large an exponent."""
    EXPRESSION = "expression"
    """Anything else; a fuller reader might give it a value."""

    __hash__ = str.__hash__  # Enum's own is Python code, and slow


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer as it was read; equal `text` means the same answer."""

    text: str
    shape: Shape
    symbol: str = ""
    """The `x` of `x = 5`, which is not a part of `text`."""
    number: Number | None = None

    @property
    def shown(self) -> str:
        """The answer as a sentence may quote it."""
        text = f"{self.symbol}={self.text}" if self.symbol else self.text
        return text if len(text) <= MAX_SHOWN_CHARS else text[: MAX_SHOWN_CHARS - 1] + "…"


def parse(raw: str) -> Answer:
    """Read an answer; never raises."""
    text, symbol = canonical(raw), ""
    if "=" in text and (match := _SYMBOL.match(text)):
        text, symbol = bare(text[match.end() :]), match.group()[:-1]
    while _is_parenthesised(text):
        text = text[1:-1]
    try:
        number = read_number(text)
    except OutOfBoundsError:
        return Answer(text, Shape.OUTSIZE, symbol)
    except ZeroDivisionError:
        return Answer(text, Shape.GARBLED, symbol)
    if number:
        return Answer(text, Shape.NUMBER, symbol, number)
    return Answer(text, _shape(text), symbol)


def _is_parenthesised(text: str) -> bool:
    """Whether parentheses around the whole only group; `(1,234)` is a pair."""
    inner = text[1:-1]
    return text[:1] == "(" and text[-1:] == ")" and not any(mark in inner for mark in "(),;")


def _shape(text: str) -> Shape:
    if not text:
        return Shape.BLANK
    if text.isalpha():
        return Shape.LETTER if len(text) == 1 and text.isascii() else Shape.WORD
    if _PLAIN.fullmatch(text) and not text.endswith("..") and "..." not in text:
        return _plain_shape(text)
    return Shape.EXPRESSION if _is_nested_well(text, "{", "}") else Shape.GARBLED


def _plain_shape(text: str) -> Shape:
    """Tell well-formed arithmetic and lists of numbers from garbage."""
    if _OTHER_THOUSANDS.fullmatch(text):
        return Shape.EXPRESSION
    marks = set()
    last = "("
    for piece in _PLAIN_PIECE.findall(text):
        if not _may_follow(last, piece):
            return Shape.GARBLED
        if piece in _MARKS:
            marks.add(piece)
        last = piece
    if (last in _MARKS and last != ")") or not _is_nested_well(text, "(", ")"):
        return Shape.GARBLED
    return Shape.NUMBERS if "," in marks and marks <= set("(),+-") else Shape.EXPRESSION


def _may_follow(last: str, piece: str) -> bool:
    """Whether `piece` may stand after `last`; a bracket next to a number is a product."""
    if piece == "(":
        return True
    if piece in "+-":
        return last != "."
    if piece in _MARKS:
        return last not in _MARKS or last == ")"
    return last in _MARKS


def _is_nested_well(text: str, opening: str, closing: str) -> bool:
    depth = 0
    for mark in _BRACKET.findall(text):
        depth += (mark == opening) - (mark == closing)
        if depth < 0:
            return False
    return depth == 0
