r"""Decide whether an answer equals the gold one, by the cheapest tier that can tell.

Tiers, and where they live: `exact` (the same text; `services.math.grade`), `normalised` (the same
canonical text), `rational` (exact arithmetic on plain numbers), then the trees: `numeric` and
`symbolic` (`services.math.values`) and `structural` (`services.math.structure`). Each says yes, no,
or nothing; where none can say, the outcome is `undecided` and the sample is not scored.

A "no" is withheld where the answer has a second reading that is the gold: digits grouped in another
convention (`services.math.language.reading`), `1/2x`, a letter that may stand for a number.
"""

from __future__ import annotations

import re
from itertools import islice, product
from typing import TYPE_CHECKING, Final, NamedTuple

from rewarden.contracts import Outcome
from services.math.algebra.bounds import OutOfBoundsError
from services.math.algebra.normal import UndefinedError
from services.math.factors import is_anagram, is_ordered
from services.math.labels import statements
from services.math.language.choices import read_choices, same_choice
from services.math.language.moments import same_moment
from services.math.language.reading import letter_may_be, may_be_same
from services.math.parse import Answer, Problem, parse
from services.math.renaming import is_renamed, is_same_family
from services.math.structure import Matcher
from services.math.tree import (
    Number as NumberNode,
    Relation,
    Sequence,
)
from services.math.values import Finding, Tier, has_value, same_value

if TYPE_CHECKING:
    from fractions import Fraction

    from services.math.language.choices import Choice
    from services.math.language.number import Number
    from services.math.spec import MathSpec
    from services.math.tree import Tree

_OPTIONS: Final = frozenset("ABCDE")
"""Golds that are an option and no variable, unless the spec says otherwise."""
_DIGIT = re.compile(r"\d")
_NO_VALUE = re.compile(
    r"__|[a-z]{3}\(['\"\[\d)]|['\"]\)|[?]\s*\Z|\A\W*(?:\\(?:ne|ge|le|neq|geq|leq)(?![a-z])|[<>≠≤≥])"
    r"|\b(?:not|never|neither|except|between|at least|at most|more than|less than|if|else|lambda)\b"
)
"""Code, questions, bounds and negations: whatever else they are, they are no number."""
_GLOSS = re.compile(r"\s\(|\\text|\([A-Za-z]{3}")
_GLOSSED = re.compile(
    r"(.{1,200}?)(?:\s+\(|\s*\\text\s*\{\s*\(|\((?=[A-Za-z]{3}))(?:or|i\.e\.|=|\\approx|\u2248|about)?\s*"
    r"([^()]{1,100})\)\s*\}?\.?",
    re.DOTALL,
)
_WRAPPED = re.compile(r"\\(?:text[a-z]*|mathrm|mbox)\s*\{([^{}]*)\}")
_SELECTION = re.compile(r"[A-H]{2,8}")
_HOW: Final = {
    "normalised": "is, in another spelling,",
    "rational": "equals",
    "symbolic": "equals",
    "numeric": "agrees with",
    "structural": "says the same as",
}


class Decision(NamedTuple):
    """What was decided about one answer, and by which tier."""

    outcome: Outcome
    reason: str
    tier: Tier | None = None


def is_usable(gold: Answer, spec: MathSpec) -> bool:
    """Whether answers can be compared with this gold one, in the way that the spec asks for."""
    if spec.answer_type == "text":
        return bool(gold.text)
    if spec.answer_type == "choice":
        return gold.choice is not None
    if gold.number:
        return True
    if gold.tree is None:
        return gold.moment is not None or gold.choice is not None
    return has_value(gold.tree)


def compare(gold: Answer, answer: Answer, spec: MathSpec) -> Decision:
    """Decide on an answer whose text is not that of the gold; see the module for the rule."""
    if named := _compare_statements(gold, answer):
        return named
    decision = _compare(gold, answer, spec)
    if decision.outcome is Outcome.CORRECT or not answer.raw.rstrip(" }.").endswith(")"):
        return decision
    return _compare_glossed(gold, answer, spec) or decision


def _compare_glossed(gold: Answer, answer: Answer, spec: MathSpec) -> Decision | None:
    """Look at `1/2 (0.5)`, which says a thing twice, and at `5 (in metres)`; None for all else."""
    match = _GLOSSED.fullmatch(answer.raw.strip()) if _GLOSS.search(answer.raw, 1) else None
    if match is None or not match[1].strip():
        return None
    head = _compare(gold, parse(match[1], units=answer.units), spec)
    if head.outcome is not Outcome.CORRECT:
        return None
    gloss = parse(match[2], units=answer.units)
    if gloss.tree is not None and _compare(gold, gloss, spec).outcome is Outcome.CORRECT:
        return head
    return _undecided(gold, answer)


def _compare(gold: Answer, answer: Answer, spec: MathSpec) -> Decision:
    if gold.text == answer.text and answer.text and _agree_on_the_name(gold, answer, spec):
        return _yes(gold, answer, "normalised")
    if not answer.text:
        return Decision(Outcome.INCORRECT, "The answer is empty.")
    if spec.answer_type == "text":
        return _compare_texts(gold, answer)
    if gold.number and answer.number:
        return _compare_numbers(gold, answer, gold.number, answer.number, spec)
    found = _compare_choices(gold, answer, spec) or _compare_moments(gold, answer)
    return found or _compare_trees(gold, answer, spec)


