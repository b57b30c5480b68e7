from __future__ import annotations

from pathlib import Path

import pytest
import torch

from model.layers.linear import FloatLinear, Int8Linear, int8_supported
from model.memory import MemoryState
from model.memory_store import MemoryStore
from model.protocol import Block
from model.sprig import Sprig
from model.sprig_memory import format_of
from model.weights import quantise
from model.weights.clover_files import load_clover
from model.weights.synthetic import TINY, write_random
from tests.model.tiny_llama import some_ids, tiny_llama
from tests.model.tiny_sprig import tiny_side, tiny_trunk
from tests.model.toy import ToyModel

TEXT = some_ids(150)


def sprig(**bounds: int) -> Sprig:
    trunk = tiny_trunk()
    for name, value in bounds.items():
        setattr(trunk, name, value)
    return Sprig(trunk, tiny_side())


def stored(path: Path, model, state):
    form = format_of(model)
    form.pack(state).save(path)
    return form.unpack(MemoryState.load(path, form.model_id))


@pytest.mark.parametrize("count", [0, 1, 63, 64, 101])
@pytest.mark.parametrize("bounds", [{}, {"limit": 64, "stride": 16, "sinks": 1}], ids=["whole", "evicted"])
def test_a_loaded_state_goes_on_to_the_bit(tmp_path, count, bounds) -> None:
    model = sprig(**bounds)
    _, state = model.commit(TEXT[:count], model.start())
    again = stored(tmp_path / "s", model, state)
    assert (again.unwritten, again.last, again.trunk.position) == (state.unwritten, state.last, count)
    assert torch.equal(model.next_logits(again), model.next_logits(state))
    block = Block(torch.tensor(TEXT[110:118]), torch.arange(8) % 2 > 0)
    assert torch.equal(model.preview(block, again), model.preview(block, state))
    ours, theirs = (model.foresee(TEXT[:3], 3, one) for one in (again, state))
    assert torch.equal(ours.logits_KV, theirs.logits_KV)
    assert ours.drafts(1, 5) == theirs.drafts(1, 5)
    for pieces in ([40], [1, 7, 32]):
        one, other = again, state
        start = count
        for size in pieces:
            a, one = model.commit(TEXT[start : start + size], one)
            b, other = model.commit(TEXT[start : start + size], other)
            assert torch.equal(a, b)
            start += size
        assert all(torch.equal(one.memory[layer], other.memory[layer]) for layer in other.memory)


def test_a_llama_without_a_memory_goes_on_to_the_bit(tmp_path) -> None:
    model = tiny_llama()
    _, state = model.commit(TEXT[:70], model.start())
    again = stored(tmp_path / "s", model, state)
    assert torch.equal(model.commit(TEXT[70:80], again)[0], model.commit(TEXT[70:80], state)[0])
    assert format_of(model).settle(state, 8) is state, "its window is all that it has"


def test_a_stored_state_goes_no_further_back_than_the_one_that_was_stored(tmp_path) -> None:
    model = tiny_llama(window=64, stride=16)
    for read, back in ((70, 65), (60, 40)):
        _, state = model.commit(TEXT[:read], model.start())
        again = stored(tmp_path / str(read), model, state)
        for one in (state, again):
            assert model.rewind(one, back).window.length == state.window.length - read + back
    _, state = model.commit(TEXT[:70], model.start())
    for one in (state, stored(tmp_path / "s", model, state)):
        with pytest.raises(ValueError, match="no prefix"):
            model.rewind(one, 60)


def test_clovers_states_are_kept_as_they_are(tmp_path) -> None:
    model = load_clover(write_random(tmp_path / "clover", TINY))
    _, state = model.commit(TEXT, model.start())
    again = stored(tmp_path / "s", model, state)
    assert torch.equal(model.commit([5], again)[0], model.commit([5], state)[0])


