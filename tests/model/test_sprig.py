from __future__ import annotations

import pytest
import torch

from model.block_side import Context, run_rows
from model.decoding import autoregressive, diffusion, draft_verify
from model.decoding.diffusion import Denoising
from model.decoding.names import DECODERS
from model.decoding.request import Denoised, Finished, Generation, Settled
from model.layers.linear import FloatLinear
from model.protocol import Block
from model.sprig import Sprig
from model.weights.block_side_files import load, save
from tests.model.tiny_sprig import CONFIG, tiny_side, tiny_trunk
from tests.model.toy import ByteTokenizer

TEXT = torch.randint(2, CONFIG.vocabulary, (37,), generator=torch.Generator().manual_seed(3)).tolist()


@pytest.fixture
def sprig() -> Sprig:
    return Sprig(tiny_trunk(), tiny_side())


def close(a: torch.Tensor, b: torch.Tensor) -> None:
    torch.testing.assert_close(a, b, atol=1e-4, rtol=1e-4)


def test_commit_is_the_bare_trunk(sprig):
    ours, _ = sprig.commit(TEXT, sprig.start())
    trunks, _ = sprig.trunk.commit(TEXT, sprig.trunk.start())
    assert torch.equal(ours, trunks)


def test_foresight_verifies_as_commit_does_and_its_states_go_on_alike(sprig):
    _, state = sprig.commit(TEXT[:20], sprig.start())
    expected, _ = sprig.commit(TEXT[20:26], state)
    found = sprig.foresee(TEXT[20:26], 3, state)
    assert torch.equal(found.logits_KV, expected)
    for kept in range(6):
        after, _ = sprig.commit(TEXT[30:], found.states[kept])
        fresh, _ = sprig.commit(TEXT[: 21 + kept] + TEXT[30:], sprig.start())
        close(after, fresh[21 + kept :])


def test_a_group_of_drafts_is_the_block_that_training_saw(sprig):
    """Group k of a foresight equals a block of masks behind the committed tokens up to known[k]."""
    _, state = sprig.commit(TEXT[:20], sprig.start())
    found = sprig.foresee(TEXT[20:24], 3, state)
    for row in range(4):
        window = found.states[row].trunk.window
        mask_13 = torch.ones(1, 3, dtype=torch.bool)
        x_13E = sprig.side.embed(sprig.trunk, torch.zeros(1, 3, dtype=torch.int64), mask_13)
        turn = sprig.trunk.turns_TD[window.length : window.length + 3][None]
        memory = {layer: held[None] for layer, held in found.states[row].memory.items()}
        context = Context(window.keys_LKTD, window.values_LKTD, None, memory)
        alone = run_rows(sprig.trunk, sprig.side, x_13E, turn, context)
        assert found.drafts(row, 5) == sprig.draft(alone[0], 5)
        close(found._hidden_KME[row], alone[0])


def test_preview_sees_both_sides_and_changes_nothing(sprig):
    _, state = sprig.commit(TEXT[:20], sprig.start())
    before = {layer: held.clone() for layer, held in state.memory.items()}
    keys = state.trunk.window.keys_LKTD.clone()
    masked = torch.tensor([True, True, True, False, False])
    block = torch.tensor(TEXT[20:25])
    first = sprig.preview(Block(block, masked), state)
    block[:3] = 7
    assert torch.equal(first, sprig.preview(Block(block, masked), state)), "what stands under a mask must not matter"
    block[4] = (block[4] + 1) % CONFIG.vocabulary
    assert not torch.allclose(first[0], sprig.preview(Block(block, masked), state)[0]), "the right context must matter"
    assert all(torch.equal(before[layer], held) for layer, held in state.memory.items())
    assert torch.equal(keys, state.trunk.window.keys_LKTD)


def test_memory_has_constant_size_and_does_not_depend_on_the_pieces(sprig):
    _, whole = sprig.commit(TEXT, sprig.start())
    pieces = sprig.start()
    for start in range(0, len(TEXT), 5):
        _, pieces = sprig.commit(TEXT[start : start + 5], pieces)
    assert whole.unwritten == pieces.unwritten == len(TEXT) % sprig.side.config.chunk
    for layer, held in whole.memory.items():
        assert held.shape == sprig.start().memory[layer].shape
        assert held.abs().sum() > 0
        close(held, pieces.memory[layer])


