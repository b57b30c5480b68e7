"""The Llama family (SmolLM2, Llama, Mistral, Qwen2, Qwen3): the trunk that the embedded model stands on.

Architecture: https://arxiv.org/abs/2302.13971, grouped keys https://arxiv.org/abs/2305.13245, rotary positions
https://arxiv.org/abs/2104.09864. Eviction keeps the first tokens as in https://arxiv.org/abs/2309.17453.

Shape letters: T tokens of a pass, P tokens read before, C capacity of their store, E width, H query heads, K key heads,
D head size, L layers, V vocabulary.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
import torch.nn.functional as F

from model.layers.causal_attention import CausalMask, attend
from model.layers.linear import FloatLinear, Linear
from model.protocol import Block
from model.window import Window

_ROWS = 512  # rows of one pass; a longer text is read in several


@dataclass(frozen=True)
class LlamaConfig:
    """Sizes and constants of a checkpoint. `context` is how many positions it was trained for."""

    vocabulary: int
    width: int
    layers: int
    heads: int
    kv_heads: int
    head_size: int
    hidden: int
    norm_epsilon: float
    rope_base: float
    context: int
    end_id: int
    begin_id: int | None = None
    rope_scaling: dict[str, float] | None = None

    def angles_D(self) -> torch.Tensor:
        """Radians per position for each pair of a head's numbers [D/2], with Llama 3's stretching where asked for."""
        exponents = torch.arange(0, self.head_size, 2, dtype=torch.float64) / self.head_size
        angles = self.rope_base**-exponents
        if self.rope_scaling is None:
            return angles
        scale = self.rope_scaling
        turns = scale["original_max_position_embeddings"] * angles / (2 * math.pi)
        low, high = scale["low_freq_factor"], scale["high_freq_factor"]
        keep = ((turns - low) / (high - low)).clamp(0, 1)
        return angles * (keep + (1 - keep) / scale["factor"])


def rotate(x: torch.Tensor, turn: torch.Tensor) -> torch.Tensor:
    """Turns neighbouring pairs of numbers: x [..., D] by the unit complex numbers turn [..., D/2]."""
    pairs = torch.view_as_complex(x.float().unflatten(-1, (-1, 2)))
    return torch.view_as_real(pairs * turn).flatten(-2).to(x.dtype)


@dataclass
class LlamaLayer:
    """One layer's weights; queries, keys and values are one projection, gate and up another.

    Heads are in the pairwise rotary layout (numbers 2i and 2i+1 turn together), as in GGUF files. `head_norm`
    [H + K, D] scales the normed queries and keys before they turn, as in Qwen3; None: they are not normed.
    """

    attention_norm: torch.Tensor
    qkv: Linear
    output: Linear
    mlp_norm: torch.Tensor
    gate_up: Linear
    down: Linear
    heads: int
    kv_heads: int
    epsilon: float
    head_norm: torch.Tensor | None = None

    def project(self, x: torch.Tensor, turn: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """x [..., T, E], turn [..., T, D/2] -> turned queries [..., T, H, D], turned keys and values [..., T, K, D]."""
        normed = F.rms_norm(x, x.shape[-1:], self.attention_norm, self.epsilon)
        heads = self.qkv(normed).unflatten(-1, (self.heads + 2 * self.kv_heads, -1))
        turning = heads[..., : self.heads + self.kv_heads, :]
        if self.head_norm is not None:
            turning = F.rms_norm(turning, turning.shape[-1:], None, self.epsilon) * self.head_norm
        turned = rotate(turning, turn.unsqueeze(-2))
        return turned[..., : self.heads, :], turned[..., self.heads :, :], heads[..., self.heads + self.kv_heads :, :]

    def finish(self, x: torch.Tensor, attended: torch.Tensor) -> torch.Tensor:
        """Adds what attention found [..., T, H·D] and the feed-forward part to x [..., T, E]."""
        x = self.output(attended).add_(x)
        gate, up = self.gate_up(F.rms_norm(x, x.shape[-1:], self.mlp_norm, self.epsilon)).chunk(2, dim=-1)
        return self.down(F.silu(gate).mul_(up)).add_(x)


@dataclass(frozen=True, eq=False)
class LlamaState:
    """What was read: keys (after rotary) and values of the tokens in the window, their count, and the last rows.

    `position` counts all tokens, the evicted ones too, but not the begin token. `recent_TE` holds the final hidden rows
    of the last pass; from its last row the next token is predicted.
    """

    window: Window
    position: int
    recent_TE: torch.Tensor


class LlamaModel:
    """A Llama-family model as a `BlockModel`.

    `window` bounds the tokens that attention sees. The token that finds it full has the oldest ones after the first
    `sinks` dropped, `stride` of them, and the rest moved down in position: so when that happens depends on what was
    read, and not on the widths of the passes.
    """

    drafts = False  # it was never shown a mask: what its previews guess is not worth a pass

    def __init__(
        self,
        config: LlamaConfig,
        layers: Sequence[LlamaLayer],
        embedding_VE: torch.Tensor,
        norm_E: torch.Tensor,
        head: Linear,
        *,
        window: int | None = None,
        stride: int = 1024,
        sinks: int = 4,
    ) -> None:
        self.config = config
        self.vocabulary = config.vocabulary
        self.device = embedding_VE.device
        self.layers = list(layers)
        self.embedding_VE = embedding_VE
        self.norm_E = norm_E
        self.head = head
        self.limit = window or config.context
        self.stride = min(stride, self.limit // 2)
        self.sinks = min(sinks, self.limit - self.stride)
        angles = torch.arange(self.limit, dtype=torch.float64)[:, None] * config.angles_D()
        self.turns_TD = torch.polar(torch.ones_like(angles), angles).to(torch.complex64).to(self.device)
        self._start: LlamaState | None = None

    def with_projections(self, layers: Sequence[LlamaLayer], head: Linear) -> LlamaModel:
        """The same model with other layers and another head."""
        bounds = {"window": self.limit, "stride": self.stride, "sinks": self.sinks}
        return LlamaModel(self.config, layers, self.embedding_VE, self.norm_E, head, **bounds)

    def to(self, device: torch.device | str, dtype: torch.dtype | None = None) -> LlamaModel:
        """The same model on a device, in its own precision where none is named. Raises TypeError for one in int8, whose
        kernels are the processor's."""

        def moved(tensor: torch.Tensor | None) -> Any:
            return None if tensor is None else tensor.to(device, dtype)

        def projection(linear: Linear) -> FloatLinear:
            if not isinstance(linear, FloatLinear):
                raise TypeError(f"a {type(linear).__name__} cannot be moved")
            return FloatLinear(moved(linear.weight), moved(linear.bias))

        layers = [
            replace(
                layer,
                attention_norm=moved(layer.attention_norm),
                qkv=projection(layer.qkv),
                output=projection(layer.output),
                mlp_norm=moved(layer.mlp_norm),
                gate_up=projection(layer.gate_up),
                down=projection(layer.down),
                head_norm=moved(layer.head_norm),
            )
            for layer in self.layers
        ]
        bounds = {"window": self.limit, "stride": self.stride, "sinks": self.sinks}
        embedding_VE, norm_E = moved(self.embedding_VE), moved(self.norm_E)
        return LlamaModel(self.config, layers, embedding_VE, norm_E, projection(self.head), **bounds)

    def start(self) -> LlamaState:
        if self._start is None:
            config = self.config
            window = Window.empty(
                config.layers, config.kv_heads, config.head_size, self.embedding_VE.dtype, self.device
            )
            state = LlamaState(window, 0, self.norm_E.new_zeros(0, config.width))
            if config.begin_id is not None:
                _, state = self.read([config.begin_id], state)
                state.window.lowest = state.window.length
            self._start = LlamaState(state.window, 0, state.recent_TE)
        return self._start

    def position(self, state: LlamaState) -> int:
        return state.position

    @torch.inference_mode()
    def commit(
        self, tokens: Sequence[int] | torch.Tensor, state: LlamaState, *, rows: slice | None = None
    ) -> tuple[torch.Tensor, LlamaState]:
        hidden_TE, after = self.read(tokens, state)
        return self.logits(hidden_TE if rows is None else hidden_TE[rows]), after

    @torch.inference_mode()
    def read(self, tokens: Sequence[int] | torch.Tensor, state: LlamaState) -> tuple[torch.Tensor, LlamaState]:
        """As `commit`, with the normed hidden rows [T, E] instead of their logits."""
        ids_T = torch.as_tensor(tokens, dtype=torch.int64, device=self.device)
        if len(ids_T) == 0:
            return self.embedding_VE.new_zeros(0, self.config.width), state
        window, passes = state.window, []
        while len(ids_T):
            window = self.make_room(window, 1)
            ids, ids_T = ids_T.tensor_split([min(_ROWS, self.limit - window.length)])
            x_TE, window = self.through(self.embedding_VE[ids], window)
            passes.append(x_TE)
        hidden_TE = self.normed(torch.cat(passes) if len(passes) > 1 else passes[0])
        return hidden_TE, LlamaState(window, state.position + len(hidden_TE), hidden_TE)

    @torch.inference_mode()
    def preview(self, block: Block, state: LlamaState) -> torch.Tensor:
        """Legal but poor: a bare trunk has no masks, so masked rows are fed its end token and each row sees only what
        is on its left. Raises ValueError at the start of a model that has no begin token."""
        first_TE = self._last(state)
        ids_T = torch.where(block.masked, self.config.end_id, block.tokens).to(self.device)
        return self.logits(torch.cat([first_TE, self.read(ids_T[:-1], state)[0]]))

    def rewind(self, state: LlamaState, position: int) -> LlamaState:
        """The state as it was at an earlier position, in O(1). Raises ValueError where that lies ahead, or tokens were
        evicted since.

        Where the last token kept was not part of the last pass, commit a token before asking for a prediction."""
        undone = state.position - position
        kept = max(len(state.recent_TE) - undone, 0)
        return LlamaState(state.window.prefix(state.window.length - undone), position, state.recent_TE[:kept])

    @torch.inference_mode()
    def next_logits(self, state: LlamaState) -> torch.Tensor:
        """Logits [V] of the token after everything read; all alike where that is nothing, no begin token either. Raises
        ValueError where the last row is unknown."""
        if not state.position and self.config.begin_id is None:
            return self.norm_E.new_zeros(self.vocabulary)
        return self.logits(self._last(state))[0]

    def _last(self, state: LlamaState) -> torch.Tensor:
        if not len(state.recent_TE):
            raise ValueError("the state holds no last row: commit a token first")
        return state.recent_TE[-1:]

    def logits(self, hidden: torch.Tensor) -> torch.Tensor:
        """Normed hidden rows [..., E] -> logits [..., V]."""
        return self.head(hidden) if hidden.numel() else hidden.new_zeros(*hidden.shape[:-1], self.vocabulary)

    def normed(self, x: torch.Tensor) -> torch.Tensor:
        """The final norm, before `logits`."""
        return F.rms_norm(x, x.shape[-1:], self.norm_E, self.config.norm_epsilon)

    def through(self, x_TE: torch.Tensor, window: Window) -> tuple[torch.Tensor, Window]:
        """One causal pass over embedded tokens behind a window that has room for them."""
        past, count = window.length, len(x_TE)
        after = window.extend(count)
        keys_LKCD, values_LKCD = after.storage()
        turn_TD = self.turns_TD[past : past + count]
        mask = CausalMask(past, count, x_TE)
        for layer, keys_KCD, values_KCD in zip(self.layers, keys_LKCD.unbind(), values_LKCD.unbind(), strict=True):
            q_THD, k_TKD, v_TKD = layer.project(x_TE, turn_TD)
            keys_KCD[:, past : past + count] = k_TKD.transpose(0, 1)
            values_KCD[:, past : past + count] = v_TKD.transpose(0, 1)
            x_TE = layer.finish(x_TE, attend(q_THD, keys_KCD, values_KCD, mask))
        return x_TE, after

    def make_room(self, window: Window, count: int) -> Window:
        """Evicts the oldest tokens after the sinks where `count` more would not fit, and moves the rest down. There is
        no way back to before that: the tokens are gone."""
        excess = window.length + count - self.limit
        if excess <= 0:
            return window
        shorter = self.shortened(window, window.length - -(-excess // self.stride) * self.stride)
        shorter.lowest = shorter.length
        return shorter

    def shortened(self, window: Window, length: int) -> Window:
        """The sinks and the last tokens of a longer window, `length` in all, the latter moved down."""
        dropped = window.length - length
        keep = slice(self.sinks + dropped, None)
        keys, values = window.keys_LKTD, window.values_LKTD
        moved = rotate(keys[:, :, keep], self.turns_TD[dropped].conj())
        return Window.of(
            torch.cat([keys[:, :, : self.sinks], moved], 2),
            torch.cat([values[:, :, : self.sinks], values[:, :, keep]], 2),
        )


def trunk_of(model: Any) -> LlamaModel | None:
    """The Llama-family model that this one is, or stands on as Sprig does; None where there is none."""
    trunk = getattr(model, "trunk", model)
    return trunk if isinstance(trunk, LlamaModel) else None
