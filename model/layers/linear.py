"""Projections y = x Wᵀ (+ b) in several precisions behind one call."""

from __future__ import annotations

import warnings
from typing import Protocol

import torch
import torch.nn.functional as F

_ROUNDED = 8192  # rows of a weight that exist in fp32 at one time
_multiply = torch.ops.quantized.linear_with_input_q_dq_qweight_dq_output_fp32.default


class Linear(Protocol):
    """Rows in, rows out: [..., inputs] -> [..., outputs]."""

    def __call__(self, x: torch.Tensor) -> torch.Tensor: ...


class FloatLinear:
    """Weights as they are. `weight` [outputs, inputs], `bias` [outputs] or None."""

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor | None = None) -> None:
        self.weight = weight
        self.bias = bias

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        return F.linear(x, self.weight, self.bias)


def int8_supported() -> bool:
    """Whether this machine has FBGEMM's int8 kernels (x86 with AVX2)."""
    return "fbgemm" in torch.backends.quantized.supported_engines


def weight_levels() -> int:
    """The largest int8 weight that cannot overflow here.

    Without AVX-512 VNNI the kernels add two products of 8 bits in 16 bits, which holds up to 255 · 64 · 2.
    """
    return 127 if torch.cpu._is_vnni_supported() else 63


class Int8Linear:
    """int8 weights, one scale per output; int8 activations, one scale per row, through FBGEMM.

    FBGEMM has one activation range per call. Each row is first divided by its own largest magnitude, so that the range
    is always [-1, 1], and multiplied back after: the sums are of integers, so a row's result is the same to the bit
    whatever shares the call. `smooth` [inputs] divides the activations and multiplies the weights beforehand, which
    moves outliers of single channels from the activations, where they cost precision, into the weights
    (SmoothQuant, https://arxiv.org/abs/2211.10438).
    """

    def __init__(
        self, levels: torch.Tensor, steps: torch.Tensor, smooth: torch.Tensor, bias: torch.Tensor | None = None
    ) -> None:
        """`levels` [outputs, inputs] int8, `steps` [outputs], `smooth` [inputs]: weight = levels · steps / smooth."""
        with warnings.catch_warnings():  # the type is to go after the release of torch that the project is pinned to
            warnings.filterwarnings("ignore", "torch.quantize_per_tensor", UserWarning)
            zeros = torch.zeros(len(steps), dtype=torch.int64)
            quantised = torch._make_per_channel_quantized_tensor(levels, steps.double(), zeros, 0)
        self._packed = torch.ops.quantized.linear_prepack(quantised, None)
        self._smooth = smooth
        self._inverse = 1 / smooth
        self._bias = bias

    @classmethod
    def of(cls, weight: torch.Tensor, bias: torch.Tensor | None, smooth: torch.Tensor) -> Int8Linear:
        """Rounds a weight [outputs, inputs], some rows at a time: a vocabulary's head is large."""
        steps, levels = torch.empty(len(weight)), torch.empty(weight.shape, dtype=torch.int8)
        for low in range(0, len(weight), _ROUNDED):
            rows = slice(low, low + _ROUNDED)
            scaled = weight[rows].float() * smooth
            steps[rows] = scaled.abs().amax(1).clamp_min(1e-12) / weight_levels()
            levels[rows] = (scaled / steps[rows, None]).round()
        return cls(levels, steps, smooth, bias)

    def parts(self) -> dict[str, torch.Tensor]:
        """The arguments that make this projection again."""
        quantised, _ = torch.ops.quantized.linear_unpack(self._packed)
        parts = {"levels": quantised.int_repr(), "steps": quantised.q_per_channel_scales(), "smooth": self._smooth}
        return parts if self._bias is None else parts | {"bias": self._bias}

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        x = x * self._inverse
        reach = x.abs().amax(-1, keepdim=True).clamp_min_(1e-12)
        y = _multiply(x.div_(reach), 1 / 127, 128, self._packed).mul_(reach)
        return y if self._bias is None else y.add_(self._bias)


def outputs_of(linear: Linear, ids: torch.Tensor) -> Linear:
    """The projection onto some of its outputs, in its own precision. Raises TypeError for other kinds."""
    if isinstance(linear, Int8Linear):
        parts = linear.parts()
        bias = parts.get("bias")
        return Int8Linear(
            parts["levels"][ids], parts["steps"][ids], parts["smooth"], bias if bias is None else bias[ids]
        )
    if isinstance(linear, FloatLinear):
        return FloatLinear(linear.weight[ids], linear.bias if linear.bias is None else linear.bias[ids])
    raise TypeError(f"a {type(linear).__name__} has no outputs to choose from")
