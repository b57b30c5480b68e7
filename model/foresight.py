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
from model.layers.exact_products import STEP
from model.layers.linear import Linear
from model.layers.low_rank import LowRank
from model.llama import LlamaModel, rotate
from model.window import Window


class GroupMask:
    """The rows of group k, beside known row k, see what that row sees, and each other. Without known rows there is one
    group, which sees all that is past but the last, whose place it takes."""

    def __init__(self, past: int, known: int, groups: int, width: int, like: torch.Tensor) -> None:
        rows, first = groups * width, past + known
        end = -(-(first + rows) // STEP) * STEP
        bias_RP = like.new_full((rows, end), float("-inf"))
        for group in range(groups):
            own = slice(group * width, (group + 1) * width)
            bias_RP[own, : past + (group + 1 if known else -1)] = 0
            bias_RP[own, first + own.start : first + own.stop] = 0
        self.slices = [(slice(0, rows), end, bias_RP[:, None])]


def foresee(
    trunk: LlamaModel,
    side: BlockSide,
    known: Sequence[int],
    width: int,
    window: Window,
    memory: dict[int, torch.Tensor],
) -> tuple[torch.Tensor, torch.Tensor, Window]:
    """Normed rows of the known tokens [K, E] and of their masks [K, M, E], and the window with the known tokens.

    Known rows come out as from `LlamaModel.read`, to the bit: they share projections with the masks, whose rows do not
    depend on each other, and nothing else. `memory` holds a state [1, H, D, D] for each memory layer.
    """
    count, past = len(known), window.length
    known_K = torch.as_tensor(known, dtype=torch.int64, device=trunk.device)
    masks_ME = side.mask_E + side.slot_SE[:width]
    x_RE = torch.cat([trunk.embedding_VE[known_K].float(), masks_ME.repeat(count, 1)])
    place_K = past + torch.arange(count, device=trunk.device)
    place_KM = place_K[:, None] + 1 + torch.arange(width, device=trunk.device)
    place_KM = place_KM.clamp_max(trunk.limit - 1)  # masks beyond the last place stand on it
    place_R = torch.cat([place_K, place_KM.flatten()])
    hidden_RE, longer = _through(trunk, side, x_RE, place_R, window, (count, count, width), memory)
    return hidden_RE[:count], hidden_RE[count:].unflatten(0, (count, width)), longer.prefix(past + count)


def look(
    trunk: LlamaModel, side: BlockSide, x_BE: torch.Tensor, window: Window, memory: dict[int, torch.Tensor]
) -> torch.Tensor:
    """Normed rows [B, E] of one block that begins at the place of the window's last token, which it does not see. The
    window stays as it is."""
    place_B = window.length - 1 + torch.arange(len(x_BE), device=trunk.device)
    return _through(trunk, side, x_BE, place_B, window, (0, 1, len(x_BE)), memory)[0]


def _through(
    trunk: LlamaModel,
    side: BlockSide,
    x_RE: torch.Tensor,
    place_R: torch.Tensor,
    window: Window,
    shape: tuple[int, int, int],
    memory: dict[int, torch.Tensor],
) -> tuple[torch.Tensor, Window]:
    """Rows (so many known ones, then groups of so many) through all layers, and a window with their keys at its end.

    All keys stand in one store, but known rows attend apart from the groups, over as many keys as in a pass of their
    own.
    """
    known, groups, width = shape
    past, rows = window.length, known + groups * width
    longer = window.extend(rows)
    keys_LKCD, values_LKCD = longer.storage()
    turn_RD = trunk.turns_TD[place_R]
    mask, causal = GroupMask(past, *shape, trunk.norm_E), CausalMask(past, known, trunk.norm_E)
    seen = past + known if known else past - 1
    hidden_NT = torch.arange(seen, device=trunk.device) > place_R[:known, None] if known else None
    states = {layer: state.expand(groups, -1, -1, -1) for layer, state in memory.items()}
    context = Context(keys_LKCD[:, :, :seen], values_LKCD[:, :, :seen], hidden_NT, states)
    for index, layer in enumerate(trunk.layers):
        adapter = side.adapter(index)
        normed = F.rms_norm(x_RE, x_RE.shape[-1:], layer.attention_norm, layer.epsilon)
        plain = split_heads(layer, _adapted(layer.qkv, adapter.qkv, normed, known))
        turned = rotate(torch.cat(plain[:2], 1), turn_RD[:, None])
        q_RHD, k_RKD = turned.split([layer.heads, layer.kv_heads], 1)
        keys_LKCD[index, :, past : past + rows] = k_RKD.transpose(0, 1)
        values_LKCD[index, :, past : past + rows] = plain[2].transpose(0, 1)
        if index in states:
            q, k, v = (part[known:].unflatten(0, (groups, width)) for part in plain)
            ahead = attend_block(side, index, (q, k, v), turn_RD[known:].unflatten(0, (groups, width)), context)
            attended = ahead.flatten(0, 1).flatten(1)
        else:
            attended = attend(q_RHD[known:], keys_LKCD[index], values_LKCD[index], mask)
        if known:
            pure = attend(q_RHD[:known], keys_LKCD[index], values_LKCD[index], causal)
            attended = torch.cat([pure, attended])
        x_RE = x_RE + _adapted(layer.output, adapter.output, attended, known)
        normed = F.rms_norm(x_RE, x_RE.shape[-1:], layer.mlp_norm, layer.epsilon)
        gate, up = _adapted(layer.gate_up, adapter.gate_up, normed, known).chunk(2, dim=-1)
        x_RE = x_RE + _adapted(layer.down, adapter.down, F.silu(gate) * up, known)
    return trunk.normed(x_RE), longer


def _adapted(linear: Linear, adapter: LowRank, x_RE: torch.Tensor, pure: int) -> torch.Tensor:
    """The projection of all rows, with the adapter added to those after the first `pure`."""
    y = linear(x_RE)
    y[pure:].addmm_(x_RE[pure:] @ adapter.a.mT, adapter.b.mT)
    return y
