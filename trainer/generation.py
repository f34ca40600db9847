"""Completions of a list of prompts, outside of training."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trainer.model import Policy

Prompt = str | list[dict[str, str]]


@dataclass(frozen=True, slots=True)
class Completion:
    """What the model wrote."""

    text: str
    length: int
    """Tokens, with the one that ended it."""


def generate(
    policy: Policy,
    prompts: Sequence[Prompt],
    *,
    max_new_tokens: int,
    batch_size: int,
    temperature: float | None = None,
) -> list[Completion]:
    """Complete every prompt: greedily, or by sampling at `temperature` from torch's generator."""
    completions: list[Completion] = []
    sampling: dict[str, Any] = (
        {"do_sample": False, "temperature": None, "top_p": None, "top_k": None}
        if temperature is None
        else {"do_sample": True, "temperature": temperature, "top_p": 1.0, "top_k": 0}
    )
    was_training = policy.model.training
    policy.model.train(mode=False)
    with torch.inference_mode():
        for start in range(0, len(prompts), batch_size):
            batch = prompts[start : start + batch_size]
            completions += _generate_batch(policy, batch, max_new_tokens, sampling)
    policy.model.train(was_training)
    return completions


def _generate_batch(
    policy: Policy, prompts: Sequence[Prompt], max_new_tokens: int, sampling: dict[str, Any]
) -> Iterator[Completion]:
    inputs = _tokenize(policy, prompts)
    model: Any = policy.model  # transformers types `generate` as a tensor
    tokens = model.generate(
        **inputs,
        max_new_tokens=max_new_tokens,
        pad_token_id=policy.tokenizer.pad_token_id,
        eos_token_id=_end_ids(policy),
        **sampling,
    )
    ends = set(_end_ids(policy))
    for row in tokens[:, inputs["input_ids"].shape[1] :].tolist():
        length = next((i + 1 for i, token in enumerate(row) if token in ends), len(row))
        text = policy.tokenizer.decode(row[:length], skip_special_tokens=True)
        yield Completion(str(text), length)


def _tokenize(policy: Policy, prompts: Sequence[Prompt]) -> dict[str, torch.Tensor]:
    tokenizer = policy.tokenizer
    texts = [
        prompt
        if isinstance(prompt, str)
        else tokenizer.apply_chat_template(prompt, add_generation_prompt=True, tokenize=False)
        for prompt in prompts
    ]
    # A chat template writes its own special tokens.
    plain = isinstance(prompts[0], str)
    encoded: Any = tokenizer(texts, padding=True, return_tensors="pt", add_special_tokens=plain)
    names = ("input_ids", "attention_mask")
    return {name: encoded[name].to(policy.model.device) for name in names}


def _end_ids(policy: Policy) -> list[int]:
    configured = policy.model.generation_config.eos_token_id
    ids = configured if isinstance(configured, list) else [configured]
    return sorted({i for i in [*ids, policy.tokenizer.eos_token_id] if i is not None})
