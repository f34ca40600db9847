r"""Write the expressions of `math_expressions`, every time in another way that means the same.

Blanks, brackets, `\frac` and `/`, decimals and fractions, commuted sums and products, signs of
multiplication or none, braces, Unicode. Avoided is what readers of mathematics disagree on: `1/2x`,
`x(y+1)`, `2\frac{1}{2}`, `\sqrt2x`, and letters without a blank between.
"""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from random import Random
from typing import Final

from tests.unit.services.math_expressions import Add, Div, Mul, Neg, Node, Num, Pow, Root

MINUS: Final = "\u2212"
SUM, QUOTIENT, PRODUCT, ATOM = range(4)
"""How tightly a written piece holds together."""

_SUPERSCRIPTS: Final = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_ENDS_IN_COMMAND: Final = re.compile(r"\\[A-Za-z]+$")
_ENDS_IN_BARE_ROOT: Final = re.compile(r"(?:√|\\sqrt ?)\d+$")
_STARTS_LIKE_A_NUMBER: Final = re.compile(r"[\d.{]|\\[dt]?frac")


class Writer:
    """Writes expressions, every time in another way."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def write(self, node: Node) -> str:
        """Write a whole expression as LaTeX."""
        text = self._piece(node)[0]
        return self._any(text, text, text, "{" + text + "}", r"\displaystyle " + text, f" {text} ")

    def write_all(self, nodes: list[Node], left: str = "", right: str = "") -> str:
        r"""Write a bracketed list; braces are escaped here (`{` stands for `\{`)."""
        separators = (", ", r",\ ", " , ", *([","] if left else []))  # a bare `3,5` may be 3.5
        inner = self._any(*separators).join(self.write(node) for node in nodes)
        opening, closing = (side.replace("{", r"\{").replace("}", r"\}") for side in (left, right))
        if not left:
            return inner
        if self._flip():
            opening, closing = rf"\left{opening}", rf"\right{closing}"
        return f"{opening}{self._blank()}{inner}{self._blank()}{closing}"

    def _any(self, *options: str) -> str:
        return self._random.choice(options)

    def _flip(self, chance: float = 0.5) -> bool:
        return self._random.random() < chance

    def _blank(self) -> str:
        return self._any("", "", " ", r"\,", r"\ ")

    def _braced(self, node: Node) -> str:
        text = self._piece(node)[0]
        return self._any(f"{{{text}}}", f"{{{text}}}", f"{{{{{text}}}}}", f"{{ {text} }}")

    def _at_least(self, node: Node, level: int) -> str:
        text, own = self._piece(node)
        if own >= level:
            return text
        opening = self._any("(", r"\left(", r"\bigl(")
        return (
            opening + text + opening.replace("(", ")").replace("left", "right").replace("gl", "gr")
        )

    def _piece(self, node: Node) -> tuple[str, int]:
        match node:
            case Neg(body):
                return self._any("-", MINUS, "- ") + self._at_least(body, PRODUCT), SUM
            case Add(parts):
                return self._sum(parts), SUM
            case Num() | Div():
                return self._ratio(node)
            case Mul(parts):
                return self._product(parts), PRODUCT
            case Pow() | Root():
                return self._power(node), PRODUCT
        return node.name, ATOM

    def _ratio(self, node: Num | Div) -> tuple[str, int]:
        if isinstance(node, Div):
            return self._quotient(node.top, node.bottom)
        top, bottom = node.value.numerator, node.value.denominator
        if bottom == 1:
            return str(top), ATOM
        if 1_000 % bottom == 0 and self._flip():
            return str(Decimal(top) / bottom), ATOM
        factor = self._random.choice((1, 1, 2, 3))
        return self._quotient(Num(Fraction(top * factor)), Num(Fraction(bottom * factor)))

    def _quotient(self, top: Node, bottom: Node) -> tuple[str, int]:
        if self._flip():
            command = self._any(r"\frac", r"\dfrac", r"\tfrac")
            return f"{command}{self._braced(top)}{self._braced(bottom)}", PRODUCT
        blank = self._any("", " ")
        return f"{self._at_least(top, ATOM)}{blank}/{blank}{self._at_least(bottom, ATOM)}", QUOTIENT

    def _power(self, node: Pow | Root) -> str:
        if isinstance(node, Pow):
            digit = str(node.exponent)
            exponent = self._any(f"^{digit}", f"^{{{digit}}}", digit.translate(_SUPERSCRIPTS))
            return self._at_least(node.base, ATOM) + exponent
        if self._flip(0.3):
            half = self._any(r"^{1/2}", r"^{\frac{1}{2}}", r"^{0.5}", r"^\frac12")
            return self._at_least(node.body, ATOM) + half
        if isinstance(node.body, Num) and self._flip():
            return "√" + str(node.body.value)
        return rf"\sqrt{self._braced(node.body)}"

    def _sum(self, parts: tuple[Node, ...]) -> str:
        text = ""
        for part in self._random.sample(parts, len(parts)):
            if isinstance(part, Neg):
                sign, term = self._any("-", MINUS), self._at_least(part.body, PRODUCT)
            else:
                sign, term = "+" if text else "", self._at_least(part, QUOTIENT)
            text += f"{self._blank()}{sign}{self._blank()}{term}" if text else sign + term
        return text

    def _product(self, parts: tuple[Node, ...]) -> str:
        text = ""
        for part in self._random.sample(parts, len(parts)):
            factor = self._at_least(part, PRODUCT)
            text += (self._times(text, factor) if text else "") + factor
        return text

    def _times(self, left: str, right: str) -> str:
        sign = self._any(r"\cdot ", r" \times ", " * ", "·", "\u00d7")
        is_unclear = (
            _STARTS_LIKE_A_NUMBER.match(right)
            or _ENDS_IN_BARE_ROOT.search(left)
            or (left[-1].isalpha() and right.startswith(("(", r"\left", r"\bigl")))
        )
        if is_unclear or self._flip():
            return sign
        if left[-1].isalpha() and (right[0].isalpha() or _ENDS_IN_COMMAND.search(left)):
            return r"\,"  # `on` would be a word
        return self._any("", " ", r"\,")
