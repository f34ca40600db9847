r"""Rewrite rare LaTeX before it is cut into tokens, and join digits and units that belong together.

What is covered: visible colours (`\color{blue}{15}`, `\textcolor{red}{15}`), a tag at the end
(`15\tag{1}`), spaces (`\hspace{1mm}`), dots over the digits that repeat (`0.\dot{1}4285\dot{7}`),
`\overset{\frown}{AB}`, numbers chosen with the first one before the letter (`{}_{20}C_{10}`), digits
in groups, and units in Greek letters. The rest is left as it is.

What is not: a colour that does not show, or that is not known by its name; `\color{white}` hides.
"""

from __future__ import annotations

import re
from typing import Final

from services.math.language.units import unit

_COLOURS: Final = (
    "red|blue|green|black|orange|purple|magenta|cyan|brown|teal|violet|olive|lime|maroon|navy|pink"
    "|gr[ae]y|yellow|(?:dark|light)(?:red|blue|green|orange)|(?:royal|navy)blue|forestgreen|crimson|indigo"
)
_COLOUR = re.compile(
    rf"\\(?:(?:text|math)?color|colorbox)\s*\{{\s*(?:{_COLOURS})\s*\}}", re.IGNORECASE
)
_TAG = re.compile(r"\\(?:tag\*?\s*\{[^{}]*\}|notag|nonumber)\s*(?=[\s$.}]*\Z)")
_SPACE = re.compile(r"\\[hm]space\s*\*?\s*\{\s*[\d.]+\s*(?:mm|cm|pt|em|ex|in|mu|px)\s*\}")
_DOT = r"\\dot\s*(?:\{(\d)\}|(\d))"
_DOTTED = re.compile(rf"(?<![\d.])(\d*\.\d*)\s*{_DOT}(?:(\d*){_DOT})?(?!\d|\\dot)")
_BARE_POINT = re.compile(r"(?<![\d}])\.(?=\\overline\s*\{\d)")
_ARC = re.compile(r"\\overset\s*(?:\{\s*\\frown\s*\}|\\frown\b)")
_MEASURE = re.compile(r"(?<![A-Za-z\\])m\s*(?=\\(?:measured)?angle)")
_RARE = re.compile(
    r"\\(?:(?:text|math)?color|tag|no(?:tag|number)|[hm]space|dot(?![A-Za-z])|overset|overline|(?:measured)?angle)"
)
_CHOSEN = re.compile(
    r"(?:\A|\{\s*\}|(?<=[-+*/=(,]))\s*[_^]\s*(\d{1,4}|[a-z]|\{[^{}]{1,20}\})\s*"
    r"(?:\\(?:mathrm|text|mathbf|rm)\s*\{\s*([CP])\s*\}|([CP]))\s*_\s*(\d{1,4}|[a-z]|\{[^{}]{1,20}\})"
    r"(?!\s*\^)"
)
_LITERAL = re.compile(r"0(?:b([01]{2,200})|o([0-7]{2,200})|x([\dA-Fa-f]{2,200}))")
_BASES: Final = (2, 8, 16)

_LATEX_COMMA = re.compile(r"(?<=\d)(?:\{,\}|,?\\!,?|\\[,;:](?=\d{3}(?!\d)))(?=\d{3})")
_DOTTED_GROUPS = re.compile(r"(?<![\d.,])\d{1,3}(?:\.\d{3}){2,}(?![\d.])")
_SPACED_GROUPS = re.compile(r"(?<![\d.,/])\d{1,3}(?: \d{3})+(?![\d/.])(?! \d)")
_DEGREES = re.compile(r"\^\s*(?:\\circ(?![A-Za-z])|\{\s*\\circ\s*\})|\\degree(?![A-Za-z])")
_GREEK_UNIT = re.compile(r"[μΩ]|\\mu|\\Omega")
_AFTER_NUMBER = r"(?<=[\d}])(?:\\[ ,;:!]|[\s~])*"
_MICRO = re.compile(
    rf"{_AFTER_NUMBER}(?:\\mu(?![A-Za-z])|μ)[ ]?(?:\\(?:text|mathrm|rm)\s*\{{\s*|\{{)?"
    r"(m|s|g|A|C|F|H|J|K|L|N|V|W|mol)(?![A-Za-z])\s*\}?"
)
_OHM = re.compile(
    rf"{_AFTER_NUMBER}(?:\\(?:text|mathrm|rm)\s*\{{\s*)?([kMm]?)\s*\}}?\s*(?:\\Omega(?![A-Za-z_^(])|Ω)"
)
_MOMENT = re.compile(r"(?<=[\d}])\s+(N|J|W|kg|A|V|C)\s(m|s|h)(?![A-Za-z])")
"""Units of two letters with a blank between them: newton metres, joule seconds."""
_TEXT_GROUP = r"\\(?:text|mathrm|textrm|rm|mathsf)\s*\{\s*[A-Za-zμΩ/ ]{1,20}\}"
_POWER = r"\^\s*(?:\{\s*-?\d\s*\}|\d)"
_UPRIGHT_PIECE = rf"(?:{_TEXT_GROUP}|{_POWER}|\\cdot|\\times|[*·/()]|\s|~|\\[,;: ])"
_UPRIGHT = re.compile(r"\\(?:text|mathrm|textrm|rm|mathsf)\s*\{")
_UPRIGHT_UNITS = re.compile(
    rf"(?<=[\d}}])(?:\s|~|\\[,;: ])*{_TEXT_GROUP}{_UPRIGHT_PIECE}+(?=[\s.$]*\Z)"
)
_UPRIGHT_FRACTION = re.compile(
    rf"\\d?frac\s*\{{((?:{_TEXT_GROUP}|{_POWER})+)\}}\s*\{{((?:{_TEXT_GROUP}|{_POWER}|\\cdot|\s)+)\}}(?=[\s.$]*\Z)"
)
_UPRIGHT_GROUP = re.compile(r"\\(?:text|mathrm|textrm|rm|mathsf)\s*\{\s*([A-Za-zμΩ/ ]{1,20}?)\s*\}")
_THIN_BLANK = re.compile(r"~|\\[,;: ]")
_CENTRED = re.compile(r"\\cdot(?![A-Za-z])|\\times(?![A-Za-z])|·")
_BLANK_IN_PRODUCT = re.compile(r"(?<=[A-Za-z\d)]) +(?=[A-Za-z(])")
_THIN = re.compile(r"\\[,;: ]|~|\\cdot\s*")
_TIGHT = re.compile(r" ?([*/^()]) ?")


