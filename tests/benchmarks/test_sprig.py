from __future__ import annotations

import numpy as np
import torch

from benchmarks import sprig_drafts, sprig_memory, sprig_parts
from benchmarks.spliced import CHUNK, Chunks
from tests.model.tiny_sprig import CONFIG, tiny_side, tiny_trunk


def ids(count: int, seed: int) -> list[int]:
    return torch.randint(2, CONFIG.vocabulary, (count,), generator=torch.Generator().manual_seed(seed)).tolist()


def test_spliced_keys_stand_where_they_would_have_been_read():
    """Keys of the first layer depend on token and place alone, so they equal those of a text read as a whole."""
    trunk, read, view = tiny_trunk(), ids(2 * CHUNK, 1), ids(20, 2)
    _, state = trunk.commit(view, trunk.start())
    chunks = Chunks(trunk, np.array(read))
    assert chunks.like(read[:5]) == [0]
    spliced = chunks.before(state, read[:5])
    _, whole = trunk.commit(read[:CHUNK] + view, trunk.start())
    torch.testing.assert_close(spliced.window.keys_LKTD[0], whole.window.keys_LKTD[0], atol=1e-4, rtol=1e-4)
    assert not torch.allclose(spliced.window.keys_LKTD[-1], whole.window.keys_LKTD[-1], atol=1e-3)


def test_the_chunk_that_shares_rare_tokens_is_taken():
    read = np.array([5] * 640)
    read[400:410] = 90
    chunks = Chunks(tiny_trunk(), read)
    assert all(start <= 409 and start + CHUNK > 400 for start in chunks.starts[chunks.like([5, 90])])
    assert chunks.like([77]) == []


def test_drafts_are_counted_by_way_and_timed_against_plain_decoding_of_the_same_case():
    def row(case: int, way: str, passes: int, seconds: float, timed: bool = True) -> dict:
        return {"precision": "int8", "kind": "k", "case": case, "way": way, "tokens": 60, "passes": passes,
                "seconds": seconds, "timed": timed}  # fmt: skip

    kept = [row(0, "plain", 60, 2.0), row(1, "plain", 60, 9.0, timed=False), row(0, "n-gram", 20, 1.0),
            row(1, "n-gram", 40, 0.1, timed=False)]  # fmt: skip
    assert sprig_drafts.rows_of(kept, ["k"]) == [("int8", "k", "n-gram", "2.00", "2", "2.00×", "1")]


def test_memory_is_held_against_the_trunk_on_the_same_texts():
    trunk, cache = "trunk", "trunk + n-gram cache"
    kept = [{f"0|{trunk}": [100.0, 50, 10.0, 5, 0.0], f"2000|{cache}": [80.0, 50, 5.0, 5, 1.0]},
            {f"0|{trunk}": [900.0, 50, 10.0, 5, 0.0]}]  # fmt: skip
    row = sprig_memory.rows_of(kept)[-1]
    assert row == ("2,000", cache, "1", "1.600", "-20.0%", "1.00", "-50.0%", "1.00")


def test_names_defined_before_and_not_in_view_are_marked():
    class Letters:
        def decode(self, ids):
            return "".join(map(chr, ids))

        def token_bytes(self, token):
            return bytes([token])

    read, view, text = (list(map(ord, part)) for part in ("def alpha():\nbeta = 1\n", "beta", "x alpha beta alphabet"))
    marked = sprig_memory.named_tokens(Letters(), read, view, text)
    assert "".join(chr(token) for token, mark in zip(text, marked) if mark) == "alpha"


def test_half_the_rank_is_the_best_approximation_of_that_rank():
    side = tiny_side()
    whole = side.adapter(0).qkv.b @ side.adapter(0).qkv.a
    halved = sprig_parts.changed(side, sprig_parts.halve_rank).adapter(0).qkv
    u, s, v = torch.linalg.svd(whole)
    best = u[:, :2] * s[:2] @ v[:2]
    torch.testing.assert_close(halved.b @ halved.a, best, atol=1e-4, rtol=1e-4)
    assert torch.equal(side.adapter(0).qkv.b @ side.adapter(0).qkv.a, whole), "the original stays as it was"
