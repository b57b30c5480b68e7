"""Which gated delta rule runs: flash-linear-attention's kernels on CUDA where they are installed, else our own."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module

import torch

from model.layers import gated_delta


def delta_rule(
    q_BTGK: torch.Tensor,
    k_BTGK: torch.Tensor,
    v_BTHV: torch.Tensor,
    g_BTH: torch.Tensor,
    beta_BTH: torch.Tensor,
    state_BHKV: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Outputs and last state as of `gated_delta.recurrent`."""
    one = v_BTHV.shape[1] == 1
    if v_BTHV.is_cuda and (fused := fused_kernels()) is not None:
        ratio = v_BTHV.shape[2] // q_BTGK.shape[2]
        q, k = (x.repeat_interleave(ratio, dim=2) for x in (q_BTGK, k_BTGK))
        beta = beta_BTH.to(v_BTHV.dtype)
        options = {"initial_state": state_BHKV, "output_final_state": True, "use_qk_l2norm_in_kernel": True}
        return fused[one](q, k, v_BTHV, g=g_BTH, beta=beta, **options)
    rule = gated_delta.recurrent if one else gated_delta.chunk
    return rule(q_BTGK, k_BTGK, v_BTHV, g_BTH, beta_BTH, state_BHKV)


@cache
def fused_kernels() -> tuple[Callable[..., tuple[torch.Tensor, torch.Tensor]], ...] | None:
    """flash-linear-attention's chunk kernel and its kernel for single tokens; None where it is not installed."""
    try:
        kernels = import_module("fla.ops.gated_delta_rule")
    except ImportError:
        return None
    return kernels.chunk_gated_delta_rule, kernels.fused_recurrent_gated_delta_rule