def respelled(text: str) -> str:
    """Return the text with rare LaTeX in its usual spelling; cheap where there is none."""
    if not _RARE.search(text):
        return text
    text = _COLOUR.sub("", text)
    text = _TAG.sub("", text)
    text = _SPACE.sub(" ", text)
    text = _ARC.sub(r"\\widehat", text)
    text = _MEASURE.sub("", text)
    text = _BARE_POINT.sub("0.", text)
    return _DOTTED.sub(_repeating, text)


def _repeating(match: re.Match[str]) -> str:
    head, first, first_bare, between, last, last_bare = match.groups(default="")
    return rf"{head}\overline{{{first}{first_bare}{between}{last}{last_bare}}}"


def literal(text: str) -> str:
    """Return `101_{2}` for `0b101`, as programs write digits of another base; else the text."""
    match = _LITERAL.fullmatch(text)
    if match is None:
        return text
    digits = next(group for group in match.groups() if group)
    base = _BASES[match.groups().index(digits)]
    return f"{digits.upper()}_{{{base}}}"


def prepared(text: str, *, units: bool) -> str:
    """Return the text as the lexer takes it; `units` joins the letters of units."""
    if "\\" in text:
        text = respelled(text)
    if "\\" in text or "{" in text:
        text = _LATEX_COMMA.sub("", text)
        if "circ" in text or "degree" in text:
            text = _DEGREES.sub("°", text)
    if "_" in text:
        text = _CHOSEN.sub(_chosen, text)
    if units and not _is_plain(text) and _GREEK_UNIT.search(text):
        text = _MICRO.sub(r" \\text{μ\1}", text)
        text = _OHM.sub(r" \\text{\1Ω}", text)
    if units and "\\" in text and _UPRIGHT.search(text):
        text = _UPRIGHT_FRACTION.sub(r"\1/(\2)", text)
        text = _UPRIGHT_UNITS.sub(_joined_units, text)
    if units and " " in text:
        text = _MOMENT.sub(r" \\text{\1 \2}", text)
    if " " in text:
        text = _SPACED_GROUPS.sub(lambda match: match.group().replace(" ", ""), text)
    if "." in text:
        text = _DOTTED_GROUPS.sub(lambda match: match.group().replace(".", ""), text)
    return text


def _is_plain(text: str) -> bool:
    return "\\" not in text and text.isascii()


def _joined_units(match: re.Match[str]) -> str:
    r"""Write `\text{m}\cdot\text{s}^{-1}` as `\text{m*s^-1}`, if that is a unit; else leave it."""
    plain = _UPRIGHT_GROUP.sub(r" \1 ", match.group())
    plain = _CENTRED.sub("*", _THIN_BLANK.sub(" ", plain))
    plain = " ".join(plain.replace("{", "").replace("}", "").split())
    plain = _TIGHT.sub(r"\1", plain).replace(" ", "*")
    return rf" \text{{{plain}}}" if unit(plain) else match.group()


def unit_text(text: str) -> str:
    r"""Return a unit in plain text: `m\,s^{-2}` as `m*s^-2`."""
    plain = _THIN.sub("*", text).replace("{", "").replace("}", "")
    product = _BLANK_IN_PRODUCT.sub("*", plain).replace(" ", "")
    return product if unit(product) else plain.replace(" ", "")


def _chosen(match: re.Match[str]) -> str:
    r"""Write `{}_{20}C_{10}` as `\binom{20}{10}`, and `{}_5P_3` as `P_{5}^{3}`."""
    above, letter, bare_letter, below = match.groups()
    above, below = above.strip("{} "), below.strip("{} ")
    if above.isdecimal() and below.isdecimal() and int(above) < int(below):
        return match.group()
    if (letter or bare_letter) == "C":
        return rf"\binom{{{above}}}{{{below}}}"
    return f"P_{{{above}}}^{{{below}}}"
