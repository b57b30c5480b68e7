"""What a training step hides: blocks of rows cut from a clean segment, some of their tokens masked.

A row at position i predicts the token at i + 1 (token shift), so a row's target is hidden from it only when the next
row is masked or lies outside the block. Shape letters: N blocks, B rows of a block.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

DRAFT, DENOISE, INFILL = 0.5, 0.15, 0.35  # how often each kind of block is drawn
DECAY = 0.85  # of a draft row's weight, by the row before it


@dataclass(frozen=True)
class BlockBatch:
    """`starts_N` is the position of row 0; committed are the tokens before it. `masked_NB` says which rows are masks.

    `weight_NB` is the weight of each row's loss; 0 where the target stands in plain sight.
    """

    starts_N: torch.Tensor
    masked_NB: torch.Tensor
    weight_NB: torch.Tensor

    @property
    def rows(self) -> int:
        return self.masked_NB.shape[1]

    def positions_NB(self) -> torch.Tensor:
        return self.starts_N[:, None] + torch.arange(self.rows)


def sample_blocks(length: int, rows: int, count: int, generator: torch.Generator) -> BlockBatch:
    """`count` blocks of `rows` rows from a segment of `length` tokens.

    Three kinds: a draft (all masked: what follows the pending token), a partly masked block (denoising) and an
    infill (known row 0, masks, known rows on the right). `DECAY` weighs a draft's later rows less, since they are
    committed only when all before them were (as DFlash does, z-lab/dflash).
    """
    starts_N = torch.randint(1, length - rows - 1, (count,), generator=generator)
    kind_N = torch.rand(count, generator=generator)
    column_B = torch.arange(rows)
    draft_N = kind_N < DRAFT
    infill_N = kind_N >= DRAFT + DENOISE
    ratio_N1 = torch.rand(count, 1, generator=generator).clamp(min=1.5 / rows)
    scattered_NB = torch.rand(count, rows, generator=generator) < ratio_N1
    last_N1 = torch.randint(1, max(rows, 2), (count, 1), generator=generator)
    gap_NB = (column_B >= 1) & (column_B <= last_N1)
    masked_NB = torch.where(infill_N[:, None], gap_NB, scattered_NB & (column_B >= 1))
    masked_NB = masked_NB | draft_N[:, None]
    hidden_NB = torch.cat([masked_NB[:, 1:], torch.ones(count, 1, dtype=torch.bool)], dim=1)
    weight_NB = hidden_NB.float()
    weight_NB = torch.where(draft_N[:, None], DECAY ** column_B.float(), weight_NB)
    # beyond an infill's right context the block ends in plain text: nothing to learn from its last known row
    weight_NB[:, -1] *= (masked_NB[:, -1] | draft_N).float()
    return BlockBatch(starts_N, masked_NB, weight_NB)
