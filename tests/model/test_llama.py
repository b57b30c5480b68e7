from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from model.branches import Branches
from model.protocol import Block
from tests.model.tiny_llama import CONFIG, some_ids, tiny_llama


def test_reading_in_pieces_equals_reading_at_once() -> None:
    model, ids = tiny_llama(), some_ids(150)
    whole, _ = model.commit(ids, model.start())
    for width in (1, 3, 8, 16, 64):
        state, pieces = model.start(), []
        for at in range(0, len(ids), width):
            logits, state = model.commit(ids[at : at + width], state)
            pieces.append(logits)
        assert model.position(state) == len(ids)
        torch.testing.assert_close(torch.cat(pieces), whole, atol=1e-4, rtol=0)


def test_a_commit_changes_no_state_and_forks_stay_apart() -> None:
    model, ids = tiny_llama(), some_ids(40)
    _, state = model.commit(ids[:20], model.start())
    expected, _ = model.commit(ids[20:30], state)
    _, other = model.commit(ids[30:40], state)
    model.commit(ids[5:25], state)
    again, after = model.commit(ids[20:30], state)
    torch.testing.assert_close(again, expected, atol=0, rtol=0)
    left, _ = model.commit([7], other)
    right, _ = model.commit([7], model.commit(ids[:20] + ids[30:40], model.start())[1])
    torch.testing.assert_close(left, right, atol=1e-4, rtol=0)
    assert model.position(after) == 30 and model.position(state) == 20


def test_rewinding_forgets_what_came_after() -> None:
    model, ids = tiny_llama(), some_ids(30)
    _, state = model.commit(ids, model.start())
    back = model.rewind(state, 25)
    expected, _ = model.commit(ids[:25], model.start(), rows=slice(-1, None))
    torch.testing.assert_close(model.next_logits(back), expected[0], atol=1e-4, rtol=0)
    with pytest.raises(ValueError, match="no prefix"):
        model.rewind(state, 31)


def test_asked_rows_only() -> None:
    model, ids = tiny_llama(), some_ids(12)
    whole, _ = model.commit(ids, model.start())
    last, state = model.commit(ids, model.start(), rows=slice(-1, None))
    none, _ = model.commit(ids, model.start(), rows=slice(0, 0))
    torch.testing.assert_close(last, whole[-1:], atol=1e-5, rtol=0)
    assert none.shape == (0, CONFIG.vocabulary)
    torch.testing.assert_close(model.next_logits(state), whole[-1], atol=1e-5, rtol=0)


def test_a_preview_is_aligned_to_its_block_and_leaves_the_state_alone() -> None:
    model, ids = tiny_llama(), some_ids(30)
    _, state = model.commit(ids[:20], model.start())
    before = state.window.keys_LKTD.clone()
    block = Block(torch.tensor(ids[20:26]), torch.zeros(6, dtype=torch.bool))
    logits = model.preview(block, state)
    known, _ = model.commit(ids[20:26], state)
    torch.testing.assert_close(logits[0], model.next_logits(state), atol=1e-5, rtol=0)
    torch.testing.assert_close(logits[1:], known[:-1], atol=1e-4, rtol=0)
    assert torch.equal(state.window.keys_LKTD, before) and model.position(state) == 20


def test_a_masked_row_does_not_leak_its_token() -> None:
    model, ids = tiny_llama(), some_ids(10)
    _, state = model.commit(ids, model.start())
    masked = torch.tensor([False, True, True, False])
    one = model.preview(Block(torch.tensor([5, 6, 7, 8]), masked), state)
    two = model.preview(Block(torch.tensor([5, 60, 70, 8]), masked), state)
    assert torch.equal(one, two)


def test_without_a_begin_token_there_is_no_preview_of_nothing() -> None:
    model = tiny_llama(config=replace(CONFIG, begin_id=None))
    with pytest.raises(ValueError, match="commit a token first"):
        model.preview(Block(torch.tensor([3]), torch.tensor([True])), model.start())
    assert not model.next_logits(model.start()).any(), "and every token may be the first"


def test_eviction_drops_whole_strides_and_turns_the_rest() -> None:
    """With one layer a key depends on its token and position alone: the window after eviction must equal that of
    reading the kept tokens only."""
    config = replace(CONFIG, layers=1)
    model, wide = tiny_llama(config=config, window=64, stride=16), tiny_llama(config=config)
    ids = some_ids(100)
    _, state = model.commit(ids, model.start())
    kept = [0, *ids][: model.sinks] + [0, *ids][101 - (state.window.length - model.sinks) :]
    assert model.position(state) == 100 and state.window.length <= 64 and (101 - state.window.length) % 16 == 0
    _, expected = wide.commit(kept[1:], wide.start())
    torch.testing.assert_close(state.window.keys_LKTD, expected.window.keys_LKTD, atol=1e-4, rtol=0)
    torch.testing.assert_close(model.next_logits(state), wide.next_logits(expected), atol=1e-3, rtol=0)


def test_branches_equal_reading_each_alone() -> None:
    model, ids = tiny_llama(), some_ids(50)
    _, state = model.commit(ids[:20], model.start())
    tails = torch.tensor([ids[20:26], ids[30:36], ids[40:46]])
    branches = Branches(model, state, 3, 8)
    first = branches.extend(tails[:, :4])
    branches.keep([2, 0])
    second = branches.extend(tails[[2, 0], 4:])
    for row, tail in enumerate(tails.tolist()):
        alone, _ = model.read(tail, state)
        torch.testing.assert_close(first[row], alone[:4], atol=1e-4, rtol=0)
        if row != 1:
            torch.testing.assert_close(second[0 if row == 2 else 1], alone[4:], atol=1e-4, rtol=0)
    with pytest.raises(ValueError, match="exceed"):
        Branches(model, state, 3, 300)