def _agree_on_the_name(gold: Answer, answer: Answer, spec: MathSpec) -> bool:
    """Whether both say it of one symbol; one of them may leave it out, but not of an equation."""
    if gold.symbol == answer.symbol:
        return True
    return not (gold.symbol and answer.symbol) and spec.answer_type != "equation"


def _compare_statements(gold: Answer, answer: Answer) -> Decision | None:
    """Compare numbers of statements, of which a question asks which are true; `13` may be two."""
    wanted, given = statements(gold.raw), statements(answer.raw)
    if wanted and given:
        return _decision(gold, answer, Finding(wanted == given, "normalised"))
    if not (wanted or given):
        return None
    digits = set(map(int, filter(str.isdecimal, answer.text if wanted else gold.text)))
    if digits == (wanted or given):
        return _undecided(gold, answer)
    return _decision(gold, answer, Finding(False, "normalised")) if wanted else None


# -- plain numbers


def _compare_numbers(
    gold: Answer, answer: Answer, wanted: Number, given: Number, spec: MathSpec
) -> Decision:
    if (wanted.unit, given.unit) == ("", "") and wanted.value == given.value:
        found = Finding(True, "rational")
    elif wanted.unit == given.unit == "" and wanted.places is given.places is None:
        found = _by_tolerance(wanted.value, given.value, spec)
    else:
        found = _matched(gold, answer, spec)
    if found.same and not _agree_on_the_name(gold, answer, spec):
        return _other_name(gold, answer)
    if found.same is False and not found.why and wanted.unit == given.unit:
        found = Finding(None) if may_be_same(gold.text, answer.text) else found
    return _decision(gold, answer, found)


def _other_name(gold: Answer, answer: Answer) -> Decision:
    if answer.symbol:
        return _undecided(gold, answer)
    return _decision(gold, answer, Finding(False, "structural", "an equation is expected"))


def _by_tolerance(wanted: Fraction, given: Fraction, spec: MathSpec) -> Finding:
    """Decide on two exact numbers that differ."""
    if not (spec.rel_tol or spec.abs_tol):
        return Finding(False, "rational")
    return same_value(NumberNode(wanted), NumberNode(given), spec)


# -- choices, dates, texts


def _compare_choices(gold: Answer, answer: Answer, spec: MathSpec) -> Decision | None:
    """Compare where the gold answer is an option of a multiple choice, or several."""
    if (selected := _selected(gold.text)) and (chosen := _selected(answer.text)):
        return _decision(gold, answer, Finding(selected == chosen, "normalised"))
    if gold.choice is None or spec.answer_type not in ("choice", "auto"):
        return None
    is_choice = spec.answer_type == "choice"
    if answer.choice is None and (is_choice or gold.text in _OPTIONS) and len(answer.text) == 1:
        answer = parse(answer.text.upper())  # a small letter, as one types it
    same = same_choice(gold.text, answer.text) if answer.choice else None
    if same is not None or is_choice:
        found = Finding(bool(same), "normalised", "" if answer.choice else "it names no option")
        return _decision(gold, answer, found)
    return _compare_with_option(gold, answer, gold.choice, spec)


def _compare_with_option(
    gold: Answer, answer: Answer, option: Choice, spec: MathSpec
) -> Decision | None:
    """Compare an answer that names no option with the letter, or with the text that goes with it."""
    if answer.number and len(gold.text) == 1:
        return _compare_letter_and_number(gold, answer)
    if option.text and not answer.choice:
        return compare(parse(option.text), answer, spec)
    return None


def _selected(text: str) -> tuple[str, ...] | None:
    """Return the letters of several options: `AC`, `A, C`."""
    if _SELECTION.fullmatch(text) and list(text) == sorted(set(text)):
        return tuple(text)
    return read_choices(text)


def _compare_letter_and_number(gold: Answer, answer: Answer) -> Decision:
    """Tell a letter from a number, unless it may stand for that very one."""
    letter, number = (gold, answer) if answer.number else (answer, gold)
    if letter_may_be(letter.text, number.number and number.number.value):
        return _undecided(gold, answer)
    return _decision(gold, answer, Finding(False, "structural"))


def _compare_moments(gold: Answer, answer: Answer) -> Decision | None:
    """Compare dates and times; `3:15` may be a time next to another one, and is a ratio else."""
    if gold.moment and answer.moment:
        same = same_moment(gold.moment, answer.moment)
        return _decision(gold, answer, Finding(same, "structural"))
    return None


def _compare_texts(gold: Answer, answer: Answer) -> Decision:
    wanted, given = (" ".join(_words(side.raw)) for side in (gold, answer))
    return _decision(gold, answer, Finding(wanted == given, "normalised"))


