from __future__ import annotations

import json

import pytest
import torch

from model.clover import CloverModel
from model.decoding import draft_verify
from model.decoding.request import Finished, Generation, Settled
from model.library import NAMES, open_model, trunk_of
from model.sprig import Sprig
from model.weights.synthetic import write_random
from tests.model.tiny_sprig import tiny_side, tiny_trunk


def test_the_default_is_sprig_with_its_trained_side():
    """The shipped weights load, and what they draft is accepted more often than chance would have it."""
    torch.set_num_threads(1)
    model, tokenizer = open_model()
    assert isinstance(model, Sprig) and NAMES[0] == "sprig"
    text = "class Stack:\n    def __init__(self):\n        self.items = []\n\n    def push(self, item):\n"
    request = Generation(tokenizer.encode(text), max_tokens=48)
    events = list(draft_verify.generate(model, tokenizer, request))
    finished = events[-1]
    assert isinstance(finished, Finished)
    assert finished.accepted > 0.15 * finished.drafted
    plain = []
    state = model.trunk.start()
    _, state = model.trunk.commit(tokenizer.encode(text), state)
    for _ in range(finished.tokens):
        token = int(model.trunk.next_logits(state).argmax())
        plain.append(token)
        _, state = model.trunk.commit([token], state)
    assert [token for event in events if isinstance(event, Settled) for token in event.tokens] == plain


def test_the_trunk_of_a_model():
    trunk = tiny_trunk()
    assert trunk_of(trunk) is trunk
    assert trunk_of(Sprig(trunk, tiny_side())) is trunk
    with pytest.raises(ValueError, match="Llama"):
        trunk_of(object())


@pytest.mark.parametrize(("precision", "kept"), [("fp32", torch.float32), ("int8", torch.bfloat16)])
def test_a_clover_folder_opens_in_the_precision_asked_for(tmp_path, precision, kept):
    model, _ = open_model(str(write_random(tmp_path, dtype=torch.bfloat16)), precision)
    assert isinstance(model, CloverModel)
    assert model.dtype == model.embedding_VE.dtype == kept
    assert model.device.type == ("cuda" if torch.cuda.is_available() else "cpu")


def test_a_folder_of_another_kind_is_refused(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "gpt_j"}))
    with pytest.raises(ValueError):
        open_model(str(tmp_path))
