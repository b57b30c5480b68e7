"""The gated delta rule: an associative memory per head that decays, corrects itself and is read by queries.

Per head, with a state S of dk × dv and everything in fp32 (Yang, Kautz, Hatamizadeh, "Gated Delta Networks", 2024;
the conventions of L2 norm, scale and gates are those of Qwen3-Next):

    q ← q / √(|q|² + 1e-6) / √dk      k ← k / √(|k|² + 1e-6)
    S ← exp(g) S;   δ = β (v − Sᵀk);   S ← S + k δᵀ;   o = Sᵀ q

Shape letters: B batch, T tokens, H value heads, G key heads (H is a multiple of G, each key head serves H/G consecutive
value heads), K = dk, V = dv, N chunks, C tokens in a chunk.

`recurrent` walks token by token and is meant for one or a few; `chunk` is the same function in the WY form, many
tokens at a time. They agree to rounding (about 1e-6 in fp32), not to the last bit.
"""

from __future__ import annotations

import torch
from torch.nn import functional as F

CHUNK = 32  # of 16, 32, 64 and 128 the fastest on CPUs at dk = dv = 128
EPSILON = 1e-6


def l2_normalise(x: torch.Tensor) -> torch.Tensor:
    """x / √(|x|² + 1e-6) over the last axis, in fp32."""
    x = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    return x * _inverse_norm(x)[..., None]


def read(q_BTGK: torch.Tensor, state_BHKV: torch.Tensor) -> torch.Tensor:
    """What the queries find in a state that stays as it is: Sᵀq with q normalised and scaled as above. [B, T, H, V]"""
    q_BTGK = l2_normalise(q_BTGK) * q_BTGK.shape[-1] ** -0.5
    q_BTHK = _repeat_heads(q_BTGK, state_BHKV.shape[1])
    return (q_BTHK.transpose(1, 2) @ state_BHKV).transpose(1, 2)


