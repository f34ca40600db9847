from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

import pytest
import pytest_asyncio
from hypothesis import given, settings, strategies as st

import services.math
from rewarden.contracts import Outcome, Sample, Verdict
from services.math.grade import MAX_MEMO_CHARS, Grader
from services.math.judge import MAX_COMPLETION_CHARS
from services.math.memo import Memo
from services.math.spec import MathSpec
from services.math.verifier import MAX_SENT_CHARS, MathVerifier

pytestmark = pytest.mark.asyncio(loop_scope="module")


class Judging(Protocol):
    async def __call__(self, completion: str, answer: object, **spec: str) -> Verdict: ...


@asynccontextmanager
async def started(verifier: MathVerifier) -> AsyncIterator[MathVerifier]:
    await verifier.start()
    try:
        yield verifier
    finally:
        await verifier.close()


@pytest_asyncio.fixture(scope="module", loop_scope="module", name="verifier")
async def _verifier() -> AsyncIterator[MathVerifier]:
    async with started(MathVerifier(workers=2)) as verifier:
        yield verifier


@pytest.fixture(scope="module")
def judge(verifier: MathVerifier) -> Judging:
    async def judged(completion: str, answer: object, **spec: str) -> Verdict:
        sample = Sample(id="s", completion=completion, spec={"answer": answer, **spec})
        return (await verifier.verify([sample]))[0]

    return judged


async def test_a_right_answer_is_paid_and_explained(judge: Judging) -> None:
    verdict = await judge(r"<thinking>15 * 4 / 2</thinking> \boxed{30}", "30")
    assert verdict.id == "s"
    assert verdict.verifier == "math"
    assert verdict.outcome is Outcome.CORRECT
    assert verdict.score == 1
    assert verdict.reason == "The answer is 30, exactly as expected."
    assert verdict.details == {
        "strategy": "boxed",
        "span": [39, 41],
        "extracted": "30",
        "gold": "30",
        "parsed_gold": "30",
        "parsed_answer": "30",
        "tier": "exact",
        "flags": [],
    }


async def test_a_wrong_answer_says_what_it_is_not(judge: Judging) -> None:
    verdict = await judge(r"\boxed{41}", 42)
    assert (verdict.outcome, verdict.score) == (Outcome.INCORRECT, 0)
    assert verdict.reason == "The answer 41 is not 42."


