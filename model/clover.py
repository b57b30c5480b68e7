"""Clover: a hybrid of gated delta memories and gated attention, causal to commit and bidirectional to preview.

The layer pattern and the causal pass are those of the Qwen3.5 family (Hugging Face transformers, Apache-2.0); the block
pass is reconstructed from the released Clover-35B-A3B-Preview, see `model.layers.block_softmax` for what is not
confirmed. Checkpoints without Clover's parameters run too: their commit is exact, their preview legal but untrained.

Shape letters: T rows of a pass, E width, V vocabulary, L attention layers, K key heads, P columns, D head size.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from model.clover_config import CloverConfig
from model.layers.attention import GatedAttention, rows_mask
from model.layers.experts import FeedForward, SparseExperts
from model.layers.gated_delta_net import GatedDeltaNet, Parts
from model.layers.linear import Linear
from model.layers.norm import ZeroCentredNorm
from model.layers.rotary import Rotary
from model.memory import MemoryState
from model.protocol import Block
from model.window import Window

_ROWS = 512  # rows of one pass; a longer text is read in several
_WINDOW = "attention"


@dataclass
class CloverLayer:
    """One layer; the mixer is attention or a delta memory."""

    mixer_norm: ZeroCentredNorm
    mixer: GatedAttention | GatedDeltaNet
    mlp_norm: ZeroCentredNorm
    mlp: FeedForward | SparseExperts


class CloverModel:
    """A Clover or Qwen3.5-family checkpoint as a `BlockModel` with `step`.

    `model_id` names the weights: states of another id are refused. `attention_window` bounds how many positions the
    attention layers look back on (None: all that was read, as published); with it a state has a constant size.
    """

    def __init__(
        self,
        config: CloverConfig,
        layers: Sequence[CloverLayer],
        embedding_VE: torch.Tensor,
        norm: ZeroCentredNorm,
        head: Linear,
        *,
        model_id: str,
        dtype: torch.dtype,
        device: torch.device,
        attention_window: int | None = None,
    ) -> None:
        self.config = config
        self.vocabulary = config.vocabulary
        self.mask_id = config.block.mask_id
        self.block_settings = config.block
        self.model_id = model_id
        self.device = device
        self.dtype = dtype
        self.layers = list(layers)
        self.embedding_VE = embedding_VE
        self.norm = norm
        self.head = head
        self.attention_window = attention_window
        self.rotary = Rotary(config.rotary, config.rope_base, device)

    def start(self) -> MemoryState:
        config = self.config
        tensors = {}
        for index, layer in enumerate(self.layers):
            if isinstance(layer.mixer, GatedDeltaNet):
                shape = (config.gdn_value_heads, config.gdn_key_size, config.gdn_value_size)
                tensors[f"{index}.delta"] = torch.zeros(shape, device=self.device)
                tail = torch.zeros(config.kernel - 1, config.conv_width, dtype=self.dtype, device=self.device)
                tensors[f"{index}.tail"] = tail
        count = len(config.attention_layers)
        window = Window.empty(count, config.kv_heads, config.head_size, self.dtype, self.device)
        return MemoryState(self.model_id, 0, tensors, {_WINDOW: window})

    def position(self, state: MemoryState) -> int:
        return state.position

    @torch.inference_mode()
    def commit(
        self, tokens: Sequence[int] | torch.Tensor, state: MemoryState, *, rows: slice | None = None
    ) -> tuple[torch.Tensor, MemoryState]:
        ids_T = torch.as_tensor(tokens, dtype=torch.int64, device=self.device)
        passes = [torch.zeros(0, self.config.width, dtype=self.dtype, device=self.device)]
        for ids in ids_T.split(_ROWS) if len(ids_T) else ():
            x_TE, after = self._pass(ids, len(ids), state)
            passes.append(x_TE)
            state = after(len(ids))
        hidden_TE = torch.cat(passes)
        return self._logits(hidden_TE if rows is None else hidden_TE[rows]), state

    @torch.inference_mode()
    def preview(self, block: Block, state: MemoryState) -> torch.Tensor:
        ids_T = torch.where(block.masked.to(self.device), self.mask_id, block.tokens.to(self.device))
        return self._logits(self._pass(ids_T, 0, state)[0])

    @torch.inference_mode()
    def step(self, known: Sequence[int], masks: int, state: MemoryState) -> tuple[torch.Tensor, Sequence[MemoryState]]:
        """Reads `known` causally and previews what follows, in one pass (see `model.decoding.draft_verify.OnePass`).

        The block begins with the position that the last known row predicts, so it has one mask more than are asked for.
        """
        masked = masks + 1 if masks else 0
        ids_T = torch.tensor([*known, *[self.mask_id] * masked], dtype=torch.int64, device=self.device)
        x_TE, after = self._pass(ids_T, len(known), state)
        wanted_TE = torch.cat([x_TE[: len(known)], x_TE[len(known) + 1 :]])
        return self._logits(wanted_TE), _States(after, len(known))

    def _pass(
        self, ids_T: torch.Tensor, known: int, state: MemoryState
    ) -> tuple[torch.Tensor, Callable[[int], MemoryState]]:
        """Rows [T, E]: the first `known` causal, the rest one block behind them. `after(n)` has read n ≤ known rows."""
        if state.model_id != self.model_id:
            raise ValueError(f"this state belongs to the model {state.model_id}, not to {self.model_id}")
        rows, before = len(ids_T), state.windows[_WINDOW]
        past = before.length
        window = before.extend(rows)  # the block's columns are scratch: no state keeps them
        keys_LKPD, values_LKPD = window.keys_LKTD, window.values_LKTD
        mask_TP = rows_mask(known, rows, past, self.attention_window, self.device)
        turns = self.rotary.turns(state.position, rows)
        prefixes: dict[int, Callable[[int], Parts]] = {}
        attention = 0
        x_TE = self.embedding_VE[ids_T].to(self.dtype)
        for index, layer in enumerate(self.layers):
            normed_TE = layer.mixer_norm(x_TE)
            if isinstance(layer.mixer, GatedDeltaNet):
                parts = state.tensors[f"{index}.delta"], state.tensors[f"{index}.tail"]
                mixed_TE, prefixes[index] = layer.mixer(normed_TE, known, parts)
            else:
                q_THD, gate_THD, k_TKD, v_TKD = layer.mixer.project(normed_TE, turns)
                keys_LKPD[attention, :, past:] = k_TKD.transpose(0, 1)
                values_LKPD[attention, :, past:] = v_TKD.transpose(0, 1)
                mixed_TE = layer.mixer.attend(q_THD, gate_THD, keys_LKPD[attention], values_LKPD[attention], mask_TP)
                attention += 1
            x_TE = x_TE + mixed_TE
            x_TE = x_TE + layer.mlp(layer.mlp_norm(x_TE), known)

        def after(n: int) -> MemoryState:
            tensors = {}
            for index, prefix in prefixes.items():
                tensors[f"{index}.delta"], tensors[f"{index}.tail"] = prefix(n)
            kept = self._bounded(window.prefix(past + n))
            return MemoryState(self.model_id, state.position + n, tensors, {_WINDOW: kept})

        return x_TE, after

    def _bounded(self, window: Window) -> Window:
        """Drops columns that no row looks back on any more, many at a time."""
        limit = self.attention_window
        if limit is None or window.length <= limit + max(limit, _ROWS):
            return window
        return Window.of(window.keys_LKTD[:, :, -limit:], window.values_LKTD[:, :, -limit:])

    def _logits(self, x_TE: torch.Tensor) -> torch.Tensor:
        return self.head(self.norm(x_TE)).float()


class _States(Sequence[MemoryState]):
    """States after each known row of a pass, computed when asked for."""

    def __init__(self, after: Callable[[int], MemoryState], count: int) -> None:
        self._after = after
        self._count = count

    def __len__(self) -> int:
        return self._count

    @torch.inference_mode()
    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(self._count))]
        if not -self._count <= index < self._count:
            raise IndexError(index)
        return self._after(index % self._count + 1)
