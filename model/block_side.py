"""What turns a frozen trunk into a block-diffusion model: mask and slot embeddings, low-rank adapters, history slots,
a sampler; and a successor, which drafts from the trunk's own rows.

Rows of a block go through the trunk's own layers with the adapters added; committed tokens never do (gated LoRA:
https://arxiv.org/abs/2507.11851). Shape letters as in `llama.py`, and N blocks, B rows of a block.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass

import torch
import torch.nn.functional as F
from torch import nn

from model.layers.history import HistorySlot
from model.layers.low_rank import LowRank
from model.layers.successor import Successor
from model.llama import LlamaConfig, LlamaLayer, LlamaModel, rotate

TRAINED_ROWS = 16  # of the largest blocks that training shows it


@dataclass(frozen=True)
class BlockSideConfig:
    """Sizes of the trained part. `memory_layers` have a history slot, written every `chunk` tokens; `slots` bounds a
    block; drafts are chosen from a `shortlist` of frequent tokens."""

    rank: int = 32
    slots: int = 64
    memory_layers: tuple[int, ...] = (4, 9, 14, 19, 24, 29)
    chunk: int = 64
    sampler: int = 1024
    successor: int = 1024
    shortlist: int = 8192

    def as_json(self) -> dict:
        return asdict(self)


class AdapterLayer(nn.Module):
    """Low-rank additions to the four projections of one trunk layer."""

    def __init__(self, config: LlamaConfig, rank: int) -> None:
        super().__init__()
        width, inner = config.width, config.heads * config.head_size
        self.qkv = LowRank(width, inner + 2 * config.kv_heads * config.head_size, rank)
        self.output = LowRank(inner, width, rank)
        self.gate_up = LowRank(width, 2 * config.hidden, rank)
        self.down = LowRank(config.hidden, width, rank)


@dataclass(frozen=True)
class Context:
    """What the rows of N blocks look back on.

    `keys_LKTD` (after rotary) and `values_LKTD` of committed tokens; `hidden_NT` marks those a block must not see
    (None: all seen); `memory` holds a state [N, H, D, D] for every memory layer, or nothing where the history is
    switched off. `watch` is told, for each memory layer, ln Σ exp [H, N, B] of the logits beside the slot's.
    """

    keys_LKTD: torch.Tensor
    values_LKTD: torch.Tensor
    hidden_NT: torch.Tensor | None
    memory: dict[int, torch.Tensor]
    watch: Callable[[int, torch.Tensor], None] | None = None


class BlockSide(nn.Module):
    """The trained part as a whole."""

    def __init__(self, trunk: LlamaConfig, config: BlockSideConfig) -> None:
        super().__init__()
        self.config = config
        self.mask_E = nn.Parameter(torch.randn(trunk.width) * 0.02)
        self.slot_SE = nn.Parameter(torch.randn(config.slots, trunk.width) * 0.01)
        self.layers = nn.ModuleList(AdapterLayer(trunk, config.rank) for _ in range(trunk.layers))
        self.memory = nn.ModuleDict(
            {str(layer): HistorySlot(trunk.heads, trunk.kv_heads, trunk.head_size) for layer in config.memory_layers}
        )
        self.sampler_in = nn.Linear(2 * trunk.width, config.sampler)
        self.sampler_out = nn.Linear(config.sampler, trunk.width, bias=False)
        nn.init.zeros_(self.sampler_out.weight)
        self.successor = Successor(trunk.width, config.successor)
        self.shortlist_F: torch.Tensor
        self.register_buffer("shortlist_F", torch.arange(min(config.shortlist, trunk.vocabulary)))

    def adapter(self, layer: int) -> AdapterLayer:
        return self.layers[layer]  # type: ignore[return-value]

    def slot(self, layer: int) -> HistorySlot:
        return self.memory[str(layer)]  # type: ignore[return-value]

    def embed(self, trunk: LlamaModel, tokens_NB: torch.Tensor, masked_NB: torch.Tensor) -> torch.Tensor:
        """Rows [N, B, E] of blocks: a known token's embedding, or the mask's and its slot's."""
        known_NBE = trunk.embedding_VE[tokens_NB].float()
        mask_BE = self.mask_E + self.slot_SE[: tokens_NB.shape[1]]
        return torch.where(masked_NB[..., None], mask_BE, known_NBE)

    def condition(self, hidden: torch.Tensor, previous: torch.Tensor) -> torch.Tensor:
        """Hidden rows [..., E] once the token at each row's own place is chosen (its embedding [..., E]).

        This is what makes drafted neighbours fit each other: a row predicts blindly, then hears which token came
        before.
        """
        both = torch.cat([F.rms_norm(hidden, hidden.shape[-1:]), F.rms_norm(previous, previous.shape[-1:])], -1)
        return hidden + self.sampler_out(F.silu(self.sampler_in(both)))