def test_memory_reaches_beyond_the_window():
    """With a window of 64 tokens, what was read 400 tokens ago still changes a preview, and only through the memory."""
    block = Block(torch.zeros(4, dtype=torch.int64), torch.ones(4, dtype=torch.bool))

    def seen(first: int, memory: bool) -> torch.Tensor:
        trunk = tiny_trunk()
        trunk.limit, trunk.stride, trunk.sinks = 64, 16, 1
        model = Sprig(trunk, tiny_side(), memory=memory)
        _, state = model.commit([first] * 8 + (TEXT * 12)[:400], model.start())
        return model.preview(block, state)

    assert not torch.equal(seen(5, True), seen(9, True))
    torch.testing.assert_close(seen(5, False), seen(9, False), atol=1e-3, rtol=1e-3)


def test_rewind_forgets_what_is_not_yet_in_the_memory(sprig):
    _, state = sprig.commit(TEXT[:22], sprig.start())
    back = sprig.rewind(state, 21)
    after, _ = sprig.commit(TEXT[30:], back)
    fresh, _ = sprig.commit(TEXT[:21] + TEXT[30:], sprig.start())
    close(after, fresh[21:])
    with pytest.raises(ValueError, match="memory has taken up"):
        sprig.rewind(state, 10)


def test_draft_verify_writes_what_plain_decoding_writes(sprig):
    def written(decoder) -> tuple[list[int], Finished]:
        request = Generation(TEXT[:10], max_tokens=40)
        events = list(decoder.generate(sprig, ByteTokenizer(), request))
        return [t for event in events if isinstance(event, Settled) for t in event.tokens], events[-1]

    plain, _ = written(autoregressive)
    drafted, finished = written(draft_verify)
    assert drafted == plain
    assert finished.drafted > 0


def test_every_way_of_drafting_writes_the_same(sprig):
    """Drafts are made sure of themselves, so that some of them are taken and some are not."""
    with torch.no_grad():
        sprig._shortlist = FloatLinear(sprig.trunk.embedding_VE * 20)
    request = Generation(TEXT[:10], max_tokens=60)
    plain = [
        t for e in autoregressive.generate(sprig, ByteTokenizer(), request) if isinstance(e, Settled) for t in e.tokens
    ]
    for drafting in (
        draft_verify.Drafting(ngrams=False, succession=3),
        draft_verify.Drafting(ngrams=False, succession=0, foresight=2),
        draft_verify.Drafting(succession=2, foresight=3),
    ):
        *events, finished = draft_verify.generate(sprig, ByteTokenizer(), request, drafting)
        assert [t for event in events if isinstance(event, Settled) for t in event.tokens] == plain
        assert finished.drafted > finished.accepted


@pytest.mark.parametrize("name", DECODERS)
def test_every_decoder_writes_more_than_a_block_can_hold(sprig, name):
    assert sprig.longest_block == 39
    *events, finished = DECODERS[name](sprig, ByteTokenizer(), Generation(TEXT[:10], max_tokens=90))
    assert finished.tokens == sum(len(event.tokens) for event in events if isinstance(event, Settled)) == 90


@pytest.mark.parametrize(("asked", "rows"), [(None, 15), (Denoising(64), 39), (Denoising(8), 8)])
def test_blocks_are_as_long_as_in_training_or_as_asked_for_where_they_fit(sprig, asked, rows):
    events = diffusion.generate(sprig, ByteTokenizer(), Generation(TEXT[:10], max_tokens=60), asked)
    assert max(len(event.tokens) for event in events if isinstance(event, Denoised)) == rows


def test_the_successor_goes_on_from_the_last_row(sprig):
    with torch.no_grad():
        sprig._shortlist = FloatLinear(sprig.trunk.embedding_VE * 20)
    _, state = sprig.commit(TEXT[:20], sprig.start())
    first = sprig.side.successor(state.trunk.recent_TE[-1], sprig.trunk.embedding_VE[7])
    chain = sprig.succeed(state, 7, 3)
    assert chain[0] == int((sprig.trunk.embedding_VE @ first).argmax())
    assert sprig.succeed(state, 7, 1) == chain[:1]


def test_doubtful_drafts_are_not_offered(sprig):
    with torch.no_grad():
        sprig._shortlist = FloatLinear(sprig.trunk.embedding_VE * 0)
    _, state = sprig.commit(TEXT[:20], sprig.start())
    assert sprig.succeed(state, 7, 3) == []


def test_saved_and_loaded(sprig, tmp_path):
    save(sprig.side, tmp_path, {"steps": 3})
    again = Sprig(tiny_trunk(), load(CONFIG, tmp_path))
    block = Block(torch.tensor(TEXT[:6]), torch.ones(6, dtype=torch.bool))
    torch.testing.assert_close(
        again.preview(block, again.start()), sprig.preview(block, sprig.start()), atol=0.05, rtol=0.05
    )
