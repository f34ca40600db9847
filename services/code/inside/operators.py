"""The operators of Python by the names under which one sandbox asks the other for them.

The standard library only, Python 3.9 and newer.
"""

from __future__ import annotations

import operator

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Final

TAKES_VALUE: Final = frozenset(
    (
        *("eq", "ne", "lt", "le", "gt", "ge", "contains", "add", "sub", "mul", "truediv", "mod"),
        *("floordiv", "pow", "matmul", "and_", "or_", "xor", "lshift", "rshift", "radd", "rsub"),
        *("rmul", "rtruediv", "rfloordiv", "rmod", "rpow", "rand_", "ror_", "rxor"),
    )
)
"""Operators by which a value of the tests would come to an object of the program."""
COMPARES: Final = frozenset({"eq", "ne", "lt", "le", "gt", "ge", "contains"})
"""Those of them that give no object of the same kind."""
NEEDED: Final = frozenset(
    ["bool", "len", "str", "repr", "hash", "int", "float", "contains", "format"]
)
"""Operators whose answer Python wants at once."""
_BUILT_IN: Final[dict[str, Callable[..., Any]]] = {
    one.__name__: one for one in (bool, len, str, repr, hash, int, float, abs, next, format)
}


def _reflected(operate: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda one, other: operate(other, one)


OPERATORS: Final[dict[str, Callable[..., Any]]] = {
    **{
        name: _reflected(getattr(operator, name[1:]))
        if name[0] == "r" and name != "rshift"
        else getattr(operator, name)
        for name in TAKES_VALUE
    },
    **{name: getattr(operator, name) for name in ("neg", "pos", "invert")},
    **{name: getattr(operator, name) for name in ("getitem", "setitem", "delitem")},
    **_BUILT_IN,
}
