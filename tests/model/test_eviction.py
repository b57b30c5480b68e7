"""What a full window drops depends on what was read, never on how: in which passes, with which drafts rejected."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from model.branches import Branches
from model.decoding import autoregressive, draft_verify, full_canvas
from model.decoding.draft_verify import Drafting
from model.decoding.request import Event, Finished, Generation, Settled
from model.llama import LlamaModel
from model.protocol import Block
from model.sprig import Sprig
from tests.model.tiny_llama import some_ids, tiny_llama
from tests.model.tiny_sprig import tiny_side, tiny_trunk
from tests.model.toy import ByteTokenizer

WINDOW, STRIDE = 64, 16
EDGES = range(WINDOW - 1, 200, STRIDE)  # tokens that the model has read whenever it finds its window full


@pytest.fixture
def model() -> LlamaModel:
    return tiny_llama(window=WINDOW, stride=STRIDE)


@pytest.fixture
def sprig() -> Sprig:
    trunk = tiny_trunk()
    trunk.limit, trunk.stride = WINDOW, STRIDE
    return Sprig(trunk, tiny_side())


def tokens_of(events: Iterator[Event]) -> list[int]:
    return [token for event in events if isinstance(event, Settled) for token in event.tokens]


def misled(text: list[int], every: int) -> list[int]:
    """The text with a wrong token in each of so many places: drafts of which some stand."""
    return [(token + 1) % 90 + 2 if at % every == every - 1 else token for at, token in enumerate(text)]


@pytest.mark.parametrize("width", [2, 3, 7, 16, 17, 33, 64, 65, 150])
def test_reading_in_pieces_of_any_size_drops_the_same(model: LlamaModel, width: int) -> None:
    ids = some_ids(150)
    single, rows = model.start(), []
    for token in ids:
        logits, single = model.commit([token], single)
        rows.append(logits)
    state, pieces = model.start(), []
    for at in range(0, len(ids), width):
        logits, state = model.commit(ids[at : at + width], state)
        pieces.append(logits)
    torch.testing.assert_close(torch.cat(pieces), torch.cat(rows), atol=1e-3, rtol=0)
    torch.testing.assert_close(state.window.keys_LKTD, single.window.keys_LKTD, atol=1e-3, rtol=0)


@pytest.mark.parametrize("width", [1, 2, 5, 8, 13])
@pytest.mark.parametrize("prompt", [10, WINDOW - 2, WINDOW - 1, WINDOW])
def test_drafts_change_no_text_beyond_the_window(model: LlamaModel, width: int, prompt: int) -> None:
    asked = {"prompt": some_ids(prompt), "max_tokens": 120, "temperature": 1.0}
    plain = tokens_of(autoregressive.generate(model, ByteTokenizer(), Generation(**asked)))
    assert len(set(plain)) > 20, "the text does not just repeat itself"
    for every in (4, 9):
        request = Generation(**asked, sources=(asked["prompt"] + misled(plain, every),))
        *events, done = draft_verify.generate(model, ByteTokenizer(), request, Drafting(width))
        assert tokens_of(iter(events)) == plain
        assert isinstance(done, Finished) and 0 < done.accepted < done.drafted


@pytest.mark.parametrize(
    "drafting", [Drafting(5), Drafting(5, foresight=2), Drafting(5, ngrams=False, succession=0, foresight=5)]
)
def test_sprigs_drafts_change_no_text_beyond_the_window(sprig: Sprig, drafting: Drafting) -> None:
    asked = {"prompt": some_ids(20), "max_tokens": 120, "temperature": 1.0}
    plain = tokens_of(autoregressive.generate(sprig, ByteTokenizer(), Generation(**asked)))
    request = Generation(**asked, sources=(asked["prompt"] + misled(plain, 6),))
    *events, done = draft_verify.generate(sprig, ByteTokenizer(), request, drafting)
    assert tokens_of(iter(events)) == plain
    assert isinstance(done, Finished) and (done.drafted or not drafting.ngrams)


@pytest.mark.parametrize("read", [WINDOW - 4, WINDOW - 1, WINDOW + STRIDE - 3])
def test_a_foresight_beyond_the_window_reads_as_commit_does(sprig: Sprig, read: int) -> None:
    ids = some_ids(read + 30)
    _, state = sprig.commit(ids[:read], sprig.start())
    expected, _ = sprig.commit(ids[read : read + 7], state)
    found = sprig.foresee(ids[read : read + 7], 3, state)
    torch.testing.assert_close(found.logits_KV, expected, atol=1e-4, rtol=1e-4)
    for kept in range(7):
        assert len(found.drafts(kept, 5)) <= 3
        after, _ = sprig.commit(ids[-6:], found.states[kept])
        fresh, _ = sprig.commit(ids[: read + kept + 1] + ids[-6:], sprig.start())
        torch.testing.assert_close(after, fresh[-6:], atol=1e-3, rtol=1e-3)


def test_going_back_is_refused_where_the_earlier_window_is_gone(model: LlamaModel) -> None:
    ids = some_ids(150)
    for edge in EDGES[:4]:
        _, state = model.commit(ids[: edge + 5], model.start())
        for kept in range(edge, edge + 5):
            back, _ = model.commit(ids[-9:], model.rewind(state, kept))
            fresh, _ = model.commit(ids[:kept] + ids[-9:], model.start())
            torch.testing.assert_close(back, fresh[-9:], atol=1e-3, rtol=0)
        with pytest.raises(ValueError, match="no prefix"):
            model.rewind(state, edge - 1)


def test_a_window_that_never_was_full_goes_back_to_its_beginning(model: LlamaModel) -> None:
    _, state = model.commit(some_ids(WINDOW - 1), model.start())
    assert model.rewind(state, 0).window.length == 1
    with pytest.raises(ValueError, match="no prefix"):
        model.rewind(state, -1)


@pytest.mark.parametrize("rows", [2, 8, 63, 64, 65, 150])
def test_a_preview_reads_as_commit_does_however_long(model: LlamaModel, rows: int) -> None:
    ids = some_ids(200)
    _, state = model.commit(ids[:50], model.start())
    logits = model.preview(Block(torch.tensor(ids[50 : 50 + rows]), torch.zeros(rows, dtype=torch.bool)), state)
    known, _ = model.commit(ids[50 : 50 + rows], state)
    torch.testing.assert_close(logits[1:], known[:-1], atol=1e-3, rtol=0)


def test_a_canvas_longer_than_the_window_is_filled(model: LlamaModel) -> None:
    request = Generation(some_ids(50), max_tokens=100)
    *events, done = full_canvas.generate(model, ByteTokenizer(), request, steps=3)
    assert isinstance(done, Finished) and done.tokens == len(tokens_of(iter(events))) == 100


def test_branches_go_on_from_a_window_that_has_dropped_tokens(model: LlamaModel) -> None:
    ids = some_ids(150)
    _, state = model.commit(ids[:140], model.start())
    room = WINDOW - state.window.length
    assert room >= 3
    tails = torch.tensor([ids[:3], ids[3:6]])
    found = Branches(model, state, 2, room).extend(tails)
    for row, tail in enumerate(tails.tolist()):
        torch.testing.assert_close(found[row], model.read(tail, state)[0], atol=1e-3, rtol=0)


def test_the_smallest_windows_hold() -> None:
    for window in (2, 3, 5, 9):
        model = tiny_llama(window=window)
        logits, state = model.commit(some_ids(20), model.start())
        assert torch.isfinite(logits).all() and state.window.length <= window
