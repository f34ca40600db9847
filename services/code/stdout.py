"""Compares what a program printed with what it should have printed: bytes, in linear time.

Nothing here raises, whatever the bytes are. Numbers are ASCII decimals with an exponent of at most
four digits: no inf, nan, underscores, hexadecimal or digits of other scripts. Blanks are those of
ASCII. Words are compared with their case.

What is not covered: problems with several right outputs, which need a checker.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from decimal import Context, Decimal
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

Mode = Literal["auto", "tokens", "lines", "exact", "float", "yesno", "unordered_lines", "json"]
"""`auto`: as many tokens, each the same text or the same number; if the expected one has a decimal
point or a negative exponent, a number within the tolerance will do. `tokens`: the same tokens, as
text. `lines`: the same lines, but for blanks at their ends and blank lines at the end. `exact`: the
same bytes. `float`: as `auto`, with the tolerance for whole numbers too. `yesno`: as `tokens`, with
`yes` and `no` in any case. `unordered_lines`: as `lines`, in any order, repeats counted. `json`: the
same JSON value; numbers as in `auto`."""

_NUMBER: Final = re.compile(rb"[+-]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][+-]?\d{1,4})?")
_ROUGH: Final = Context(prec=60, Emax=10**17, Emin=-(10**17), traps=[])
_BLANKS: Final = b" \t\n\r\v\f"
_YES_NO: Final = frozenset({b"yes", b"no"})
MAX_JSON_DEPTH: Final = 200


class Tolerance(NamedTuple):
    """How far a number may be off: by the larger of `absolute` and `relative` of the expected."""

    relative: float = 1e-6
    absolute: float = 1e-6

    def allows(self, expected: Decimal, printed: Decimal) -> bool:
        """Say whether the two are close enough."""
        scaled = _ROUGH.multiply(Decimal(self.relative), _ROUGH.abs(expected))
        allowed = max(Decimal(self.absolute), scaled)
        return _ROUGH.abs(_ROUGH.subtract(expected, printed)) <= allowed


def matches(mode: Mode, expected: bytes, printed: bytes, tolerance: Tolerance) -> bool:
    """Say whether `printed` is the expected output, in the given mode."""
    return expected == printed or _MODES[mode](expected, printed, tolerance)


def is_yes_or_no(expected: bytes) -> bool:
    """Say whether an output consists of `yes` and `no` alone, in whatever case."""
    tokens = expected.split()
    return bool(tokens) and all(token.lower() in _YES_NO for token in tokens)


def _by_token(expected: bytes, printed: bytes, are_equal: Callable[[bytes, bytes], bool]) -> bool:
    wanted, seen = expected.split(), printed.split()
    return len(wanted) == len(seen) and all(
        one == other or are_equal(one, other) for one, other in zip(wanted, seen, strict=True)
    )


def _auto(expected: bytes, printed: bytes, tolerance: Tolerance) -> bool:
    return _by_token(expected, printed, lambda one, other: _same_number(one, other, tolerance))


def _float(expected: bytes, printed: bytes, tolerance: Tolerance) -> bool:
    def are_close(one: bytes, other: bytes) -> bool:
        wanted, seen = _decimal(one), _decimal(other)
        return wanted is not None and seen is not None and tolerance.allows(wanted, seen)

    return _by_token(expected, printed, are_close)


def _yesno(expected: bytes, printed: bytes, _: Tolerance) -> bool:
    return _by_token(
        expected,
        printed,
        lambda one, other: one.lower() == other.lower() and one.lower() in _YES_NO,
    )


def _same_number(expected: bytes, printed: bytes, tolerance: Tolerance) -> bool:
    wanted = _decimal(expected)
    seen = None if wanted is None else _decimal(printed)
    if wanted is None or seen is None:
        return False
    return wanted == seen or (_is_fractional(expected) and tolerance.allows(wanted, seen))


def _decimal(token: bytes) -> Decimal | None:
    return Decimal(token.decode("ascii")) if _NUMBER.fullmatch(token) else None


def _is_fractional(token: bytes) -> bool:
    return b"." in token or b"e-" in token or b"E-" in token


def _lines(text: bytes) -> list[bytes]:
    lines = [line.rstrip(_BLANKS) for line in text.split(b"\n")]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def _json(expected: bytes, printed: bytes, tolerance: Tolerance) -> bool:
    try:
        wanted, seen = _read_json(expected), _read_json(printed)
        return _same_json(wanted, seen, tolerance, MAX_JSON_DEPTH)
    except (ValueError, RecursionError):
        return False


class _Number(str):
    """A number of a JSON text, as it stands there."""

    __slots__ = ()


def _read_json(text: bytes) -> Any:  # noqa: ANN401 - any JSON value
    return json.loads(
        text.decode("utf-8"),
        parse_int=_Number,
        parse_float=_Number,
        parse_constant=_refuse_constant,
        object_pairs_hook=_object,
    )


def _refuse_constant(name: str) -> None:
    msg = f"{name} is no JSON"
    raise ValueError(msg)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        msg = "a key is there twice"
        raise ValueError(msg)
    return members


def _same_json(wanted: object, seen: object, tolerance: Tolerance, depth: int) -> bool:
    if depth < 0 or type(wanted) is not type(seen):
        return False
    if isinstance(wanted, _Number) and isinstance(seen, _Number):
        one, other = wanted.encode(), seen.encode()
        return one == other or _same_number(one, other, tolerance)
    if isinstance(wanted, list) and isinstance(seen, list):
        return len(wanted) == len(seen) and all(
            _same_json(one, other, tolerance, depth - 1)
            for one, other in zip(wanted, seen, strict=True)
        )
    if isinstance(wanted, dict) and isinstance(seen, dict):
        return wanted.keys() == seen.keys() and all(
            _same_json(item, seen[key], tolerance, depth - 1) for key, item in wanted.items()
        )
    return wanted == seen


_MODES: Final[dict[Mode, Callable[[bytes, bytes, Tolerance], bool]]] = {
    "auto": _auto,
    "tokens": lambda expected, printed, _: expected.split() == printed.split(),
    "lines": lambda expected, printed, _: _lines(expected) == _lines(printed),
    "exact": lambda expected, printed, _: expected == printed,
    "float": _float,
    "yesno": _yesno,
    "unordered_lines": lambda expected, printed, _: (
        Counter(_lines(expected)) == Counter(_lines(printed))
    ),
    "json": _json,
}
