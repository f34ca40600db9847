"""Completions for the benchmark of the math verifier, made by code from a seed, with their truth.

`chain_of_thought` is what a model writes on ordinary problems: some 1,200 characters, 91 % right.
`mixed` is the hard half of the work: short completions whose answer is equal but written otherwise,
or wrong in a plausible way. No two golds of one call are the same, so that no memory helps.
"""

from __future__ import annotations

from fractions import Fraction
from random import Random
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

RIGHT_SHARE: Final = 0.91
CHAIN_CHARS: Final = 1_030


class Item(NamedTuple):
    """A completion, the gold answer, and whether the two agree."""

    kind: str
    gold: str
    completion: str
    is_right: bool


class Question(NamedTuple):
    """A gold answer, the same answer written otherwise, and a plausible wrong one."""

    gold: str
    right: str
    wrong: str


def integer(random: Random) -> Question:
    """Make an integer: seven digits, grouped or with a zero decimal; wrong in one digit."""
    number = random.randint(1_000_000, 9_999_999)
    grouped = f"{number:,}"
    right = random.choice([grouped, grouped.replace(",", "{,}"), f"{number}.0", f"{number}."])
    return Question(str(number), right, str(number + random.choice((1, 10, -100))))


def fraction(random: Random) -> Question:
    r"""Make a reduced `\frac`; not reduced or with a slash; wrong by one on top."""
    value = Fraction(random.randint(101, 999), random.choice((103, 107, 109, 113, 127)))
    top, bottom, k = value.numerator, value.denominator, random.randint(2, 9)
    gold = rf"\frac{{{top}}}{{{bottom}}}"
    right = random.choice([f"{top}/{bottom}", rf"\dfrac{{{k * top}}}{{{k * bottom}}}"])
    return Question(gold, right, rf"\frac{{{top + 1}}}{{{bottom}}}")


def decimal(random: Random) -> Question:
    """Make a decimal: three places; as a fraction, in scientific notation or with a zero; wrong in the last."""
    thousandths = random.randint(1_001, 999_999)
    text = f"{thousandths / 1000:.3f}"
    scientific = rf"{thousandths}\times 10^{{-3}}"
    right = random.choice([rf"\frac{{{thousandths}}}{{1000}}", text + "0", scientific])
    return Question(text, right, f"{(thousandths + 1) / 1000:.3f}")


def radical(random: Random) -> Question:
    """Make a multiple of a square root; under one root or not rationalised; another number."""
    factor, body = random.randint(2, 99), random.choice((2, 3, 5, 6, 7, 10, 11, 13, 14, 15))
    square = factor * factor * body
    right = [rf"\sqrt{{{square}}}", rf"\frac{{{factor * body}}}{{\sqrt{{{body}}}}}"]
    wrong = [rf"\sqrt{{{square + 1}}}", rf"{factor + 1}\sqrt{{{body}}}"]
    return Question(rf"{factor}\sqrt{{{body}}}", random.choice(right), random.choice(wrong))


def polynomial(random: Random) -> Question:
    """Make a quadratic with integer roots; factored or in another order; one root wrong."""
    a, b = random.randint(1, 60), random.randint(61, 120)
    gold = f"x^2+{a + b}x+{a * b}"
    right = random.choice([f"(x+{a})(x+{b})", f"{a * b}+{a + b}x+x^{{2}}"])
    return Question(gold, right, f"(x+{a})(x+{b + 1})")


def interval(random: Random) -> Question:
    """Make a half-open interval from an integer to a fraction; not reduced; a bracket or bound wrong."""
    low, high = -random.randint(1, 500), Fraction(random.randint(1, 500), random.choice((3, 7)))
    end = _frac(high.numerator, high.denominator)
    other = _frac(high.numerator * 2, high.denominator * 2)
    wrong = random.choice([f"[{low},{end})", f"({low - 1},{end}]", f"({low},{end})"])
    return Question(f"({low},{end}]", rf"\left({low}, {other}\right]", wrong)


def point(random: Random) -> Question:
    """Make a point: three coordinates; a fraction as a decimal; two swapped, or a sign lost."""
    a, b, c = random.randint(1, 300), random.randint(301, 600), random.randint(1, 99)
    half = rf"\frac{{{2 * c + 1}}}{{2}}"
    wrong = random.choice([f"({b},{a},{half})", f"({a},-{b},{half})"])
    return Question(f"({a},{b},{half})", f"({a}, {b}.0, {c}.5)", wrong)


