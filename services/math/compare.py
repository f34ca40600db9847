r"""Decide whether an answer equals the gold one, by the cheapest tier that can tell.

Tiers: `exact` (the same text), `normalised` (the same canonical text), `rational` (exact
arithmetic on plain numbers). Each says yes, no, or nothing; where none can say, the outcome is
`undecided` and the sample is not scored. So the rule is: a "no" needs two things that this module
fully understands (two numbers, two words, a number and garbage). `2x`, `\sqrt{4}`, `5 km` or
`five` against a number might be settled by a fuller reader, and are never called wrong here.

There is no tolerance. A decimal gold that the answer rounds to, and values that agree to twelve
digits, are `undecided`: close enough that calling them wrong would be a guess.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final, Literal, NamedTuple

from rewarden.contracts import Outcome
from services.math.number import Number, OutOfBoundsError, read_number
from services.math.parse import Answer, Shape

Tier = Literal["exact", "normalised", "rational"]

_SAME_TO = Fraction(1, 10**12)
_MIN_WORD_CHARS: Final = 3
_SHORT_WORDS = frozenset({"no"})
_NEVER_EQUAL = frozenset(
    {
        (Shape.NUMBER, Shape.LETTER),
        (Shape.NUMBERS, Shape.LETTER),
        (Shape.LETTER, Shape.NUMBER),
        (Shape.LETTER, Shape.NUMBERS),
    }
)
_VALUELESS: Final = {
    Shape.BLANK: "The answer is empty.",
    Shape.GARBLED: "The answer {} is not a well-formed value.",
}


class Decision(NamedTuple):
    """What was decided about one answer, and by which tier."""

    outcome: Outcome
    reason: str
    tier: Tier | None = None


def is_usable(gold: Answer) -> bool:
    """Whether anything could ever be compared with this gold answer."""
    return gold.shape not in _VALUELESS


def compare(gold: Answer, answer: Answer) -> Decision:
    """Decide on an answer whose text is not that of the gold; see the module for the rule."""
    if gold.symbol and answer.symbol and gold.symbol != answer.symbol:
        return _undecided(gold, answer)
    if gold.text == answer.text and answer.text:
        reason = f"The answer {answer.shown} is the gold answer in another spelling."
        return Decision(Outcome.CORRECT, reason, "normalised")
    if answer.shape in _VALUELESS:
        reason = _VALUELESS[answer.shape].format(answer.shown)
        return Decision(Outcome.INCORRECT, reason)
    if gold.number and answer.number and gold.shape is Shape.NUMBER:
        return _compare_numbers(gold, answer, gold.number, answer.number)
    return _compare_shapes(gold, answer)


def _compare_shapes(gold: Answer, answer: Answer) -> Decision:
    shapes = (gold.shape, answer.shape)
    if shapes == (Shape.NUMBER, Shape.OUTSIZE):
        return Decision(Outcome.REJECTED, "The answer is a number too large to be computed.")
    if shapes == (Shape.NUMBER, Shape.NUMBERS) and not _is_decimal_comma(gold, answer):
        reason = f"The answer {answer.shown} is several numbers, not {gold.shown}."
        return Decision(Outcome.INCORRECT, reason)
    if shapes == (Shape.WORD, Shape.WORD):
        return _compare_words(gold, answer)
    if shapes == (Shape.LETTER, Shape.LETTER) and gold.text.lower() != answer.text.lower():
        return _different(gold, answer, "normalised")
    return _different(gold, answer) if shapes in _NEVER_EQUAL else _undecided(gold, answer)


def _compare_numbers(gold: Answer, answer: Answer, wanted: Number, given: Number) -> Decision:
    if answer.shape is Shape.COUNTED:
        same = wanted.value == given.value
        return _undecided(gold, answer) if same else _different(gold, answer, "rational")
    if wanted.unit and given.unit and wanted.unit != given.unit:
        reason = f"The units differ: {wanted.unit} and {given.unit}."
        return Decision(Outcome.INCORRECT, reason, "rational")
    in_percent = wanted.unit != given.unit and "%" in {wanted.unit, given.unit}
    if in_percent and wanted.value == given.value != 0:
        return _undecided(gold, answer)
    if in_percent:
        wanted, given = _out_of_percent(wanted), _out_of_percent(given)
    if wanted.value == given.value:
        reason = f"{answer.shown} equals {gold.shown} exactly."
        return Decision(Outcome.CORRECT, reason, "rational")
    if _is_close(wanted, given) or _is_decimal_comma(gold, answer):
        return _undecided(gold, answer)
    return _different(gold, answer, "rational")


def _out_of_percent(number: Number) -> Number:
    """`37.5%` as `0.375`, which is what it is worth next to a number without a unit."""
    if number.unit != "%":
        return number
    places = None if number.places is None else number.places + 2
    return Number(number.value / 100, "", places)


def _is_close(wanted: Number, given: Number) -> bool:
    """Whether the two may be one value, rounded: too close for an exact "no"."""
    if wanted.places is None and given.places is None:
        return False
    distance = abs(wanted.value - given.value)
    if wanted.places is not None and distance * 2 <= Fraction(10) ** -wanted.places:
        return True
    return distance <= abs(wanted.value) * _SAME_TO


def _is_decimal_comma(gold: Answer, answer: Answer) -> bool:
    """Whether `2,5` read as 2.5 would be equal: two conventions, so no "no"."""
    if "," not in gold.text + answer.text:
        return False
    try:
        wanted = read_number(gold.text.replace(",", "."))
        given = read_number(answer.text.replace(",", "."))
    except (OutOfBoundsError, ZeroDivisionError):
        return False
    return wanted is not None and given is not None and wanted.value == given.value


def _compare_words(gold: Answer, answer: Answer) -> Decision:
    """Compare two words; `ab` and `ba` may be products, so short words and anagrams stay open."""
    if gold.text.casefold() == answer.text.casefold():
        if _is_word(gold.text) and _is_word(answer.text):
            reason = f"The answer is {gold.shown}, but for capital letters."
            return Decision(Outcome.CORRECT, reason, "normalised")
        return _undecided(gold, answer)
    if not (gold.text + answer.text).isascii() or sorted(gold.text) == sorted(answer.text):
        return _undecided(gold, answer)
    return _different(gold, answer, "normalised")


def _is_word(text: str) -> bool:
    is_long = len(text) >= _MIN_WORD_CHARS or text.lower() in _SHORT_WORDS
    return is_long and (text.islower() or text.istitle())


def _different(gold: Answer, answer: Answer, tier: Tier | None = None) -> Decision:
    reason = f"The answer {answer.shown} is not {gold.shown}."
    return Decision(Outcome.INCORRECT, reason, tier)


def _undecided(gold: Answer, answer: Answer) -> Decision:
    reason = f"Whether {answer.shown} equals {gold.shown} could not be decided."
    return Decision(Outcome.UNDECIDED, reason)
