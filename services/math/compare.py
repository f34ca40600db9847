r"""Decide whether an answer equals the gold one, by the cheapest tier that can tell.

Tiers: `exact` (the same text), `normalised` (the same canonical text), `rational` (exact
arithmetic on plain numbers). Each says yes, no, or nothing; where none can say, the outcome is
`undecided` and the sample is not scored. So the rule is: a "no" needs two things that this module
fully understands: two numbers, two choices, a number and garbage. `2x`, `\sqrt{4}`, `5 km`, `e` or
`five` against a number might be settled by a fuller reader, and are never called wrong here; nor is
one word against another, but for a few pairs of opposites.

There is no tolerance. A decimal gold that the answer rounds to, values that agree to twelve
digits, and digits that are equal in another convention (`services.math.reading`) are `undecided`:
calling them wrong would be a guess.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final, Literal, NamedTuple

from rewarden.contracts import Outcome
from services.math.number import Number
from services.math.parse import Answer, Shape
from services.math.reading import letter_may_be, may_be_same

Tier = Literal["exact", "normalised", "rational"]

_SAME_TO = Fraction(1, 10**12)
_MIN_WORD_CHARS: Final = 3
_SHORT_WORDS = frozenset({"no"})
_CHOICES = frozenset("ABCDEFGHIJ")
_OPPOSITES: Final = (
    frozenset({"true", "false"}),
    frozenset({"yes", "no"}),
    frozenset({"even", "odd"}),
)
_UNUSABLE = frozenset({Shape.BLANK, Shape.GARBLED})


class Decision(NamedTuple):
    """What was decided about one answer, and by which tier."""

    outcome: Outcome
    reason: str
    tier: Tier | None = None


def is_usable(gold: Answer) -> bool:
    """Whether anything could ever be compared with this gold answer."""
    return gold.shape not in _UNUSABLE


def compare(gold: Answer, answer: Answer) -> Decision:
    """Decide on an answer whose text is not that of the gold; see the module for the rule."""
    if gold.symbol and answer.symbol and gold.symbol != answer.symbol:
        return _undecided(gold, answer)
    if gold.text == answer.text and answer.text:
        reason = f"The answer {answer.shown} is the gold answer in another spelling."
        return Decision(Outcome.CORRECT, reason, "normalised")
    if answer.shape is Shape.BLANK:
        return Decision(Outcome.INCORRECT, "The answer is empty.")
    return _COMPARERS.get(gold.shape, _undecided)(gold, answer)


def _compare_with_number(gold: Answer, answer: Answer) -> Decision:
    if gold.number and answer.number:
        return _compare_numbers(gold, answer, gold.number, answer.number)
    if answer.shape is Shape.OUTSIZE:
        return Decision(Outcome.REJECTED, "The answer is a number too large to be computed.")
    if answer.shape is Shape.LETTER:
        return _compare_letter_and_number(gold, answer)
    is_wrong = answer.shape in {Shape.NUMBERS, Shape.GARBLED}
    if not is_wrong or may_be_same(gold.text, answer.text):
        return _undecided(gold, answer)
    if answer.shape is Shape.GARBLED:
        return _garbled(answer)
    reason = f"The answer {answer.shown} is several numbers, not {gold.shown}."
    return Decision(Outcome.INCORRECT, reason)


def _compare_numbers(gold: Answer, answer: Answer, wanted: Number, given: Number) -> Decision:
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
    if _is_close(wanted, given) or may_be_same(gold.text, answer.text):
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


def _compare_with_letter(gold: Answer, answer: Answer) -> Decision:
    """Compare with a choice, or a variable: only choices are surely different."""
    if answer.shape is Shape.LETTER:
        is_other = gold.text in _CHOICES and gold.text.lower() != answer.text.lower()
        return _different(gold, answer, "normalised") if is_other else _undecided(gold, answer)
    if answer.shape is Shape.GARBLED:
        return _garbled(answer)
    if answer.shape in {Shape.NUMBER, Shape.NUMBERS}:
        return _compare_letter_and_number(gold, answer)
    return _undecided(gold, answer)


def _compare_with_numbers(gold: Answer, answer: Answer) -> Decision:
    if answer.shape is Shape.LETTER:
        return _compare_letter_and_number(gold, answer)
    return _undecided(gold, answer)


def _compare_letter_and_number(gold: Answer, answer: Answer) -> Decision:
    """Tell a letter from a number, unless it may stand for that very one."""
    letter, number = (gold, answer) if gold.shape is Shape.LETTER else (answer, gold)
    if letter_may_be(letter.text, number.number and number.number.value):
        return _undecided(gold, answer)
    return _different(gold, answer)


def _compare_words(gold: Answer, answer: Answer) -> Decision:
    """Compare two words; `ab` may be a product, `inf` is `infinity`: only opposites differ."""
    if answer.shape is not Shape.WORD:
        return _undecided(gold, answer)
    wanted, given = gold.text.casefold(), answer.text.casefold()
    if wanted == given and _is_word(gold.text) and _is_word(answer.text):
        reason = f"The answer is {gold.shown}, but for capital letters."
        return Decision(Outcome.CORRECT, reason, "normalised")
    if {wanted, given} in _OPPOSITES:
        return _different(gold, answer, "normalised")
    return _undecided(gold, answer)


def _is_word(text: str) -> bool:
    is_long = len(text) >= _MIN_WORD_CHARS or text.lower() in _SHORT_WORDS
    return is_long and (text.islower() or text.istitle())


def _garbled(answer: Answer) -> Decision:
    reason = f"The answer {answer.shown} is not a well-formed value."
    return Decision(Outcome.INCORRECT, reason)


def _different(gold: Answer, answer: Answer, tier: Tier | None = None) -> Decision:
    reason = f"The answer {answer.shown} is not {gold.shown}."
    return Decision(Outcome.INCORRECT, reason, tier)


def _undecided(gold: Answer, answer: Answer) -> Decision:
    reason = f"Whether {answer.shown} equals {gold.shown} could not be decided."
    return Decision(Outcome.UNDECIDED, reason)


_COMPARERS: Final = {
    Shape.NUMBER: _compare_with_number,
    Shape.NUMBERS: _compare_with_numbers,
    Shape.LETTER: _compare_with_letter,
    Shape.WORD: _compare_words,
}
