"""Patterns of the `regex` template, on RE2: linear time for every pattern and every text."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

import re2  # type: ignore[import-untyped]

if TYPE_CHECKING:
    from collections.abc import Callable

_MAX_MEMORY_BYTES: Final = 8 * 1024 * 1024
_MAX_COMPILED: Final = 128


class BadPatternError(ValueError):
    """The pattern is not one that RE2 can run; the message says why."""


@lru_cache(maxsize=_MAX_COMPILED)
def compile_pattern(pattern: str) -> Callable[[str], bool]:
    """Return a function that tells whether a text holds the pattern."""
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MAX_MEMORY_BYTES
    try:
        compiled = re2.compile(pattern, options)
    except re2.error as error:
        cause = error.args[0] if error.args else error
        message = cause.decode("utf-8", "replace") if isinstance(cause, bytes) else str(cause)
        raise BadPatternError(message) from None
    return lambda text: compiled.search(text) is not None
