from __future__ import annotations

import torch

from model.layers.successor import Successor
from model.training.successor import AHEAD, go_on
from tests.model.tiny_sprig import CONFIG, tiny_trunk


def texts(count: int) -> list[torch.Tensor]:
    """One phrase over and over, from different places: the trunk settles on what follows."""
    random = torch.Generator().manual_seed(2)
    phrase = torch.randint(2, CONFIG.vocabulary, (11,), generator=random)
    return [phrase.repeat(8)[at : at + 48] for at in range(count)]


def test_it_learns_what_the_trunk_will_say():
    torch.manual_seed(0)
    trunk, successor = tiny_trunk(), Successor(CONFIG.width, 32)
    short_VE = trunk.embedding_VE
    optimizer = torch.optim.AdamW(successor.parameters(), lr=1e-2)
    before = go_on(trunk, successor.eval(), short_VE, texts(1)[0])
    successor.train()
    for _ in range(8):
        for ids_T in texts(8):
            found = go_on(trunk, successor, short_VE, ids_T)
            optimizer.zero_grad()
            found.loss.backward()
            optimizer.step()
    after = go_on(trunk, successor.eval(), short_VE, texts(1)[0])
    assert after.loss < before.loss - 0.5
    assert after.first > before.first + 0.3
    assert after.first <= after.accepted <= AHEAD


def test_in_int8_it_says_nearly_the_same():
    torch.manual_seed(1)
    successor = Successor(CONFIG.width, 32)
    assert not successor.trained
    torch.nn.init.normal_(successor.out.weight)
    assert successor.trained
    hidden, chosen = torch.randn(2, 5, CONFIG.width)
    exact, rounded = successor.frozen(int8=False)(hidden, chosen), successor.frozen(int8=True)(hidden, chosen)
    assert torch.equal(exact, successor(hidden, chosen))
    assert torch.nn.functional.cosine_similarity(exact, rounded, -1).min() > 0.99
