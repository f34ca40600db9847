"""The supervised cold start: a few steps on worked solutions, so that some rewards are won at all.

Plain next-token loss on the solution alone, AdamW, a learning rate that rises over the first eighth
of the steps, stays, and falls to zero over the last quarter.
Not covered: packing, gradient accumulation, several ranks (each would take the same steps).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import torch

from trainer.data import DEMONSTRATION_COLUMN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from datasets import Dataset  # type: ignore[import-untyped]

    from trainer.model import Policy
    from trainer.recipe import Warmup

CHECK_STEPS: Final = 4
CLOSE: Final = 0.5
"""From this part of the goal on, every step is checked."""
IGNORED_LABEL: Final = -100
"""What transformers' loss leaves out."""


def warm_up(
    policy: Policy,
    dataset: Dataset,
    settings: Warmup,
    seed: int,
    progress: Callable[[], None],
    accuracy: Callable[[], float],
) -> int:
    """Train on the demonstrations in `dataset` and return the number of steps taken.

    `progress` is called at each step, `accuracy` only where the settings name a goal for it.
    """
    model = policy.model
    optimizer = torch.optim.AdamW(model.parameters(), settings.learning_rate, weight_decay=0.0)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: _rate(step, settings.steps)
    )
    pairs = [
        (_prompt_ids(policy, row["prompt"]), _solution_ids(policy, row[DEMONSTRATION_COLUMN]))
        for row in dataset
    ]
    next_check = CHECK_STEPS if settings.until_accuracy else settings.steps + 1
    model.train()
    for step, rows in enumerate(_batches(len(pairs), settings, seed), start=1):
        loss = model(**_collate(policy, [pairs[row] for row in rows])).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
        progress()
        if settings.until_accuracy and step == next_check:
            reached = accuracy() / settings.until_accuracy
            if reached >= 1:
                return step
            # It comes within a few steps once it comes, and would be overshot.
            next_check += 1 if reached >= CLOSE else CHECK_STEPS
    return settings.steps


def _rate(step: int, steps: int) -> float:
    return min(1.0, 8 * (step + 1) / steps, 4 * (steps - step) / steps)


def _batches(size: int, settings: Warmup, seed: int) -> Iterator[list[int]]:
    generator = torch.Generator().manual_seed(seed)
    order: list[int] = []
    for _ in range(settings.steps):
        while len(order) < settings.batch_size:
            order += torch.randperm(size, generator=generator).tolist()
        yield order[: settings.batch_size]
        order = order[settings.batch_size :]


def _prompt_ids(policy: Policy, prompt: str | list[dict[str, str]]) -> list[int]:
    tokenizer = policy.tokenizer
    if isinstance(prompt, str):
        return list(tokenizer(prompt)["input_ids"])
    text = tokenizer.apply_chat_template(prompt, add_generation_prompt=True, tokenize=False)
    return list(tokenizer(text, add_special_tokens=False)["input_ids"])


def _solution_ids(policy: Policy, text: str) -> list[int]:
    ids = policy.tokenizer(text, add_special_tokens=False)["input_ids"]
    return [*ids, policy.tokenizer.eos_token_id]


def _collate(policy: Policy, pairs: list[tuple[list[int], list[int]]]) -> dict[str, torch.Tensor]:
    width = max(len(prompt) + len(solution) for prompt, solution in pairs)
    pad = policy.tokenizer.pad_token_id
    ids, labels, mask = [], [], []
    for prompt, solution in pairs:
        space = width - len(prompt) - len(solution)
        ids.append([pad] * space + prompt + solution)
        labels.append([IGNORED_LABEL] * (space + len(prompt)) + solution)
        mask.append([0] * space + [1] * (width - space))
    device = policy.model.device
    names = ("input_ids", "labels", "attention_mask")
    return {
        n: torch.tensor(v, device=device) for n, v in zip(names, (ids, labels, mask), strict=True)
    }
