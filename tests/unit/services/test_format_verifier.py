from __future__ import annotations

import contextlib
import re
import time

import pytest
from hypothesis import given, strategies as st

from rewarden.contracts import Outcome, Sample, Verdict
from services.format.pattern import BadPatternError, compile_pattern
from services.format.spec import MAX_PATTERN_CHARS
from services.format.templates import MAX_JSON_CHARS, missing_in_thinking_boxed
from services.format.verifier import FormatVerifier

SEEDS = re.compile(r"<thinking>.*?</thinking>\s*.*\\boxed\{.*?\}", re.DOTALL)
"""The reward that the template stands for; its time is not linear, so short texts only."""


async def judge(completion: str, template: str, **spec: object) -> Verdict:
    sample = Sample(id="s", completion=completion, spec={"template": template, **spec})
    return (await FormatVerifier().verify([sample]))[0]


@pytest.mark.parametrize(
    ("completion", "reason"),
    [
        (r"<thinking>2 + 2</thinking> \boxed{4}", ""),
        (r"hm <thinking></thinking> so it is \boxed{} indeed", ""),
        ("<thinking>\n</thinking>\n\n\\boxed{\n4\n}", ""),
        (r"<thinking></thinking></thinking><thinking>\boxed{4}", ""),
        (r"\boxed{4}", "The completion has no opening <thinking>."),
        (r"<thinking>2 + 2 \boxed{4}", "The completion has no closing </thinking>."),
        (r"</thinking><thinking>\boxed{4}", "The completion has no closing </thinking>."),
        (
            r"<thinking>\boxed{4}</thinking>",
            r"The completion has no \boxed{} after its thinking.",
        ),
        (
            r"<thinking></thinking>\boxed{4",
            r"The completion has a \boxed{ that is never closed.",
        ),
    ],
)
async def test_thinking_boxed(completion: str, reason: str) -> None:
    verdict = await judge(completion, "thinking_boxed")
    assert verdict.outcome is (Outcome.INCORRECT if reason else Outcome.CORRECT)
    assert verdict.reason == (reason or "The completion has the shape 'thinking_boxed'.")
    assert verdict.details == {"template": "thinking_boxed"}
    assert verdict.verifier == "format"
    assert verdict.id == "s"


@given(
    st.lists(
        st.sampled_from(["<thinking>", "</thinking>", "\\boxed{", "}", "x", "\n", "\\boxed", "{"]),
        max_size=14,
    ).map("".join)
)
def test_thinking_boxed_accepts_what_the_seeds_regex_does(text: str) -> None:
    assert (missing_in_thinking_boxed(text) == "") == bool(SEEDS.search(text))


@pytest.mark.parametrize(
    ("completion", "reason"),
    [
        ("<think>a</think><answer>4</answer>", ""),
        (" \n<think></think>\n<answer>\n4\n</answer>\n", ""),
        ("a<think></think><answer>4</answer>", "block alone"),
        ("<think></think> so <answer>4</answer>", "block alone"),
        ("<think></think><answer>4</answer>.", "block alone"),
        ("<answer>4</answer><think></think>", "block alone"),
        ("</think><think><answer>4</answer>", "block alone"),
        ("<think></think></answer><answer>", "block alone"),
        ("<think><answer></think></answer>", "block alone"),
        ("<think></think><answer> </answer>", "The answer block is empty."),
        ("<think>a<answer>4</answer>", "The completion has no </think>."),
        ("<think></think>4", "The completion has no <answer>."),
        ("<think><think></think><answer>4</answer>", "The completion has 2 times <think>."),
    ],
)
async def test_think_answer(completion: str, reason: str) -> None:
    verdict = await judge(completion, "think_answer")
    assert verdict.outcome is (Outcome.INCORRECT if reason else Outcome.CORRECT)
    assert reason in verdict.reason


@pytest.mark.parametrize(
    "completion",
    [
        '{"a": [1, 2.5, null]}',
        " 42 \n",
        'Here it is:\n```json\n{"a": 1}\n```\nDone.',
        "```\nnope\n```\n```json\n[]\n```",
        '```json\n{"a": 1}\n```\nRun it:\n```\nx\n```',
        '```json {"a": 1}```\n```x```',
        "```JSON\n1\n```\n``` json\n2\n```\n```python\nx\n```\n",
        "```python\nx\n```\n```\n[1]\n```",
        "```[1]```",
        "9" * 10_000,
        "1e999999999",
    ],
)
async def test_json(completion: str) -> None:
    assert (await judge(completion, "json")).outcome is Outcome.CORRECT


