"""One training step: a clean pass of the frozen trunk, then the rows of sampled blocks with gradients."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import torch

from model.block_side import BlockSide, Context, run_rows
from model.llama import LlamaModel, rotate
from model.training.losses import RowLoss, row_loss, vocabulary_part
from model.training.noise import BlockBatch
from model.training.streams import Stream

SOFT = 0.8  # the trunk's share in a draft's target
RANDOM_RIVALS = 1024


@dataclass(frozen=True)
class CleanPass:
    """What the trunk found on a segment: keys and values [L, K, begin + T, D] (the begin token's first), normed rows
    [T, E]."""

    ids_T: torch.Tensor
    keys_LKTD: torch.Tensor
    values_LKTD: torch.Tensor
    hidden_TE: torch.Tensor
    begin: int


def clean_pass(trunk: LlamaModel, ids_T: torch.Tensor) -> CleanPass:
    hidden_TE, state = trunk.read(ids_T, trunk.start())
    keys, values = state.window.keys_LKTD.float().clone(), state.window.values_LKTD.float().clone()
    return CleanPass(ids_T, keys, values, hidden_TE.float().clone(), keys.shape[2] - len(ids_T))


def written_memory(trunk: LlamaModel, side: BlockSide, clean: CleanPass, stream: Stream) -> dict[int, torch.Tensor]:
    """States [1 + T/chunk, H, D, D] of every memory layer; the last one stays with the stream."""
    chunk = side.config.chunk
    text = slice(clean.begin, clean.begin + len(clean.ids_T) // chunk * chunk)
    turn_TD = trunk.turns_TD[text]
    states: dict[int, torch.Tensor] = {}
    for layer in side.config.memory_layers:
        slot = side.slot(layer)
        plain_KTD = rotate(clean.keys_LKTD[layer, :, text], turn_TD.conj())
        before = stream.memory.get(layer, slot.empty())
        written = slot.write(
            plain_KTD.transpose(0, 1), clean.values_LKTD[layer, :, text].transpose(0, 1), before, chunk
        )
        stream.memory[layer] = written[-1].detach()
        states[layer] = written
    return states


def block_context(
    clean: CleanPass, states: dict[int, torch.Tensor], batch: BlockBatch, window: int, chunk: int
) -> Context:
    """Committed keys in each block's window (the begin token always), and the memory as at the last chunk's end
    before it."""
    token_T = torch.arange(-clean.begin, len(clean.ids_T), device=clean.keys_LKTD.device)
    starts_N1 = batch.starts_N[:, None].to(token_T.device)
    hidden_NT = (token_T >= starts_N1) | ((token_T >= 0) & (token_T < starts_N1 - window))
    memory = {layer: written[batch.starts_N // chunk] for layer, written in states.items()}
    return Context(clean.keys_LKTD, clean.values_LKTD, hidden_NT, memory)


@dataclass(frozen=True)
class StepResult:
    """`loss` to descend; `accepted` is the mean length of a draft's run of right guesses (the trunk's own token not
    counted)."""

    loss: RowLoss
    accepted: float
    first: float


def block_loss(
    trunk: LlamaModel, side: BlockSide, clean: CleanPass, context: Context, batch: BlockBatch,
    generator: torch.Generator,
) -> StepResult:  # fmt: skip
    """Loss of the block rows, and how many drafted tokens the trunk would have taken (true neighbours given)."""
    device = clean.keys_LKTD.device
    position_NB = batch.positions_NB().to(device)
    tokens_NB, next_NB = clean.ids_T[position_NB], clean.ids_T[position_NB + 1]
    x_NBE = side.embed(trunk, tokens_NB, batch.masked_NB.to(device))
    hidden_NBE = run_rows(trunk, side, x_NBE, trunk.turns_TD[clean.begin + position_NB], context)
    conditioned_NBE = side.condition(hidden_NBE, trunk.embedding_VE[tokens_NB].float())

    draft_N = batch.masked_NB.all(1).to(device)
    soft_NB = torch.where(draft_N[:, None], SOFT, 0.0).expand(position_NB.shape)
    weight_NB = batch.weight_NB.to(device)
    asked = weight_NB > 0
    part_V = vocabulary_part(
        side.shortlist_F.cpu(), next_NB[asked].cpu(), trunk.vocabulary, RANDOM_RIVALS, generator
    ).to(device)
    teacher_RE = clean.hidden_TE[position_NB[asked]]
    loss = row_loss(
        hidden_NBE[asked], conditioned_NBE[asked], teacher_RE, next_NB[asked], weight_NB[asked], soft_NB[asked],
        part_V, trunk.embedding_VE,
    )  # fmt: skip
    with torch.no_grad():
        head_VE = trunk.embedding_VE[part_V]
        guess_NB = (conditioned_NBE[draft_N].detach() @ head_VE.T).argmax(-1)
        trunk_NB = (clean.hidden_TE[position_NB[draft_N]] @ head_VE.T).argmax(-1)
        right_NB = (guess_NB == trunk_NB).float()
        accepted = right_NB.cumprod(1).sum(1).mean().item() if len(right_NB) else float("nan")
        first = right_NB[:, 0].mean().item() if len(right_NB) else float("nan")
    return StepResult(loss, accepted, first)


@torch.no_grad()
def beside_slots(
    trunk: LlamaModel, side: BlockSide, clean: CleanPass, context: Context, batch: BlockBatch
) -> dict[int, torch.Tensor]:
    """For each memory layer, ln Σ exp [H] of what the history slot competes with, its mean over all block rows."""
    found: dict[int, torch.Tensor] = {}
    watched = replace(context, watch=lambda layer, sum_HNB: found.__setitem__(layer, sum_HNB.flatten(1).mean(1)))
    position_NB = batch.positions_NB().to(clean.keys_LKTD.device)
    x_NBE = side.embed(trunk, clean.ids_T[position_NB], batch.masked_NB.to(position_NB.device))
    run_rows(trunk, side, x_NBE, trunk.turns_TD[clean.begin + position_NB], watched)
    return found


CLOSED, OPENED = 0.005, 0.05  # a slot with less than the first share of a row's attention is given the second


@torch.no_grad()
def open_slots(
    trunk: LlamaModel, side: BlockSide, clean: CleanPass, context: Context, batch: BlockBatch
) -> dict[int, float]:
    """Gives closed history slots a share of the attention, so that gradients reach what stands behind them. They start
    by adding nothing. Returns the mean share of every memory layer as it was.

    A slot's logit competes with those of hundreds of keys, the attention sink among them, which lie far above any
    constant that one would think of: so they are measured.
    """
    shares = {}
    for layer, sum_H in beside_slots(trunk, side, clean, context, batch).items():
        slot = side.slot(layer)
        share_H = torch.sigmoid(slot.logit_H(batch.rows) - sum_H)
        shares[layer] = float(share_H.mean())
        if shares[layer] < CLOSED:
            slot.bias.add_(sum_H + math.log(OPENED / (1 - OPENED)) - slot.logit_H(batch.rows))
            slot.output.zero_()
    return shares