def test_a_settled_state_is_small_and_keeps_the_memory() -> None:
    model = sprig()
    _, state = model.commit(TEXT, model.start())
    form = format_of(model)
    small = form.settle(state, 20)
    assert small.trunk.window.length == 20 + model.trunk.sinks
    assert model.position(small) == len(TEXT)
    assert all(torch.equal(small.memory[layer], state.memory[layer]) for layer in state.memory)
    assert form.pack(small).window_bytes < form.pack(state).window_bytes / 4
    # What is still seen stands at its old distance: the last row's keys turned alike.
    fresh = model.trunk.shortened(state.trunk.window, 24)
    assert torch.equal(fresh.keys_LKTD, small.trunk.window.keys_LKTD)
    assert form.settle(small, 20) is small


def test_settling_never_drops_what_the_memory_has_not_taken_up() -> None:
    model = sprig()
    _, state = model.commit(TEXT[:103], model.start())
    assert state.unwritten == 3
    small = format_of(model).settle(state, 1)
    after, both = (model.commit(TEXT[103:104], one)[1] for one in (small, state))
    assert small.trunk.window.length == 3 + model.trunk.sinks
    # Keys of the first layer depend on nothing that was dropped: the memory must have taken up the same four tokens.
    torch.testing.assert_close(after.memory[0], both.memory[0], atol=1e-4, rtol=1e-4)


def test_every_model_has_a_name_of_its_own() -> None:
    other = Sprig(tiny_trunk(), tiny_side(seed=2))
    closed = Sprig(tiny_trunk(), tiny_side(), memory=False)
    short = sprig(limit=64)
    models = [sprig(), other, closed, short, tiny_trunk(), tiny_trunk(seed=5)]
    assert len({format_of(model).model_id for model in models}) == len(models)
    assert format_of(sprig()).model_id == format_of(sprig()).model_id
    with pytest.raises(ValueError, match="belongs to the model"):
        format_of(other).unpack(format_of(sprig()).pack(sprig().start()))
    with pytest.raises(ValueError, match="ToyModel"):
        format_of(ToyModel())


@pytest.mark.parametrize("part", ["qkv", "output", "gate_up", "down", "head"])
def test_a_state_of_other_projections_is_refused(part) -> None:
    """Sizes, norms and embedding are the same."""
    model, other = tiny_llama(), tiny_llama()
    owner = other if part == "head" else other.layers[1]
    setattr(owner, part, FloatLinear(getattr(owner, part).weight + 0.01))
    with pytest.raises(ValueError, match="belongs to the model"):
        format_of(other).unpack(format_of(model).pack(model.start()))


@pytest.mark.skipif(not int8_supported(), reason="this processor has no FBGEMM kernels")
def test_a_state_of_other_projections_in_int8_is_refused(tmp_path) -> None:
    model = quantise.quantise(tiny_llama(), some_ids(64))
    quantise.save(model, tmp_path / "m.safetensors")
    same, other = (quantise.load(tmp_path / "m.safetensors") for _ in range(2))
    parts = other.layers[2].qkv.parts()
    parts["levels"][3] = -parts["levels"][3]
    other.layers[2].qkv = Int8Linear(**parts)
    assert format_of(same).model_id == format_of(model).model_id != format_of(other).model_id


def test_notes_are_found_again(tmp_path) -> None:
    model = sprig()
    form = format_of(model)
    store = MemoryStore(tmp_path, 1 << 24)
    _, state = model.commit(TEXT[:9], model.start())
    assert store.put(["a", "b"], form.pack(state), {"root": "/x", "model_id": "mine"})
    assert store.notes(form.model_id, ["a", "b"]) == {"root": "/x", "model_id": "mine"}
    assert store.notes(form.model_id, ["a"]) == {}
    assert store.holds(form.model_id, ["a", "b", "c"]) == 2
    assert store.holds(form.model_id, ["b"]) == 0
    (entry,) = store.entries()
    assert entry.model_id == form.model_id and entry.notes["root"] == "/x"
    found, count = store.longest_prefix(form.model_id, ["a", "b", "c"])
    assert found is not None and count == 2 and found.position == 9
