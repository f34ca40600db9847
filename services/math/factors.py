r"""Where the order of factors may count: words as products of letters, vectors, matrices.

The comparers multiply numbers, so that what they say of these is not known.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from services.math.tree import Product, Symbol

if TYPE_CHECKING:
    from services.math.parse import Answer
    from services.math.tree import Tree

_VECTOR: Final = r"\\(?:vec|mathbf|boldsymbol|bm|overrightarrow)(?![A-Za-z])"
_ANYTHING: Final = "[^=]{0,200}"
_NO_NUMBERS: Final = re.compile(
    rf"{_VECTOR}{_ANYTHING}\\(?:times|cdot)(?![A-Za-z]){_ANYTHING}{_VECTOR}"
    rf"|\u00d7{_ANYTHING}{_VECTOR}"
    r"|[A-Z]\)?\^\{?(?:-1|T|\\top)\}?\s*[A-Z]|[A-Z]{2,}\)?\^\{?(?:-1|T|\\top)(?![A-Za-z])"
)
r"""Products of vectors and of matrices: `\vec a \times \vec b`, `P^{-1}AP`."""
_VARIABLES: Final = frozenset("xyzuvwrstnmkpq")
"""Letters of which a product is hardly a word."""


def is_anagram(gold: Tree | None, answer: Tree | None) -> bool:
    """Whether both are products of the same letters in another order, as `cat` and `act` are.

    So are the orders that a question may ask for: `BDCA`.
    """
    letters = [_letters(tree) for tree in (gold, answer)]
    may_be_word = not _VARIABLES.issuperset(letters[0]) and len(set(letters[0])) == len(letters[0])
    is_long = len(letters[0]) > 2 and may_be_word
    return is_long and letters[0] != letters[1] and sorted(letters[0]) == sorted(letters[1])


def _letters(tree: Tree | None) -> list[str]:
    if not isinstance(tree, Product):
        return []
    names = [f.name for f in tree.factors if isinstance(f, Symbol) and len(f.name) == 1]
    return names if len(names) == len(tree.factors) else []


def is_ordered(gold: Answer, answer: Answer, *, both: bool = False) -> bool:
    """Whether one of the two (or both) is a product of vectors or matrices, and not the same text."""
    found = [_NO_NUMBERS.search(each.raw) for each in (gold, answer)]
    return gold.text != answer.text and (all(found) if both else any(found))
