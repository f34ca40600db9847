"""A recipe: everything that decides what a run does, as closed models read from YAML.

A key that is not here is an error, never ignored. Names under `grpo` are TRL's and transformers'
own, so their documentation applies; defaults are this project's where TRL's surprise (no implicit
bf16, no gradient checkpointing, the plain k3 estimator of the KL divergence).

Not covered: several data sets in one recipe, reward models, multi-turn rollouts, quantised weights.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PositiveInt, model_validator

from rewarden.rewards import RewardTerm

ANSWER_COLUMN: Final = "answer"
"""Where the gold answer stands after loading, whatever the data set calls it."""


def _word(value: object) -> object:
    """Undo YAML 1.1, which reads a bare `off` as false and a bare `on` as true."""
    return {False: "off", True: "on"}.get(value, value) if isinstance(value, bool) else value


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class TinyModel(_Section):
    """A Llama built from this very section, with a tokenizer of single characters."""

    kind: Literal["tiny"]
    hidden_size: PositiveInt = 64
    intermediate_size: PositiveInt = 128
    num_hidden_layers: PositiveInt = 2
    num_attention_heads: PositiveInt = 4
    max_position_embeddings: PositiveInt = 256
    initializer_range: float = Field(default=0.02, gt=0)
    rope_theta: float = Field(default=10_000.0, gt=0)
    """The base of the rotary embedding; a short context learns positions faster from a small one."""
    alphabet: str | None = Field(default=None, min_length=1)
    """The characters it knows; null for printable ASCII and the line feed."""

    @model_validator(mode="after")
    def _heads_divide_width(self) -> Self:
        if self.hidden_size % (2 * self.num_attention_heads):
            msg = "hidden_size must be an even multiple of num_attention_heads"
            raise ValueError(msg)
        return self


class Lora(_Section):
    """A low-rank adapter trained in place of the full weights (needs `peft`)."""

    r: PositiveInt = 32
    lora_alpha: PositiveInt = 64
    lora_dropout: float = Field(default=0.0, ge=0, lt=1)
    target_modules: str | list[str] = "all-linear"


class PretrainedModel(_Section):
    """A causal language model from the Hugging Face hub or from a local folder."""

    kind: Literal["pretrained"]
    name: str = Field(min_length=1)
    """A model's name on the hub, or the path of a folder with `config.json`."""
    revision: str | None = None
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    """The type of the weights in memory; `auto` is the one they were saved in."""
    attn_implementation: str | None = None
    lora: Lora | None = None


class AdditionData(_Section):
    """Made-up sums without carry, as `12+34=`, with a worked solution for the warm-up."""

    kind: Literal["addition"]
    digits: int = Field(default=2, ge=1, le=6)
    train_size: PositiveInt | None = None
    """How many sums to train on; null for all that are not held out."""


class SelectionData(_Section):
    """Made-up questions about one table, as `name in Oslo, pay over 40?`; the gold is `query`."""

    kind: Literal["selection"]
    train_size: PositiveInt | None = None
    """How many questions to train on; null for all that are not held out."""


class OneLinerData(_Section):
    """Made-up functions, as `twice a plus 7?`; `tests` are for the code verifier."""

    kind: Literal["one_liners"]
    train_size: PositiveInt | None = None
    """How many functions to train on; null for all that are not held out."""


class _Columns(_Section):
    prompt_column: str = "prompt"
    """Text, or chat messages as `[{"role": …, "content": …}]`."""
    answer_column: str | None = "answer"
    """The gold answer, `answer` for the reward terms; null when no term needs one."""
    answer_after: str | None = None
    """Where set, the gold answer is what follows the last such mark (`####` in GSM8K)."""
    demonstration_column: str | None = None
    """Worked solutions, for the warm-up alone."""
    chat: bool = False
    """Put each prompt of text into a user message, for the model's chat template."""
    system_prompt: str | None = None
    train_size: PositiveInt | None = None
    """Use only so many samples, drawn with the seed."""

    @model_validator(mode="after")
    def _system_prompt_needs_chat(self) -> Self:
        if self.system_prompt is not None and not self.chat:
            msg = "system_prompt needs 'chat: true'"
            raise ValueError(msg)
        return self


class FileData(_Columns):
    """Samples from a JSON or JSONL file; a relative path counts from the working folder."""

    kind: Literal["file"]
    path: str = Field(min_length=1)
    heldout_path: str | None = None
    """Samples for the evaluation; without one, they are split off `path`."""


class HubData(_Columns):
    """Samples from a data set on the Hugging Face hub."""

    kind: Literal["hub"]
    name: str = Field(min_length=1)
    config: str | None = None
    split: str = "train"
    heldout_split: str | None = None
    """Samples for the evaluation; without one, they are split off `split`."""


class Warmup(_Section):
    """A short supervised cold start on worked solutions, before any reward is paid."""

    steps: PositiveInt = 80
    until_accuracy: float | None = Field(default=None, gt=0, le=1)
    """End sooner, once so large a part of some training prompts is answered right, greedily."""
    batch_size: PositiveInt = 64
    learning_rate: float = Field(default=3e-3, gt=0)


