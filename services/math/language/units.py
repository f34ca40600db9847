r"""Read units as they are written, and tell what they are worth to one another.

What is covered: the units of `services.math.language.unit_table`; products, quotients (`/`, `per`) and powers
of them, `square` and `cubic`; sums like `2 hours 30 minutes`. Text comes plain or in the canonical
spelling of `services.math.language.normalise`, so `\text` is gone. `differ` knows which dimensions are surely
different.

What is not: which of its meanings a spelling has. A single letter or a word like `in` is read as the
unit that it may be, and `Unit.sure` is False: the caller must know from the context. A quotient by
a product needs its brackets, `J/(kg K)`: nobody can tell what `J/kg K` means.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache
from typing import Final

from services.math.language.unit_table import Unit, named

__all__ = ["Unit", "compound", "converted", "differ", "ratio", "same_unit", "unit"]

MAX_CHARS: Final = 80
_PRETTY: Final = {
    "µ": "μ",
    "\N{OHM SIGN}": "Ω",
    "℃": "°C",
    "℉": "°F",
    "²": "^2",
    "³": "^3",
    "⁻¹": "^-1",
    "·": "*",
    "⋅": "*",
    "\N{MULTIPLICATION SIGN}": "*",
    "\N{FRACTION SLASH}": "/",
    "⁻²": "^-2",
    "\N{NO-BREAK SPACE}": " ",
}
_SIGN = re.compile("|".join(sorted(_PRETTY, key=len, reverse=True)))
_LATEX: Final = (
    (re.compile(r"\\(?:cdot|times)(?![A-Za-z])"), "*"),
    (re.compile(r"(?:\^ ?)?\\(?:circ|degree)(?![A-Za-z]) ?|\^\{ ?\\circ ?\} ?"), "°"),
    (re.compile(r"\\mu(?![A-Za-z]) ?"), "μ"),
    (re.compile(r"\\Omega(?![A-Za-z])"), "Ω"),
    (re.compile(r"\\(?=[%$])"), ""),
    (re.compile(r"\^ ?\{ ?(-?[1-9]) ?\}"), r"^\1"),
)
_FOREIGN = re.compile(r"[\\{}+=<>,;:!?'\"&|_~#@\[\]04-9]|\A(?:[23^*.)]|1(?! ?/))")
_JOINED = re.compile(r"[ /*^23\-.平立]")
_BRACKETS = re.compile(r"([^/()]*)/ ?\(([^/()]+)\)")
_PER = re.compile(r" ?/ ?| per |\Aper ")
_POWER = re.compile(
    r"(square |sq(?:\. ?| )|平方|cubic |cu(?:\. ?| )|立方)?([^^]+?)"
    r"(?: ?\^ ?(-?[1-9])| (squared|cubed)|([23]))?"
)
_WORD_POWERS: Final = {"s": 2, "平": 2, "c": 3, "立": 3, "squared": 2, "cubed": 3}
_TIMES = re.compile(r" ?\* ?| |(?<=[A-Za-z])-(?=[A-Za-z])")
_MAX_FACTORS: Final = 4
_Factors = list[tuple[Unit, int]]

_PART = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?) ?([^\W\d_]+)\.?")
_COMPOUND = re.compile(rf"{_PART.pattern}(?:(?:,? and |, ?| ?){_PART.pattern}){{1,3}}")
_AFTER_HOURS: Final = {"m": "min", "分": "min"}

_BLURRED: Final = {
    "month": "s",
    "ton": "kg",
    "°": "angle",
    "rad": "angle",
    "rev": "angle",
    "kB": "bit",
    "MB": "bit",
    "GB": "bit",
    "TB": "bit",
    "CNY": "¥",
    "JPY": "¥",
}
_ALSO: Final[dict[str, tuple[str, ...]]] = {
    "lb": ("£", "lbf"),
    "oz": ("fl oz",),
    "°": ("°C",),
    "¢": ("€", "£"),
    "min": ("°",),
}
_LETTER_ALSO: Final[dict[str, tuple[str, ...]]] = {"C": ("°C",), "m": ("min",), "g": ("m/s^2",)}


def unit(text: str) -> Unit | None:
    """Return the unit that `text` is, and is nothing but; None if it is no unit known here."""
    if len(text) > MAX_CHARS:
        return None
    found = named(text)
    if found:
        return found
    if not text.isascii() or "\\" in text or "{" in text:
        text = _plain(text)
    text = " ".join(text.split())
    if not text or _FOREIGN.search(text):
        return None
    return _atom(text) or (_joined(text) if _JOINED.search(text) else None)


def same_unit(a: Unit, b: Unit) -> bool:
    """Whether both are worth the same: `m/s` and `meters per second`."""
    return a == b


def ratio(a: Unit, b: Unit) -> Fraction | None:
    """Return how many `b` one `a` is; None if they measure different things, or from other zeros."""
    if a.dimension != b.dimension or a.offset != b.offset:
        return None
    return a.factor / b.factor


def converted(value: Fraction, a: Unit, b: Unit) -> Fraction | None:
    """Return what `value` in `a` is in `b`, for temperatures too; None if they do not convert."""
    if a.dimension != b.dimension:
        return None
    return (value * a.factor + a.offset - b.offset) / b.factor


def differ(a: Unit, b: Unit) -> bool:
    """Whether the two measure surely different things: metres and seconds, $ and €.

    Not sure: degrees and radians, months and days, `lb` and `£` (both are pounds), any unit and a
    generic one. Where this is False and `ratio` is None, nobody knows.
    """
    if a.is_generic or b.is_generic or _may_be(a, b) or _may_be(b, a):
        return False
    first, second = _blurred(a), _blurred(b)
    if first == second:
        return False
    first.pop("angle", None)
    second.pop("angle", None)
    return first != second or not first  # 1/s may be rad/s, but % is no angle


def compound(text: str) -> tuple[Fraction, Unit] | None:
    """Return the sum that `2 hours 30 minutes` or `5 ft 3 in` is, in its last and smallest unit.

    The parts go from large to small; all but the last are whole numbers; nothing has a sign.
    """
    if len(text) > MAX_CHARS or not _COMPOUND.fullmatch(text):
        return None
    total, measure = Fraction(0), None
    for number, spelling in _PART.findall(text):
        hours = measure is not None and measure.dimension == (("s", 1),)
        smaller = unit(_AFTER_HOURS.get(spelling, spelling) if hours else spelling)
        if smaller is None or smaller.offset or smaller.is_generic:
            return None
        step = ratio(measure, smaller) if measure else Fraction(1)
        if step is None or total.denominator != 1 or (measure and step <= 1):
            return None
        total, measure = total * step + Fraction(number), smaller
    return (total, measure) if measure else None


def _may_be(a: Unit, b: Unit) -> bool:
    """Whether the name of `a` is also used for what `b` measures."""
    also = _ALSO if a.sure else _ALSO | _LETTER_ALSO
    others = [unit(name) for name in also.get(a.name, ())]
    return any(other and other.dimension == b.dimension for other in others)


def _blurred(measure: Unit) -> dict[str, int]:
    """Return the dimension with those bases made one that no exact factor connects."""
    dimension: dict[str, int] = {}
    for base, exponent in measure.dimension:
        kind = _BLURRED.get(base, base)
        dimension[kind] = dimension.get(kind, 0) + exponent
    return dimension


def _plain(text: str) -> str:
    text = _SIGN.sub(lambda match: _PRETTY[match.group()], text)
    for pattern, plain in _LATEX:
        text = pattern.sub(plain, text)
    return text


def _atom(text: str) -> Unit | None:
    """Return a unit of the table, also with the full stop of an abbreviation or with hyphens."""
    return named(text) or named(text.removesuffix(".").replace("-", " "))


@lru_cache(maxsize=1024)
def _joined(text: str) -> Unit | None:
    """Return a product, power or quotient of units."""
    bracketed = _BRACKETS.fullmatch(text)
    top, *bottoms = bracketed.groups() if bracketed else _PER.split(text)
    over = [] if bottoms and top.strip() in ("", "1") else _factors(top.strip())
    under = [_factors(bottom.strip(), bracketed is not None) for bottom in bottoms]
    if over is None or len(under) > _MAX_FACTORS:
        return None
    for factors in under:
        if factors is None or (len(factors) > 1 and not bracketed):
            return None
        if any(exponent < 0 for _, exponent in factors):
            return None  # "per s^-1" is a slip
        over = [*over, *((measure, -exponent) for measure, exponent in factors)]
    return _product(over)


def _factors(text: str, in_brackets: bool = False) -> _Factors | None:
    """Return the factors of a product without quotients.

    Outside brackets two of one dimension are none (`ft in`), and neither is one with the word `in`.
    """
    whole = _power(text)
    if whole:
        return [whole]
    pieces = _TIMES.split(text)
    if not 1 < len(pieces) <= _MAX_FACTORS or ("in" in pieces and not in_brackets):
        return None
    found: _Factors = []
    for piece in pieces:
        factor = _power(piece)
        if factor is None or factor[0].is_generic:
            return None
        found.append(factor)
    kinds = {measure.dimension for measure, _ in found}
    return found if in_brackets or len(kinds) == len(found) else None


def _power(text: str) -> tuple[Unit, int] | None:
    named = _atom(text) if text else None
    match = None if named else _POWER.fullmatch(text)
    if match is None:
        return (named, 1) if named else None
    before, base, exponent, after, digit = match.groups()
    measure = _atom(base)
    if measure is None or bool(before) + bool(exponent or after or digit) != 1:
        return None
    if not measure.name[0].isalpha() or (digit and measure.dimension != (("m", 1),)):
        return None
    word = before[0] if before else after
    return measure, _WORD_POWERS[word] if word else int(exponent or digit)


def _product(factors: _Factors) -> Unit | None:
    """Multiply; what cancels out to nothing is no unit."""
    dimension: dict[str, int] = {}
    factor = Fraction(1)
    for measure, exponent in factors:
        factor *= measure.factor**exponent
        for base, power in measure.dimension:
            dimension[base] = dimension.get(base, 0) + power * exponent
    bases = tuple(sorted((base, power) for base, power in dimension.items() if power))
    sure = any(measure.sure for measure, _ in factors)
    return Unit(_name(factors), factor, bases, sure=sure) if bases else None


def _name(factors: _Factors) -> str:
    powers: dict[str, int] = {}
    for measure, power in factors:
        powers[measure.name] = powers.get(measure.name, 0) + power
    over = " ".join(_raised(name, power) for name, power in powers.items() if power > 0)
    under = [_raised(name, -power) for name, power in powers.items() if power < 0]
    below = f"({' '.join(under)})" if len(under) > 1 else "".join(under)
    return f"{over or '1'}/{below}" if below else over


def _raised(name: str, power: int) -> str:
    return name if power == 1 else f"{name}^{power}"
