from __future__ import annotations

from pathlib import Path

import pytest
import torch

from model.layers.linear import int8_supported
from model.llama import LlamaModel
from model.tokenizer import BytePairTokenizer
from model.weights import quantise
from tests.model.tiny_llama import some_ids, tiny_llama

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


def test_calibration_leaves_the_model_as_it_was() -> None:
    model, ids = tiny_llama(), some_ids(20)
    before, _ = model.commit(ids, model.start())
    quantise.quantise(model, some_ids(64))
    assert torch.equal(model.commit(ids, model.start())[0], before)


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
