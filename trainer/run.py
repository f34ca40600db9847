"""One run, of a recipe that was found sound: warm up, evaluate, train, evaluate, write it all down.

A run ends early, with its checkpoint, when the verifiers stay dead or someone presses Ctrl-C.
Not covered: taking up a run where it ended.
"""

from __future__ import annotations

from contextlib import contextmanager
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

import torch
from transformers import PrinterCallback, set_seed

from trainer.callbacks import MetricsWriter, VerifierWatch
from trainer.control import RandomPayment, pay_scores
from trainer.display import describe
from trainer.evaluation import Evaluation, evaluate, greedy_accuracy
from trainer.grpo import RewardenTrainer
from trainer.grpo_settings import make_grpo_config
from trainer.model import Policy, load_policy, make_lora
from trainer.recipe import PretrainedModel
from trainer.recipe_file import dump_recipe
from trainer.report import write_report
from trainer.samples import SampleLog
from trainer.stopwatch import Stopwatch
from trainer.summary import Summary
from trainer.warmup import warm_up

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rewarden.rewards import RewardBatch, Rewards
    from trainer.display import Advance, Display
    from trainer.metrics import StepMetrics
    from trainer.preparation import Prepared
    from trainer.ranks import Rank
    from trainer.run_folder import RunFolder

SAMPLED_STEPS: Final = 10
"""Every so many steps, the first group of completions goes to `samples.jsonl`."""


class Run:
    """The stages of a run, in the order of `execute`."""

    def __init__(
        self,
        prepared: Prepared,
        rewards: Rewards,
        folder: RunFolder,
        display: Display,
        *,
        control: bool,
        rank: Rank,
    ) -> None:
        self._prepared = prepared
        self._recipe = prepared.recipe
        self._rewards = rewards
        self._folder = folder
        self._display = display
        self._rank = rank
        self._samples = SampleLog(folder.samples)
        self._summary = Summary(prepared.recipe, control=control)

    def execute(self) -> Summary:
        """Run every stage and return what came of it."""
        set_seed(self._recipe.seed)
        if self._recipe.hardware.cpu_threads:
            torch.set_num_threads(self._recipe.hardware.cpu_threads)
        self._folder.recipe.write_text(dump_recipe(self._recipe), encoding="utf-8")
        policy = load_policy(
            self._recipe.model, self._prepared.tokenizer, self._rank.device(self._prepared.hardware)
        )
        self._summary.parameters = policy.model.num_parameters()
        self._warm_up(policy)
        self._summary.before = self._evaluate(policy, "before", 0)
        if self._summary.stopped is None:
            policy = self._train(policy)
        if self._summary.stopped is None:
            self._summary.after = self._evaluate(policy, "after", len(self._summary.history))
        self._summary.write(self._folder.summary)
        write_report(self._folder, self._summary)
        return self._summary

    def _warm_up(self, policy: Policy) -> None:
        settings = self._recipe.warmup
        if settings is None:
            return
        train = self._prepared.data.train
        some = train.select(range(min(self._recipe.evaluation.prompts, len(train))))

        def accuracy() -> float:
            return greedy_accuracy(policy, some, self._rewards, self._recipe)

        with self._timed("warmup"), self._display.stage("warm-up", settings.steps) as advance:
            self._summary.warmup_steps = warm_up(
                policy, train, settings, self._recipe.seed, advance, accuracy
            )
        if self._summary.warmup_steps < settings.steps:
            self._display.console.print(
                f"warm-up ended at step {self._summary.warmup_steps}: its goal is reached",
                highlight=False,
            )

    def _evaluate(self, policy: Policy, phase: str, step: int) -> Evaluation:
        def keep(prompts: Any, completions: Any, batch: RewardBatch) -> None:  # noqa: ANN401
            self._samples.write(phase, step, prompts, completions, batch)

        heldout = self._prepared.data.heldout
        with self._timed("evaluate"), self._display.wait(f"evaluating {phase} training"):
            evaluation = evaluate(policy, heldout, self._rewards, self._recipe, keep)
        self._summary.stopped = self._rewards.stopped
        return evaluation

    def _train(self, policy: Policy) -> Policy:
        stopwatch, watch = Stopwatch(), VerifierWatch()
        with self._display.stage("GRPO", self._recipe.grpo.max_steps) as advance:
            writer = MetricsWriter(
                self._folder.metrics, self._term_names(), stopwatch, _on_step(advance)
            )
            trainer = self._make_trainer(policy, stopwatch, [writer, watch])
            watch.trainer = trainer
            with self._timed("train"):
                self._loop(trainer)
        self._summary.history = writer.history
        trainer.save_model(str(self._folder.checkpoint))
        self._folder.drop_empty_states()
        model = trainer.accelerator.unwrap_model(trainer.model)
        return Policy(model, policy.tokenizer)

    def _loop(self, trainer: RewardenTrainer) -> None:
        try:
            trainer.train()
        except KeyboardInterrupt:
            self._summary.stopped = "Training was interrupted."
        if trainer.verifiers_lost:
            self._summary.stopped = self._rewards.stopped or "The verifiers of another rank died."

    def _make_trainer(
        self, policy: Policy, stopwatch: Stopwatch, callbacks: list[Any]
    ) -> RewardenTrainer:
        recipe, settings = self._recipe, self._recipe.model
        lora = settings.lora if isinstance(settings, PretrainedModel) else None
        control = RandomPayment(recipe.seed, self._rank.index)
        with _reference_on_disk(policy, needed=recipe.grpo.beta > 0 and lora is None):
            trainer = RewardenTrainer(
                rewards=self._rewards,
                payment=control if self._summary.control else pay_scores,
                accuracy_term=recipe.accuracy_term,
                stopwatch=stopwatch,
                on_batch=self._keep_group,
                model=policy.model,
                args=make_grpo_config(recipe, self._prepared.hardware, self._folder.states),
                train_dataset=self._prepared.data.train,
                processing_class=policy.tokenizer,
                peft_config=make_lora(lora) if lora else None,
                callbacks=callbacks,
            )
        trainer.remove_callback(PrinterCallback)
        return trainer

    def _keep_group(
        self, step: int, prompts: list[Any], completions: list[Any], batch: RewardBatch
    ) -> None:
        if step % SAMPLED_STEPS == 0:
            size = self._recipe.grpo.num_generations
            self._samples.write("train", step, prompts[:size], completions[:size], batch)

    def _term_names(self) -> list[str]:
        return [term.name for term in self._recipe.rewards.terms]

    @contextmanager
    def _timed(self, stage: str) -> Iterator[None]:
        begun = perf_counter()
        yield
        spent = self._summary.seconds
        spent[stage] = spent.get(stage, 0.0) + perf_counter() - begun


def _on_step(advance: Advance) -> Callable[[StepMetrics, int], None]:
    return lambda metrics, total: advance(describe(metrics), total)


@contextmanager
def _reference_on_disk(policy: Policy, *, needed: bool) -> Iterator[None]:
    """Save the policy for TRL, which loads its reference model from where the policy came from."""
    if not needed:
        yield
        return
    config = policy.model.config
    origin = config.name_or_path
    with TemporaryDirectory(prefix="rewarden-reference-") as folder:
        policy.model.save_pretrained(folder)
        config.name_or_path = folder
        yield
    config.name_or_path = origin
