from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from model.layers import short_conv

CHANNELS, TAPS = 5, 4


def inputs(rows: int) -> tuple[torch.Tensor, ...]:
    draw = torch.Generator().manual_seed(rows)
    shapes = ((rows, CHANNELS), (TAPS - 1, CHANNELS), (CHANNELS, TAPS), (CHANNELS, TAPS - 1))
    return tuple(torch.randn(shape, generator=draw) for shape in shapes)


@pytest.mark.parametrize("rows", [1, 2, 3, 9])
def test_causal_is_a_depthwise_convolution(rows: int) -> None:
    x, tail, taps, _ = inputs(rows)
    found, kept = short_conv.causal(x, tail, taps)
    expected = F.conv1d(torch.cat([tail, x]).T, taps[:, None], groups=CHANNELS).T
    torch.testing.assert_close(found, F.silu(expected))
    assert torch.equal(kept[rows:], torch.cat([tail, x])[-3:])


@pytest.mark.parametrize("rows", [1, 2, 3, 9])
def test_two_sided_is_the_written_formula(rows: int) -> None:
    x, tail, taps, right = inputs(rows)
    found = short_conv.two_sided(x, tail, taps, right)
    ring = torch.cat([tail, x])
    for t in range(rows):
        total = sum(ring[t + j] * taps[:, j] for j in range(TAPS))
        total = total + sum(x[t + d] * right[:, d - 1] for d in range(1, TAPS) if t + d < rows)
        torch.testing.assert_close(found[t], F.silu(total))


def test_without_right_taps_both_are_the_same() -> None:
    x, tail, taps, right = inputs(6)
    assert torch.equal(short_conv.two_sided(x, tail, taps, right * 0), short_conv.causal(x, tail, taps)[0])
