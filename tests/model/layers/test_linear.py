from __future__ import annotations

import pytest
import torch

from model.layers.linear import Int8Linear, int8_supported, weight_levels

pytestmark = pytest.mark.skipif(not int8_supported(), reason="this processor has no FBGEMM kernels")


def _case() -> tuple[Int8Linear, torch.Tensor, torch.Tensor]:
    random = torch.Generator().manual_seed(0)
    weight = torch.randn(96, 320, generator=random)
    x = torch.randn(40, 320, generator=random) * torch.logspace(-3, 3, 40)[:, None]
    return Int8Linear.of(weight, torch.randn(96, generator=random), 0.5 + torch.rand(320, generator=random)), weight, x


def test_it_is_integer_arithmetic_to_the_last_unit() -> None:
    """An exact oracle in int64; a kernel that overflows its 16-bit halves would miss it."""
    linear, _, x = _case()
    parts = linear.parts()
    scaled = x / parts["smooth"]
    reach = scaled.abs().amax(1, keepdim=True)
    steps = (scaled / reach * 127).round().to(torch.int64)
    sums = steps @ parts["levels"].to(torch.int64).T
    exact = sums.double() * parts["steps"] / 127 * reach + parts["bias"]
    assert parts["levels"].abs().max() == weight_levels()
    # A value on the edge between two steps may round either way: one step of one input
    edge = reach / 127 * parts["steps"] * weight_levels()
    assert ((linear(x) - exact).abs() <= edge + exact.abs() * 1e-5).all()


def test_all_inputs_at_the_end_of_the_range_do_not_overflow() -> None:
    linear = Int8Linear.of(torch.ones(32, 256), None, torch.ones(256))
    torch.testing.assert_close(linear(torch.ones(2, 256)), torch.full((2, 32), 256.0))
    torch.testing.assert_close(linear(-torch.ones(2, 256)), torch.full((2, 32), -256.0))


def test_no_row_depends_on_the_others() -> None:
    linear, _, x = _case()
    together = linear(x)
    for width in (1, 3, 8, 16):
        apart = torch.cat([linear(rows) for rows in x.split(width)])
        assert torch.equal(apart, together)


def test_it_is_near_the_weights_that_it_rounds() -> None:
    linear, weight, x = _case()
    exact = x @ weight.T + linear.parts()["bias"]
    error = (linear(x) - exact).norm(dim=1) / exact.norm(dim=1)
    assert error.max() < 0.02 * 127 / weight_levels()


def test_rows_of_zeros_and_no_rows() -> None:
    linear, _, _ = _case()
    assert torch.equal(linear(torch.zeros(1, 320))[0], linear.parts()["bias"])


def test_an_outlier_in_a_smoothed_channel_costs_little() -> None:
    random = torch.Generator().manual_seed(1)
    weight, x = torch.randn(64, 128, generator=random), torch.randn(8, 128, generator=random)
    x[:, 5] *= 1000
    weight[:, 5] /= 1000
    plain = Int8Linear.of(weight, None, torch.ones(128))
    smoothed = Int8Linear.of(weight, None, (x.abs().amax(0) / weight.abs().amax(0)).sqrt())
    exact = x @ weight.T
    assert (smoothed(x) - exact).norm() < 0.1 * (plain(x) - exact).norm()