def recurrent(
    q_BTGK: torch.Tensor,
    k_BTGK: torch.Tensor,
    v_BTHV: torch.Tensor,
    g_BTH: torch.Tensor,
    beta_BTH: torch.Tensor,
    state_BHKV: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The rule token by token. Raw q and k (it normalises them); g ≤ 0; a missing state is zero.

    Returns the outputs [B, T, H, V] in the dtype of v and the state after the last token, in fp32."""
    q, k, v, g, beta, state = _prepare(q_BTGK, k_BTGK, v_BTHV, g_BTH, beta_BTH, state_BHKV)
    q, k = l2_normalise(q) * q.shape[-1] ** -0.5, l2_normalise(k)
    decay = g.exp()[..., None, None]
    outputs = []
    for t in range(v.shape[1]):
        state = state * decay[:, t]
        delta = beta[:, t, :, None] * (v[:, t] - (k[:, t, :, None] @ state).squeeze(-2))
        state = state + k[:, t, :, :, None] * delta[:, :, None, :]
        outputs.append((q[:, t, :, None] @ state).squeeze(-2))
    return torch.stack(outputs, dim=1).to(v_BTHV.dtype), state


def chunk(
    q_BTGK: torch.Tensor,
    k_BTGK: torch.Tensor,
    v_BTHV: torch.Tensor,
    g_BTH: torch.Tensor,
    beta_BTH: torch.Tensor,
    state_BHKV: torch.Tensor | None = None,
    *,
    chunk_size: int = CHUNK,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The rule in chunks, any T ≥ 1. Arguments and results as of `recurrent`; differentiable in all of them."""
    outputs, state, _ = _scan(q_BTGK, k_BTGK, v_BTHV, g_BTH, beta_BTH, state_BHKV, chunk_size, keep_states=False)
    return outputs, state


def chunk_states(
    q_BTGK: torch.Tensor,
    k_BTGK: torch.Tensor,
    v_BTHV: torch.Tensor,
    g_BTH: torch.Tensor,
    beta_BTH: torch.Tensor,
    state_BHKV: torch.Tensor | None = None,
    *,
    chunk_size: int = CHUNK,
) -> tuple[torch.Tensor, torch.Tensor]:
    """As `chunk`, but with the states at all chunk boundaries, [B, N + 1, H, K, V]: number n is the state before token
    n · chunk_size, the last one the state after token T."""
    outputs, last, entries = _scan(q_BTGK, k_BTGK, v_BTHV, g_BTH, beta_BTH, state_BHKV, chunk_size, keep_states=True)
    return outputs, torch.stack([*entries, last], dim=1)


def _scan(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    g: torch.Tensor,
    beta: torch.Tensor,
    state: torch.Tensor | None,
    chunk_size: int,
    *,
    keep_states: bool,
) -> tuple[torch.Tensor, torch.Tensor, list[torch.Tensor]]:
    """WY form. With A = tril(β K Kᵀ ⊙ D, −1), D_ij = exp(G_i − G_j) and G the cumulative g of the chunk, the deltas of
    a chunk that starts from S are (I + A)⁻¹ β (V − e^G K S).

    All factors that belong to a row (norms, β, decays) are multiplied into C × C matrices or into results instead of
    into q, k and v: those are the large tensors, and on a CPU passes over them cost more than the products."""
    dtype = v.dtype
    q, k, v, g, beta, state = _prepare(q, k, v, g, beta, state)
    batch, tokens, heads = v.shape[:3]
    size = min(chunk_size, tokens)
    count = -(-tokens // size)
    q, k, v, g, beta = (_chunks(x, count, size) for x in (q, k, v, g, beta))

    norm_q = (_inverse_norm(q) * q.shape[-1] ** -0.5)[..., None]
    norm_k = _inverse_norm(k)[..., None]
    beta = beta[..., None]
    total = g.cumsum(-1)[..., None]
    future = torch.ones(size, size, dtype=torch.bool, device=v.device).triu(1)
    # The exponent is masked before exp: above the diagonal it is positive and may overflow.
    decay = (total - total.mT).masked_fill(future, -torch.inf).exp() * norm_k.mT
    # solve_triangular with unitriangular reads only what lies strictly below the diagonal.
    lower = (k @ k.mT) * decay * (beta * norm_k)
    identity = torch.eye(size, dtype=v.dtype, device=v.device)
    inverse = torch.linalg.solve_triangular(lower, identity, upper=False, unitriangular=True) * beta.mT
    scores = (q @ k.mT) * decay * norm_q

    since_start = total.exp()
    until_end = (total[:, :, -1:] - total).exp() * norm_k
    read_k, read_q, whole = since_start * norm_k, since_start * norm_q, since_start[:, :, -1:]
    parts = (q, k, v, inverse, scores, read_k, read_q, until_end, whole)
    entries: list[torch.Tensor] = []
    outputs = []
    state = state.flatten(0, 1)
    for q_i, k_i, v_i, inverse_i, scores_i, read_k_i, read_q_i, until_end_i, whole_i in zip(
        *(x.unbind(0) for x in parts)
    ):
        if keep_states:
            entries.append(state.unflatten(0, (batch, heads)))
        delta = inverse_i @ torch.addcmul(v_i, read_k_i, k_i @ state, value=-1)
        outputs.append(torch.baddbmm((q_i @ state) * read_q_i, scores_i, delta))
        state = torch.baddbmm(whole_i * state, k_i.mT, until_end_i * delta)
    joined = torch.cat([x.unflatten(0, (batch, heads)).transpose(1, 2) for x in outputs], dim=1)
    return joined[:, :tokens].to(dtype), state.unflatten(0, (batch, heads)), entries


def _prepare(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, g: torch.Tensor, beta: torch.Tensor, state: torch.Tensor | None
) -> tuple[torch.Tensor, ...]:
    """Half precision to fp32, key heads repeated to the value heads, a missing state made zero."""
    dtype = torch.float64 if v.dtype == torch.float64 else torch.float32
    q, k, v, g, beta = (x.to(dtype) for x in (q, k, v, g, beta))
    heads = v.shape[2]
    q, k = _repeat_heads(q, heads), _repeat_heads(k, heads)
    if state is None:
        state = v.new_zeros(v.shape[0], heads, k.shape[-1], v.shape[-1])
    return q, k, v, g, beta, state.to(dtype)


def _repeat_heads(x_BTGK: torch.Tensor, heads: int) -> torch.Tensor:
    ratio = heads // x_BTGK.shape[2]
    return x_BTGK if ratio == 1 else x_BTGK.repeat_interleave(ratio, dim=2)


def _inverse_norm(x: torch.Tensor) -> torch.Tensor:
    return (torch.linalg.vector_norm(x, dim=-1).square() + EPSILON).rsqrt()


def _chunks(x: torch.Tensor, count: int, size: int) -> torch.Tensor:
    """[B, T, H, …] to [N, B·H, C, …]; padding with zeros changes neither outputs nor state."""
    padding = count * size - x.shape[1]
    if padding:
        x = F.pad(x, (0, 0) * (x.dim() - 2) + (0, padding))
    order = (1, 0, 3, 2, *range(4, x.dim() + 1))
    return x.unflatten(1, (count, size)).permute(order).flatten(1, 2)
