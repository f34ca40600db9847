from __future__ import annotations

import pickle
import threading
import time
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import ValidationError

from rewarden.batches import unknown
from rewarden.client import Client
from rewarden.contracts import Outcome, Sample, Verdict
from rewarden.errors import ConfigurationError, RewardenError, TransportError
from rewarden.integrations.trl import TrlRewards
from rewarden.rewards import Breaker, RewardBatch, Rewards, RewardTerm

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

TERMS = [
    RewardTerm(name="correctness", verifier="math", weight=2.0, columns={"answer": "gold"}),
    RewardTerm(name="format", verifier="format", spec={"template": "thinking_boxed"}),
]
QUICK = Breaker(patience_seconds=0.3, pause_seconds=0.01)


class Script:
    """A transport that answers by a function of the sample and of how often it was asked."""

    def __init__(self, answer: Callable[[Sample, int], Outcome]) -> None:
        self.answer = answer
        self.batches: list[list[Sample]] = []
        self.error: Exception | None = None

    def verify(self, samples: Sequence[Sample], _: float) -> list[Verdict]:
        self.batches.append(list(samples))
        if self.error:
            raise self.error
        turn = len(self.batches)
        return [
            Verdict.of(s, self.answer(s, turn), s.text, details={"spec": s.spec}) for s in samples
        ]

    def close(self) -> None: ...


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[Rewards, Script]]:
    def make(answer: Callable[[Sample, int], Outcome], **options: Any) -> tuple[Rewards, Script]:
        script = Script(answer)
        monkeypatch.setattr(
            "rewarden.rewards.Client", lambda url, **_: Client(url, transport=script)
        )
        return Rewards(TERMS, "http://unused", **({"breaker": QUICK} | options)), script

    return make


def by_text(sample: Sample, _: int) -> Outcome:
    math, format_ = sample.text.split()
    return Outcome(math if sample.verifier == "math" else format_)


def test_all_terms_travel_in_one_batch_with_their_specs(scripted: Any) -> None:
    rewards, script = scripted(lambda *_: Outcome.CORRECT)
    batch = rewards.score(["a", "b"], {"gold": ["4", "5"], "prompts": ["p", "q"]})
    (sent,) = script.batches
    assert [(s.verifier, s.text, s.spec) for s in sent] == [
        ("math", "a", {"answer": "4"}),
        ("math", "b", {"answer": "5"}),
        ("format", "a", {"template": "thinking_boxed"}),
        ("format", "b", {"template": "thinking_boxed"}),
    ]
    assert batch.names == ["correctness", "format"]
    assert batch.scores == [[1.0, 1.0], [1.0, 1.0]]
    assert batch.unscored_fraction == batch.retries == 0


def test_a_sample_unscored_in_one_term_is_none_in_every_term(scripted: Any) -> None:
    rewards, _ = scripted(by_text)
    texts = ["correct correct", "bad_spec correct", "incorrect undecided", "incorrect correct"]
    batch = rewards.score(texts * 5, {"gold": ["4"] * 20})
    assert batch.scores == [[1.0, None, None, 0.0] * 5, [1.0, None, None, 1.0] * 5]
    assert batch.unscored_fraction == 0.5


def test_a_verifier_that_comes_back_is_asked_again_for_what_is_missing(scripted: Any) -> None:
    rewards, script = scripted(
        lambda s, turn: Outcome.EXPIRED if s.verifier == "math" and turn < 3 else Outcome.CORRECT
    )
    batch: RewardBatch = rewards.score(["a", "b"], {"gold": ["4", "5"]})
    assert batch.scores == [[1.0, 1.0], [1.0, 1.0]]
    assert batch.retries == 2
    assert [len(samples) for samples in script.batches] == [4, 2, 2]
    assert [v.details["spec"]["answer"] for v in batch.verdicts[0]] == ["4", "5"]
    assert rewards.stopped is None


def test_a_verifier_that_stays_dead_stops_the_run_and_pays_nothing(scripted: Any) -> None:
    rewards, _ = scripted(lambda s, _: Outcome.EXPIRED if s.verifier == "math" else Outcome.CORRECT)
    began = time.monotonic()
    batch = rewards.score(["a", "b"], {"gold": ["4", "5"]})
    assert 0.3 <= time.monotonic() - began < 1.5
    assert batch.scores == [[None, None], [None, None]]
    assert "could not be scored" in rewards.stopped
    assert "math" in rewards.stopped


def test_a_long_pause_does_not_outlast_patience(scripted: Any) -> None:
    breaker = Breaker(patience_seconds=0.4, pause_seconds=30)
    rewards, _ = scripted(lambda *_: Outcome.VERIFIER_ERROR, breaker=breaker)
    began = time.monotonic()
    rewards.score(["a"], {"gold": ["4"]})
    assert 0.4 <= time.monotonic() - began < 2
    assert "could not be scored for 0 s" in rewards.stopped


