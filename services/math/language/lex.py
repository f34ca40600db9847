r"""Cut an answer into tokens: LaTeX and plain text, in one pass.

What only changes the looks is gone afterwards (`\left`, `\displaystyle`, `$`, `\,`), what has two
spellings has one kind (`\cdot` and `*`), and letters are sorted: functions and constants by name,
words, and products of variables. Whether the tokens make sense is the parser's business.

Letters: one is a variable. Several are a word if they stand in `\text{…}` or hold one of e, i, o, u
or are a known word or unit; else they are a product (`xy`, `abc`).
"""

from __future__ import annotations

import re
from string import ascii_letters
from typing import TYPE_CHECKING, Final, NamedTuple

from services.math.language.english import (
    CAPITALISED,
    PI_RUNS,
    WORDS,
    WORDS_IN_A,
    WORDS_WITH_FUNCTIONS,
)
from services.math.language.normalise import plain_unicode
from services.math.language.spellings import prepared, unit_text
from services.math.language.units import unit
from services.math.language.vocabulary import (
    BLANKS,
    COMMAND_KINDS,
    CONSTANTS,
    FRACTIONS,
    FUNCTIONS,
    GREEK_LETTERS,
    IGNORED,
    JOINTS,
    LONG_FUNCTIONS,
    NAMED_SETS,
    PLAIN_KINDS,
    SIGNS,
    UPRIGHT,
    WRAPPERS,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MAX_TOKENS: Final = 4_000
_MAX_NESTING: Final = 8

_TOKEN = re.compile(
    r"""(?P<plain>[-+/^{}]|\*(?!\*)|[A-Za-z](?![A-Za-z\u00c0-\u024f]))
    |(?P<number>\d+(?:\.\d+|\.(?![.\d]))?(?:[eE][+-]?\d{1,9}(?![\w.]))?|\.\d+)
    |(?P<letters>[A-Za-z\u00c0-\u024f]+|[^\W\d_A-Za-z\u00c0-\u024f]+)
    |\\(?P<command>[A-Za-z]+)
    |(?P<dots>\.(?:\ ?\.){2,}|…)
    |(?P<blank>[\s~\0]+|\\[,;:> ]|\\(?=\s))
    |\\(?P<escaped>.)
    |(?P<joint><=|>=|!=|==|\*\*|=<|≤|≥)
    |(?P<sign>.)""",
    re.VERBOSE | re.DOTALL,
)
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\d])(?!,\d)")
_SHORT_RUN: Final = 2
_NAMES = "|".join(sorted(LONG_FUNCTIONS, key=len, reverse=True))
_FUNCTION_RUN = re.compile(rf"(?:[a-zA-Z]{{0,2}}(?:{_NAMES})[a-zA-Z]?){{1,4}}")
_FUNCTION_OR_LETTER = re.compile(rf"{_NAMES}|[a-zA-Z]")
_VOWELS = frozenset("eiouEIOU")
_JOINED: Final = {
    "<=": "<=",
    "=<": "<=",
    ">=": ">=",
    "!=": "!=",
    "==": "=",
    "≤": "<=",
    "≥": ">=",
}
_ESCAPED: Final = {
    "{": "\\{",
    "}": "\\}",
    "%": "%",
    "\\": "row",
    "|": "|",
    "#": "other",
    "&": "&",
    "_": "_",
}
_CURRENCIES: Final = frozenset("$€£¥₩₹")


class Token(NamedTuple):
    """A piece of an answer."""

    kind: str
    """`number`, `letter`, `word`, `function`, …, or the sign itself: `+`, `(`, `\\{`."""
    text: str
    blank: bool = False
    """Whether blanks stand before it."""


_PLAIN: Final = {
    (sign, blank): Token("letter" if sign.isalpha() else sign, sign, blank)
    for sign in f"+-*/^{{}}{ascii_letters}"
    for blank in (False, True)
}
"""The tokens of the most frequent signs, made once."""


class LexError(ValueError):
    """Braces that do not close, or more tokens than are read."""


def lex(text: str, *, grouped: bool = True, units: bool = True) -> list[Token]:
    """Return the tokens of an answer.

    `grouped` reads `1,234` as one number, `units` reads `km` as a word instead of a product.
    """
    if not text.isascii():
        text = plain_unicode(text)
    text = prepared(text, units=units)
    return _Lexer(text, grouped=grouped, units=units).run()