@pytest.mark.parametrize(
    ("completion", "answer", "outcome"),
    [
        (r"\boxed{\frac{1}{10}}", 0.1, Outcome.CORRECT),
        (r"\boxed{10000000000000000000000}", 1e22, Outcome.CORRECT),
        (r"\boxed{7}", ["5", 7], Outcome.CORRECT),
        (r"\boxed{8}", ["5", 7], Outcome.INCORRECT),
        (r"\boxed{8}", ["5", r"\sqrt{64}"], Outcome.CORRECT),
        (r"\boxed{5} or \boxed{7}", "7", Outcome.INCORRECT),
        (r"\boxed{5} or \boxed{7}", "5", Outcome.INCORRECT),
        (r"\boxed{5} or \boxed{7}", ["5", "7"], Outcome.CORRECT),
        (r"\boxed{0.5} or \boxed{1/2}", "0.5", Outcome.CORRECT),
        (r"\boxed{\sqrt{49}} or \boxed{7}", "7", Outcome.CORRECT),
        (r"`\boxed{5}`. That is wrong; the answer is `\boxed{7}`", "7", Outcome.CORRECT),
        (r"\boxed{}", "7", Outcome.INCORRECT),
        (r"\boxed{5} hmm \boxed{7}", "7", Outcome.UNDECIDED),
        (r"\boxed{5} hmm \boxed{7}", "5", Outcome.UNDECIDED),
        (r"\boxed{5} hmm \boxed{7}", "8", Outcome.INCORRECT),
        (r"\boxed{5} hmm \boxed{5.0}", "5", Outcome.CORRECT),
        (r"\boxed{5} hmm \boxed{7} or \boxed{8}", "8", Outcome.INCORRECT),
        (r"\boxed{\boxed{7}\boxed{5}}", "75", Outcome.INCORRECT),
        (r"\boxed{5} (in \boxed{})", "5", Outcome.UNDECIDED),
        (r"<think>\boxed{5}</think>", "5", Outcome.CORRECT),
        (r"<think>\boxed{5}</think> I do not know.", "5", Outcome.UNDECIDED),
        (r"<think>\boxed{5}</think> so I get 7", "5", Outcome.UNDECIDED),
        (r"<think>\boxed{5}</think> so I get 7", "7", Outcome.UNDECIDED),
        (r"<think>\boxed{5}</think> so I get 7", "8", Outcome.NO_ANSWER),
        (r"<think>\boxed{5}</think> <answer>7", "5", Outcome.UNDECIDED),
        (r"<think>\boxed{5}</think> in \boxed{}", "5", Outcome.UNDECIDED),
        ("<answer>7</answer>\nThe final answer is 14.", "14", Outcome.UNDECIDED),
        ("<answer>7</answer>\nThe final answer is 14.", "7", Outcome.UNDECIDED),
        ("<answer>7</answer>\nThe final answer is 14.", "8", Outcome.INCORRECT),
        ("The answer is 7. That makes 14.\n#### 14", "14", Outcome.CORRECT),
        ("The answer is 7. That makes 14.\n#### 14", "7", Outcome.INCORRECT),
        ("The answer is 7. To verify: $3 + 4 = 7$.", "7", Outcome.CORRECT),
        ("The answer is 7. <!-- \\boxed{5} -->", "5", Outcome.INCORRECT),
        ("HTML has <!-- for comments. \\boxed{5}", "5", Outcome.UNDECIDED),
        ("n = 5!", "5", Outcome.UNDECIDED),
        ("n = 5!", "120", Outcome.UNDECIDED),
        (r"<think>\boxed{7}", "7", Outcome.NO_ANSWER),
        ("", "7", Outcome.NO_ANSWER),
        ("I do not know.", "7", Outcome.NO_ANSWER),
        ("Maybe consider 7", "7", Outcome.UNDECIDED),
        ("Maybe consider 8", "7", Outcome.NO_ANSWER),
        (r"Hence \boxed{\frac{1}{2}", r"\frac12", Outcome.UNDECIDED),
        ("So the line is 3*x-7*y+2=0", "0", Outcome.INCORRECT),
        ("So the line is 3*x-7*y+2=0", "7y-3x=2", Outcome.CORRECT),
        ("Suppose the answer is 42. That cannot be.", "42", Outcome.UNDECIDED),
        ("The answer cannot be 42.", "42", Outcome.UNDECIDED),
        (r"The answer is not \boxed{42}.", "42", Outcome.UNDECIDED),
        ("Find $x$ if $x = 2 + 3$.", "5", Outcome.UNDECIDED),
        (r"\boxed{" + "1" * 30_000 + "}", "7", Outcome.REJECTED),
        (r"\boxed{1e999999999}", "7", Outcome.REJECTED),
        (r"\boxed{\boxed{7}}", "7", Outcome.CORRECT),
        (r"\boxed{\text{The answer is } 7}", "7", Outcome.CORRECT),
        ("\\boxed{5\ud800}", "5", Outcome.UNDECIDED),
        ("\\boxed{5\0}", "5", Outcome.CORRECT),
    ],
)
async def test_outcomes(judge: Judging, completion: str, answer: object, outcome: Outcome) -> None:
    assert (await judge(completion, answer)).outcome is outcome


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"answer": ""},
        {"answer": "  "},
        {"answer": []},
        {"answer": [""]},
        {"answer": ["5"] * 65},
        {"answer": None},
        {"answer": True},
        {"answer": float("nan")},
        {"answer": float("inf")},
        {"answer": 10**1000},
        {"answer": {"text": "5"}},
        {"answer": "9" * 20_001},
        {"answer": "5", "extract": "guess"},
        {"answer": "5", "rel_tol": -0.1},
        {"answer": "5", "rel_tol": float("nan")},
        {"answer": "5", "abs_tol": float("inf")},
        {"answer": "5", "tolerance": 0.1},
        {"answer": "5", "answer_type": "guess"},
        {"answer": "5", "answer_type": "choice"},
        {"answer": r"\begin{cases}1\end{cases}"},
        {"answer": r"\frac{x}{0}"},
        {"answer": "$$"},
        {"answer": r"\text{}"},
        {"answer": r"\frac{1}{"},
        {"answer": "1/0"},
        {"answer": "4 5 +"},
        {"answer": ["5", "4 5 +"]},
    ],
)
async def test_a_bad_gold_is_never_scored(verifier: MathVerifier, spec: dict[str, Any]) -> None:
    verdict = (await verifier.verify([Sample(completion=r"\boxed{5}", spec=spec)]))[0]
    assert (verdict.outcome, verdict.score) == (Outcome.BAD_SPEC, None)
    assert verdict.reason.startswith("The ")
    assert not re.search(r"function|constrained|Value error|union|\\.\\.$", verdict.reason)