def test_an_unreachable_service_is_no_exception(scripted: Any) -> None:
    rewards, script = scripted(lambda *_: Outcome.CORRECT)
    for error in [TransportError("refused"), RuntimeError("a fault of ours")]:
        script.error = error
        batch = rewards.score(["a"], {"gold": ["4"]})
        assert batch.scores == [[None], [None]]
        assert batch.verdicts[0][0].outcome is Outcome.VERIFIER_ERROR
        assert rewards.stopped


def test_a_few_unscored_samples_do_not_hold_up_the_batch(scripted: Any) -> None:
    rewards, script = scripted(lambda s, _: Outcome.EXPIRED if s.text == "0" else Outcome.CORRECT)
    batch = rewards.score([str(i) for i in range(10)], {"gold": ["4"] * 10})
    assert batch.scores[1] == [None] + [1.0] * 9
    assert len(script.batches) == 1


def test_golds_at_fault_are_not_asked_again(scripted: Any) -> None:
    rewards, script = scripted(lambda *_: Outcome.BAD_SPEC)
    batch = rewards.score(["a"], {"gold": [""]})
    assert batch.scores == [[None], [None]]
    assert len(script.batches) == 1
    assert rewards.stopped is None


def test_undecided_samples_never_stop_a_run(scripted: Any) -> None:
    def answer(sample: Sample, _: int) -> Outcome:
        if sample.text == "flaky":
            return Outcome.EXPIRED
        return Outcome.UNDECIDED if sample.text == "hard" else Outcome.CORRECT

    rewards, script = scripted(answer)
    batch = rewards.score(["hard"] * 6 + ["flaky"] + ["easy"] * 9, {"gold": ["4"] * 16})
    assert batch.scores[0] == [None] * 7 + [1.0] * 9
    assert rewards.stopped is None
    assert len(script.batches) == 1


def test_a_verifier_that_does_not_exist_stops_the_run_at_once(scripted: Any) -> None:
    rewards, script = scripted(lambda *_: Outcome.CORRECT)
    script.verify = lambda samples, _: [unknown(s, "maths", ["math"]) for s in samples]
    batch = rewards.score(["a"], {"gold": ["4"]})
    assert batch.scores == [[None], [None]]
    assert rewards.stopped == "There is no verifier 'maths' here; there is math."


@pytest.mark.parametrize(
    "completion",
    [None, 4, [{"content": "4"}], [{"role": "assistant", "content": 4}], {"role": "assistant"}],
)
def test_a_malformed_completion_costs_its_own_sample_only(
    scripted: Any, completion: object
) -> None:
    rewards, _ = scripted(lambda *_: Outcome.CORRECT)
    batch = rewards.score(["a", completion, "b"], {"gold": ["4"] * 3})
    assert batch.scores == [[1.0, None, 1.0]] * 2
    assert batch.verdicts[0][1].outcome is Outcome.BAD_SPEC


@pytest.mark.parametrize(
    "gold",
    ["5\ud800", object(), b"\xff", 10**5_000],
    ids=["surrogate", "object", "bytes", "integer"],
)
def test_a_gold_that_cannot_travel_costs_its_own_sample_only(scripted: Any, gold: object) -> None:
    rewards, _ = scripted(lambda *_: Outcome.CORRECT)
    batch = rewards.score(["a"] * 16, {"gold": ["4"] * 15 + [gold]})
    assert batch.scores == [[1.0] * 15 + [None]] * 2
    assert rewards.stopped is None


def test_a_column_that_is_not_there_is_said_to_be_missing(scripted: Any) -> None:
    rewards, _ = scripted(lambda *_: Outcome.CORRECT)
    with pytest.raises(ConfigurationError, match="reads the column 'gold'; the data has answer"):
        rewards.score(["a"], {"answer": ["4"]})
    with pytest.raises(ConfigurationError, match="1 entries for 2 completions"):
        rewards.score(["a", "b"], {"gold": ["4"]})


def test_trl_is_told_to_stop_with_a_checkpoint(scripted: Any) -> None:
    rewards, _ = scripted(lambda *_: Outcome.EXPIRED)
    callback: Any = TrlRewards(rewards).callback
    control = SimpleNamespace(should_save=False, should_training_stop=False)
    callback.on_step_end(None, None, control)
    assert not control.should_training_stop
    rewards.score(["a"], {"gold": ["4"]})
    callback.on_step_end(None, None, control)
    assert control.should_save
    assert control.should_training_stop


def test_submitting_does_not_wait(scripted: Any) -> None:
    gate = threading.Event()

    def answer(*_: Any) -> Outcome:
        gate.wait(10)
        return Outcome.CORRECT

    rewards, _ = scripted(answer)
    pending = rewards.submit(["a"], {"gold": ["4"]})
    gate.set()
    batch = pending.result()
    assert batch.scores == [[1.0], [1.0]]
    assert batch.wait_seconds <= batch.latency_seconds + 0.1


