"""A place in a list of tokens, and what can be wrong with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from services.math.language.lex import Token
from services.math.tree import VALUES, Product, Value

if TYPE_CHECKING:
    from services.math.tree import Tree

_END: Final = Token("end", "")


class ParseError(ValueError):
    """The tokens make no sense together."""


class AmbiguousError(ParseError):
    """The tokens make sense in two ways: `4 10/3`."""


class OutsizeError(ParseError):
    """A number with more digits than are read, or nesting deeper than is read."""


class Cursor:
    """Reads tokens one after the other."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = [*tokens, _END, _END]
        self.place = 0
        self.next = self.tokens[0]
        """The token to be read next; of kind `end` behind the last."""

    def after_next(self) -> Token:
        """Return the token behind the next one."""
        return self.tokens[self.place + 1]

    def take(self, kind: str | None = None) -> Token:
        """Go on by one token, which must be of this kind."""
        token = self.next
        if token is _END or (kind is not None and token.kind != kind):
            msg = f"{kind or 'more'} is expected and not {token.text or 'the end'}"
            raise ParseError(msg)
        self.place += 1
        self.next = self.tokens[self.place]
        return token

    def accept(self, kind: str) -> bool:
        """Go on by one token if it is of this kind."""
        if self.next.kind != kind:
            return False
        self.place += 1
        self.next = self.tokens[self.place]
        return True

    def go_to(self, place: int) -> None:
        """Go on, or back."""
        self.place = place
        self.next = self.tokens[place]

    def raw_group(self) -> str:
        """Take a braced group, or one token, as text."""
        if not self.accept("{"):
            return self.take().text
        texts = []
        depth = 1
        while depth:
            token = self.take()
            depth += (token.kind == "{") - (token.kind == "}")
            texts.append(token.text)
        return "".join(texts[:-1])


def as_value(tree: Tree) -> Value:
    """Insist that `tree` is a value."""
    if isinstance(tree, VALUES):
        return tree
    msg = "a value is expected"
    raise ParseError(msg)


def as_product(factors: list[Tree]) -> Tree:
    """Return the product of the factors, or the only one."""
    if len(factors) == 1:
        return factors[0]
    return Product(tuple(as_value(factor) for factor in factors))
