"""What preview, commit and step promise, on a tiny random checkpoint with Clover's own parameters."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from model.clover import CloverModel
from model.clover_config import CloverConfig
from model.decoding import autoregressive, draft_verify
from model.decoding.request import Generation, Settled
from model.memory import MemoryState
from model.protocol import Block
from model.weights.clover_files import load_clover
from model.weights.synthetic import TINY, write_random
from tests.model.toy import ByteTokenizer

torch.set_num_threads(1)  # tiny tensors: a second thread only waits
TEXT = list(b"def add(a, b):\n    return a + b\n")


def close(found: torch.Tensor, expected: torch.Tensor, tolerance: float = 2e-5) -> None:
    torch.testing.assert_close(found, expected, rtol=0, atol=tolerance)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> CloverModel:
    return load_clover(write_random(tmp_path_factory.mktemp("clover")))


@pytest.fixture(scope="module")
def state(model: CloverModel) -> MemoryState:
    return model.commit(TEXT, model.start(), rows=slice(0, 0))[1]


def block(model: CloverModel, known: list[int], masks: int) -> Block:
    masked = torch.arange(len(known) + masks) >= len(known)
    return Block(torch.tensor(known + [0] * masks), masked)


def contents(state: MemoryState) -> dict[str, torch.Tensor]:
    windows = {name: torch.stack([w.keys_LKTD, w.values_LKTD]) for name, w in state.windows.items()}
    return {name: tensor.clone() for name, tensor in {**state.tensors, **windows}.items()}


def same_bits(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


@pytest.mark.parametrize("masks", [0, 3, 8])
def test_preview_leaves_the_state_bit_identical(model: CloverModel, state: MemoryState, masks: int) -> None:
    before = contents(state)
    first = model.preview(block(model, [40, 41], masks), state)
    again = model.preview(block(model, [40, 41], masks), state)
    assert same_bits(before, contents(state))
    assert first.shape == (2 + masks, model.vocabulary) and torch.equal(first, again)


def test_previewed_then_committed_equals_committed_alone(model: CloverModel) -> None:
    known = list(b"x = add(1")
    _, alone = model.commit(TEXT, model.start())
    expected, after_alone = model.commit(known, alone)
    _, previewed = model.commit(TEXT, model.start())
    model.preview(block(model, known, 0), previewed)
    found, after = model.commit(known, previewed)
    assert torch.equal(found, expected)
    assert same_bits(contents(after), contents(after_alone))


def test_a_block_never_changes_earlier_logits(model: CloverModel, state: MemoryState) -> None:
    known = list(b"sub(")
    expected, _ = model.step(known, 3, state)
    other, _ = model.step([*known[:2], 7, 9], 3, state)
    close(other[:2], expected[:2])
    wider, _ = model.step(known, 6, state)
    close(wider[:4], expected[:4])
    close(model.commit(known, state)[0], expected[:4])


def test_rows_of_a_block_see_both_sides_and_the_history(model: CloverModel, state: MemoryState) -> None:
    base = model.preview(block(model, [40, 41, 42], 1), state)
    right_changed = model.preview(block(model, [40, 41, 43], 1), state)
    assert (right_changed[0] - base[0]).abs().max() > 1e-3
    _, other = model.commit(list(b"class A: pass"), model.start())
    assert (model.preview(block(model, [40, 41, 42], 1), other)[0] - base[0]).abs().max() > 1e-3


def test_a_masked_positions_old_token_is_not_read(model: CloverModel, state: MemoryState) -> None:
    masked = torch.tensor([False, True])
    one = model.preview(Block(torch.tensor([40, 1]), masked), state)
    assert torch.equal(one, model.preview(Block(torch.tensor([40, 2]), masked), state))


def test_step_gives_the_state_after_every_accepted_prefix(model: CloverModel, state: MemoryState) -> None:
    known = list(b"mul(a")
    logits, states = model.step(known, 4, state)
    assert logits.shape == (9, model.vocabulary) and len(states) == 5
    for count in range(1, 6):
        _, expected = model.commit(known[:count], state)
        kept = states[count - 1]
        assert kept.position == expected.position == len(TEXT) + count
        for name, tensor in contents(expected).items():
            close(contents(kept)[name], tensor)
    assert states[-1].position == len(TEXT) + 5


def test_steps_draft_rows_are_the_preview_behind_the_known_ones(model: CloverModel, state: MemoryState) -> None:
    known = list(b"mul(a")
    logits, states = model.step(known, 4, state)
    close(logits[5:], model.preview(block(model, [], 5), states[-1])[1:])


def test_forks_do_not_disturb_each_other(model: CloverModel, state: MemoryState) -> None:
    left, left_state = model.commit(list(b"left"), state)
    model.commit(list(b"right, longer"), state)
    model.preview(block(model, [1], 9), state)
    again, again_state = model.commit(list(b"left"), state)
    assert torch.equal(left, again)
    assert same_bits(contents(left_state), contents(again_state))


def test_saved_and_reloaded_state_continues_identically(model: CloverModel, state: MemoryState, tmp_path: Path) -> None:
    state.save(tmp_path / "state")
    loaded = MemoryState.load(tmp_path / "state", model.model_id)
    assert same_bits(contents(loaded), contents(state)) and loaded.position == state.position
    assert torch.equal(model.commit(TEXT, loaded)[0], model.commit(TEXT, state)[0])
    assert torch.equal(model.preview(block(model, [40], 7), loaded), model.preview(block(model, [40], 7), state))


def test_a_state_of_other_weights_is_refused(model: CloverModel, tmp_path: Path) -> None:
    other = load_clover(write_random(tmp_path, seed=1))
    with pytest.raises(ValueError, match="belongs to the model"):
        model.commit([1], other.start())


def test_attention_window_bounds_the_state_and_does_not_depend_on_the_passes(tmp_path: Path) -> None:
    folder = write_random(tmp_path)
    bounded = load_clover(folder, attention_window=16)
    ids = (TEXT * 40)[:1100]
    whole, at_once = bounded.commit(ids, bounded.start())
    pieces, state = [], bounded.start()
    for start in range(0, len(ids), 137):
        logits, state = bounded.commit(ids[start : start + 137], state)
        pieces.append(logits)
    close(torch.cat(pieces), whole, 1e-4)
    assert at_once.window_bytes < load_clover(folder).commit(ids, bounded.start())[1].window_bytes
    close(bounded.commit([1], at_once)[0], bounded.commit([1], state)[0], 1e-4)


def test_without_clovers_parameters_the_commit_is_the_same(model: CloverModel, tmp_path: Path) -> None:
    plain = load_clover(write_random(tmp_path))
    for layer in plain.layers:
        for part in ("right_CK", "block"):
            if hasattr(layer.mixer, part):
                delattr(layer.mixer, part)
    assert torch.equal(plain.commit(TEXT, plain.start())[0], model.commit(TEXT, model.start())[0])


def test_value_mix_comes_from_the_config(model: CloverModel, state: MemoryState, tmp_path: Path) -> None:
    scaled = load_clover(write_random(tmp_path / "beta", TINY | {"bd_value_mix": "beta"}))
    _, scaled_state = scaled.commit(TEXT, scaled.start())
    difference = scaled.preview(block(scaled, [40], 7), scaled_state) - model.preview(block(model, [40], 7), state)
    assert difference.abs().max() > 1e-3
    with pytest.raises(ValueError, match="value_mix is 'cubic'; known are plain, beta"):
        CloverConfig.from_json(TINY | {"bd_value_mix": "cubic"})


def test_it_is_a_one_pass_model_for_draft_verify(model: CloverModel) -> None:
    assert isinstance(model, draft_verify.OnePass)


def test_drafts_change_no_text(model: CloverModel) -> None:
    """Up to near ties, which random weights do not have: passes of another width sum in another order."""
    drafted = 0
    for prompt in (TEXT, TEXT[::-1], list(b"import os, sys\n") * 3):
        request = Generation(prompt, max_tokens=40, sources=(prompt,))
        written = []
        for decoder in (autoregressive, draft_verify):
            *events, done = decoder.generate(model, ByteTokenizer(), request)
            written.append([token for event in events if isinstance(event, Settled) for token in event.tokens])
            drafted += done.drafted
        assert written[0] == written[1]
    assert drafted > 0
