"""What Llama-family models and Sprig have read, as a `MemoryState` that can be saved, and back.

The round trip is exact: going on from a loaded state gives the logits that going on from the original one gives. Shape
letters as in `llama.py`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Protocol

import torch

from model.layers.linear import FloatLinear, Int8Linear, Linear, weight_levels
from model.llama import LlamaModel, LlamaState
from model.memory import MemoryState
from model.sprig import Sprig, SprigState

_WINDOW, _RECENT, _PENDING, _DELTA = "trunk", "recent", "pending", ".delta"
_SAMPLED = 64  # every so many rows of a matrix go into a fingerprint


class StateFormat(Protocol):
    """How one model's states become `MemoryState`s. `model_id` names the weights and bounds that a state depends on."""

    model_id: str

    def pack(self, state: Any) -> MemoryState: ...

    def unpack(self, memory: MemoryState) -> Any:
        """Raises ValueError where the memory is not of this model."""
        ...

    def settle(self, state: Any, window: int) -> Any:
        """The state with no more than about the last `window` tokens in its window of keys and values, where the model
        may drop older ones. What was read stays in its memory."""
        ...


def format_of(model: Any) -> StateFormat:
    """Raises ValueError for a model whose states cannot be saved."""
    if isinstance(model, Sprig | LlamaModel):
        return TrunkFormat(model)
    if isinstance(getattr(model, "model_id", None), str):
        return NativeFormat(model.model_id)
    raise ValueError(f"a {type(model).__name__} keeps no memory that could be saved")


class NativeFormat:
    """For models whose states are `MemoryState`s already."""

    def __init__(self, model_id: str) -> None:
        self.model_id = model_id

    def pack(self, state: MemoryState) -> MemoryState:
        return state

    def unpack(self, memory: MemoryState) -> MemoryState:
        _check(memory, self.model_id)
        return memory

    def settle(self, state: MemoryState, window: int) -> MemoryState:
        """As it is: these models bound their windows themselves, or look back on all that they read."""
        return state


class TrunkFormat:
    """For a Llama-family model, alone or as Sprig's trunk."""

    def __init__(self, model: LlamaModel | Sprig) -> None:
        self.model = model
        self._trunk = model.trunk if isinstance(model, Sprig) else model
        self.model_id = _fingerprint(model)

    def pack(self, state: SprigState | LlamaState) -> MemoryState:
        tensors: dict[str, torch.Tensor] = {}
        trunk = state
        if isinstance(state, SprigState):
            trunk = state.trunk
            tensors = {f"{layer}{_DELTA}": held_HDD for layer, held_HDD in state.memory.items()}
            tensors[_PENDING] = torch.tensor([state.unwritten, state.last])
        assert isinstance(trunk, LlamaState)
        tensors[_RECENT] = trunk.recent_TE[-1:].clone()
        return MemoryState(self.model_id, trunk.position, tensors, {_WINDOW: trunk.window})

    def unpack(self, memory: MemoryState) -> SprigState | LlamaState:
        _check(memory, self.model_id)
        window = memory.windows[_WINDOW]
        trunk = LlamaState(window, memory.position, memory.tensors[_RECENT])
        if not isinstance(self.model, Sprig):
            if window.length < self._trunk.start().window.length + memory.position:
                window.lowest = self._trunk.limit - self._trunk.stride  # it was full once, and went on from there
            return trunk
        unwritten, last = memory.tensors[_PENDING].tolist()
        held = {
            int(name.removesuffix(_DELTA)): held_HDD
            for name, held_HDD in memory.tensors.items()
            if name.endswith(_DELTA)
        }
        return SprigState(trunk, held, unwritten, last)

    def between(
        self, before: Mapping[str, torch.Tensor], began: int, memory: MemoryState, back: int, last: int
    ) -> SprigState | LlamaState:
        """The state `back` tokens earlier than `memory`, whose fixed-size part was `before` at position `began`, not
        later than that; `last` is its last token. Raises ValueError where a token since then has left the window."""
        after, position = self.unpack(memory), memory.position - back
        if isinstance(after, LlamaState):
            return self._trunk.rewind(after, position)
        then = self.unpack(replace(memory, tensors={**memory.tensors, **before}))
        assert isinstance(then, SprigState) and isinstance(self.model, Sprig)
        trunk = self._trunk.rewind(after.trunk, position)
        unwritten = then.unwritten + position - began
        if then.memory and unwritten > trunk.window.length - self._trunk.sinks:
            raise ValueError("the window no longer holds what the memory has to take up again")
        return self.model.taken_up(SprigState(trunk, then.memory, unwritten, last))

    def settle(self, state: SprigState | LlamaState, window: int) -> SprigState | LlamaState:
        """Tokens that the memory has not taken up are never dropped. Nor are any from a trunk without a memory: its
        window is all that it has."""
        if not isinstance(state, SprigState) or not state.memory:
            return state
        kept = max(window, state.unwritten) + self._trunk.sinks
        trunk = state.trunk
        if trunk.window.length <= kept:
            return state
        shorter = LlamaState(self._trunk.shortened(trunk.window, kept), trunk.position, trunk.recent_TE)
        return SprigState(shorter, state.memory, state.unwritten, state.last)


