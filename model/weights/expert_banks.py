"""Experts where they lie in a checkpoint: fused or one by one, as they are or in 8 or 4 bits. Nothing is read ahead.

Layouts, behind `layers.N.mlp.experts.`: fused `gate_up_proj` [X, 2·I, E] and `down_proj` [X, E, I]; or per expert
`x.gate_proj.weight`, `x.up_proj.weight` [I, E], `x.down_proj.weight` [E, I]. In 8 bits the fused tensors are int8 with
`….scale` [X, rows]; in 4 bits they are uint8 with two numbers a byte (low half first, offset 8) and `….scale`
[X, rows, groups]. Values are number · scale.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from model.layers.experts import ExpertBank
from model.weights.checkpoint import Checkpoint

GROUP = 64  # numbers that share a scale in 4 bits
_SCALE = ".scale"


@dataclass(frozen=True)
class Stack:
    """Matrices of all experts, [X, rows, columns] (columns halved in 4 bits), and their scales."""

    weights: torch.Tensor
    scales: torch.Tensor | None

    def matrix(self, expert: int, dtype: torch.dtype) -> torch.Tensor:
        """The matrix [rows, columns] of one expert, its scales applied."""
        weight = self.weights[expert]
        if self.scales is None:
            return weight.to(dtype)
        scale = self.scales[expert].to(dtype)
        if weight.dtype == torch.int8:
            return weight.to(dtype) * scale[:, None]
        numbers = torch.stack([weight & 15, weight >> 4], dim=-1).flatten(1).to(dtype) - 8
        return (numbers.unflatten(1, (scale.shape[1], -1)) * scale[..., None]).flatten(1)


@dataclass(frozen=True)
class FusedBank:
    """An `ExpertBank` over two stacks."""

    gate_up_stack: Stack
    down_stack: Stack

    def gate_up(self, expert: int, dtype: torch.dtype) -> torch.Tensor:
        return self.gate_up_stack.matrix(expert, dtype)

    def down(self, expert: int, dtype: torch.dtype) -> torch.Tensor:
        return self.down_stack.matrix(expert, dtype)


@dataclass(frozen=True)
class SeparateBank:
    """An `ExpertBank` over one (gate, up, down) per expert."""

    matrices: list[tuple[torch.Tensor, torch.Tensor, torch.Tensor]]

    def gate_up(self, expert: int, dtype: torch.dtype) -> torch.Tensor:
        gate, up, _ = self.matrices[expert]
        return torch.cat([gate, up]).to(dtype)

    def down(self, expert: int, dtype: torch.dtype) -> torch.Tensor:
        return self.matrices[expert][2].to(dtype)


def open_bank(checkpoint: Checkpoint, prefix: str, experts: int, device: torch.device) -> ExpertBank:
    """The experts behind `prefix`, on the device: on a CPU mapped, elsewhere moved there. Raises CheckpointError."""
    if prefix + "gate_up_proj" in checkpoint:

        def stack(name: str) -> Stack:
            scales = checkpoint.find(prefix + name + _SCALE)
            weights = checkpoint.tensor(prefix + name).to(device)
            return Stack(weights, None if scales is None else scales.to(device))

        return FusedBank(stack("gate_up_proj"), stack("down_proj"))
    parts = ("gate_proj", "up_proj", "down_proj")
    return SeparateBank(
        [
            tuple(checkpoint.tensor(f"{prefix}{x}.{part}.weight").to(device) for part in parts)  # type: ignore[misc]
            for x in range(experts)
        ]
    )


def quantise(weights: torch.Tensor, bits: int) -> Stack:
    """Matrices [X, rows, columns] in 8 bits (a scale per row) or 4 bits (a scale per 64 columns), round to nearest."""
    weights = weights.float()
    if bits == 8:
        scales = weights.abs().amax(-1).clamp_min(1e-12) / 127
        return Stack((weights / scales[..., None]).round().to(torch.int8), scales)
    if bits != 4:
        raise ValueError(f"experts can have 8 or 4 bits, not {bits}")
    size = GROUP if weights.shape[-1] % GROUP == 0 else weights.shape[-1]
    groups = weights.unflatten(-1, (-1, size))
    scales = groups.abs().amax(-1).clamp_min(1e-12) / 7
    numbers = ((groups / scales[..., None]).round() + 8).to(torch.uint8).flatten(-2)
    return Stack(numbers[..., ::2] | numbers[..., 1::2] << 4, scales)