@pytest.mark.parametrize(
    ("completion", "reason"),
    [
        ("", "not JSON"),
        ("{'a': 1}", "not JSON"),
        ('{"a": 1} and more', "not JSON"),
        ("NaN", "NaN is not JSON"),
        ("[-Infinity]", "not JSON"),
        ('```json\n{"a": 1}\n```\n```json\n{"a":\n```', "not JSON"),
        ("```json", "not JSON"),
        ('```json\n{"a": 1}\n```\n```json\n{"a": 2}', "not JSON"),
        ("```\n[1]\n```\n```x```", "not JSON"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a":' * 100_000, "nested too deeply"),
        ("[" + "1," * MAX_JSON_CHARS, "longer than 1,000,000 characters"),
    ],
)
async def test_not_json(completion: str, reason: str) -> None:
    verdict = await judge(completion, "json")
    assert (verdict.outcome, verdict.score) == (Outcome.INCORRECT, 0)
    assert reason in verdict.reason


@pytest.mark.parametrize(
    ("pattern", "completion", "outcome"),
    [
        (r"^\d+$", "42", Outcome.CORRECT),
        (r"^\d+$", "42!", Outcome.INCORRECT),
        (r"a.b", "a\nb", Outcome.INCORRECT),
        (r"(?s)a.b", "a\nb", Outcome.CORRECT),
        ("é+", "caféé", Outcome.CORRECT),
        ("a", "", Outcome.INCORRECT),
        ("a", "\0a", Outcome.CORRECT),
        (r"(x+x+)+y", "x" * 10_000_000, Outcome.INCORRECT),
    ],
)
async def test_regex(pattern: str, completion: str, outcome: Outcome) -> None:
    assert (await judge(completion, "regex", pattern=pattern)).outcome is outcome


@pytest.mark.parametrize("pattern", ["(a", "*", "(?=x)", r"(a)\1", "a{1000}{1000}", "[z-a]", "\\"])
async def test_a_pattern_that_cannot_run_is_the_fault_of_the_spec(pattern: str) -> None:
    verdict = await judge("a", "regex", pattern=pattern)
    assert (verdict.outcome, verdict.score) == (Outcome.BAD_SPEC, None)
    assert verdict.reason.startswith("The pattern cannot be used: ")
    assert "b'" not in verdict.reason


@given(st.text(max_size=30))
def test_any_pattern_compiles_or_says_why_not(pattern: str) -> None:
    with contextlib.suppress(BadPatternError):
        compile_pattern(pattern)("text")


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"template": "xml"},
        {"template": "regex"},
        {"template": "regex", "pattern": ""},
        {"template": "regex", "pattern": "a" * (MAX_PATTERN_CHARS + 1)},
        {"template": "json", "pattern": "a"},
        {"template": "json", "strict": True},
    ],
)
async def test_bad_spec(spec: dict[str, object]) -> None:
    verdict = (await FormatVerifier().verify([Sample(completion="{}", spec=spec)]))[0]
    assert (verdict.outcome, verdict.score) == (Outcome.BAD_SPEC, None)
    assert verdict.reason.startswith("The spec is not valid at ")


@pytest.mark.parametrize(
    ("template", "completion"),
    [
        ("thinking_boxed", "<thinking>" * 1_000_000),
        ("thinking_boxed", "<thinking></thinking>" * 200_000 + "\\boxed{" * 800_000),
        ("think_answer", "<think>" * 1_500_000),
        ("json", "```" * 330_000),
        ("json", "```json" * 140_000),
        ("json", "[[]," * 240_000),
        ("json", "{" * 10_000_000),
    ],
)
async def test_hostile_text_costs_little(template: str, completion: str) -> None:
    began = time.process_time()
    verdict = await judge(completion, template)
    assert time.process_time() - began < 5
    assert verdict.outcome is Outcome.INCORRECT


@given(st.lists(st.tuples(st.text(max_size=40), st.sampled_from(["json", "think_answer", "?"]))))
async def test_a_batch_is_never_shifted(batch: list[tuple[str, str]]) -> None:
    verifier = FormatVerifier()
    await verifier.start()
    samples = [
        Sample(id=str(place), completion=text, spec={"template": template})
        for place, (text, template) in enumerate(batch)
    ]
    verdicts = await verifier.verify(samples)
    await verifier.close()
    assert [verdict.id for verdict in verdicts] == [sample.id for sample in samples]
    for (_, template), verdict in zip(batch, verdicts, strict=True):
        assert (verdict.outcome is Outcome.BAD_SPEC) == (template == "?")
