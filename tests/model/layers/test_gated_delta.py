from __future__ import annotations

import pytest
import torch

from model.layers import gated_delta

TOLERANCE = {"rtol": 0, "atol": 2e-5}


def oracle(q, k, v, g, beta, state):
    """The rule as it is written, one head and one token at a time, in float64. Shapes as of `gated_delta.recurrent`."""
    q, k, v, g, beta, S = (x.double().clone() for x in (q, k, v, g, beta, state))
    out = torch.zeros_like(v)
    for b, t, h in ((b, t, h) for b in range(v.shape[0]) for t in range(v.shape[1]) for h in range(v.shape[2])):
        key_head = h * k.shape[2] // v.shape[2]
        kt = k[b, t, key_head] / (k[b, t, key_head].square().sum() + 1e-6).sqrt()
        qt = q[b, t, key_head] / (q[b, t, key_head].square().sum() + 1e-6).sqrt() / q.shape[-1] ** 0.5
        S[b, h] *= g[b, t, h].exp()
        S[b, h] += torch.outer(kt, beta[b, t, h] * (v[b, t, h] - S[b, h].T @ kt))
        out[b, t, h] = S[b, h].T @ qt
    return out, S


def inputs(tokens: int, *, batch=2, key_heads=2, heads=4, dk=8, dv=6, seed=0, dtype=torch.float32):
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape):
        return torch.randn(*shape, generator=generator, dtype=dtype)

    q, k = normal(batch, tokens, key_heads, dk), normal(batch, tokens, key_heads, dk)
    v, g = normal(batch, tokens, heads, dv), -normal(batch, tokens, heads).abs()
    return q, k, v, g, normal(batch, tokens, heads).sigmoid(), normal(batch, heads, dk, dv)


@pytest.mark.parametrize("tokens", [1, 2, 7, 32, 33, 70])
def test_recurrent_and_chunk_equal_the_oracle(tokens: int) -> None:
    x = inputs(tokens)
    wanted_out, wanted_state = oracle(*x)
    for rule in (gated_delta.recurrent, gated_delta.chunk):
        out, state = rule(*x)
        torch.testing.assert_close(out, wanted_out.float(), **TOLERANCE)
        torch.testing.assert_close(state, wanted_state.float(), **TOLERANCE)


@pytest.mark.parametrize("chunk_size", [1, 5, 16, 64])
def test_chunk_size_does_not_matter(chunk_size: int) -> None:
    x = inputs(50)
    out, state = gated_delta.chunk(*x, chunk_size=chunk_size)
    wanted_out, wanted_state = gated_delta.recurrent(*x)
    torch.testing.assert_close(out, wanted_out, **TOLERANCE)
    torch.testing.assert_close(state, wanted_state, **TOLERANCE)


def test_missing_state_is_zero() -> None:
    *x, state = inputs(9)
    assert torch.equal(gated_delta.chunk(*x)[0], gated_delta.chunk(*x, torch.zeros_like(state))[0])


def test_boundary_states_continue_the_sequence() -> None:
    *x, state = inputs(23)
    out, states = gated_delta.chunk_states(*x, state, chunk_size=8)
    assert states.shape[1] == 4
    torch.testing.assert_close(states[:, 0], state)
    for n in range(3):
        piece = [y[:, n * 8 : n * 8 + 8] for y in x]
        piece_out, piece_state = gated_delta.recurrent(*piece, states[:, n])
        torch.testing.assert_close(out[:, n * 8 : n * 8 + 8], piece_out, **TOLERANCE)
        torch.testing.assert_close(states[:, n + 1], piece_state, **TOLERANCE)


def test_strong_decay_neither_overflows_nor_gives_nan() -> None:
    q, k, v, g, beta, state = inputs(64)
    out, last = gated_delta.chunk(q, k, v, g * 200, beta, state, chunk_size=64)
    wanted_out, wanted_last = oracle(q, k, v, g * 200, beta, state)
    torch.testing.assert_close(out, wanted_out.float(), **TOLERANCE)
    torch.testing.assert_close(last, wanted_last.float(), **TOLERANCE)


def test_input_state_is_not_written_to() -> None:
    x = inputs(5)
    before = [y.clone() for y in x]
    gated_delta.chunk(*x)
    gated_delta.recurrent(*x)
    assert all(torch.equal(a, b) for a, b in zip(before, x))


def test_half_precision_keeps_an_fp32_state() -> None:
    *x, _ = inputs(40)
    out, state = gated_delta.chunk(*(y.bfloat16() for y in x))
    assert out.dtype == torch.bfloat16 and state.dtype == torch.float32
    torch.testing.assert_close(state, gated_delta.chunk(*x)[1], rtol=0, atol=0.05)


def test_gradients_flow_through_chunks() -> None:
    x = [y.requires_grad_() for y in inputs(7, batch=1, dk=3, dv=2, key_heads=1, heads=2, dtype=torch.float64)]
    assert torch.autograd.gradcheck(lambda *y: gated_delta.chunk(*y, chunk_size=3), x)
    assert torch.autograd.gradcheck(lambda *y: gated_delta.chunk_states(*y, chunk_size=3), x)


def test_read_is_the_output_of_a_token_that_writes_nothing() -> None:
    q, k, v, g, beta, state = inputs(1)
    out, _ = gated_delta.recurrent(q, k, v, g * 0, beta * 0, state)
    torch.testing.assert_close(gated_delta.read(q, state), out, **TOLERANCE)