def run_rows(
    trunk: LlamaModel, side: BlockSide, x_NBE: torch.Tensor, turn_NBD: torch.Tensor, context: Context
) -> torch.Tensor:
    """Rows of blocks through all layers: normed hidden [N, B, E]."""
    for index, layer in enumerate(trunk.layers):
        adapter = side.adapter(index)
        normed = F.rms_norm(x_NBE, x_NBE.shape[-1:], layer.attention_norm, layer.epsilon)
        heads = split_heads(layer, layer.qkv(normed) + adapter.qkv(normed))
        attended = attend_block(side, index, heads, turn_NBD, context).flatten(2)
        x_NBE = x_NBE + layer.output(attended) + adapter.output(attended)
        normed = F.rms_norm(x_NBE, x_NBE.shape[-1:], layer.mlp_norm, layer.epsilon)
        gate, up = (layer.gate_up(normed) + adapter.gate_up(normed)).chunk(2, dim=-1)
        inner = F.silu(gate) * up
        x_NBE = x_NBE + layer.down(inner) + adapter.down(inner)
    return trunk.normed(x_NBE)


Heads = tuple[torch.Tensor, torch.Tensor, torch.Tensor]


def split_heads(layer: LlamaLayer, projected: torch.Tensor) -> Heads:
    """Queries [..., H, D], keys and values [..., K, D], before rotary."""
    heads = projected.unflatten(-1, (layer.heads + 2 * layer.kv_heads, -1))
    return (
        heads[..., : layer.heads, :],
        heads[..., layer.heads : layer.heads + layer.kv_heads, :],
        heads[..., layer.heads + layer.kv_heads :, :],
    )


def attend_block(side: BlockSide, index: int, heads: Heads, turn_NBD: torch.Tensor, context: Context) -> torch.Tensor:
    """One softmax over committed keys, the rows of the block, and the history slot: [N, B, H, D]."""
    plain_q_NBHD, k_NBKD, v_NBKD = heads
    turn = turn_NBD[:, :, None]
    q_NBHD, k_NBKD = rotate(plain_q_NBHD, turn), rotate(k_NBKD, turn)
    blocks, rows, count, size = q_NBHD.shape
    kv_heads = k_NBKD.shape[2]
    group = count // kv_heads
    flat = blocks * group * rows
    past_KTD, past_values_KTD = context.keys_LKTD[index], context.values_LKTD[index]
    tokens = past_KTD.shape[1]
    scaled_NBKGD = (q_NBHD * size**-0.5).unflatten(2, (kv_heads, group))
    by_key_KMD = scaled_NBKGD.permute(2, 0, 3, 1, 4).reshape(kv_heads, flat, size)
    past = torch.bmm(by_key_KMD, past_KTD.mT).view(kv_heads, blocks, group, rows, tokens)
    if context.hidden_NT is not None:
        past = past.masked_fill(context.hidden_NT[None, :, None, None, :], float("-inf"))
    parts = [past, torch.einsum("nbkgd,nckd->kngbc", scaled_NBKGD, k_NBKD)]
    slot = side.slot(index) if index in context.memory else None
    if slot is not None:
        if context.watch is not None:
            context.watch(index, torch.cat(parts, -1).logsumexp(-1).transpose(1, 2).flatten(0, 1))
        logit_KG = slot.logit_H(rows).view(kv_heads, 1, group, 1, 1)
        parts.append(logit_KG.expand(kv_heads, blocks, group, rows, 1).to(past.dtype))
    weight = torch.cat(parts, -1).softmax(-1)
    seen = torch.bmm(weight[..., :tokens].reshape(kv_heads, flat, tokens), past_values_KTD)
    out = seen.view(kv_heads, blocks, group, rows, size)
    out = out + torch.einsum("kngbc,nckd->kngbd", weight[..., tokens : tokens + rows], v_NBKD)
    out_NBHD = out.permute(1, 3, 0, 2, 4).reshape(blocks, rows, count, size)
    if slot is not None:
        share_NBH = weight[..., -1].permute(1, 3, 0, 2).reshape(blocks, rows, count)
        out_NBHD = out_NBHD + share_NBH[..., None] * slot.read(plain_q_NBHD, context.memory[index])
    return out_NBHD