class _Lexer:
    def __init__(self, text: str, *, grouped: bool, units: bool, nesting: int = 0) -> None:
        self.text = text
        self.place = 0
        self.tokens: list[Token] = []
        self.grouped = grouped
        self.units = units
        self.nesting = nesting
        self.depth = 0  # of brackets within which commas part items
        self.blank = False

    def run(self) -> list[Token]:
        text, size, token_at = self.text, len(self.text), _TOKEN.match
        while self.place < size:
            match = token_at(text, self.place)
            if match is None:  # every character is some token
                raise LexError(text[self.place])
            self.place = match.end()
            kind = match.lastgroup
            if kind == "plain":
                self.tokens.append(_PLAIN[match.group(), self.blank])
                self.blank = False
            elif kind is None or kind == "blank":
                self.blank = True
            else:
                _READERS[kind](self, match[kind])
        if len(self.tokens) > MAX_TOKENS:
            msg = f"more than {MAX_TOKENS:,} tokens"
            raise LexError(msg)
        return _with_stacked_units(self.tokens) if self.units else self.tokens

    def _add(self, kind: str, text: str) -> None:
        self.tokens.append(Token(kind, text, self.blank))
        self.blank = False

    def _number(self, text: str) -> None:
        if self.grouped and self.depth == 0 and self.text.startswith(",", self.place):
            start = self.place - len(text)
            before = self.text[start - 1 : start]
            match = _GROUPED.match(self.text, start)
            if match and before not in {",", "."}:
                self.place = match.end()
                text = match.group().replace(",", "")
        self._add("number", text)

    def _dots(self, text: str) -> None:
        self._add("...", text)

    def _joint(self, text: str) -> None:
        if text == "**":
            self._add("^", text)
        else:
            self._add("relation", _JOINED[text])

    def _sign(self, sign: str) -> None:
        if sign in "([":
            self.depth += 1
        elif sign in ")]":
            self.depth = max(self.depth - 1, 0)
        if sign in "=<>":
            self._add("relation", sign)
        elif sign in ",;":
            self._add("sep", sign)
        elif sign == "°":
            self._add("degree", sign)
        elif sign == "$":
            self.blank = True
        elif sign in _CURRENCIES:
            self._add("currency", sign)
        else:
            self._add(sign, sign)

    def _escaped(self, sign: str) -> None:
        if sign == "!":  # a negative blank
            return
        if sign in "()[]":  # LaTeX delimiters
            self.blank = True
            return
        if sign == "$":
            self._add("currency", "$")
            return
        self.depth += (sign == "{") - (sign == "}")
        self._add(_ESCAPED.get(sign, "other"), sign)

    def _command(self, name: str) -> None:
        if name in IGNORED:
            self._skip_dot()
        elif name in WRAPPERS:
            self._wrapped(name)
        elif name in SIGNS:
            self._bracket_depth(SIGNS[name])
            self._add(SIGNS[name], name)
        elif name in FRACTIONS:
            self._add("frac", name)
        elif name in BLANKS:
            self.blank = True
        else:
            self._named_command(name)

    def _bracket_depth(self, kind: str) -> None:
        self.depth += (kind in {"\\{", "[", "<<"}) - (kind in {"\\}", "]", ">>"})

    def _skip_dot(self) -> None:
        r"""Skip the full stop of an invisible bracket: `\left.`."""
        if self.text.startswith(".", self.place) and not self.text[self.place + 1 :][:1].isdigit():
            self.place += 1

    def _named_command(self, name: str) -> None:
        if name in ("mathbb", "mathcal", "Bbb"):
            self._add_named_set(self._group())
        elif name in ("begin", "end"):
            self._add("begin" if name == "begin" else "finish", self._group().rstrip("*"))
        else:
            self._add(*COMMAND_KINDS.get(name, ("other", name)))

    def _add_named_set(self, letter: str) -> None:
        if letter in NAMED_SETS:
            self._add("named", letter)
        else:
            self._add("letter", letter)

    def _group(self) -> str:
        """Take the braced group that follows, or the next character."""
        text = self.text
        while text.startswith((" ", "\n"), self.place):
            self.place += 1
        if not text.startswith("{", self.place):
            self.place += 1
            return text[self.place - 1 : self.place]
        depth = 0
        for index in range(self.place, len(text)):
            depth += (text[index] == "{") - (text[index] == "}")
            if depth == 0:
                inner = text[self.place + 1 : index]
                self.place = index + 1
                return inner
        msg = "a brace is not closed"
        raise LexError(msg)

    def _wrapped(self, name: str) -> None:
        inner = self._group()
        if self.nesting >= _MAX_NESTING:
            msg = "nested too deeply"
            raise LexError(msg)
        plain = inner.replace("~", " ").strip().replace("$", "")
        if name in UPRIGHT and (not _MATHS.search(plain) or self._is_unit(plain)):
            self.blank = self.blank or inner[:1] in (" ", "~")
            self._roman(unit_text(plain) if _MATHS.search(plain) else plain)
            self.blank = inner[-1:].isspace()
            return
        inside = _Lexer(inner, grouped=self.grouped, units=self.units, nesting=self.nesting + 1)
        inside.depth = self.depth
        tokens = inside.run()
        if name in UPRIGHT or len(tokens) <= 1:
            self.tokens += tokens
        else:
            self.tokens += [Token("{", "{"), *tokens, Token("}", "}")]

    def _is_unit(self, text: str) -> bool:
        return self.units and not text[:1].isdigit() and unit(unit_text(text)) is not None

    def _roman(self, text: str) -> None:
        """Add the words of an upright text; a function's name is a function there as well."""
        for piece in text.split():
            word = piece.rstrip(",;")
            self._add_word(word)
            if word != piece:
                self._add("sep", piece[-1])
            self.blank = True

    def _add_word(self, word: str) -> None:
        if not word:
            return
        low = word.lower()
        if low in JOINTS:
            self._add("joint", JOINTS[low])
        elif word in FUNCTIONS:
            self._add("function", FUNCTIONS[word])
        elif word in ("e", "i", "d") or (len(word) == 1 and self._is_name(word)):
            self._add("letter", word)
        elif word == "mod":
            self._add("mod", word)
        elif word in CONSTANTS:
            self._add("constant", CONSTANTS[word])
        else:
            self._add("word", word)

    def _is_name(self, letter: str) -> bool:
        """Whether an upright letter names what follows it: `P(2, 3)`, `C_5^2`."""
        return "A" <= letter <= "Z" and self.text.startswith(("_", "("), self.place)

    def _letters(self, run: str) -> None:
        if len(run) == 1 and (run.isascii() or run in GREEK_LETTERS):
            self._add("letter", GREEK_LETTERS.get(run, run))
        elif run in PLAIN_KINDS:
            self._add(*PLAIN_KINDS[run])
        elif not run.isascii() and any(letter in GREEK_LETTERS for letter in run):
            for letter in run:
                self._letters(letter)
        elif pieces := _with_functions(run):
            for piece in pieces:
                self._letters(piece)
        elif self._is_word(run):
            self._add("word", run)
        else:
            for letter in run:
                self._add("letter", letter)

    def _is_in_a_sum(self, run: str) -> bool:
        """Whether a sign or a digit stands beside the run: then `by` is a product."""
        begin = self.place - len(run)
        before = self.text[max(0, begin - 3) : begin]
        behind = _OPERATOR_BEHIND.match(self.text, self.place)
        return behind is not None or _OPERATOR_BEFORE.search(before) is not None

    def _is_word(self, run: str) -> bool:
        """Tell a word from a product of variables; in doubt, a short run is a product."""
        if not run.isascii():
            return True
        is_short = len(run) <= (_SHORT_RUN if self.units else _SHORT_RUN + 1)
        if is_short:
            is_shouted = run.isupper() and not (run == "NO" and self.text.strip(" .!") == run)
            is_wordy = run.lower() in WORDS and not is_shouted and not self._is_in_a_sum(run)
        else:
            is_wordy = not _VOWELS.isdisjoint(run) or _is_word_in_a(run)
        if is_wordy and not self.text.startswith("^", self.place):
            return True
        return self.units and unit(run) is not None


