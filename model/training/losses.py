"""What a block row is asked for, and how far it is from it. Shape letters: R rows with a target, E width, V' a part
of the vocabulary."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F


@dataclass(frozen=True)
class RowLoss:
    """Sums over rows, in nats: `blind` without, `conditioned` with the token at the row's own place known."""

    blind: torch.Tensor
    conditioned: torch.Tensor
    weight: torch.Tensor

    @property
    def total(self) -> torch.Tensor:
        return (0.5 * self.blind + self.conditioned) / self.weight.clamp(min=1e-6)


def vocabulary_part(
    frequent_F: torch.Tensor, targets_R: torch.Tensor, size: int, count: int, generator: torch.Generator
) -> torch.Tensor:
    """Sorted ids of V': the frequent tokens, this step's targets, and `count` random others of a vocabulary of `size`.

    The softmax over a part costs a fifth of the whole and pushes down the same rivals.
    """
    others = torch.randint(0, size, (count,), generator=generator)
    return torch.unique(torch.cat([frequent_F, targets_R, others]))


def row_loss(
    blind_RE: torch.Tensor,
    conditioned_RE: torch.Tensor,
    teacher_RE: torch.Tensor,
    targets_R: torch.Tensor,
    weight_R: torch.Tensor,
    soft_R: torch.Tensor,
    part_V: torch.Tensor,
    embedding_VE: torch.Tensor,
) -> RowLoss:
    """Cross-entropy against a mixture of the trunk's own next-token distribution (share `soft_R`) and the text.

    The trunk's distribution is what a draft is verified against, so it is the better teacher for drafts; for rows
    that see text on their right the trunk knows less than the row, and the text alone is the target.
    """
    head_VE = embedding_VE[part_V]
    with torch.no_grad():
        target_RV = F.linear(teacher_RE, head_VE).softmax(-1).mul_(soft_R[:, None])
        place_R = torch.searchsorted(part_V, targets_R)
        target_RV[torch.arange(len(targets_R)), place_R] += 1 - soft_R

    def cross_entropy(hidden_RE: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(F.linear(hidden_RE, head_VE), target_RV, reduction="none").mul(weight_R).sum()

    return RowLoss(cross_entropy(blind_RE), cross_entropy(conditioned_RE), weight_R.sum())