async def test_extract_narrows_the_search(judge: Judging) -> None:
    text = "\\boxed{5}\n#### 7"
    assert (await judge(text, "7", extract="hashes")).outcome is Outcome.CORRECT
    assert (await judge(text, "7", extract="boxed")).outcome is Outcome.INCORRECT
    assert (await judge(text, "7", extract="answer_tag")).outcome is Outcome.NO_ANSWER


async def test_flags_tell_of_doubts(judge: Judging) -> None:
    assert (await judge("Consider 7", "7")).details["flags"] == ["unstated"]
    assert (await judge(r"\boxed{5} or \boxed{7}", "7")).details["flags"] == ["rivals"]
    assert (await judge(r"\boxed{5} hm \boxed{7}", "7")).details["flags"] == ["doubts"]


async def test_chat_messages_are_judged_by_the_last_assistant_one(
    verifier: MathVerifier,
) -> None:
    messages = [
        {"role": "assistant", "content": r"\boxed{5}"},
        {"role": "user", "content": r"\boxed{6}"},
    ]
    sample = Sample.model_validate({"completion": messages, "spec": {"answer": "5"}})
    assert (await verifier.verify([sample]))[0].outcome is Outcome.CORRECT


async def test_a_repeat_comes_from_memory_with_the_same_verdict() -> None:
    samples = [
        Sample(completion=text, spec={"answer": "42"})
        for text in (r"\boxed{41}", r"so: \boxed{41}", r"\boxed{41} or \boxed{41}")
    ]
    async with started(MathVerifier(workers=1)) as verifier:
        first, second, third = await verifier.verify(samples)
    assert [first.cached, second.cached, third.cached] == [False, True, True]
    assert first.reason == second.reason
    assert first.details["span"] != second.details["span"]


async def test_the_memory_is_bounded(verifier: MathVerifier) -> None:
    memo: Memo[int, int] = Memo(3)
    for key in range(10):
        memo.put(key, key)
    assert len(memo) <= 3
    assert memo.get(9) == 9
    assert memo.get(0) is None
    long = r"\boxed{" + "x" * MAX_MEMO_CHARS + "}"
    sample = Sample(completion=long, spec={"answer": "5"})
    assert not any(verdict.cached for verdict in await verifier.verify([sample, sample]))


async def test_the_first_unusable_gold_is_named() -> None:
    assert Grader().unusable(MathSpec(answer=["5", "1/0", "}"])) == "1/0"
    assert Grader().unusable(MathSpec(answer=["5", "x"])) is None


_TEXTS = st.text(max_size=200) | st.lists(
    st.sampled_from(
        ["\\boxed{", "}", "{", "5", "1/", "0", "\\frac", "$", "=", "x", "<think>", " "]
    ),
    max_size=20,
).map("".join)


@given(completions=st.lists(_TEXTS, max_size=12), golds=st.lists(_TEXTS, min_size=1, max_size=3))
@settings(max_examples=200, deadline=None)
async def test_a_batch_is_never_shifted(
    verifier: MathVerifier, completions: list[str], golds: list[str]
) -> None:
    samples = [
        Sample(id=str(place), completion=text, spec={"answer": golds})
        for place, text in enumerate(completions)
    ]
    verdicts = await verifier.verify(samples)
    assert [verdict.id for verdict in verdicts] == [sample.id for sample in samples]
    for sample, verdict in zip(samples, verdicts, strict=True):
        assert verdict.verifier == "math"
        assert verdict.reason
        if "span" in verdict.details:
            start, end = verdict.details["span"]
            assert sample.text[start:end] == verdict.details["extracted"]


@given(gold=_TEXTS.filter(str.strip), wrong=_TEXTS)
@settings(deadline=None)
async def test_nothing_but_the_gold_is_ever_exact(judge: Judging, gold: str, wrong: str) -> None:
    verdict = await judge(wrong, gold)
    if verdict.details.get("tier") == "exact":
        # Surrogates become U+FFFD in a completion, never in a gold.
        assert verdict.details["extracted"] == gold


_BIG = MAX_COMPLETION_CHARS