_OPERATOR_BEFORE = re.compile(r"[+\-*/^=\d)}]\s*\Z")
_OPERATOR_BEHIND = re.compile(r"\s*[+\-*/^=]")


def _is_word_in_a(run: str) -> bool:
    return run.lower() in WORDS_IN_A or run in CAPITALISED


def _with_functions(run: str) -> Sequence[str] | None:
    """Part functions from the variables beside them: `xsinx`."""
    if not _FUNCTION_RUN.fullmatch(run):
        return PI_RUNS.get(run)
    return None if run.lower() in WORDS_WITH_FUNCTIONS else _FUNCTION_OR_LETTER.findall(run)


_READERS: Final[dict[str, Callable[[_Lexer, str], None]]] = {
    "number": _Lexer._number,
    "letters": _Lexer._letters,
    "command": _Lexer._command,
    "dots": _Lexer._dots,
    "escaped": _Lexer._escaped,
    "joint": _Lexer._joint,
    "sign": _Lexer._sign,
}
"""What to do with each group of the expression."""


def _with_stacked_units(tokens: list[Token]) -> list[Token]:
    r"""Make one word of a unit that is written as a fraction: `\frac{\text{km}}{\text{h}}`."""
    for place, token in enumerate(tokens):
        if token.kind == "frac" and tuple(t.kind for t in tokens[place : place + 7]) == _STACKED:
            word = f"{tokens[place + 2].text}/{tokens[place + 5].text}"
            if unit(word):
                rest = _with_stacked_units(tokens[place + 7 :])
                return [*tokens[:place], Token("word", word, token.blank), *rest]
    return tokens


_STACKED: Final = ("frac", "{", "word", "}", "{", "word", "}")


_MATHS = re.compile(r"[\d\\^_{}=<>+*()\[\]|-]|:(?!$)")
