"""A Llama-family model in int8: weights per output, activations per row, outlying channels smoothed."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from model.layers.linear import FloatLinear, Int8Linear, Linear, weight_levels
from model.llama import LlamaConfig, LlamaLayer, LlamaModel
from model.window import Window

# How much of the range of a channel moves from the activations into the weights. Bits per byte of SmolLM2-135M against
# fp32 on nine files of Python packages: 0: +1.21 %, 0.3: +1.25 %, 0.5: +0.63 %.
STRENGTH = 0.5
_TOKENS = 512
_VERSION = "1"  # of the kept files and of the rounding in them
_PROJECTIONS = ("qkv", "output", "gate_up", "down")


def calibration_text() -> str:
    """A page of code and prose that shows how far each channel reaches."""
    return (Path(__file__).with_name("calibration.md")).read_text()


def quantise(model: LlamaModel, calibration: Sequence[int], layers: Iterable[LlamaLayer] | None = None) -> LlamaModel:
    """A copy of an fp32 model with int8 projections. The calibration ids are read once, layer by layer: of `layers`,
    those of a model that has none of its own yet, no more than two need exist at a time."""
    known = [] if model.config.begin_id is None else [[model.config.begin_id]]
    ids = list(calibration)[: min(_TOKENS, model.limit - len(known))]
    passes = [model.embedding_VE[torch.tensor(some, device=model.device)] for some in (*known, ids)]
    walker = model.with_projections([], model.head)
    small: list[LlamaLayer] = []
    for layer in model.layers if layers is None else layers:
        watched: dict[str, Any] = {name: _Recorder(getattr(layer, name)) for name in _PROJECTIONS}
        passes = _read_on(walker, replace(layer, **watched), passes)
        rounded: dict[str, Any] = {name: _int8(one.linear, one.reach) for name, one in watched.items()}
        small.append(replace(layer, **rounded))
    return model.with_projections(small, _int8(model.head, _magnitude(model.normed(passes[-1]))))


@torch.inference_mode()
def _read_on(walker: LlamaModel, layer: LlamaLayer, passes: list[torch.Tensor]) -> list[torch.Tensor]:
    """Passes over one text, one behind the other, [T, E] each: what comes out of one more layer."""
    config = walker.config
    window = Window.empty(1, config.kv_heads, config.head_size, passes[0].dtype, walker.device)
    walker.layers = [layer]
    read: list[torch.Tensor] = []
    for x_TE in passes:
        x_TE, window = walker.through(x_TE, window)
        read.append(x_TE)
    return read


def _int8(linear: Linear, reach: torch.Tensor) -> Int8Linear:
    """`reach` [inputs]: the largest magnitude of every input channel."""
    if not isinstance(linear, FloatLinear):
        raise ValueError("only a model in fp32 can be quantised")
    activations, weights = reach.clamp_min(1e-3), linear.weight.abs().amax(0).clamp_min(1e-3)
    return Int8Linear.of(linear.weight, linear.bias, activations**STRENGTH / weights ** (1 - STRENGTH))


def _magnitude(x: torch.Tensor) -> torch.Tensor:
    """The largest magnitude of every channel [..., channels]."""
    return x.abs().flatten(0, -2).amax(0)


class _Recorder:
    """A projection that keeps the largest magnitude of each input channel."""

    def __init__(self, linear: Linear) -> None:
        self.linear = linear
        self.reach = torch.zeros(())

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        self.reach = torch.maximum(self.reach, _magnitude(x))
        return self.linear(x)


def save(model: LlamaModel, path: Path) -> None:
    """Keeps a quantised model in a safetensors file, wholly or not at all. Raises OSError, ValueError (not int8)."""
    tensors = {"embedding": model.embedding_VE, "norm": model.norm_E}
    named = [("head", model.head)]
    for index, layer in enumerate(model.layers):
        tensors[f"{index}.attention_norm"], tensors[f"{index}.mlp_norm"] = layer.attention_norm, layer.mlp_norm
        if layer.head_norm is not None:
            tensors[f"{index}.head_norm"] = layer.head_norm
        named += [(f"{index}.{name}", getattr(layer, name)) for name in _PROJECTIONS]
    for name, linear in named:
        if not isinstance(linear, Int8Linear):
            raise ValueError("only a quantised model can be kept")
        tensors |= {f"{name}.{part}": value.contiguous() for part, value in linear.parts().items()}
    part = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        save_file(tensors, part, {"version": _VERSION, "config": json.dumps(asdict(model.config))})
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def load(path: Path) -> LlamaModel | None:
    """A model that `save` kept; None where there is none, or it is torn or of another version."""
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            if metadata.get("version") != _VERSION:
                return None
            config = LlamaConfig(**json.loads(metadata["config"]))
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (OSError, SafetensorError, KeyError, TypeError, ValueError):  # the last three: of another program
        return None

    def linear(name: str) -> Int8Linear:
        levels, steps, smooth = (tensors[f"{name}.{part}"] for part in ("levels", "steps", "smooth"))
        return Int8Linear(levels, steps, smooth, tensors.get(f"{name}.bias"))

    layers = [
        LlamaLayer(
            attention_norm=tensors[f"{index}.attention_norm"],
            mlp_norm=tensors[f"{index}.mlp_norm"],
            heads=config.heads,
            kv_heads=config.kv_heads,
            epsilon=config.norm_epsilon,
            head_norm=tensors.get(f"{index}.head_norm"),
            **{name: linear(f"{index}.{name}") for name in _PROJECTIONS},
        )
        for index in range(config.layers)
    ]
    return LlamaModel(config, layers, tensors["embedding"], tensors["norm"], linear("head"))


def kept_name() -> str:
    """The file name under which a quantised model is kept; it differs where the processor rounds differently."""
    return f"int8-{weight_levels()}-{_VERSION}.safetensors"
