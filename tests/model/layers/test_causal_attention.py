from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from model.layers.causal_attention import CausalMask, attend
from model.layers.exact_products import STEP

HEADS, GROUPS, SIZE = 6, 2, 16


def _case(count: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Queries [T, H, D]; keys and values [K, C, D] with meaningless columns behind the last."""
    random = torch.Generator().manual_seed(0)
    q = torch.randn(count, HEADS, SIZE, generator=random)
    keys, values = torch.randn(2, GROUPS, (count // STEP + 2) * STEP, SIZE, generator=random)
    return q, keys, values


def test_it_is_causal_attention() -> None:
    q, keys, values = _case(300)
    found = attend(q, keys, values, CausalMask(0, 300, q))
    expected = F.scaled_dot_product_attention(
        *(x[None] for x in (q.transpose(0, 1), keys[:, :300], values[:, :300])), is_causal=True, enable_gqa=True
    )
    torch.testing.assert_close(found, expected[0].transpose(0, 1).flatten(1), atol=1e-5, rtol=0)


@pytest.mark.parametrize("width", [1, 5, 16, 100])
def test_no_row_depends_on_the_width_of_its_pass(width: int) -> None:
    """To the bit, also where a wider pass reads more key columns: int8 rounding behind it would show the last one."""
    q, keys, values = _case(700)
    whole = attend(q, keys, values, CausalMask(0, 700, q))
    for past in range(0, 700, width):
        rows = q[past : past + width]
        assert torch.equal(attend(rows, keys, values, CausalMask(past, len(rows), q)), whole[past : past + width]), past
