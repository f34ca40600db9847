"""Any text at all, as completion and as gold: no exception, no reward, no verdict out of place."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings, strategies as st

from rewarden.contracts import Outcome, Sample
from services.math.judge import Judge
from services.math.spec import MAX_GOLD_CHARS
from services.math.verifier import MathVerifier

GOLD = "123454321"
FACTORS = ("41", "271", "11111")
"""The gold is the square of 11111 = 41 * 271: a soup with one of these may well be right."""

FUZZED_BYTES = 1_000_000
MANY = settings(max_examples=300, deadline=None)

WORDS = r"""
\frac \dfrac \sqrt \left \right \boxed{ \fbox{ \boxed \text \mathrm \cdot \pm \le \infty \pi \cup \cap
\in \mathbb \begin{pmatrix} \end{pmatrix} \\ \{ \} \, \! \sum \int \lim \log \ln \sin \arctan ^ _ { } ( )
[ ] < > = + - * / | ! , . : ; & % $ ' ~ x y e i dx 0 1 2 7 10 0.5 1e9 ² ½ √ ∞ ° 中 é <think> </think>
<answer> </answer> <!-- --> #### ** answer is final or and not
"""
TOKENS = [*WORDS.split(), *" \n\x00\u200b\u0301\u202e\uff08\uff09\uff0c\uff1d"]
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)
SOUPS = st.lists(st.sampled_from(TOKENS), max_size=40).map("".join)
LATIN = st.binary(max_size=200).map(lambda data: data.decode("latin-1"))


def may_be_right(text: str) -> bool:
    return any(factor in text for factor in FACTORS)


@MANY
@given(TEXTS | SOUPS | LATIN)
def test_no_text_is_paid_for_a_gold_that_it_does_not_hold(text: str) -> None:
    for completion in (
        text,
        rf"\boxed{{{text}}}",
        f"The answer is {text}",
        f"<answer>{text}</answer>",
    ):
        found = Judge().judge({"answer": GOLD}, completion)
        assert found.outcome is not Outcome.CORRECT or may_be_right(text), found.reason


@MANY
@given(TEXTS | SOUPS | LATIN)
def test_no_gold_pays_an_answer_that_it_does_not_hold(text: str) -> None:
    found = Judge().judge({"answer": text}, rf"\boxed{{{GOLD}}}")
    assert found.outcome is not Outcome.CORRECT or may_be_right(text), found.reason


@MANY
@given(SOUPS | LATIN, SOUPS | LATIN)
def test_two_texts_are_judged_alike_by_a_judge_that_knows_them(gold: str, text: str) -> None:
    known = Judge()
    first, again = (known.judge({"answer": gold}, rf"\boxed{{{text}}}") for _ in range(2))
    assert again[:3] == first[:3]


def test_a_million_bytes_of_soup_are_never_paid() -> None:
    random, judge, fed = Random(20_261_201), Judge(), 0
    while fed < FUZZED_BYTES:
        soup = soup_of(random)
        fed += len(soup.encode())
        found = judge.judge({"answer": GOLD}, soup)
        assert found.outcome is not Outcome.CORRECT or may_be_right(soup), soup
        found = judge.judge({"answer": soup[:MAX_GOLD_CHARS]}, rf"\boxed{{{GOLD}}}")
        assert found.outcome is not Outcome.CORRECT or may_be_right(soup), soup


def soup_of(random: Random) -> str:
    """Make a soup: mostly short, seldom long; bytes, tokens, or tokens in a box."""
    size = random.choice((5, 20, 50, 200, 2_000))
    kind = random.randrange(3)
    if kind == 0:
        return random.randbytes(size).decode("latin-1")
    tokens = "".join(random.choices(TOKENS, k=size))
    return tokens if kind == 1 else rf"\boxed{{{tokens}}}"


@pytest.mark.parametrize("seed", range(3))
async def test_a_fuzzed_batch_never_shifts(seed: int) -> None:
    random = Random(seed)
    samples, expected = [], []
    for place in range(300):
        number = random.randrange(10**6, 10**7)
        kind = random.choice(["right", "wrong", "soup", "soup"])
        completion = {
            "right": rf"So it is \boxed{{{number}}}.",
            "wrong": rf"So it is \boxed{{{number + 1}}}.",
            "soup": soup_of(random),
        }[kind]
        samples.append(Sample(id=f"{place}", completion=completion, spec={"answer": str(number)}))
        expected.append({"right": Outcome.CORRECT, "wrong": Outcome.INCORRECT}.get(kind))
    verifier = MathVerifier()
    await verifier.start()
    try:
        verdicts = await verifier.verify(samples)
    finally:
        await verifier.close()
    assert [verdict.id for verdict in verdicts] == [sample.id for sample in samples]
    for verdict, outcome in zip(verdicts, expected, strict=True):
        if outcome is None:
            assert verdict.outcome is not Outcome.CORRECT
        else:
            assert verdict.outcome is outcome, verdict.reason
