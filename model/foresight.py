"""Verify and draft in one pass: known tokens as the bare trunk, and beside each of them a block of masks that looks
ahead.

The layout is TiDAR's (https://arxiv.org/abs/2511.08923): since every number of known tokens that may stand has its own
masks, the next pass has drafts whatever is accepted. Shape letters as in `block_side.py`; here a block's N is the
number K of known tokens, its B the M masks beside each.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F

from model.block_side import BlockSide, Context, attend_block, split_heads
from model.layers.causal_attention import CausalMask, attend
from model.layers.linear import Linear
from model.layers.low_rank import LowRank
from model.llama import LlamaModel, rotate
from model.window import Window


def foresee(
    trunk: LlamaModel,
    side: BlockSide,
    known: Sequence[int],
    width: int,
    window: Window,
    memory: dict[int, torch.Tensor],
) -> tuple[torch.Tensor, torch.Tensor, Window]:
    """Normed rows of the known tokens [K, E] and of their masks [K, M, E], and the window with the known tokens.

    Known rows come out as from `LlamaModel.read`, to the bit: they share the projections with the masks, whose rows
    do not depend on each other, and nothing else. `memory` holds a state [1, H, D, D] for each memory layer.
    """
    count, past = len(known), window.length
    after = window.extend(count)
    keys_LKCD, values_LKCD = after.storage()
    causal = CausalMask(past, count, trunk.norm_E)
    known_K = torch.as_tensor(known, dtype=torch.int64, device=trunk.device)
    place_K = past + torch.arange(count, device=trunk.device)
    place_KM = place_K[:, None] + 1 + torch.arange(width, device=trunk.device)
    turn_KD, turn_KMD = trunk.turns_TD[place_K], trunk.turns_TD[place_KM]
    column_T = torch.arange(past + count, device=trunk.device)
    context = Context(
        keys_LKCD[:, :, : past + count],
        values_LKCD[:, :, : past + count],
        column_T > place_K[:, None],
        {layer: state.expand(count, -1, -1, -1) for layer, state in memory.items()},
    )
    masks_ME = side.mask_E + side.slot_SE[:width]
    x_RE = torch.cat([trunk.embedding_VE[known_K].float(), masks_ME.repeat(count, 1)])
    for index, layer in enumerate(trunk.layers):
        adapter = side.adapter(index)
        normed = F.rms_norm(x_RE, x_RE.shape[-1:], layer.attention_norm, layer.epsilon)
        heads = split_heads(layer, _adapted(layer.qkv, adapter.qkv, normed, count))
        q_KHD, k_KKD = (rotate(part[:count], turn_KD[:, None]) for part in heads[:2])
        keys_LKCD[index, :, past : past + count] = k_KKD.transpose(0, 1)
        values_LKCD[index, :, past : past + count] = heads[2][:count].transpose(0, 1)
        pure = attend(q_KHD, keys_LKCD[index], values_LKCD[index], causal)
        q, k, v = (part[count:].unflatten(0, (count, width)) for part in heads)
        ahead = attend_block(side, index, (q, k, v), turn_KMD, context)
        attended = torch.cat([pure, ahead.flatten(0, 1).flatten(1)])
        x_RE = x_RE + _adapted(layer.output, adapter.output, attended, count)
        normed = F.rms_norm(x_RE, x_RE.shape[-1:], layer.mlp_norm, layer.epsilon)
        gate, up = _adapted(layer.gate_up, adapter.gate_up, normed, count).chunk(2, dim=-1)
        x_RE = x_RE + _adapted(layer.down, adapter.down, F.silu(gate) * up, count)
    hidden_RE = trunk.normed(x_RE)
    return hidden_RE[:count], hidden_RE[count:].unflatten(0, (count, width)), after


def _adapted(linear: Linear, adapter: LowRank, x_RE: torch.Tensor, pure: int) -> torch.Tensor:
    """The projection of all rows, with the adapter added to those after the first `pure`."""
    y = linear(x_RE)
    y[pure:] += adapter(x_RE[pure:])
    return y
