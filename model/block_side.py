"""What turns a frozen trunk into a block-diffusion model: mask and slot embeddings, low-rank adapters, history
slots, a sampler.

Rows of a block go through the trunk's own layers; the adapters act on the rows after the first `pure` ones only, so
verified rows stay the bare trunk (gated LoRA: https://arxiv.org/abs/2507.11851). Shape letters as in `llama.py`, and
N blocks, B rows of a block.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import torch
import torch.nn.functional as F
from torch import nn

from model.layers.history import HistorySlot
from model.layers.low_rank import LowRank
from model.llama import LlamaConfig, LlamaLayer, LlamaModel, rotate


@dataclass(frozen=True)
class BlockSideConfig:
    """Sizes of the trained part. `memory_layers` have a history slot, written every `chunk` tokens; `slots` bounds a
    block."""

    rank: int = 32
    slots: int = 64
    memory_layers: tuple[int, ...] = (4, 9, 14, 19, 24, 29)
    chunk: int = 64
    sampler: int = 1024

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
    switched off.
    """

    keys_LKTD: torch.Tensor
    values_LKTD: torch.Tensor
    hidden_NT: torch.Tensor | None
    memory: dict[int, torch.Tensor]


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


@dataclass(frozen=True)
class Layout:
    """How the rows of a pass stand to each other.

    Rows before `pure` belong to the bare trunk. `unseen_BB` marks, for each row, the rows that it must not see
    (None: it sees all). `block` is the number of rows of one block, for the history's calibration.
    """

    block: int
    pure: int = 0
    unseen_BB: torch.Tensor | None = None


def run_rows(
    trunk: LlamaModel, side: BlockSide, x_NBE: torch.Tensor, turn_NBD: torch.Tensor, context: Context, layout: Layout
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Rows of blocks through all layers: normed hidden [N, B, E], and the rows' keys and values [L, N, B, K, D]."""
    keys, values = [], []
    for index, layer in enumerate(trunk.layers):
        x_NBE, k_NBKD, v_NBKD = _layer(layer, side, index, x_NBE, turn_NBD, context, layout)
        keys.append(k_NBKD)
        values.append(v_NBKD)
    hidden_NBE = F.rms_norm(x_NBE, x_NBE.shape[-1:], trunk.norm_E, trunk.config.norm_epsilon)
    return hidden_NBE, torch.stack(keys), torch.stack(values)


def _adapted(plain: torch.Tensor, adapter: LowRank, x: torch.Tensor, pure: int) -> torch.Tensor:
    if pure == 0:
        return plain + adapter(x)
    return torch.cat([plain[:, :pure], plain[:, pure:] + adapter(x[:, pure:])], 1)


def _layer(
    layer: LlamaLayer, side: BlockSide, index: int, x_NBE: torch.Tensor, turn_NBD: torch.Tensor,
    context: Context, layout: Layout,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:  # fmt: skip
    adapter: AdapterLayer = side.layers[index]  # type: ignore[assignment]
    heads, kv_heads, pure = layer.heads, layer.kv_heads, layout.pure
    normed = F.rms_norm(x_NBE, x_NBE.shape[-1:], layer.attention_norm, layer.epsilon)
    projected = _adapted(layer.qkv(normed), adapter.qkv, normed, pure).unflatten(-1, (heads + 2 * kv_heads, -1))
    plain_q_NBHD, v_NBKD = projected[..., :heads, :], projected[..., heads + kv_heads :, :]
    turned = rotate(projected[..., : heads + kv_heads, :], turn_NBD[:, :, None])
    q_NBHD, k_NBKD = turned[..., :heads, :], turned[..., heads:, :]

    history = _history(side, index, plain_q_NBHD, context, layout)
    attended = _attend(q_NBHD, k_NBKD, v_NBKD, context, index, layout.unseen_BB, history).flatten(2)
    x_NBE = x_NBE + _adapted(layer.output(attended), adapter.output, attended, pure)
    normed = F.rms_norm(x_NBE, x_NBE.shape[-1:], layer.mlp_norm, layer.epsilon)
    gate, up = _adapted(layer.gate_up(normed), adapter.gate_up, normed, pure).chunk(2, dim=-1)
    inner = F.silu(gate) * up
    return x_NBE + _adapted(layer.down(inner), adapter.down, inner, pure), k_NBKD, v_NBKD


def _history(
    side: BlockSide, index: int, q_NBHD: torch.Tensor, context: Context, layout: Layout
) -> tuple[torch.Tensor, torch.Tensor] | None:
    """The slot's logits [N, H, B] and values [N, B, H, D] in a memory layer; pure rows have it closed."""
    if index not in context.memory:
        return None
    slot: HistorySlot = side.memory[str(index)]  # type: ignore[assignment]
    count, rows, heads, _ = q_NBHD.shape
    logit_NHB = slot.logit_H(layout.block)[None, :, None].expand(count, heads, rows)
    if layout.pure:
        closed = torch.full_like(logit_NHB[..., : layout.pure], float("-inf"))
        logit_NHB = torch.cat([closed, logit_NHB[..., layout.pure :]], -1)
    return logit_NHB, slot.read(q_NBHD, context.memory[index])


def _attend(
    q_NBHD: torch.Tensor, k_NBKD: torch.Tensor, v_NBKD: torch.Tensor, context: Context, index: int,
    unseen_BB: torch.Tensor | None, history: tuple[torch.Tensor, torch.Tensor] | None,
) -> torch.Tensor:  # fmt: skip
    """One softmax over committed keys, the rows of the block, and the history slot: [N, B, H, D]."""
    blocks, rows, heads, size = q_NBHD.shape
    kv_heads = k_NBKD.shape[2]
    group = heads // kv_heads
    past_KTD, past_values_KTD = context.keys_LKTD[index], context.values_LKTD[index]
    tokens = past_KTD.shape[1]
    scaled = q_NBHD * size**-0.5
    by_key_KMD = (
        scaled.unflatten(2, (kv_heads, group)).permute(2, 0, 3, 1, 4).reshape(kv_heads, blocks * group * rows, size)
    )
    past = torch.bmm(by_key_KMD, past_KTD.transpose(1, 2)).view(kv_heads, blocks, group, rows, tokens)
    if context.hidden_NT is not None:
        past = past.masked_fill(context.hidden_NT[None, :, None, None, :], float("-inf"))
    own = torch.einsum("nbkgd,nckd->kngbc", scaled.unflatten(2, (kv_heads, group)), k_NBKD)
    if unseen_BB is not None:
        own = own.masked_fill(unseen_BB, float("-inf"))
    parts = [past, own]
    if history is not None:
        logit_NHB, _ = history
        parts.append(logit_NHB.unflatten(1, (kv_heads, group)).transpose(0, 1)[..., None].to(past.dtype))
    weight = torch.cat(parts, -1).softmax(-1)
    seen = torch.bmm(weight[..., :tokens].reshape(kv_heads, blocks * group * rows, tokens), past_values_KTD)
    out = seen.view(kv_heads, blocks, group, rows, size)
    out = out + torch.einsum("kngbc,nckd->kngbd", weight[..., tokens : tokens + rows], v_NBKD)
    out_NBHD = out.permute(1, 3, 0, 2, 4).reshape(blocks, rows, heads, size)
    if history is not None:
        share_NBH = weight[..., -1].permute(1, 3, 0, 2).reshape(blocks, rows, heads)
        out_NBHD = out_NBHD + share_NBH[..., None] * history[1]
    return out_NBHD
