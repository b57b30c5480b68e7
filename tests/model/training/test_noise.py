from __future__ import annotations

import torch

from model.training.noise import sample_blocks


def blocks(rows: int, seed: int = 0):
    return sample_blocks(128, rows, 400, torch.Generator().manual_seed(seed))


def test_every_block_lies_inside_its_segment_with_a_target_for_each_row():
    for rows in (4, 8, 16):
        batch = blocks(rows)
        assert batch.positions_NB().min() >= 1
        assert batch.positions_NB().max() + 1 <= 127


def test_a_row_is_asked_only_for_what_it_cannot_see():
    batch = blocks(8)
    next_masked = torch.cat([batch.masked_NB[:, 1:], torch.ones(400, 1, dtype=torch.bool)], 1)
    assert (batch.weight_NB[~next_masked] == 0).all()
    assert (batch.weight_NB[:, :-1][next_masked[:, :-1]] > 0).all()


def test_the_three_kinds_occur():
    masked = blocks(8).masked_NB
    draft = masked.all(1)
    known_right = ~masked[:, -1] & masked.any(1)
    scattered = (masked.int().diff(dim=1) == 1).sum(1) > 1
    assert draft.float().mean() > 0.4
    assert known_right.float().mean() > 0.2
    assert scattered.any()
    assert not masked[~draft][:, 0].any(), "only a draft hides the row of its first token"


def test_later_rows_of_a_draft_weigh_less():
    batch = blocks(8)
    draft = batch.masked_NB.all(1)
    assert (batch.weight_NB[draft].diff(dim=1) < 0).all()
