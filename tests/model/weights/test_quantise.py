from __future__ import annotations

import weakref
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from model.layers.linear import int8_supported
from model.llama import LlamaLayer, LlamaModel
from model.tokenizer import BytePairTokenizer
from model.weights import quantise
from tests.model.tiny_llama import CONFIG, some_ids, tiny_llama

pytestmark = pytest.mark.skipif(not int8_supported(), reason="this processor has no FBGEMM kernels")


def test_a_kept_model_comes_back_equal(tmp_path: Path) -> None:
    model, ids = quantise.quantise(tiny_llama(), some_ids(64)), some_ids(20, seed=5)
    quantise.save(model, tmp_path / "m.safetensors")
    again = quantise.load(tmp_path / "m.safetensors")
    assert again is not None and again.config == model.config
    assert torch.equal(again.commit(ids, again.start())[0], model.commit(ids, model.start())[0])
    assert [path.name for path in tmp_path.iterdir()] == ["m.safetensors"]


def test_a_torn_or_foreign_file_is_not_loaded(tmp_path: Path) -> None:
    path = tmp_path / "m.safetensors"
    assert quantise.load(path) is None
    quantise.save(quantise.quantise(tiny_llama(), some_ids(64)), path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    assert quantise.load(path) is None
    path.write_bytes(whole.replace(b'"version":"1"', b'"version":"0"'))
    assert quantise.load(path) is None
    path.write_bytes(whole.replace(b"rope_base", b"rope_bass"))
    assert quantise.load(path) is None


def test_calibration_leaves_the_model_as_it_was() -> None:
    model, ids = tiny_llama(), some_ids(20)
    before, _ = model.commit(ids, model.start())
    quantise.quantise(model, some_ids(64))
    assert torch.equal(model.commit(ids, model.start())[0], before)


def test_smoothing_is_that_of_one_pass_of_the_whole_model() -> None:
    model, ids = tiny_llama(), some_ids(64)
    seen: list[torch.Tensor] = []
    last = model.layers[-1].down
    model.layers[-1].down = lambda x: (seen.append(x.abs().amax(0)), last(x))[1]
    model.commit(ids, model.start())
    reach = torch.stack(seen).amax(0)
    model.layers[-1].down = last
    expected = reach.clamp_min(1e-3) ** 0.5 / last.weight.abs().amax(0).clamp_min(1e-3) ** 0.5
    found = quantise.quantise(model, ids).layers[-1].down.parts()["smooth"]
    torch.testing.assert_close(found, expected, rtol=1e-3, atol=0)


@pytest.mark.parametrize("begin_id", [CONFIG.begin_id, None])
def test_layers_may_come_one_at_a_time(begin_id: int | None) -> None:
    config = replace(CONFIG, begin_id=begin_id)
    whole, waiting = tiny_llama(config=config), tiny_llama(config=config).layers
    frame = whole.with_projections([], whole.head)
    seen: list[weakref.ref[LlamaLayer]] = []

    def one_by_one() -> Iterator[LlamaLayer]:
        while waiting:
            layer = waiting.pop(0)
            seen.append(weakref.ref(layer))
            yield layer
            del layer
            assert sum(one() is not None for one in seen) <= 1, "what was rounded is not kept"

    small, expected = quantise.quantise(frame, some_ids(64), one_by_one()), quantise.quantise(whole, some_ids(64))
    ids = some_ids(20, seed=5)
    found, _ = small.commit(ids, small.start())
    torch.testing.assert_close(found, expected.commit(ids, expected.start())[0], atol=1e-3, rtol=0)
    assert len(seen) == len(small.layers) == CONFIG.layers


def test_a_row_of_the_trunk_does_not_depend_on_the_width_of_its_pass(
    trunk: tuple[LlamaModel, BytePairTokenizer],
) -> None:
    """To the bit: the int8 sums are exact, and attention does not depend on the width either."""
    model, tokenizer = trunk
    ids = (tokenizer.encode(Path(__file__).read_text()) * 2)[:560]
    whole, _ = model.commit(ids, model.start(), rows=slice(500, None))
    _, middle = model.commit(ids[:500], model.start(), rows=slice(0, 0))
    for width in (1, 7, 16):
        state, pieces = middle, []
        for at in range(500, len(ids), width):
            logits, state = model.commit(ids[at : at + width], state)
            pieces.append(logits)
        assert torch.equal(torch.cat(pieces), whole)
