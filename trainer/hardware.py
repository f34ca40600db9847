"""What this machine has, and whether it has what the recipe asks for."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

import torch

from rewarden.errors import ConfigurationError

if TYPE_CHECKING:
    from trainer.recipe import HardwareSettings


@dataclass(frozen=True, slots=True)
class Hardware:
    """The resolved choice: nothing here is `auto` any more."""

    device: str
    """`cuda` or `cpu`."""
    bf16: bool
    """Whether training computes in bfloat16."""
    vllm: bool
    """Whether vLLM generates, in the trainer's own process."""


def resolve_hardware(settings: HardwareSettings) -> Hardware:
    """Use what is there; refuse, in a ConfigurationError, what is asked for and missing."""
    has_gpu = torch.cuda.is_available()
    if settings.device == "cuda" and not has_gpu:
        raise ConfigurationError(
            "the recipe asks for a GPU and PyTorch sees none; set hardware.device to auto or cpu, "
            "or install a driver and a PyTorch build with CUDA"
        )
    device = "cuda" if has_gpu and settings.device != "cpu" else "cpu"
    if device == "cuda":
        _check_launcher(torch.cuda.device_count())
    return Hardware(device, _resolve_bf16(settings, device), _resolve_vllm(settings, device))


def _check_launcher(gpus: int) -> None:
    if gpus > 1 and "WORLD_SIZE" not in os.environ:
        raise ConfigurationError(
            f"one process sees {gpus} GPUs and can train on one; start a process for each with "
            "`accelerate launch -m trainer run …`, or set CUDA_VISIBLE_DEVICES=0"
        )


def _resolve_bf16(settings: HardwareSettings, device: str) -> bool:
    available = device == "cuda" and torch.cuda.is_bf16_supported()
    if settings.bf16 is True and not available:
        raise ConfigurationError(
            "the recipe asks for bf16 and there is no GPU that computes in it; "
            "set hardware.bf16 to auto or false"
        )
    return available if settings.bf16 == "auto" else settings.bf16


def _resolve_vllm(settings: HardwareSettings, device: str) -> bool:
    if settings.vllm == "off":
        return False
    missing = _missing_for_vllm(device)
    if settings.vllm == "colocate" and missing:
        raise ConfigurationError(
            f"the recipe asks for vLLM and {missing}; set hardware.vllm to auto or off"
        )
    return missing is None


def _missing_for_vllm(device: str) -> str | None:
    if device != "cuda":
        return "it runs on no GPU here"
    return None if find_spec("vllm") else "it is not installed (`pip install trl[vllm]`)"