def _words(text: str) -> list[str]:
    plain = _WRAPPED.sub(r"\1", text).replace("$", " ")
    joined = re.sub(r"\s*([+*/=<>^])\s*", r"\1", plain.casefold())
    return [_word(piece) for piece in joined.split()]


def _word(piece: str) -> str:
    """Return a word without the punctuation behind and quotes around it; `.5` and `5!` stay."""
    word = piece.strip("\"'").rstrip(".,;:")
    return word.rstrip("!?") if word.rstrip("!?").isalpha() else word or piece


# -- trees


def _compare_trees(gold: Answer, answer: Answer, spec: MathSpec) -> Decision:
    if gold.number and len(answer.text) == 1 and answer.text.isalpha() and answer.text.isascii():
        return _compare_letter_and_number(gold, answer)
    if answer.problem:
        return _unread(gold, answer, answer.problem)
    try:
        found = _matched(gold, answer, spec)
        if found.same is not True and is_same_family(gold, answer, spec):
            found = Finding(True, "structural")
        if found.same is False:
            return _no_unless_read_otherwise(gold, answer, spec, found)
    except OutOfBoundsError:
        reason = f"The answer {answer.shown} is too large to be computed."
        return Decision(Outcome.REJECTED, reason)
    except UndefinedError:
        return _garbled(answer)
    is_open = found.same and (is_anagram(gold.tree, answer.tree) or is_ordered(gold, answer))
    return _undecided(gold, answer) if is_open else _decision(gold, answer, found)


def _matched(gold: Answer, answer: Answer, spec: MathSpec) -> Finding:
    wanted, given = gold.tree, answer.tree
    if gold.symbol and isinstance(given, Relation):
        wanted = gold.equation
    elif answer.symbol and isinstance(wanted, Relation):
        given = answer.equation
    if wanted is None or given is None:
        return Finding(None)
    return Matcher(spec).match(wanted, given)


def _no_unless_read_otherwise(
    gold: Answer, answer: Answer, spec: MathSpec, found: Finding
) -> Decision:
    """Withhold a "no" where another reading of the same signs is a "yes"."""
    pairs = product((gold.tree, *gold.others), (answer.tree, *answer.others))
    for wanted, given in islice(pairs, 1, None):
        if wanted and given and Matcher(spec).match(wanted, given).same:
            return _read_otherwise(gold, answer, wanted)
    if (gold.number or answer.number) and may_be_same(gold.text, answer.text):
        return _undecided(gold, answer)
    if is_renamed(gold, answer, spec) or is_ordered(gold, answer, both=True):
        return _undecided(gold, answer)
    return _decision(gold, answer, found)


def _read_otherwise(gold: Answer, answer: Answer, wanted: Tree) -> Decision:
    """`100,200` is a list where the gold answer is one, and surely so."""
    if wanted == gold.tree and isinstance(wanted, Sequence):
        return _yes(gold, answer, "structural")
    return _undecided(gold, answer)


def _unread(gold: Answer, answer: Answer, problem: Problem) -> Decision:
    if problem is Problem.OUTSIZE:
        return Decision(Outcome.REJECTED, "The answer is a number too large to be computed.")
    if problem is Problem.GARBLED or (gold.number and not _DIGIT.search(answer.text)):
        is_list = isinstance(gold.tree, Sequence) and " " in answer.text
        return _undecided(gold, answer) if is_list or _may_be(gold, answer) else _garbled(answer)
    if problem is Problem.UNREAD and gold.number and _NO_VALUE.search(answer.raw):
        return _garbled(answer)
    is_trailing_off = "..." in answer.text
    if (
        problem is Problem.AMBIGUOUS
        and gold.number
        and not is_trailing_off
        and not _may_be(gold, answer)
    ):
        return _decision(gold, answer, Finding(False, "rational"))
    return _undecided(gold, answer)


def _may_be(gold: Answer, answer: Answer) -> bool:
    return bool(gold.number) and may_be_same(gold.text, answer.text)


# -- decisions


def _decision(gold: Answer, answer: Answer, found: Finding) -> Decision:
    if found.same is None:
        return _undecided(gold, answer)
    if found.same:
        return _yes(gold, answer, found.tier or "structural")
    reason = f"The answer {answer.shown} is not {gold.shown}."
    if found.why:
        reason = f"The answer {answer.shown} is not {gold.shown}; {found.why}."
    return Decision(Outcome.INCORRECT, reason, found.tier)


def _yes(gold: Answer, answer: Answer, tier: Tier) -> Decision:
    if tier == "normalised":
        reason = f"The answer {answer.shown} is the gold answer in another spelling."
    else:
        exactly = " exactly" if tier in ("rational", "symbolic") else ""
        reason = f"{answer.shown} {_HOW[tier]} {gold.shown}{exactly}."
    return Decision(Outcome.CORRECT, reason, tier)


def _garbled(answer: Answer) -> Decision:
    reason = f"The answer {answer.shown} is not a well-formed value."
    return Decision(Outcome.INCORRECT, reason)


def _undecided(gold: Answer, answer: Answer) -> Decision:
    reason = f"Whether {answer.shown} equals {gold.shown} could not be decided."
    return Decision(Outcome.UNDECIDED, reason)
