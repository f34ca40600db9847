"""Find how the columns of one table may be permuted so that its rows are those of another.

Colour refinement of the graph of rows and columns: a column is told by the bag of its values, a
row by the bag of its values with the colours of their columns, then a column by its values with
the colours of their rows, and so on. What refinement leaves alike is told apart by choosing.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from services.sql.results import Row

MAX_TRIES: Final = 64

Colours = list[int]


def permutations(gold: Sequence[Row], rows: Sequence[Row], width: int) -> Iterator[tuple[int, ...]]:
    """Yield the candidates `order`, where column `i` of `gold` is column `order[i]` of `rows`.

    If the two are equal as bags under some permutation, one such is among the candidates.
    """
    if len(gold) != len(rows):
        return
    sides = (gold, rows)
    yield from _search(sides, ([0] * width, [0] * width), width)


def _search(
    sides: tuple[Sequence[Row], Sequence[Row]], colours: tuple[Colours, Colours], width: int
) -> Iterator[tuple[int, ...]]:
    refined = _refine(sides, colours, width)
    if refined is None:
        return
    ours, theirs = refined
    sizes = Counter(ours)
    alike = [colour for colour, size in sizes.items() if size > 1]
    if not alike:
        yield tuple(theirs.index(colour) for colour in ours)
        return
    colour = min(alike, key=lambda c: sizes[c])
    chosen = ours.index(colour)
    fresh = max(ours) + 1
    for partner in (i for i, c in enumerate(theirs) if c == colour):
        left, right = ours.copy(), theirs.copy()
        left[chosen] = right[partner] = fresh
        yield from _search(sides, (left, right), width)


def _refine(
    sides: tuple[Sequence[Row], Sequence[Row]], colours: tuple[Colours, Colours], width: int
) -> tuple[Colours, Colours] | None:
    """Refine until nothing changes; None where the two sides differ."""
    row_colours: tuple[Colours, Colours] = ([0] * len(sides[0]), [0] * len(sides[1]))
    number = -1
    while True:
        coloured = _number(
            *(
                _column_colours(*side, width)
                for side in zip(sides, row_colours, colours, strict=True)
            )
        )
        if coloured is None:
            return None
        colours = coloured
        found = len(set(colours[0]))
        if found in (width, number):
            return colours
        number = found
        again = _number(*(_row_colours(*side) for side in zip(sides, colours, strict=True)))
        if again is None:
            return None
        row_colours = again


def _column_colours(
    rows: Sequence[Row], row_colours: Colours, colours: Colours, width: int
) -> list[Hashable]:
    if not any(row_colours):  # as all are at first
        return [(colours[i], frozenset(Counter(_column(rows, i)).items())) for i in range(width)]
    return [
        (colours[i], frozenset(Counter(zip(row_colours, _column(rows, i), strict=True)).items()))
        for i in range(width)
    ]


def _column(rows: Sequence[Row], i: int) -> list[Any]:
    return [row[i] for row in rows]


def _row_colours(rows: Sequence[Row], colours: Colours) -> list[Hashable]:
    return [frozenset(Counter(zip(colours, row, strict=True)).items()) for row in rows]


def _number(ours: list[Hashable], theirs: list[Hashable]) -> tuple[Colours, Colours] | None:
    """Give numbers to the colours of both sides alike; None where they are not the same bag."""
    numbers: dict[Hashable, int] = {}
    left = [numbers.setdefault(colour, len(numbers)) for colour in ours]
    right = [numbers.setdefault(colour, len(numbers)) for colour in theirs]
    return (left, right) if Counter(left) == Counter(right) else None