def on_trunk(model: Sprig, state: LlamaState, last: int) -> SprigState:
    """Sprig's state where its trunk alone has read: the memory follows from the keys and values, without a pass. `last`
    is the last token. Raises ValueError where the trunk has dropped some of them."""
    fresh = model.start()
    if state.window.length != fresh.trunk.window.length + state.position:
        raise ValueError("the trunk no longer holds all that it has read")
    return model.taken_up(SprigState(state, fresh.memory, state.position, last))


def _check(memory: MemoryState, model_id: str) -> None:
    if memory.model_id != model_id:
        raise ValueError(f"this memory belongs to the model {memory.model_id}, not to {model_id}")


def _fingerprint(model: LlamaModel | Sprig) -> str:
    """A name that differs where the sizes, the precision or the weights do. The trunk's weights count by their norms
    and a sample of everything else, the trained side by all of its own."""
    trunk = model.trunk if isinstance(model, Sprig) else model
    config, kind = trunk.config, type(trunk.layers[0].qkv)
    precision = f"{kind.__name__} {weight_levels()}" if kind is Int8Linear else kind.__name__
    digest = hashlib.sha256(f"{config} {precision} {trunk.limit} {trunk.stride} {trunk.sinks}".encode())
    weights = [trunk.norm_E, trunk.embedding_VE[::_SAMPLED], *_sample(trunk.head, config.width)]
    for layer in trunk.layers:
        weights += [norm for norm in (layer.attention_norm, layer.mlp_norm, layer.head_norm) if norm is not None]
        weights += _sample(layer.qkv, config.width) + _sample(layer.gate_up, config.width)
        weights += _sample(layer.output, config.heads * config.head_size) + _sample(layer.down, config.hidden)
    if isinstance(model, Sprig):
        digest.update(f"{model.side.config} {model.memory}".encode())
        weights += [tensor for _, tensor in sorted(model.side.state_dict().items())]
    for tensor in weights:
        digest.update(tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().data)
    return f"{'sprig' if isinstance(model, Sprig) else 'llama'}-{digest.hexdigest()[:16]}"


def _sample(linear: Linear, inputs: int) -> list[torch.Tensor]:
    """What tells a projection's weights from others: some of its rows. Where a kernel keeps them packed, what it makes
    of one row: its sums are of integers, so that comes out alike every time, and costs less than unpacking."""
    if isinstance(linear, FloatLinear):
        return [linear.weight[::_SAMPLED], *([] if linear.bias is None else [linear.bias])]
    return [linear(torch.linspace(-1, 1, inputs)[None])]
