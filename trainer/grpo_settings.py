"""The recipe's `grpo` section as TRL's `GRPOConfig`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trl.trainer.grpo_config import GRPOConfig

if TYPE_CHECKING:
    from pathlib import Path

    from trainer.hardware import Hardware
    from trainer.recipe import Recipe


def make_grpo_config(recipe: Recipe, hardware: Hardware, states: Path) -> GRPOConfig:
    """Map field by field; what TRL calls otherwise or wants off is set here."""
    settings = recipe.grpo
    fields: dict[str, Any] = settings.model_dump(
        exclude={"max_steps", "num_train_epochs", "save_steps"}
    )
    return GRPOConfig(
        **fields,
        max_steps=settings.max_steps or -1,
        num_train_epochs=settings.num_train_epochs or 1.0,
        save_strategy="steps" if settings.save_steps else "no",
        save_steps=settings.save_steps or 1,
        save_total_limit=2,
        reward_weights=[term.weight for term in recipe.rewards.terms],
        output_dir=str(states),
        seed=recipe.seed,
        use_cpu=hardware.device == "cpu",
        bf16=hardware.bf16,
        use_vllm=hardware.vllm,
        vllm_mode="colocate",
        vllm_gpu_memory_utilization=recipe.hardware.vllm_gpu_memory_utilization,
        vllm_enable_sleep_mode=recipe.hardware.vllm_enable_sleep_mode,
        top_k=0,  # sample from the whole distribution, whatever the model's own default
        logging_steps=1,
        report_to="none",
        disable_tqdm=True,
        dataloader_pin_memory=hardware.device == "cuda",
    )