class Grpo(_Section):
    """The fields of TRL's `GRPOConfig` that a recipe may set, under the same names."""

    max_steps: PositiveInt | None = None
    """Optimiser steps; give this or `num_train_epochs`."""
    num_train_epochs: float | None = Field(default=None, gt=0)
    per_device_train_batch_size: PositiveInt = 8
    """Completions, not prompts, in one forward and backward pass."""
    gradient_accumulation_steps: PositiveInt = 1
    steps_per_generation: PositiveInt | None = None
    """Batches generated at once; null for `gradient_accumulation_steps`."""
    num_generations: int = Field(default=8, ge=2)
    """G, the completions in one prompt's group."""
    num_iterations: PositiveInt = 1
    max_completion_length: PositiveInt = 512
    temperature: float = Field(default=1.0, gt=0)
    top_p: float = Field(default=1.0, gt=0, le=1)
    learning_rate: float = Field(default=1e-6, gt=0)
    lr_scheduler_type: Literal["constant", "constant_with_warmup", "linear", "cosine"] = "linear"
    warmup_steps: int = Field(default=0, ge=0)
    weight_decay: float = Field(default=0.0, ge=0)
    max_grad_norm: float = Field(default=1.0, gt=0)
    beta: float = Field(default=0.0, ge=0)
    """Weight of the KL divergence from the starting model; 0 keeps no reference model."""
    use_bias_correction_kl: bool = False
    """False is the plain k3 estimator; true weighs it by the importance ratio."""
    epsilon: float = Field(default=0.2, gt=0)
    epsilon_high: float | None = Field(default=None, gt=0)
    loss_type: Literal["grpo", "dapo", "dr_grpo", "bnpo"] = "grpo"
    scale_rewards: Literal["group", "batch", "none"] = "group"
    mask_truncated_completions: bool = False
    gradient_checkpointing: bool = False
    save_steps: PositiveInt | None = None
    """Save a resumable trainer state every so many steps; null saves the last model alone."""

    @model_validator(mode="after")
    def _length_is_given_once(self) -> Self:
        if (self.max_steps is None) == (self.num_train_epochs is None):
            msg = "give one of max_steps and num_train_epochs"
            raise ValueError(msg)
        return self

    @model_validator(mode="after")
    def _batch_holds_whole_groups(self) -> Self:
        batches = self.steps_per_generation or self.gradient_accumulation_steps
        size = self.per_device_train_batch_size * batches
        if size % self.num_generations:
            msg = (
                f"per_device_train_batch_size x {batches} batches = {size} completions do not "
                f"divide into groups of num_generations = {self.num_generations}"
            )
            raise ValueError(msg)
        return self


class RewardSettings(_Section):
    """What is paid for: each term is a verifier's score times its weight."""

    terms: list[RewardTerm] = Field(min_length=1)
    timeout_seconds: float = Field(default=120.0, gt=0)
    patience_seconds: float = Field(default=60.0, ge=0)
    """How long to wait for verifiers that stopped answering before training stops."""

    @model_validator(mode="after")
    def _names_are_unique(self) -> Self:
        names = [term.name for term in self.terms]
        if len(set(names)) < len(names):
            msg = "two reward terms have the same name"
            raise ValueError(msg)
        return self


class Evaluation(_Section):
    """The held-out samples, answered before and after training."""

    prompts: PositiveInt = 100
    samples: PositiveInt = 4
    """k of mean@k and pass@k."""
    temperature: float = Field(default=1.0, gt=0)
    batch_size: PositiveInt = 128
    """Completions generated at once."""
    accuracy: str | None = None
    """The reward term whose full score counts as right; null for the first."""


class HardwareSettings(_Section):
    """`auto` uses what is there; anything else is refused where it is missing."""

    device: Literal["auto", "cpu", "cuda"] = "auto"
    bf16: Literal["auto"] | bool = "auto"
    vllm: Annotated[Literal["auto", "colocate", "off"], BeforeValidator(_word)] = "off"
    vllm_gpu_memory_utilization: float = Field(default=0.3, gt=0, lt=1)
    vllm_enable_sleep_mode: bool = False
    cpu_threads: PositiveInt | None = None
    """Threads of PyTorch on the CPU; null leaves its own choice."""


class Recipe(_Section):
    """One run, whole. `python -m trainer run RECIPE --print-config` prints it resolved."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")
    """Names the folder of the run."""
    seed: int = Field(default=0, ge=0, lt=2**32)
    model: Annotated[TinyModel | PretrainedModel, Field(discriminator="kind")]
    data: Annotated[
        AdditionData | SelectionData | OneLinerData | FileData | HubData,
        Field(discriminator="kind"),
    ]
    warmup: Warmup | None = None
    grpo: Grpo
    rewards: RewardSettings
    evaluation: Evaluation = Evaluation()
    hardware: HardwareSettings = HardwareSettings()

    @model_validator(mode="after")
    def _warmup_fits(self) -> Self:
        if self.warmup is None:
            return self
        if isinstance(self.model, PretrainedModel) and self.model.lora:
            msg = "warmup trains the full weights; leave out either 'warmup' or 'model.lora'"
            raise ValueError(msg)
        if isinstance(self.data, _Columns) and self.data.demonstration_column is None:
            msg = "warmup needs worked solutions; name their column in 'data.demonstration_column'"
            raise ValueError(msg)
        return self

    @model_validator(mode="after")
    def _accuracy_is_a_term(self) -> Self:
        names = [term.name for term in self.rewards.terms]
        if self.evaluation.accuracy not in {None, *names}:
            msg = f"evaluation.accuracy must be one of the reward terms: {', '.join(names)}"
            raise ValueError(msg)
        return self

    @property
    def accuracy_term(self) -> int:
        """The place of the term whose full score counts as right."""
        names = [term.name for term in self.rewards.terms]
        return names.index(self.evaluation.accuracy) if self.evaluation.accuracy else 0

    def resolved(self) -> dict[str, Any]:
        """Every field with its value, in plain types."""
        return self.model_dump(mode="json")
