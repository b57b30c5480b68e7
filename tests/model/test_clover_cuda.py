"""On CUDA: the same model in bf16 and fp32, and flash-linear-attention's kernels against the rule."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from model.layers import fused_delta, gated_delta
from model.weights.clover_files import load_clover
from model.weights.synthetic import write_random

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")]
TEXT = list(b"import os\nprint(os.getcwd())\n" * 5)


@pytest.mark.parametrize("tokens", [1, 7, 64, 200])
def test_fused_kernels_equal_the_rule(tokens: int) -> None:
    pytest.importorskip("fla.ops.gated_delta_rule")
    draw = torch.Generator("cuda").manual_seed(0)

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=draw, device="cuda")

    q, k, v = normal(1, tokens, 2, 64), normal(1, tokens, 2, 64), normal(1, tokens, 4, 64)
    g, beta, state = -normal(1, tokens, 4).abs(), normal(1, tokens, 4).sigmoid(), normal(1, 4, 64, 64)
    found, after = fused_delta.delta_rule(*(x.bfloat16() for x in (q, k, v)), g, beta, state)
    expected, expected_after = gated_delta.chunk(q, k, v, g, beta, state)
    torch.testing.assert_close(found.float(), expected, rtol=2e-2, atol=2e-2)
    torch.testing.assert_close(after.float(), expected_after, rtol=2e-2, atol=2e-2)


def test_cuda_equals_the_cpu(tmp_path: Path) -> None:
    folder = write_random(tmp_path)
    host = load_clover(folder)
    expected, expected_state = host.commit(TEXT, host.start())
    for dtype, tolerance in ((torch.float32, 5e-3), (torch.bfloat16, 0.3)):
        model = load_clover(folder, device="cuda", dtype=dtype)
        found, state = model.commit(TEXT, model.start())
        torch.testing.assert_close(found.cpu(), expected, rtol=0, atol=tolerance)
        drafted = model.step([3, 4], 6, state)[0]
        torch.testing.assert_close(drafted.cpu(), host.step([3, 4], 6, expected_state)[0], rtol=0, atol=tolerance)
