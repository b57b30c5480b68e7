from __future__ import annotations

import numpy as np
import pytest
import torch

from benchmarks import encoded, sprig_drafts, sprig_memory, sprig_parts
from benchmarks.spliced import CHUNK, Chunks
from model.sprig import Sprig
from tests.model.tiny_sprig import CONFIG, tiny_side, tiny_trunk
from tests.model.toy import ByteTokenizer


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


class Bytes(ByteTokenizer):
    end_id = CONFIG.end_id


@pytest.mark.parametrize("way", [sprig_drafts.PLAIN, *sprig_drafts.USUAL])
def test_a_given_text_is_written_by_every_way(way):
    sprig, old = Sprig(tiny_trunk(), tiny_side()), ids(40, 4)
    new = [7 if token == old[3] else token for token in old]
    case = sprig_drafts.Case((*old, 9, new[0]), len(new) - 1, (tuple(old),), tuple(new[1:]))
    _, state = sprig.commit(case.prompt[:-1], sprig.start())
    tokens, passes, _ = sprig_drafts.decode(sprig, Bytes(), case, state, way)
    assert tokens == new[1:]
    assert passes == len(tokens) if way == sprig_drafts.PLAIN else passes <= len(tokens)
    assert passes < 12 or "n-gram" not in way


def test_a_rewritten_function_differs_from_what_is_shown_in_one_name():
    source = "\n\n\n".join(
        f"def scale{at}(values, factor):\n" + "    values = values + factor\n" * 8 for at in range(400)
    )
    tokenizer = ByteTokenizer()
    (case,) = sprig_drafts.rewriting([np.array(tokenizer.encode(source))], tokenizer, 1, 3)
    old, shown = tokenizer.decode(case.sources[0]), tokenizer.decode(case.prompt)
    assert shown.startswith(old) and shown.endswith("# the same, factor is called new_factor\nd")
    assert ("d" + tokenizer.decode(case.text)).startswith(old.replace("factor", "new_factor")[:60])
    assert case.written == len(case.text) == sprig_drafts.REWRITTEN


def test_without_packages_it_is_said_how_to_get_them(tmp_path):
    with pytest.raises(SystemExit, match="--split test --folder"):
        encoded.packages(tmp_path)
    np.save(tmp_path / "arrow.npy", np.arange(5))
    assert list(encoded.packages(tmp_path)) == ["arrow"]


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


def test_parts_and_steps_go_on_where_they_were_left(tmp_path, monkeypatch):
    """Segments done before are read again for the memory they carry, and nothing is done twice."""
    monkeypatch.setattr(sprig_parts, "LENGTH", 64)
    monkeypatch.setattr(sprig_parts, "ROWS", 64)
    monkeypatch.setattr(sprig_parts, "PAST", 32)
    model, arrays = Sprig(tiny_trunk(), tiny_side()), [np.array(ids(900, 5), np.int32)]

    def run(name: str, segments: int, blocks: int) -> sprig_parts.Store:
        store = sprig_parts.Store(tmp_path / name, 600)
        sprig_parts.parts(model.trunk, model.side, arrays, segments, store)
        sprig_parts.steps(model, ByteTokenizer(), arrays, blocks, store)
        return store

    whole = run("whole", 3, 4).found
    run("pieces", 1, 2)
    assert run("pieces", 3, 4).found == whole == sprig_parts.Store(tmp_path / "whole", 0).found
    lines = (tmp_path / "pieces").read_text().splitlines()
    assert len(lines) == 7
    store = sprig_parts.Store(tmp_path / "pieces", 0)
    rows = sprig_parts.part_rows(store.of("part"))
    assert [row[0] for row in rows] == list(sprig_parts.settings(model.side))
    own = {row[0]: row[-1] for row in sprig_parts.step_rows(store.of("step"))}
    assert len(own) == len(sprig_parts.STEPS) + 2 and own["the trunk itself, one by one"] == "100%"
