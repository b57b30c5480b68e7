"""Rotary positions on the first part of a head (arXiv 2104.09864), in the half-split layout of Hugging Face.

Shape letters: T tokens, H heads, D head size, R numbers of a head that turn.
"""

from __future__ import annotations

import torch


class Rotary:
    """Turns numbers i and i + R/2 of a head by position · base^(−2i/R); numbers from R on stay."""

    def __init__(self, turning: int, base: float, device: torch.device) -> None:
        exponents = torch.arange(0, turning, 2, dtype=torch.float64, device=device) / turning
        self.frequencies = base**-exponents

    def turns(self, first: int, count: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Cosines and sines [count, R/2] in fp32 for the positions first … first + count − 1."""
        positions = torch.arange(first, first + count, dtype=torch.float64, device=self.frequencies.device)
        angles = positions[:, None] * self.frequencies
        return angles.cos().float(), angles.sin().float()


def rotate(x_THD: torch.Tensor, turns: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
    """x [T, H, D] turned by `Rotary.turns` of its T positions."""
    cos, sin = (part[:, None].to(x_THD.dtype) for part in turns)
    half = cos.shape[-1]
    first, second, rest = x_THD[..., :half], x_THD[..., half : 2 * half], x_THD[..., 2 * half :]
    return torch.cat([first * cos - second * sin, second * cos + first * sin, rest], dim=-1)
