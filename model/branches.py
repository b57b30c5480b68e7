"""Many continuations of one state in a batch: what was read is stored and attended to once, not once per branch.

Shape letters: B branches, T tokens of a pass, P tokens of the shared prefix, S tokens a branch has read, E width,
H query heads, K key heads, G = H/K, D head size, L layers.
"""

from __future__ import annotations

import torch

from model.llama import LlamaModel, LlamaState

# Attention, and for each row the logarithm of the sum of its exponents.
_tiles = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default


class Branches:
    """Continuations that share everything `state` has read. `extend` reads more tokens on every branch.

    `room` bounds the tokens a branch may read in all. Raises ValueError where prefix and room exceed the model's
    window.
    """

    def __init__(self, model: LlamaModel, state: LlamaState, count: int, room: int) -> None:
        config = model.config
        if state.window.length + room > model.limit:
            raise ValueError(
                f"{state.window.length} tokens of prefix and {room} of continuation exceed {model.limit} positions"
            )
        self._model = model
        self._window = state.window
        self._read = 0
        shape = (config.layers, count, config.kv_heads, room, config.head_size)
        self._keys = model.embedding_VE.new_empty(shape)
        self._values = model.embedding_VE.new_empty(shape)

    def keep(self, indices: list[int]) -> None:
        """Goes on with these branches only (in this order)."""
        self._keys = self._keys[:, indices]
        self._values = self._values[:, indices]

    @torch.inference_mode()
    def extend(self, tokens_BT: torch.Tensor) -> torch.Tensor:
        """Reads T more tokens on each branch. Final hidden rows [B, T, E]; `model.logits` turns them into logits."""
        model = self._model
        attend = attend_in_tiles if model.device.type == "cpu" else attend_at_once
        count = tokens_BT.shape[1]
        past, start, end = self._window.length, self._read, self._read + count
        turn_TD = model.turns_TD[past + start : past + end]
        unseen_TS = torch.ones(count, end, dtype=torch.bool, device=model.device).triu(start + 1)
        keys_LKPD, values_LKPD = self._window.keys_LKTD, self._window.values_LKTD
        x_BTE = model.embedding_VE[tokens_BT]
        for index, layer in enumerate(model.layers):
            q_BTHD, k_BTKD, v_BTKD = layer.project(x_BTE, turn_TD)
            own = self._keys[index], self._values[index]
            own[0][:, :, start:end] = k_BTKD.transpose(1, 2)
            own[1][:, :, start:end] = v_BTKD.transpose(1, 2)
            attended = attend(
                q_BTHD, keys_LKPD[index], values_LKPD[index], own[0][:, :, :end], own[1][:, :, :end], unseen_TS
            )
            x_BTE = layer.finish(x_BTE, attended)
        self._read = end
        return model.normed(x_BTE)


def attend_at_once(
    q_BTHD: torch.Tensor,
    keys_KPD: torch.Tensor,
    values_KPD: torch.Tensor,
    keys_BKSD: torch.Tensor,
    values_BKSD: torch.Tensor,
    unseen_TS: torch.Tensor,
) -> torch.Tensor:
    """One softmax over the shared prefix and the branch's own tokens. Returns [B, T, H·D]."""
    branches, count, heads, size = q_BTHD.shape
    groups, past = keys_KPD.shape[0], keys_KPD.shape[1]
    q_BKTGD = q_BTHD.unflatten(2, (groups, -1)).transpose(1, 2) * size**-0.5
    q_KRD = q_BKTGD.transpose(0, 1).reshape(groups, -1, size)  # every row of every branch against the one prefix
    own_BKTGS = torch.einsum("bktgd,bksd->bktgs", q_BKTGD, keys_BKSD)
    own_BKTGS = own_BKTGS.masked_fill(unseen_TS[:, None], float("-inf"))
    shared_BKTGP = (q_KRD @ keys_KPD.mT).unflatten(1, (branches, count, -1)).transpose(0, 1)
    weights = torch.cat([shared_BKTGP, own_BKTGS], dim=-1).softmax(dim=-1)
    shared_KRP = weights[..., :past].transpose(0, 1).reshape(groups, q_KRD.shape[1], past)
    found = (shared_KRP @ values_KPD).unflatten(1, (branches, count, -1)).transpose(0, 1)
    found = found + torch.einsum("bktgs,bksd->bktgd", weights[..., past:], values_BKSD)
    return found.transpose(1, 2).reshape(branches, count, heads * size)


def attend_in_tiles(
    q_BTHD: torch.Tensor,
    keys_KPD: torch.Tensor,
    values_KPD: torch.Tensor,
    keys_BKSD: torch.Tensor,
    values_BKSD: torch.Tensor,
    unseen_TS: torch.Tensor,
) -> torch.Tensor:
    """`attend_at_once` without the scores ever in memory, on the processor some four times as fast: prefix and own
    tokens attended to apart, and both mixed by the sums of their exponents (Dao et al., FlashAttention,
    https://arxiv.org/abs/2205.14135)."""
    if not keys_KPD.shape[1]:
        return attend_at_once(q_BTHD, keys_KPD, values_KPD, keys_BKSD, values_BKSD, unseen_TS)
    branches, count, heads, size = q_BTHD.shape
    groups = keys_KPD.shape[0]
    q_KBGTD = q_BTHD.unflatten(2, (groups, -1)).permute(2, 0, 3, 1, 4)
    rows_KRD = q_KBGTD.reshape(groups, -1, size)
    far_KRD, far_KR = _tiles(rows_KRD[None], keys_KPD[None], values_KPD[None])
    far_BHTD = far_KRD.view(q_KBGTD.shape).transpose(0, 1).flatten(1, 2)
    far_BHT = far_KR.view(q_KBGTD.shape[:-1]).transpose(0, 1).flatten(1, 2)
    mask_TS = torch.zeros_like(unseen_TS, dtype=q_BTHD.dtype).masked_fill(unseen_TS, float("-inf"))
    each = heads // groups
    own = (one.repeat_interleave(each, 1) for one in (keys_BKSD, values_BKSD))
    near_BHTD, near_BHT = _tiles(q_BTHD.transpose(1, 2), *own, attn_mask=mask_TS)
    share_BHT1 = torch.sigmoid(far_BHT - near_BHT).unsqueeze(-1).to(near_BHTD.dtype)
    return torch.lerp(near_BHTD, far_BHTD, share_BHT1).transpose(1, 2).reshape(branches, count, heads * size)
