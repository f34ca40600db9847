"""Groups that teach nothing: their completions earn the same, all right or all wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, slots=True)
class GroupFractions:
    """Fractions of a batch's groups in which no completion earns more than another."""

    all_right: float
    all_wrong: float


def count_groups(totals: Tensor, judged: Tensor) -> GroupFractions:
    """Split the groups without a spread in reward; both tensors are (groups, G).

    `totals` is the weighted sum of all terms and `judged` the term that counts as accuracy, where a
    full score of 1 is right. NaN is a sample without a score: it is left out of its group, and a
    group of nothing else is neither right nor wrong.
    """
    scored = ~totals.isnan()
    highest = totals.masked_fill(~scored, -torch.inf).amax(dim=1)
    lowest = totals.masked_fill(~scored, torch.inf).amin(dim=1)
    level = scored.any(dim=1) & torch.isclose(highest, lowest)
    right = (judged == 1.0) & scored
    all_right = level & (right | ~scored).all(dim=1)
    all_wrong = level & ~right.any(dim=1)
    return GroupFractions(all_right.float().mean().item(), all_wrong.float().mean().item())
