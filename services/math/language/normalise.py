"""Bring one answer into a canonical spelling: Unicode, LaTeX cosmetics, blanks.

Two texts with the same canonical spelling mean the same; that is the only promise. What changes
the meaning stays: case, order, brackets, units, the blank in `11 5/6`. Nothing is computed here.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from services.math.language.spellings import literal, respelled
from services.math.language.vocabulary import SIZES

_DOUBLE_STRUCK = ((0x211D, "R"), (0x211A, "Q"), (0x2124, "Z"), (0x2115, "N"), (0x2102, "C"))
_UNICODE = str.maketrans(
    {
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212\ufe63", "-"),
        **dict.fromkeys("\u2044\u2215\u00f7", "/"),
        "\u2236": ":",
        **dict.fromkeys("\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"),  # nothing to see
        **dict.fromkeys("\uff0c\u3001", ", "),  # never within a number
        "\N{MULTIPLICATION SIGN}": r"\times ",
        "\N{MIDDLE DOT}": r"\cdot ",
        "\N{DOT OPERATOR}": r"\cdot ",
        "\N{UNION}": r"\cup ",
        "∩": r"\cap ",
        "∅": r"\emptyset ",
        **{chr(code): rf"\mathbb{{{letter}}}" for code, letter in _DOUBLE_STRUCK},
        "π": r"\pi ",
        "∞": r"\infty ",
        "≤": r"\le ",
        "≥": r"\ge ",
        "≠": r"\ne ",
        "≈": r"\approx ",
        "±": r"\pm ",
        "≡": r"\equiv ",
        "∈": r"\in ",
        "∉": r"\notin ",
        "⌊": r"\lfloor ",
        "⌋": r"\rfloor ",
        "⌈": r"\lceil ",
        "⌉": r"\rceil ",
        "∠": r"\angle ",
        "△": r"\triangle ",
        "\u2223": "|",  # divides, which looks like a bar
    }
)
_SCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ₀₁₂₃₄₅₆₇₈₉", "0123456789+-n0123456789")
_SUPERSCRIPT = re.compile("[⁰¹²³⁴-⁹⁺⁻ⁿ]+")
_SUBSCRIPT = re.compile("[₀-₉]+")
_VULGAR = re.compile("[¼-¾⅐-⅞]")
_ROOT = re.compile(r"√\s*(\d+|)")

_STOPS: Final = ".,;。"
_EDGES: Final = " \t\r\n\0"
_MATH_DOLLAR = re.compile(r"(?<!\\)\$")
_LATEX_THOUSANDS = re.compile(r"(?<=\d)\\,(?=\d{3}(?!\d))")
_LIST_COMMA = re.compile(r"(?<=\d)(?: , ?|, )(?=\d{3}(?!\d))")
_DEGREES = re.compile(r"\^\s*(?:\\circ(?![A-Za-z])|\{\s*\\circ\s*\})|\\degree(?![A-Za-z])")
_COMMAND = re.compile(r"\\(?:([A-Za-z]+)|(.))", re.DOTALL)
_WRAPPER = re.compile(
    r"\\(?:text(?:bf|it|rm|sf|tt|normal)?|math(?:rm|bf|it|sf|tt)|mbox|operatorname|f?box(?:ed)?)\s*\{"
    r"|\\.|[{}]",
    re.DOTALL,
)
_ENDS_IN_COMMAND = re.compile(r"\\[A-Za-z]+\Z")
_BOXES = (r"\box", r"\fbox")
_HAS_WRAPPER = re.compile(r"\\(?:text|math|mbox|operatorname|f?box)")
_IGNORED = SIZES | {
    *("left", "right", "big", "Big", "bigl", "bigr", "Bigl", "Bigr", "displaystyle", "textstyle")
}
_BLANKS = frozenset(("quad", "qquad"))
_SYNONYMS: Final = {
    "dfrac": "frac",
    "tfrac": "frac",
    "cfrac": "frac",
    "nicefrac": "frac",
    "sfrac": "frac",
    "overrightarrow": "vec",
    "widehat": "hat",
    "bar": "overline",
    "leq": "le",
    "geq": "ge",
    "neq": "ne",
    "varnothing": "emptyset",
    "infin": "infty",
}
_SPACED = {"!": "", "$": "$", "%": "%"} | dict.fromkeys(",;:> \n()[]", " ")
_SHORT_FRAC = re.compile(r"\\frac\s*(?:(\d)|(\{[^{}]*\}))\s*(?:(\d)|(\{[^{}]*\}))")
_SHORT_ROOT = re.compile(r"\\sqrt\s*(\d)")
_LONE_GROUP = re.compile(r"([\^_])\{(\w)\}(?![\d_])")
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_MAX_LAYERS: Final = 8
_LOOSE_BLANK = re.compile(r" (?![^\W_])|(?<![^\W_]) ")


def canonical(text: str) -> str:
    """Return the canonical spelling; the empty text if nothing is there to be read."""
    if not text.isascii():
        text = plain_unicode(text)
    text = text.strip(_EDGES)
    while len(text) > 4 and text.startswith("**") and text.endswith("**"):
        text = text[2:-2].strip(_EDGES)
    if "$" in text and len(_MATH_DOLLAR.findall(text)) % 2 == 0:
        text = _MATH_DOLLAR.sub(" ", text)
    if "\\" in text or "{" in text:
        text = _plain_latex(respelled(text))
    elif text[:1] == "0":
        text = literal(text)
    text = " ".join(text.split())
    if " " in text:
        text = _LOOSE_BLANK.sub("", _LIST_COMMA.sub(";", text))
    shorter = text.rstrip(_STOPS)
    if shorter != text and ".." not in text[len(shorter) :]:  # an ellipsis has a meaning
        text = shorter
    return bare(text) if text.startswith("{") else text


def plain_unicode(text: str) -> str:
    """Full width to half width, signs to their LaTeX commands, `x²` to `x^{2}`."""
    text = _VULGAR.sub(_as_frac, text)
    text = _SUPERSCRIPT.sub(lambda match: "^{" + match.group().translate(_SCRIPTS) + "}", text)
    text = _SUBSCRIPT.sub(lambda match: "_{" + match.group().translate(_SCRIPTS) + "}", text)
    text = _ROOT.sub(lambda match: rf"\sqrt{{{match[1]}}}" if match[1] else r"\sqrt ", text)
    return unicodedata.normalize("NFKC", text.translate(_UNICODE)).translate(_UNICODE)


def _as_frac(match: re.Match[str]) -> str:
    top, _, bottom = unicodedata.normalize("NFKC", match.group()).partition("\N{FRACTION SLASH}")
    return rf"\frac{{{top}}}{{{bottom}}}"


def _plain_latex(text: str) -> str:
    """Drop what only changes the looks, and give each command one spelling."""
    text = _LATEX_THOUSANDS.sub(",", text.replace("{,}", ","))
    text = _DEGREES.sub("°", text)
    if _HAS_WRAPPER.search(text):
        text = _unwrapped(text)
    text = _COMMAND.sub(_plain_command, text)
    text = _SHORT_FRAC.sub(_braced_frac, text)
    text = _SHORT_ROOT.sub(r"\\sqrt{\1}", text)
    return _LONE_GROUP.sub(r"\1\2", text)


def _unwrapped(text: str) -> str:
    r"""Replace `\text{…}` and its like by what they hold; of a box, the braces stay."""
    pieces: list[str] = []
    is_wrapper: list[bool] = []
    done = 0
    for token in _WRAPPER.finditer(text):
        mark = token.group()
        pieces.append(text[done : token.start()])
        done = token.end()
        opens = mark[-1] == "{" and mark != r"\{"
        if opens:
            is_wrapper.append(len(mark) > 1 and not mark.startswith(_BOXES))
        dropped = is_wrapper[-1] if opens else mark == "}" and is_wrapper and is_wrapper.pop()
        if not dropped:
            pieces.append("{" if opens else mark)
        elif opens and _ENDS_IN_COMMAND.search("".join(pieces[-2:])):
            pieces.append(" ")  # `\\cdot\\text{s}` is no `\\cdots`
    return "".join([*pieces, text[done:]])


def _plain_command(match: re.Match[str]) -> str:
    name, sign = match.groups()
    if name is None:
        return _SPACED.get(sign, match.group())
    if name in _IGNORED:
        return ""
    return " " if name in _BLANKS else "\\" + _SYNONYMS.get(name, name)


def _braced_frac(match: re.Match[str]) -> str:
    top, braced_top, bottom, braced_bottom = match.groups()
    return rf"\frac{braced_top or '{' + top + '}'}{braced_bottom or '{' + bottom + '}'}"


def bare(text: str) -> str:
    """Drop brace pairs around the whole, which only group."""
    for _ in range(_MAX_LAYERS):
        if not _is_group(text):
            break
        text = text[1:-1].strip()
    return text


def _is_group(text: str) -> bool:
    if text[:1] != "{" or text[-1] != "}":
        return False
    depth = 0
    for mark in _BRACE.finditer(text, 0, len(text) - 1):
        depth += (mark.group() == "{") - (mark.group() == "}")
        if depth == 0:
            return False
    return depth == 1