def test_an_empty_batch_is_an_empty_batch(scripted: Any) -> None:
    rewards, _ = scripted(lambda *_: Outcome.CORRECT)
    batch = rewards.score([], {"gold": []})
    assert batch.scores == batch.verdicts == [[], []]
    assert batch.unscored_fraction == 0


def test_rewards_pickle_while_they_are_in_use(scripted: Any) -> None:
    rewards, _ = scripted(lambda *_: Outcome.CORRECT)
    rewards.score(["a"], {"gold": ["4"]})
    functions = pickle.loads(pickle.dumps(TrlRewards(rewards).functions))
    assert [f.__name__ for f in functions] == ["correctness", "format"]
    assert functions[0](completions=["a"], gold=["4"], prompts=["?"]) == [1.0]


def test_trl_functions_share_one_batch(scripted: Any) -> None:
    rewards, script = scripted(by_text)
    paid = TrlRewards(rewards)
    for _ in range(3):
        completions = ["correct incorrect", "incorrect correct"]
        found = [f(completions=completions, gold=["4", "5"]) for f in paid.functions]
        assert found == [[1.0, 0.0], [0.0, 1.0]]
    assert len(script.batches) == 3
    assert paid.weights == [2.0, 1.0]


def test_trl_functions_take_what_was_submitted_early_and_never_another_batchs(
    scripted: Any,
) -> None:
    rewards, script = scripted(by_text)
    paid = TrlRewards(rewards)
    early, other = ["correct correct"], ["incorrect incorrect"]
    paid.submit(early, {"gold": ["4"]})
    assert paid.functions[0](completions=other, gold=["4"]) == [0.0]
    paid.submit(early, {"gold": ["4"]})
    assert paid.functions[0](completions=early, gold=["4"]) == [1.0]
    assert paid.functions[1](completions=early, gold=["4"]) == [1.0]
    assert len(script.batches) == 3
    assert paid.last is not None
    assert paid.last.scores == [[1.0], [1.0]]


ROWS = {"gold": ["4", "5"], "prompt": ["2+2", "2+3"]}


def test_probing_names_the_dead_verifier_and_the_fix(scripted: Any) -> None:
    rewards, script = scripted(
        lambda s, _: Outcome.EXPIRED if s.verifier == "format" else Outcome.NO_ANSWER
    )
    with pytest.raises(ConfigurationError, match="python -m services format"):
        rewards.probe(ROWS)
    script.error = TransportError("refused")
    with pytest.raises(ConfigurationError, match="refused"):
        rewards.probe(ROWS)


def test_probing_finds_a_spec_that_is_refused_for_every_row(scripted: Any) -> None:
    rewards, script = scripted(
        lambda s, _: Outcome.BAD_SPEC if s.verifier == "format" else Outcome.NO_ANSWER
    )
    with pytest.raises(ConfigurationError, match="refuses reward 'format'"):
        rewards.probe(ROWS)
    assert [s.spec for s in script.batches[0][:2]] == [{"answer": "4"}, {"answer": "5"}]


def test_probing_passes_where_only_some_golds_are_bad(scripted: Any) -> None:
    rewards, _ = scripted(
        lambda s, _: Outcome.BAD_SPEC if s.spec.get("answer") == "5" else Outcome.NO_ANSWER
    )
    rewards.probe(ROWS)


def test_probing_tells_a_verifier_that_does_not_exist_from_one_that_is_dead(scripted: Any) -> None:
    rewards, script = scripted(lambda *_: Outcome.CORRECT)
    script.verify = lambda samples, _: [unknown(s, "maths", ["math"]) for s in samples]
    with pytest.raises(ConfigurationError, match=r"there is math\. Correct its"):
        rewards.probe(ROWS)


def test_terms_are_closed_and_needed() -> None:
    with pytest.raises(ValidationError):
        RewardTerm.model_validate({"name": "x", "verifier": "math", "wieght": 2})
    with pytest.raises(RewardenError):
        Rewards([], "http://unused")


def test_conversations_are_completions_too(scripted: Any) -> None:
    rewards, script = scripted(lambda *_: Outcome.CORRECT)
    rewards.score([[{"role": "assistant", "content": "4"}]], {"gold": ["4"]})
    assert script.batches[0][0].text == "4"


def test_a_completion_that_utf8_cannot_write_is_checked_all_the_same(scripted: Any) -> None:
    rewards, script = scripted(lambda *_: Outcome.CORRECT)
    rewards.score(["4\ud800", [{"role": "assistant", "content": "\udfff"}]], {"gold": ["4"] * 2})
    assert [sample.text for sample in script.batches[0][:2]] == ["4\ufffd", "\ufffd"]
