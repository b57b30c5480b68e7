from __future__ import annotations

import math

import pytest
import torch

from model.layers.block_softmax import BlockSoftmax

HEADS, KEY, VALUE = 3, 4, 5


def rows(count: int, seed: int = 0) -> tuple[torch.Tensor, ...]:
    draw = torch.Generator().manual_seed(seed)
    q, k = (torch.nn.functional.normalize(torch.randn(count, HEADS, KEY, generator=draw), dim=-1) for _ in range(2))
    return q, k, *(torch.randn(count, HEADS, VALUE, generator=draw) for _ in range(2))


def operator(scale: float, bias: float, slope: float) -> BlockSoftmax:
    return BlockSoftmax(*(torch.full((HEADS,), x) for x in (scale, bias, slope)))


@pytest.mark.parametrize("count", [1, 4, 8, 16, 32, 64])
def test_it_is_the_written_formula(count: int) -> None:
    q, k, v, history = rows(count)
    scale, bias, slope = torch.tensor([1.5, 3.0, -1.0]), torch.tensor([0.3, -2.0, 1.0]), torch.tensor([1.0, 0.0, 0.7])
    found = BlockSoftmax(scale, bias, slope)(q, k, v, history)
    for t in range(count):
        for h in range(HEADS):
            logits = [bias[h] + slope[h] * math.log(count / 32)] + [scale[h] * q[t, h] @ k[i, h] for i in range(count)]
            p = torch.stack(logits).softmax(0)
            expected = p[0] * history[t, h] + sum(p[i + 1] * v[i, h] for i in range(count))
            torch.testing.assert_close(found[t, h], expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("count", [4, 8, 16, 32, 64])
@pytest.mark.parametrize("slope", [0.0, 1.0, 2.0])
def test_slope_sets_how_the_historys_share_scales_with_the_block(count: int, slope: float) -> None:
    """Equal logits: the share is w / (w + n) with w = e^bias (n/32)^slope, which is constant only for a slope of 1."""
    _, _, v, history = rows(count)
    same = torch.zeros(count, HEADS, KEY)
    found = operator(1.0, 0.5, slope)(same, same, torch.zeros_like(v), torch.ones_like(history))
    weight = math.exp(0.5) * (count / 32) ** slope
    torch.testing.assert_close(found, torch.full_like(found, weight / (weight + count)))
    at_full = math.exp(0.5) / (math.exp(0.5) + 32)
    assert (abs(found[0, 0, 0].item() - at_full) < 1e-6) == (slope == 1.0 or count == 32)


def test_an_open_history_slot_and_a_closed_one() -> None:
    q, k, v, history = rows(6)
    torch.testing.assert_close(operator(1.0, 100.0, 0.0)(q, k, v, history), history)
    closed = operator(1.0, -100.0, 0.0)(q, k, v, history)
    torch.testing.assert_close(closed, operator(1.0, -100.0, 0.0)(q, k, v, history * 0))