def equation(random: Random) -> Question:
    """Make a line; with its terms moved, or doubled; a sign or the slope wrong."""
    slope, shift = random.randint(2, 60), random.randint(1, 90)
    right = [f"{slope}x-y+{shift}=0", f"2y={2 * slope}x+{2 * shift}", f"y-{shift}={slope}x"]
    wrong = [f"{slope}x+y+{shift}=0", f"y={slope + 1}x+{shift}", f"y={slope}x-{shift}"]
    return Question(f"y={slope}x+{shift}", random.choice(right), random.choice(wrong))


KINDS: Final[dict[str, Callable[[Random], Question]]] = {
    "integers": integer,
    "fractions": fraction,
    "decimals": decimal,
    "radicals": radical,
    "polynomials": polynomial,
    "intervals": interval,
    "tuples": point,
    "equations": equation,
}
ORDINARY: Final = (
    "integers",
    "integers",
    "integers",
    "fractions",
    "decimals",
    "radicals",
    "polynomials",
)


def mixed(per_kind: int, seed: int = 1) -> list[Item]:
    """Make `per_kind` items of every kind, every second one wrong, the kinds in turn."""
    sources = {kind: _distinct(make, Random(f"{seed} {kind}")) for kind, make in KINDS.items()}
    return [
        _short(kind, next(source), is_right=bool(place % 2))
        for place in range(per_kind)
        for kind, source in sources.items()
    ]


def chain_of_thought(count: int, seed: int = 1) -> list[Item]:
    """Make `count` long completions; a right answer is mostly written as the gold is."""
    random = Random(seed)
    sources = {kind: _distinct(KINDS[kind], random) for kind in set(ORDINARY)}
    wrong = set(random.sample(range(count), round(count * (1 - RIGHT_SHARE))))
    return [
        _long(random, next(sources[kind]), kind, is_right=place not in wrong)
        for place, kind in enumerate(random.choices(ORDINARY, k=count))
    ]


def _distinct(make: Callable[[Random], Question], random: Random) -> Iterator[Question]:
    seen = set()
    while True:
        question = make(random)
        if question.gold not in seen:
            seen.add(question.gold)
            yield question


def _short(kind: str, question: Question, *, is_right: bool) -> Item:
    answer = question.right if is_right else question.wrong
    completion = rf"Working through the conditions one by one, we get $\boxed{{{answer}}}$."
    return Item(kind, question.gold, completion, is_right)


def _long(random: Random, question: Question, kind: str, *, is_right: bool) -> Item:
    same = question.right if random.random() < 0.1 else question.gold
    answer = same if is_right else question.wrong
    steps, size = ["Let me work through this step by step.\n"], 0
    while size < CHAIN_CHARS:
        steps.append(_step(random, len(steps)))
        size += len(steps[-1]) + 1
    steps.append(f"\nTherefore, the final answer is:\n\n$$\\boxed{{{answer}}}$$")
    return Item(kind, question.gold, "\n".join(steps), is_right)


def _step(random: Random, place: int) -> str:
    a, b = random.randint(2, 99), random.randint(2, 99)
    forms = [
        rf"{place}. First note that ${a} \times {b} = {a * b}$, which we need below.",
        rf"{place}. Adding the two sides gives $x + {a} = {a + b}$, so $x = {b}$.",
        rf"{place}. The ratio of the two lengths is $\frac{{{a}}}{{{b}}}$, as the triangles are similar.",
        rf"{place}. Substituting back, \[ {a}y^2 - {b}y + {a * b} = 0, \] and we keep the larger root.",
        rf"{place}. Since $\sqrt{{{a * a}}} = {a}$, the distance from the centre is at most ${a}$ here.",
        rf"{place}. Wait, let me check that again: {a} + {b} = {a + b}. Yes, that is correct.",
    ]
    return random.choice(forms)


def _frac(top: int, bottom: int) -> str:
    return str(top // bottom) if top % bottom == 0 else rf"\frac{{{top}}}{{{bottom}}}"
