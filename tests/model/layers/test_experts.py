from __future__ import annotations

import torch

from model.layers.experts import FeedForward, SparseExperts
from model.layers.linear import FloatLinear
from model.weights.expert_banks import FusedBank, Stack

EXPERTS, WIDTH, INNER = 8, 6, 4


def mixture(coreset: int) -> SparseExperts:
    draw = torch.Generator().manual_seed(0)

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=draw)

    gate, up, down = normal(INNER, WIDTH), normal(INNER, WIDTH), normal(WIDTH, INNER)
    return SparseExperts(
        router_XE=normal(EXPERTS, WIDTH),
        bank=FusedBank(Stack(normal(EXPERTS, 2 * INNER, WIDTH), None), Stack(normal(EXPERTS, WIDTH, INNER), None)),
        shared=FeedForward(FloatLinear(gate), FloatLinear(up), FloatLinear(down)),
        shared_gate=FloatLinear(normal(1, WIDTH)),
        per_token=2,
        renormalise=True,
        coreset=coreset,
    )


ROWS = torch.randn(12, WIDTH, generator=torch.Generator().manual_seed(3))


def test_a_block_uses_no_expert_outside_its_coreset() -> None:
    _, free = mixture(EXPERTS).route(ROWS, known=0)
    weights, experts = mixture(3).route(ROWS, known=0)
    assert len(free.unique()) > 3 >= len(experts.unique())
    torch.testing.assert_close(weights.sum(-1), torch.ones(12))
    p = (ROWS @ mixture(3).router_XE.T).softmax(-1)
    assert set(experts.unique().tolist()) <= set(p.amax(0).topk(3).indices.tolist())


def test_known_rows_route_freely_and_do_not_choose_for_the_block() -> None:
    _, alone = mixture(3).route(ROWS[5:], known=0)
    _, together = mixture(3).route(ROWS, known=5)
    assert torch.equal(together[5:], alone)
    assert torch.equal(together[:5], mixture(EXPERTS).route(ROWS[:5], known=5)[1])


def test_a_rows_result_does_not_depend_on_its_neighbours() -> None:
    layer = mixture(EXPERTS)
    together = layer(ROWS, known=12)
    for row in range(12):
        torch.testing.assert_close(layer(ROWS[row : row + 1], known=1)[0], together[row], rtol=0, atol=1e-5)
