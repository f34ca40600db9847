"""When two cells are equal, and an order of all cells that equality respects.

NULL equals NULL alone. Integers (and booleans, as 0 and 1) are compared exactly, other numbers
within the tolerance. A text is not a number. Bytes are compared exactly.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from services.sql.results import Row

_NUMBER: Final = re.compile(r"[+-]?(\d{1,400}(\.\d{0,400})?|\.\d{1,400})([eE][+-]?\d{1,3})?")
_MIDNIGHT: Final = re.compile(r"(\d{4}-\d\d-\d\d)[ T]00:00(:00(\.0+)?)?")
_FINE: Final = 1e-5


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How numbers and texts are read and compared."""

    relative: float = 1e-6
    absolute: float = 0.0
    decimals: int | None = None
    is_lenient: bool = False

    @property
    def changes_cells(self) -> bool:
        """Whether cells are rewritten before they are compared."""
        return self.is_lenient or self.decimals is not None

    def rewrite(self, row: Row) -> Row:
        """Return the row as it is compared."""
        return tuple(map(self._rewritten, row))

    def _rewritten(self, cell: Any) -> Any:  # noqa: ANN401 - a cell
        if self.is_lenient and isinstance(cell, str):
            cell = _lenient(cell)
        if self.decimals is not None and isinstance(cell, float | Decimal) and is_finite(cell):
            return round(cell, self.decimals)
        return cell

    @property
    def is_coarse(self) -> bool:
        """Whether numbers that are meant to differ may be near each other."""
        return self.absolute > 0 or self.relative > _FINE

    def near(self, one: float | Decimal, other: float | Decimal) -> bool:
        """Whether two numbers are equal."""
        if one == other:
            return True
        if isinstance(one, int) and isinstance(other, int):
            return False
        if one != one or other != other:
            return one != one and other != other
        return math.isclose(
            _float(one), _float(other), rel_tol=self.relative, abs_tol=self.absolute
        )

    def equal(self, one: Any, other: Any) -> bool:  # noqa: ANN401 - cells
        """Whether two cells are equal."""
        if is_number(one) and is_number(other):
            return self.near(one, other)
        if isinstance(one, tuple) and isinstance(other, tuple):
            return len(one) == len(other) and all(map(self.equal, one, other))
        return type(one) is type(other) and bool(one == other)


def is_number(cell: Any) -> bool:  # noqa: ANN401 - a cell
    """Whether the cell is a number; a boolean is 0 or 1."""
    return isinstance(cell, int | float | Decimal)


def is_finite(cell: float | Decimal) -> bool:
    """Whether it is neither infinite nor NaN."""
    return cell.is_finite() if isinstance(cell, Decimal) else math.isfinite(cell)


def classes(cells: Iterable[Any], tolerance: Tolerance) -> dict[Any, Any]:
    """Map each cell to one that stands for all that equal it.

    Numbers that are not integers join the nearest integer within the tolerance, or else the group
    of neighbours that are within it of the smallest. So two equal numbers may come to stand in two
    classes, and around an integer two numbers in one class may differ by twice the tolerance.
    """
    numbers: dict[Any, Any] = {}
    mapped: dict[Any, Any] = {}
    for cell in cells:
        if is_number(cell):
            numbers[_key(cell)] = cell
        else:
            mapped[cell] = cell
    mapped.update(_number_classes(numbers, tolerance))
    return mapped


def class_of(cell: Any, mapped: dict[Any, Any]) -> Any:  # noqa: ANN401 - a cell
    """Return the cell that stands for this one."""
    return mapped[_key(cell)] if is_number(cell) else mapped[cell]


def _key(number: Any) -> Any:  # noqa: ANN401 - a cell
    return ("nan",) if number != number else number


def _number_classes(numbers: dict[Any, Any], tolerance: Tolerance) -> dict[Any, Any]:
    mapped: dict[Any, Any] = {}
    nan = numbers.pop(("nan",), None)
    if nan is not None:
        mapped["nan",] = ("nan",)
    ordered = sorted(numbers.values())
    integers = [n for n in ordered if isinstance(n, int)]
    place = 0
    stands: Any = None
    for number in ordered:
        if isinstance(number, int):
            mapped[number] = number
            continue
        while place < len(integers) and integers[place] < number:
            place += 1
        around = integers[max(place - 1, 0) : place + 1]
        fitting = [i for i in around if tolerance.near(i, number)]
        if fitting:
            mapped[number] = min(fitting, key=lambda i: abs(_float(i) - _float(number)))
            continue
        if stands is None or not tolerance.near(stands, number):
            stands = number
        mapped[number] = stands
    return mapped


def _float(number: float | Decimal) -> float:
    try:
        return float(number)
    except OverflowError:  # an integer beyond the range of floats
        return math.inf if number > 0 else -math.inf


def _lenient(text: str) -> Any:  # noqa: ANN401 - a cell
    stripped = text.strip()
    if _NUMBER.fullmatch(stripped):
        if stripped.lstrip("+-").isdigit():
            return int(stripped)
        return float(stripped)
    midnight = _MIDNIGHT.fullmatch(stripped)
    return midnight[1] if midnight else text
