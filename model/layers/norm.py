"""RMS norms of the Qwen3.5 family, computed in fp32 whatever the dtype of the rows.

RMSNorm: Zhang and Sennrich, arXiv 1910.07467; the zero-centred weight and the gated form as in Qwen3-Next.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F


class ZeroCentredNorm:
    """Scales by 1 + w: a checkpoint stores the difference from one. `weight_D` as stored."""

    def __init__(self, weight_D: torch.Tensor, epsilon: float) -> None:
        self.scale_D = 1.0 + weight_D.float()
        self.epsilon = epsilon

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        """[..., D] -> [..., D] in the dtype of x."""
        return F.rms_norm(x.float(), x.shape[-1:], self.scale_D, self.epsilon).to(x.dtype)


class GatedNorm:
    """Norm, scale by w (not zero-centred), then times silu of a gate."""

    def __init__(self, weight_D: torch.Tensor, epsilon: float) -> None:
        self.scale_D = weight_D.float()
        self.epsilon = epsilon

    def __call__(self, x: torch.Tensor, gate: torch.Tensor) -> torch.Tensor:
        """x and gate [..., D] -> [..., D] in the dtype of the gate."""
        normed = F.rms_norm(x.float(), x.shape[-1:], self.scale_D, self.epsilon)
        return (normed * F.silu(gate.float())).to(gate.dtype)
