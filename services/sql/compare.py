"""Whether a result is one that the gold query may have, and where it first differs.

What the gold allows is a list of blocks: rows that tie under its ORDER BY, in any order, of which
a LIMIT may take a part (`Expected`). Without an order all rows are one block.

The columns may be permuted, the same way in every row. The permutation is found by what columns
hold, refined by the rows that hold it (colour refinement), never by trying all; where more than
`MAX_TRIES` are left over, the question stays open.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from services.sql.permutation import MAX_TRIES, permutations
from services.sql.values import Tolerance, class_of, classes, is_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from services.sql.results import Row


class Block(NamedTuple):
    """Rows that may come in any order."""

    rows: Sequence[Row]
    take: int
    """How many of them are in the result."""


@dataclass(frozen=True, slots=True)
class Expected:
    """Every result that is right."""

    rows: list[Row]
    """The one that the gold query gave."""
    width: int
    blocks: Sequence[Block]
    is_ordered: bool
    """Whether the blocks come in their order."""
    is_certain: bool = True
    """Whether the blocks are known. If not, another order of the same rows is left open."""
    is_open: bool = False
    """Whether, what is more, other rows may be right, as it is not known which ones tie at a LIMIT."""


class Options(NamedTuple):
    """How results are compared."""

    tolerance: Tolerance = Tolerance()
    columns: Literal["any_order", "positional"] = "any_order"
    is_set: bool = False


class Comparison(NamedTuple):
    """What came out. `equal` is None where it could not be decided."""

    equal: bool | None
    reason: str = ""
    difference: dict[str, Any] | None = None


def plain(rows: list[Row], width: int, *, is_ordered: bool) -> Expected:
    """Return what is expected where nothing is known of ties: these rows."""
    blocks = [Block((row,), 1) for row in rows] if is_ordered else [Block(rows, len(rows))]
    return Expected(rows, width, blocks, is_ordered)


def compare(expected: Expected, rows: list[Row], width: int, options: Options) -> Comparison:
    """Compare a result of `width` columns with what is expected."""
    if width != expected.width:
        said = f"{width} columns instead of {expected.width}"
        return Comparison(False, said, {"columns": [expected.width, width]})
    if rows == expected.rows:
        return _EQUAL
    if options.tolerance.changes_cells:
        expected, rows = _rewritten(expected, rows, options.tolerance)
    if options.is_set:
        expected, rows = _as_set(expected, rows)
    if not options.is_set and len(rows) != len(expected.rows):
        said = f"{len(rows)} rows instead of {len(expected.rows)}"
        return Comparison(False, said, difference(expected, rows, options))
    if fits(expected, rows) or _fits_permuted_as_is(expected, rows, options):
        return _EQUAL
    return _compare_classes(expected, rows, options)


_EQUAL: Final = Comparison(True)


def _rewritten(
    expected: Expected, rows: list[Row], tolerance: Tolerance
) -> tuple[Expected, list[Row]]:
    again = tolerance.rewrite
    blocks = [Block([again(row) for row in block.rows], block.take) for block in expected.blocks]
    gold = [again(row) for row in expected.rows]
    changed = Expected(
        gold, expected.width, blocks, expected.is_ordered, expected.is_certain, expected.is_open
    )
    return changed, [again(row) for row in rows]


def _as_set(expected: Expected, rows: list[Row]) -> tuple[Expected, list[Row]]:
    gold = list(dict.fromkeys(expected.rows))
    return plain(gold, expected.width, is_ordered=False), list(dict.fromkeys(rows))


def fits(expected: Expected, rows: Sequence[Row]) -> bool:
    """Return whether the rows, compared by `==`, are a result that is expected."""
    if not expected.is_ordered:
        return _fits_unordered(expected.blocks, rows)
    at = 0
    for block in expected.blocks:
        if block.take == 1 == len(block.rows):
            if at >= len(rows) or rows[at] != block.rows[0]:
                return False
        elif not _drawn(rows[at : at + block.take], block):
            return False
        at += block.take
    return at == len(rows)


def _fits_unordered(blocks: Sequence[Block], rows: Sequence[Row]) -> bool:
    left = Counter(rows)
    cut = []
    for block in blocks:
        if block.take < len(block.rows):
            cut.append(block)
        else:
            left.subtract(block.rows)
    if any(count < 0 for count in left.values()):
        return False
    left = +left
    for block in cut:  # rows that tie have equal keys, so that blocks share no row
        of_block = left & Counter(block.rows)
        if of_block.total() != block.take:
            return False
        left -= of_block
    return not left


def _fits_permuted_as_is(expected: Expected, rows: list[Row], options: Options) -> bool:
    """Look for a permutation by `==` alone: most results need no more, and large ones gain much."""
    if options.columns != "any_order" or expected.width == 1 or _is_cut(expected):
        return False
    for order in islice(permutations(expected.rows, rows, expected.width), 2):
        if fits(expected, list(map(itemgetter(*order), rows))):
            return True
    return False


def _is_cut(expected: Expected) -> bool:
    return any(block.take < len(block.rows) for block in expected.blocks)


def _drawn(rows: Sequence[Row], block: Block) -> bool:
    return len(rows) == block.take and Counter(rows) <= Counter(block.rows)


def _compare_classes(expected: Expected, rows: list[Row], options: Options) -> Comparison:
    """Compare with tolerance, and under permutations of the columns."""
    everything = [*expected.rows, *rows]
    everything += (row for block in expected.blocks for row in block.rows)
    mapped = classes({cell for row in everything for cell in row}, options.tolerance)

    def coded(those: Sequence[Row]) -> list[Row]:
        return [tuple(class_of(cell, mapped) for cell in row) for row in those]

    gold = Expected(
        coded(expected.rows),
        expected.width,
        [Block(coded(block.rows), block.take) for block in expected.blocks],
        expected.is_ordered,
        expected.is_certain,
        expected.is_open,
    )
    codes = coded(rows)
    if options.is_set:
        gold, codes = _as_set(gold, codes)
    if fits(gold, codes):
        return _certified(expected, rows, gold.rows, codes, options)
    if _pairs_up(expected, rows, options.tolerance):
        return _EQUAL
    if options.columns == "any_order" and expected.width > 1:
        found = _fits_permuted(gold, codes)
        if found is not False:
            return _EQUAL if found else Comparison(None, "too many columns are alike")
    if expected.is_open:
        return Comparison(None, "it is not known which rows tie at the LIMIT of the gold")
    if not expected.is_certain and fits(plain(gold.rows, gold.width, is_ordered=False), codes):
        return Comparison(None, "the rows are right, and their order could not be judged")
    said = "the rows are in another order" if _same_bag(gold, codes) else "other rows"
    return Comparison(False, said, difference(expected, rows, options))


def _certified(
    expected: Expected, rows: list[Row], gold_codes: list[Row], codes: list[Row], options: Options
) -> Comparison:
    """Check cell by cell what the classes say, where a coarse tolerance may have misled them."""
    if options.is_set or _is_cut(expected) or not options.tolerance.is_coarse:
        return _EQUAL
    ours = sorted(zip(map(_sort_key, gold_codes), expected.rows, strict=True), key=_sort_key)
    theirs = sorted(zip(map(_sort_key, codes), rows, strict=True), key=_sort_key)
    equal = options.tolerance.equal
    if all(all(map(equal, a[1], b[1])) for a, b in zip(ours, theirs, strict=True)):
        return _EQUAL
    return Comparison(None, "numbers are too close to the tolerance")


def _pairs_up(expected: Expected, rows: list[Row], tolerance: Tolerance) -> bool:
    """Whether rows that are sorted, block by block, are equal one by one."""
    if len(rows) != len(expected.rows) or not tolerance.is_coarse:
        return False
    at = 0
    for block in expected.blocks:
        if block.take < len(block.rows):
            return False
        ours = sorted(block.rows, key=_number_key)
        theirs = sorted(rows[at : at + block.take], key=_number_key)
        for one, other in zip(ours, theirs, strict=True):
            if not all(map(tolerance.equal, one, other)):
                return False
        at += block.take
    return True


def _number_key(row: Row) -> tuple[tuple[str, float, str], ...]:
    return tuple(
        ("", float(cell), "") if is_number(cell) else (type(cell).__name__, 0.0, repr(cell))
        for cell in row
    )


def _same_bag(gold: Expected, codes: list[Row]) -> bool:
    return gold.is_ordered and Counter(gold.rows) == Counter(codes)


def _fits_permuted(gold: Expected, codes: list[Row]) -> bool | None:
    """Return None where there are more permutations than are tried."""
    if _is_cut(gold):  # which rows are to be there is not known, and so not what the columns hold
        return _fits_cut(gold, codes)
    for tried, order in enumerate(permutations(gold.rows, codes, gold.width)):
        if tried >= MAX_TRIES:
            return None
        if fits(gold, [tuple(row[i] for i in order) for row in codes]):
            return True
    return False


def _fits_cut(gold: Expected, codes: list[Row]) -> bool | None:
    """Try the permutations under which every cell is one that its column may hold."""
    pool = [row for block in gold.blocks for row in block.rows]
    may = [{row[i] for row in pool} for i in range(gold.width)]
    holds = [{row[i] for row in codes} for i in range(gold.width)]
    fitting = [[j for j in range(gold.width) if holds[j] <= may[i]] for i in range(gold.width)]
    orders: list[tuple[int, ...]] = [()]
    for choices in fitting:
        orders = [(*order, j) for order in orders for j in choices if j not in order]
        if len(orders) > MAX_TRIES:
            return None
    return any(fits(gold, [tuple(row[i] for i in order) for row in codes]) for order in orders)


def difference(expected: Expected, rows: list[Row], options: Options) -> dict[str, Any] | None:
    """Return the first difference: row, column and both values, as they come or sorted."""
    gold, said = expected.rows, rows
    if not expected.is_ordered:
        gold, said = sorted(gold, key=_sort_key), sorted(rows, key=_sort_key)
    for at, (one, other) in enumerate(zip(gold, said, strict=False)):
        for column, (left, right) in enumerate(zip(one, other, strict=True)):
            if not options.tolerance.equal(left, right):
                return {"row": at, "column": column, "expected": left, "got": right}
    at = min(len(gold), len(said))
    if at < len(gold):
        return {"row": at, "column": None, "expected": list(gold[at]), "got": None}
    if at < len(said):
        return {"row": at, "column": None, "expected": None, "got": list(said[at])}
    return None


def _sort_key(row: object) -> str:
    return repr(row)
