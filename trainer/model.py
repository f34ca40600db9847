"""The model and its tokenizer: checked first, loaded when everything else has been.

Not covered: encoder-decoder and vision models, and weights split over several GPUs by layer.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoTokenizer,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from rewarden.errors import ConfigurationError
from trainer.character_tokenizer import PRINTABLE_ASCII, make_character_tokenizer
from trainer.recipe import PretrainedModel, TinyModel

if TYPE_CHECKING:
    from peft import LoraConfig

    from trainer.recipe import Lora


@dataclass(frozen=True)
class Policy:
    """The model under training."""

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase


def load_tokenizer(settings: TinyModel | PretrainedModel, *, chat: bool) -> PreTrainedTokenizerBase:
    """Load the tokenizer, and so learn whether the model is there, without its weights."""
    if isinstance(settings, TinyModel):
        return make_character_tokenizer(settings.alphabet or PRINTABLE_ASCII)
    _check_lora(settings)
    try:
        AutoConfig.from_pretrained(settings.name, revision=settings.revision)
        tokenizer = AutoTokenizer.from_pretrained(settings.name, revision=settings.revision)
    except (OSError, ValueError) as error:
        raise ConfigurationError(_not_found(settings.name, error)) from None
    if chat and tokenizer.chat_template is None:
        msg = f"the tokenizer of '{settings.name}' has no chat template; set data.chat to false"
        raise ConfigurationError(msg)
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    tokenizer.padding_side = "left"
    checked: PreTrainedTokenizerBase = tokenizer
    return checked


def load_policy(
    settings: TinyModel | PretrainedModel, tokenizer: PreTrainedTokenizerBase, device: str
) -> Policy:
    """Load or build the weights and put them on `device`."""
    if isinstance(settings, TinyModel):
        model: Any = _build(settings, tokenizer)
    else:
        model = AutoModelForCausalLM.from_pretrained(
            settings.name,
            revision=settings.revision,
            dtype="auto" if settings.dtype == "auto" else getattr(torch, settings.dtype),
            attn_implementation=settings.attn_implementation,
        )
    return Policy(model.to(device), tokenizer)


def make_lora(settings: Lora) -> LoraConfig:
    """Turn the recipe's adapter into peft's."""
    from peft import LoraConfig

    return LoraConfig(task_type="CAUSAL_LM", **settings.model_dump())


def _build(settings: TinyModel, tokenizer: PreTrainedTokenizerBase) -> LlamaForCausalLM:
    sizes: dict[str, Any] = settings.model_dump(exclude={"kind", "alphabet", "rope_theta"})
    config = LlamaConfig(
        **sizes,
        rope_parameters={"rope_type": "default", "rope_theta": settings.rope_theta},
        vocab_size=len(tokenizer),
        tie_word_embeddings=True,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
    )
    return LlamaForCausalLM(config)


def _check_lora(settings: PretrainedModel) -> None:
    if settings.lora is not None and find_spec("peft") is None:
        msg = "model.lora needs the package peft; install it or leave out model.lora"
        raise ConfigurationError(msg)


def _not_found(name: str, error: Exception) -> str:
    if Path(name).is_dir():
        reason = str(error).splitlines()[0]
        return f"the folder {name} does not hold a model and its tokenizer: {reason}"
    looks_like_path = name.startswith((".", "/", "~"))
    if looks_like_path:
        return f"the model folder {name} does not exist; correct model.name"
    return (
        f"the model '{name}' is neither a local folder nor to be had from the hub; "
        "check model.name, the network and, for a gated model, your access token"
    )