@pytest.mark.parametrize(
    "completion",
    [
        pytest.param("\\boxed{" * 1_500_000, id="10 MB of unclosed boxes"),
        pytest.param("{" * 10_000_000, id="10 MB of braces"),
        pytest.param("\\boxed{" * (_BIG // 7), id="unclosed boxes"),
        pytest.param("\\boxed{" * (_BIG // 8) + "}" * (_BIG // 8), id="nested boxes"),
        pytest.param("\\boxed{5} " * (_BIG // 10), id="rival boxes"),
        pytest.param("\\boxed{" + "{}" * (_BIG // 2 - 8), id="brace pairs"),
        pytest.param("\\boxed{" + "\\" * (_BIG - 8), id="backslashes"),
        pytest.param(" " * _BIG, id="blanks"),
        pytest.param("\\boxed" + " " * (_BIG - 10), id="blanks in a box"),
        pytest.param("\n" * _BIG, id="lines"),
        pytest.param("$" * _BIG, id="dollars"),
        pytest.param("answer is: " * (_BIG // 11), id="statements"),
        pytest.param("the answer is" + " " * (_BIG - 20), id="a statement of blanks"),
        pytest.param("<think>" * (_BIG // 7), id="think tags"),
        pytest.param("<answer>" * (_BIG // 8), id="answer tags"),
        pytest.param("<think" * (_BIG // 6), id="unclosed think tags"),
        pytest.param("<think " + " " * (_BIG - 8), id="blanks in a think tag"),
        pytest.param("<!--" * (_BIG // 4), id="unclosed comments"),
        pytest.param("<!---->" * (_BIG // 7), id="comments"),
        pytest.param("-->" * (_BIG // 3), id="ends of comments"),
        pytest.param("\\boxed{5} hm " * (_BIG // 13), id="doubtful boxes"),
        pytest.param("\\boxed{5}" + "or " * (_BIG // 3 - 8) + "\\boxed{8}", id="alternatives"),
        pytest.param("\\boxed{" + "{" * 9_000 + "5" + "}" * 9_001, id="nested braces"),
        pytest.param("\\boxed{" * 2_000 + "5" + "}" * 2_000, id="boxes in boxes"),
        pytest.param("\\boxed{" + "11 " * 6_000 + "}", id="pairs of digits"),
        pytest.param("." * _BIG, id="dots"),
        pytest.param("5" + "!" * (_BIG - 1), id="factorials"),
        pytest.param("the answer is 5" + ". " * (_BIG // 2 - 9), id="dots and blanks"),
        pytest.param("**" * (_BIG // 2), id="asterisks"),
        pytest.param("1" * _BIG, id="digits"),
        pytest.param("1 = " * (_BIG // 4), id="equations"),
        *(
            pytest.param("\\boxed{" + piece * (19_000 // len(piece)) + "}", id=f"many {piece}")
            for piece in [
                "1",
                "(",
                "()",
                "{}",
                "-",
                "1,",
                "111,",
                "1/",
                "1 ",
                "^ ",
                "½",
                "√ ",
                "²",
                "\\frac",
                "\\frac{",
                "\\frac1",
                "\\text{",
                "\\text{}",
                "\\,",
                "**",
                ". ",
                "x=",
                "1e",
                "ﷺ",
            ]
        ),
    ],
)
async def test_hostile_text_costs_little(judge: Judging, completion: str) -> None:
    verdict = await judge(completion, "7")
    assert not verdict.reason.startswith("Not decided within")
    assert verdict.outcome is not Outcome.CORRECT


async def test_a_text_that_is_cut_on_the_way_is_still_too_long(judge: Judging) -> None:
    assert MAX_SENT_CHARS > MAX_COMPLETION_CHARS
    verdict = await judge("\\boxed{7}" + " " * MAX_SENT_CHARS + "\\boxed{7}", "7")
    assert verdict.outcome is Outcome.REJECTED


async def test_the_service_itself_goes_without_sympy() -> None:
    code = "import sys, services.math.verifier; sys.exit('sympy' in sys.modules)"
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", code)
    assert await process.wait() == 0


def sources() -> list[str]:
    found = Path(services.math.__path__[0]).glob("**/*.py")
    return [source.read_text(encoding="utf-8") for source in found]


async def test_no_text_is_evaluated_as_code() -> None:
    assert len(sources()) > 10
    for code in sources():
        assert not re.search(
            r"\b(eval|exec|sympify|parse_expr|parse_latex|literal_eval)\b", code
        ), code[:100]
