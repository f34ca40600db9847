"""Integers: factors within a bound, exact roots."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Final

LIMIT: Final = 1_000
"""Trial division goes this far."""

MAX_ROOT_BITS: Final = 512
"""Roots beyond the square are looked for in numbers up to this size."""

_WITNESSES: Final = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41)
_PROVEN: Final = 3_317_044_064_679_887_385_961_981
"""Below this, the witnesses decide primality (Sorenson and Webster, 2015)."""


@lru_cache(maxsize=4_096)
def factors(number: int) -> tuple[tuple[int, int], ...]:
    """Return `(factor, exponent)` of a positive integer, in growing order.

    All are primes, except that the last may be a composite number without small factors; see
    `is_prime`. It is seen as a perfect power up to the 13th, and only as a square where it is
    large.
    """
    found = []
    divisor = 2
    while divisor < LIMIT and divisor * divisor <= number:
        exponent = 0
        while number % divisor == 0:
            number //= divisor
            exponent += 1
        if exponent:
            found.append((divisor, exponent))
        divisor += 1 if divisor == 2 else 2
    if number > 1:
        found.append(_as_power(number))
    return tuple(found)


def _as_power(number: int) -> tuple[int, int]:
    """Write a number without factors below the limit as a perfect power, if it is one."""
    if number < LIMIT * LIMIT:
        return number, 1
    total = 1
    for exponent in (2, 3, 5, 7, 11, 13) if number.bit_length() <= MAX_ROOT_BITS else (2,):
        while (base := root(number, exponent)) is not None:
            number, total = base, total * exponent
    return number, total


def root(number: int, degree: int) -> int | None:
    """Return the exact root of a natural number, or None."""
    if degree == 2:
        guess = math.isqrt(number)
    else:
        low, high = 0, 1 << (number.bit_length() // degree + 1)
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if middle**degree <= number else (low, middle - 1)
        guess = low
    return guess if guess**degree == number else None


@lru_cache(maxsize=4_096)
def is_prime(number: int) -> bool:
    """Say whether a number from `factors` is proven to be a prime."""
    if number < LIMIT * LIMIT:
        return True
    if number >= _PROVEN:
        return False
    shift = ((number - 1) & (1 - number)).bit_length() - 1
    return all(_passes(number, witness, shift) for witness in _WITNESSES)


def _passes(number: int, witness: int, shift: int) -> bool:
    value = pow(witness, (number - 1) >> shift, number)
    if value in (1, number - 1):
        return True
    for _ in range(shift - 1):
        value = value * value % number
        if value == number - 1:
            return True
    return False
