r"""Read an answer: plain numbers at once, everything else with the grammar.

What an answer says may have more than one form: its canonical text, a plain number, a tree, a date,
a choice. All of them are worked out when they are asked for, and once. An answer that has no tree
has a `problem`, and only some of them are the answer's fault: `GARBLED` is what no reading can save,
`UNREAD` is what a fuller reader might understand.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Final

from services.math.labels import parts
from services.math.language.choices import read_choice
from services.math.language.cursor import AmbiguousError, OutsizeError, ParseError
from services.math.language.digits import is_based
from services.math.language.lex import LexError, Token, lex
from services.math.language.moments import read_moment
from services.math.language.normalise import bare, canonical
from services.math.language.number import Number, OutOfBoundsError, read_number
from services.math.language.statements import Parser
from services.math.language.units import compound
from services.math.language.words import without_preamble
from services.math.tree import Based, Call, Number as NumberNode, Quantity, Sequence, Text

if TYPE_CHECKING:
    from services.math.language.choices import Choice
    from services.math.tree import Moment, Tree

MAX_SHOWN_CHARS: Final = 60
_SHORT: Final = 200

_QUOTES: Final = (
    *(('"', '"'), ("'", "'"), ("``", "''"), ("`", "`"), ("__", "__"), ("_", "_")),
    *(("\u201c", "\u201d"), ("\u2018", "\u2019"), ("\u300c", "\u300d")),
)
_OPENING_QUOTES: Final = frozenset(opening[0] for opening, _ in _QUOTES)
_GREEK = (
    r"\\(?:var)?(?:alpha|beta|gamma|delta|epsilon|zeta|eta|theta|iota|kappa|lambda|mu|nu|xi|rho|sigma"
    r"|tau|upsilon|phi|chi|psi|omega|Gamma|Delta|Theta|Lambda|Xi|Sigma|Upsilon|Phi|Psi|Omega)"
)  # no pi, which has a value
_SYMBOL = re.compile(rf"(?:(?:[^\W\d_]|{_GREEK})(?:_\w|_\{{\w+\}})?)?=(?=[^=<>]+\Z)")
_BASED = re.compile(r"\(?([0-9A-Z]+(?:\.[0-9A-Z]+)?)\)?_\{?(\d\d?)\}?")
_ARC = re.compile(
    r"(\d{1,4})°\s?(\d\d?)(?:'|\u2032|\^\{?\\prime\}?)\s?(?:(\d\d?)(?:''|\"|\u2033))?"
)
_GROUPED = re.compile(r"\d,\d{3}(?!\d)")
_RATIO_LIKE = re.compile(r"\d+:\d+(?::\d+)?")
_TEXT_LIKE = re.compile(r"[^\W\d_]{2}|[^\x00-\x7f]")
_COMMAND = re.compile(r"\\[A-Za-z]+")
_UNKNOWN = re.compile(r"\\[A-Za-z]|\.\.\.")
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_NOT_TEXT = re.compile(r"[\d=^_<>\\+*/]")
_PUNCTUATION = re.compile(r"[\s.,;:!?\"'`()]+")


class Problem(StrEnum):
    """Why an answer has no tree."""

    BLANK = "blank"
    """Nothing at all."""
    GARBLED = "garbled"
    """Digits and signs that no reading makes sense of, unbalanced braces, a division by zero."""
    AMBIGUOUS = "ambiguous"
    """What people read in two ways: `4 10/3`."""
    OUTSIZE = "outsize"
    """A number with too many digits or too large an exponent, or nesting deeper than is read."""
    UNREAD = "unread"
    """Words and commands that the grammar does not know."""

    __hash__ = str.__hash__  # Enum's own is Python code, and slow


@dataclass
class Answer:
    """An answer as it was read; equal `text` means the same answer."""

    raw: str
    text: str
    symbol: str = ""
    """The `x` of `x = 5`, which is not a part of `text`."""
    number: Number | None = None
    problem_of_number: Problem | None = field(default=None, repr=False)
    units: bool = True
    """Whether letters after a number may be units."""

    @property
    def shown(self) -> str:
        """The answer as a sentence may quote it."""
        text = f"{self.symbol}={self.text}" if self.symbol else self.text
        return text if len(text) <= MAX_SHOWN_CHARS else text[: MAX_SHOWN_CHARS - 1] + "…"

    @cached_property
    def _reading(self) -> _Reading:
        if self.problem_of_number:
            return _Reading(problem=self.problem_of_number)
        if self.number:
            others = _ungrouped(self.raw) if _GROUPED.search(self.raw) else ()
            return _Reading(tree_of(self.number), others=others)
        return _read(self.raw, self.text, units=self.units)

    @cached_property
    def equation(self) -> Tree | None:
        """What it says, with the symbol: `x = 5`, whose `tree` is 5."""
        return _read(self.raw, f"{self.symbol}={self.text}", units=self.units).tree

    @property
    def tree(self) -> Tree | None:
        """What it says, without the symbol that it is said of."""
        return self._reading.tree

    @property
    def problem(self) -> Problem | None:
        """Why there is no tree, if there is none."""
        return self._reading.problem

    @property
    def others(self) -> tuple[Tree, ...]:
        """What it may say as well: `1/2x` is a half of x, or one over 2x."""
        return self._reading.others

    @cached_property
    def choice(self) -> Choice | None:
        """The option of a multiple choice that it names."""
        return read_choice(self.text)

    @cached_property
    def moment(self) -> Moment | None:
        """The date or the time of day that it is."""
        return read_moment(self.text)


@dataclass(frozen=True)
class _Reading:
    tree: Tree | None = None
    problem: Problem | None = None
    others: tuple[Tree, ...] = ()


def parse(raw: str, *, units: bool = True) -> Answer:
    """Read an answer; never raises."""
    raw = _unquoted(raw)
    text, symbol = canonical(raw), ""
    if "=" in text and (match := _SYMBOL.match(text)):
        value = bare(text[match.end() :])
        number, problem = _number(value)
        if number or problem:
            return Answer(raw, value, match.group()[:-1], number, problem, units)
    while _is_parenthesised(text):
        text = text[1:-1]
    number, problem = _number(text)
    return Answer(raw, text, symbol, number, problem, units)


def _unquoted(raw: str) -> str:
    """Leave out one pair of quotation marks, backticks or underscores around the whole."""
    inner = raw.strip()
    if inner[:1] not in _OPENING_QUOTES:
        return raw
    for opening, closing in _QUOTES:
        if inner.startswith(opening) and inner.endswith(closing):
            piece = inner[len(opening) : -len(closing)]
            if piece.strip() and opening not in piece and closing not in piece:
                return piece
    return raw


def _number(text: str) -> tuple[Number | None, Problem | None]:
    if not text:
        return None, Problem.BLANK
    try:
        return read_number(text), None
    except OutOfBoundsError:  # a power may still be compared as one
        return None, None if "^" in text or "e" in text.lower() else Problem.OUTSIZE
    except ZeroDivisionError:
        return None, Problem.GARBLED


def is_garbled(raw: str) -> bool:
    """Whether no reading makes sense of an answer."""
    return parse(raw).problem is Problem.GARBLED


def _is_parenthesised(text: str) -> bool:
    """Whether parentheses around the whole only group; `(1,234)` is a pair."""
    inner = text[1:-1]
    return text[:1] == "(" and text[-1:] == ")" and not any(mark in inner for mark in "(),;")


def tree_of(number: Number) -> Tree:
    """Return the tree that a plain number with its unit makes."""
    value = number.value
    node = NumberNode(int(value) if value.denominator == 1 else value, number.places)
    if number.unit == "%":
        return Call("percent", (node,))
    if number.unit == "°":
        return Call("degrees", (node,))
    return Quantity(node, number.unit) if number.unit else node


def _read(raw: str, text: str, *, units: bool) -> _Reading:
    """Read what is more than a plain number."""
    if numbered := parts(raw):
        return _numbered([parse(part, units=units) for part in numbered])
    notation = _notation(text, units=units)
    if notation is not None:
        return _Reading(notation)
    try:
        tokens = _without_preamble(lex(raw, units=units))
        parser = Parser(tokens)
        tree = parser.answer()
    except (OutsizeError, RecursionError):
        return _Reading(problem=Problem.OUTSIZE)
    except (ParseError, LexError) as error:
        return _second_reading(raw, text, error)
    return _Reading(tree, others=_others(raw, tokens, tree, ambiguous=parser.ambiguous))


def _numbered(answers: list[Answer]) -> _Reading:
    """Read an answer in numbered parts as a tuple."""
    problem = next((answer.problem for answer in answers if answer.problem), None)
    trees = tuple(answer.tree for answer in answers if answer.tree is not None)
    return _Reading(problem=problem) if problem else _Reading(Sequence(trees, "(", ")"))


def _notation(text: str, *, units: bool) -> Tree | None:
    """Read what has a notation of its own: other bases, angles, dates, `2 hours 30 minutes`."""
    if "_" in text and (match := _BASED.fullmatch(text)) and is_based(match[1], int(match[2])):
        return Based(match[1], int(match[2]))
    if "°" in text and (match := _ARC.fullmatch(text)):
        return _angle(*match.groups())
    moment = read_moment(text)
    if moment and not _RATIO_LIKE.fullmatch(text):
        return moment
    if units and len(text) <= _SHORT and (parts := compound(text)):
        return Quantity(NumberNode(parts[0]), parts[1].name)
    return None


def _angle(degrees: str, minutes: str, seconds: str | None) -> Tree:
    """Read degrees with their sixtieths: `37°30'`."""
    value = Fraction(int(degrees)) + Fraction(int(minutes), 60) + Fraction(int(seconds or 0), 3600)
    return Call("degrees", (NumberNode(value),))


def _others(raw: str, tokens: list[Token], tree: Tree, *, ambiguous: bool) -> tuple[Tree, ...]:
    tight = _parsed(tokens, tight=True) if ambiguous else None
    others = (() if tight is None else (tight,)) + (_ungrouped(raw) if _GROUPED.search(raw) else ())
    return tuple(other for other in others if other != tree)


def _ungrouped(raw: str) -> tuple[Tree, ...]:
    """Read `100,200` as two numbers."""
    tree = _parsed(_lexed(raw, grouped=False))
    return () if tree is None else (tree,)


def _second_reading(raw: str, text: str, error: ValueError) -> _Reading:
    """Read what the grammar refused: letters as variables and not as units, or as a text."""
    tree = _parsed(_lexed(raw, units=False))
    if tree is not None:
        return _Reading(tree)
    is_wordy = _TEXT_LIKE.search(_COMMAND.sub(" ", text)) is not None
    if is_wordy and not _NOT_TEXT.search(text):
        return _Reading(Text(" ".join(_PUNCTUATION.sub(" ", text).split()).casefold()))
    if isinstance(error, AmbiguousError):
        return _Reading(problem=Problem.AMBIGUOUS)
    is_open = is_wordy or _UNKNOWN.search(text) is not None
    is_garbled = isinstance(error, LexError) or not is_open or not _is_balanced(text)
    return _Reading(problem=Problem.GARBLED if is_garbled else Problem.UNREAD)


def _is_balanced(text: str) -> bool:
    """Whether every brace that opens is closed."""
    depth = 0
    for mark in _BRACE.findall(text):
        depth += (mark == "{") - (mark == "}")
        if depth < 0:
            return False
    return depth == 0


def _lexed(raw: str, *, grouped: bool = True, units: bool = True) -> list[Token]:
    try:
        return _without_preamble(lex(raw, grouped=grouped, units=units))
    except LexError:
        return []


def _parsed(tokens: list[Token], *, tight: bool = False) -> Tree | None:
    try:
        return Parser(list(tokens), tight=tight).answer()
    except (ParseError, RecursionError):
        return None


def _without_preamble(tokens: list[Token]) -> list[Token]:
    """Leave out the words that announce an answer ("The answer is"), and a full stop at the end."""
    while tokens and tokens[-1].kind in (".", "sep", "row"):
        tokens = tokens[:-1]
    words = 0
    while words < len(tokens) and tokens[words].kind in ("word", "letter", ":"):
        words += 1
    if words == 0 or tokens[0].kind != "word":
        return tokens
    for count in range(words, 0, -1):
        phrase = " ".join(token.text for token in tokens[:count])
        if without_preamble(f"{phrase} 0") == "0":
            return tokens[count:]
    return tokens
