from __future__ import annotations

import torch

from model.repository_cache import ORDERS, CachedModel, RepositoryCache, mix
from tests.model.tiny_sprig import tiny_trunk


def test_the_longest_match_wins():
    cache = RepositoryCache()
    cache.add("a", [1, 2, 3, 4, 9, 5, 2, 3, 7])
    assert cache.find([8, 2, 3]).tokens.tolist() == [4, 7]
    assert cache.find([1, 2, 3]).tokens.tolist() == [4]
    assert cache.find([5, 2, 3]).tokens.tolist() == [7]
    assert cache.find([6, 6]) is None


def test_a_context_of_any_length_is_found_by_the_hash_that_the_index_has():
    ids = [2**31 - 1, *range(49_140, 49_152), 7]
    for order in ORDERS:
        cache = RepositoryCache()
        cache.add("a", [*ids[:order], 5])
        match = cache.find([1, *ids[:order]])
        assert match.tokens.tolist() == [5] and match.order == order


def test_shares_are_counts():
    cache = RepositoryCache()
    cache.add("a", [1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 4])
    match = cache.find([1, 2])
    assert dict(zip(match.tokens.tolist(), match.shares.round(3).tolist(), strict=True)) == {3: 0.667, 4: 0.333}


def test_matches_do_not_cross_texts_and_follow_changes():
    cache = RepositoryCache()
    cache.add("a", [1, 2])
    cache.add("b", [3, 4])
    assert cache.find([1, 2]) is None
    cache.add("b", [1, 2, 5])
    assert cache.find([1, 2]).tokens.tolist() == [5]
    assert len(cache) == 5


def test_a_mixture_is_a_distribution():
    cache = RepositoryCache()
    cache.add("a", [1, 2, 3])
    logits = torch.randn(96, generator=torch.Generator().manual_seed(0))
    match = cache.find([1, 2])
    mixed = mix(logits, match).exp()
    torch.testing.assert_close(mixed.sum(), torch.tensor(1.0))
    assert mixed[3] > match.trust
    torch.testing.assert_close(mix(logits, None), logits.log_softmax(-1))


def test_a_cached_model_mixes_row_by_row_whatever_the_pieces():
    cache = RepositoryCache()
    text = torch.randint(2, 96, (60,), generator=torch.Generator().manual_seed(1)).tolist()
    cache.add("file", text)
    model = CachedModel(tiny_trunk(), cache)
    whole, _ = model.commit(text[5:40], model.start())
    _, state = model.commit(text[5:20], model.start())
    rest, _ = model.commit(text[20:40], state)
    torch.testing.assert_close(rest, whole[15:], atol=1e-4, rtol=1e-4)
    last, _ = model.commit(text[5:40], model.start(), rows=slice(-1, None))
    torch.testing.assert_close(last, whole[-1:], atol=1e-4, rtol=1e-4)
    assert int(whole[-1].argmax()) == text[40]
