r"""Hand-made cases with the right verdict, and texts that are made to hurt.

A line of `math_cases.jsonl` has `gold` (text, number or list), `completion`, `expected`, `kind` and
`why`; `policy` marks a case that sound graders may see otherwise, `spec` holds further options. A
case passes if a right answer is paid and a wrong one is not; a null reward passes for a wrong
answer only, and only `MAX_OPEN` of those.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

from rewarden.contracts import Outcome
from services.math.judge import MAX_COMPLETION_CHARS, Judge, Judgement
from services.math.spec import MAX_GOLD_CHARS

MAX_OPEN: Final = 0.10
"""Share of the undisputed wrong answers that may stay undecided."""

KNOWN_FAILURES: Final[dict[str, str]] = {}
"""Cases that fail, by id, and why. Each of them gets a null reward, and leaves once it passes."""


def load() -> dict[str, dict[str, Any]]:
    path = Path(__file__).with_name("math_cases.jsonl")
    cases = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {case["id"]: case for case in cases}


CASES: Final = load()
UNDISPUTED_WRONG: Final = [
    name for name, case in CASES.items() if not (case["expected"] or case.get("policy"))
]


@cache
def judgement(name: str) -> Judgement:
    case = CASES[name]
    return Judge().judge({"answer": case["gold"], **case.get("spec", {})}, case["completion"])


@pytest.mark.parametrize("name", CASES)
def test_a_case_gets_its_verdict(name: str) -> None:
    case, found = CASES[name], judgement(name)
    passes = (found.outcome is Outcome.CORRECT) is case["expected"]
    if name in KNOWN_FAILURES:
        assert not passes, f"{name} passes now: take it off the list"
        assert not found.outcome.is_scored, f"{name} gets a wrong reward, which is never known"
    else:
        assert passes, f"{case['why']}: {case['completion']!r} for {case['gold']!r}: {found.reason}"


def test_every_gold_is_read() -> None:
    unread = [name for name in CASES if judgement(name).outcome is Outcome.BAD_SPEC]
    assert not unread


def test_few_wrong_answers_stay_open() -> None:
    is_open = [name for name in UNDISPUTED_WRONG if not judgement(name).outcome.is_scored]
    kinds = Counter(CASES[name]["kind"] for name in is_open)
    share = len(is_open) / len(UNDISPUTED_WRONG)
    assert share <= MAX_OPEN, f"{share:.0%} are open: {dict(kinds)}"


def test_the_cases_are_well_formed() -> None:
    lines = Counter(
        json.dumps([case["gold"], case["completion"], case.get("spec")]) for case in CASES.values()
    )
    assert max(lines.values()) == 1
    for name, case in CASES.items():
        members = {"id", "gold", "completion", "expected", "kind", "why"}
        assert members <= case.keys() <= members | {"policy", "spec"}
        assert name.startswith(case["kind"])
        assert isinstance(case["expected"], bool)
        assert case["why"]
    assert set(KNOWN_FAILURES) <= set(CASES)


def test_the_cases_cover_yes_and_no_of_every_kind() -> None:
    for expected in (True, False):
        kinds = Counter(case["kind"] for case in CASES.values() if case["expected"] is expected)
        missing = {case["kind"] for case in CASES.values()} - kinds.keys()
        assert missing <= ({"hack"} if expected else set())


# Texts too long for a file. Each is an answer (in a box), a whole completion, and a gold.

HOSTILE: Final[dict[str, Callable[[], str]]] = {
    "opening brackets": lambda: "(" * 400_000,
    "nested brackets": lambda: "(" * 3_000 + "7" + ")" * 3_000,
    "nested sized brackets": lambda: r"\left(" * 800 + "7" + r"\right)" * 800,
    "nested braces": lambda: "{" * 9_000 + "8" + "}" * 9_000,
    "opening braces": lambda: "{" * 400_000,
    "nested fractions": lambda: r"\frac{1}{1+" * 1_000 + "7" + "}" * 1_000,
    "bare fractions": lambda: r"\frac" * 4_000,
    "nested roots": lambda: r"\sqrt{" * 2_500 + "8" + "}" * 2_500,
    "bare roots": lambda: r"\sqrt" * 3_900,
    "nested text": lambda: r"\text{" * 2_500 + "8" + "}" * 2_500,
    "nested sets": lambda: r"\{" * 5_000 + "7" + r"\}" * 5_000,
    "tower": lambda: "9^{" * 2_000 + "9" + "}" * 2_000,
    "bare tower": lambda: "9^" * 9_000 + "9",
    "indices": lambda: "x_" * 9_000 + "x",
    "minus signs": lambda: "-" * 19_001 + "7",
    "plus or minus signs": lambda: r"\pm" * 6_000 + "7",
    "factorials": lambda: "3" + "!" * 19_000,
    "primes": lambda: "f" + "'" * 19_000 + "(7)",
    "digits": lambda: "7" * 19_000,
    "decimals": lambda: "7." + "0" * 18_000 + "1",
    "zeros": lambda: "0" * 19_000 + "8",
    "exponent": lambda: "7e" + "9" * 5_000,
    "long sum": lambda: "+".join(["1"] * 9_000),
    "long product": lambda: r"\cdot ".join(["9"] * 3_000),
    "long list": lambda: ",".join(map(str, range(4_000))),
    "long chain": lambda: "=".join(["7", *["8"] * 9_000]),
    "long union": lambda: r"\cup".join(["[7,8]"] * 2_000),
    "long alternatives": lambda: r"\text{ or }".join(["7"] * 1_000 + ["8"]),
    "many variables": lambda: "+".join(f"x_{{{i}}}^{{{i}}}" for i in range(1_300)),
    "powers of sums": lambda: "".join(f"(x+{i})^{{99}}" for i in range(1_000)),
    "absolute values": lambda: "|" * 9_999 + "7" + "|" * 9_999,
    "matrix": lambda: r"\begin{pmatrix}" + "7&" * 9_000 + r"7\end{pmatrix}",
    "matrices": lambda: r"\begin{pmatrix}" * 1_200,
    "plus or minus terms": lambda: "+".join([r"7\pm 1"] * 2_000),
    "dollars": lambda: "$" * 300_000,
    "boxes": lambda: r"\boxed{" * 100_000,
    "closed boxes": lambda: r"\boxed{8}" * 2_000,
    "think tags": lambda: "<think>" * 100_000,
    "answer tags": lambda: "<answer>" * 100_000,
    "comments": lambda: "<!--" * 200_000,
    "blanks": lambda: " " * 900_000,
    "lines": lambda: "\n" * 900_000,
    "backslashes": lambda: "\\" * 900_001,
    "combining accents": lambda: "8" + "\u0301" * 500_000,
    "zero-width blanks": lambda: "8" + "\u200b" * 500_000,
    "words": lambda: "the answer is " * 60_000,
    "stars": lambda: "**" * 400_000,
    "Python": lambda: "7 if " * 3_000 + "True",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_is_not_paid(name: str) -> None:
    text = HOSTILE[name]()
    for completion in (rf"\boxed{{{text}}}", text, f"The final answer is {text}"):
        found = Judge().judge({"answer": "123454321"}, completion)
        assert found.outcome is not Outcome.CORRECT, found.reason


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_gold_pays_nothing(name: str) -> None:
    gold = HOSTILE[name]()[:MAX_GOLD_CHARS]
    found = Judge().judge({"answer": gold}, r"\boxed{123454321}")
    assert found.outcome is not Outcome.CORRECT, found.reason


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_before_the_answer_does_not_hide_it(name: str) -> None:
    text = HOSTILE[name]()
    end = r"So after all of that, the final answer to the question is \boxed{5}."
    found = Judge().judge({"answer": "5"}, f"{text}\n\n{end}")
    assert found.outcome in {Outcome.CORRECT, Outcome.UNDECIDED, Outcome.NO_ANSWER}, found.reason


def test_a_completion_of_a_million_characters_is_read_and_a_longer_one_refused() -> None:
    text = r"\boxed{7}".rjust(MAX_COMPLETION_CHARS)
    assert Judge().judge({"answer": "7"}, text).outcome is Outcome.CORRECT
    assert Judge().judge({"answer": "7"}, " " + text).outcome is Outcome.REJECTED
