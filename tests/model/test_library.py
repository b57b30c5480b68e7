from __future__ import annotations

import json

import pytest
import torch

from model.clover import CloverModel
from model.decoding import draft_verify
from model.decoding.request import Finished, Generation, Settled
from model.layers.linear import FloatLinear, Int8Linear
from model.library import NAMES, open_model
from model.sprig import Sprig
from model.weights import catalogue
from model.weights.synthetic import TINY, write_random


def test_the_default_is_sprig_with_its_trained_side():
    """The shipped weights load, and what they draft is accepted more often than chance would have it."""
    torch.set_num_threads(1)
    model, tokenizer = open_model()
    assert isinstance(model, Sprig) and NAMES[0] == "sprig"
    text = "class Stack:\n    def __init__(self):\n        self.items = []\n\n    def push(self, item):\n"
    request = Generation(tokenizer.encode(text), max_tokens=48)
    adapters = draft_verify.Drafting(ngrams=False, succession=0, foresight=2)
    events = list(draft_verify.generate(model, tokenizer, request, adapters))
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


@pytest.mark.skipif(torch.cuda.is_available(), reason="on a GPU the checkpoint keeps its precision")
@pytest.mark.parametrize(("precision", "projection"), [("fp32", FloatLinear), ("int8", Int8Linear)])
def test_a_clover_folder_opens_in_the_precision_asked_for(tmp_path, precision, projection):
    model, _ = open_model(str(write_random(tmp_path, dtype=torch.bfloat16)), precision)
    assert isinstance(model, CloverModel)
    assert model.dtype == torch.float32 and type(model.head) is projection
    assert model.embedding_VE.dtype == torch.bfloat16, "the mapped file's own, cast row by row"


def test_a_hub_name_opens_as_what_its_config_says(tmp_path, monkeypatch):
    """A name that is no folder is fetched first; then its kind decides, as for a local folder."""
    folders = {"Diffuspace/Clover-35B-A3B-Preview": write_random(tmp_path / "clover")}
    monkeypatch.setattr(catalogue, "find_folder", folders.__getitem__)
    for name in folders:
        assert isinstance(open_model(name, "fp32")[0], CloverModel)


def test_an_unknown_precision_is_refused_for_every_kind(tmp_path):
    for name in ("sprig", "smollm2", str(write_random(tmp_path))):
        with pytest.raises(ValueError, match="int4"):
            open_model(name, "int4")


def test_a_folder_of_another_kind_is_refused(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "gpt_j"}))
    with pytest.raises(ValueError):
        open_model(str(tmp_path))


def test_every_end_that_a_clover_folder_names_is_kept(tmp_path):
    folder = write_random(tmp_path, TINY | {"eos_token_id": 256})
    (folder / "generation_config.json").write_text(json.dumps({"eos_token_id": [258, 256]}))
    _, tokenizer = open_model(str(folder), "fp32")
    assert (tokenizer.end_id, tokenizer.ends) == (256, (256, 258))
    (folder / "generation_config.json").unlink()
    (folder / "config.json").write_text(json.dumps(TINY | {"eos_token_id": None}))
    with pytest.raises(ValueError, match="no eos_token_id"):
        open_model(str(folder), "fp32")


@pytest.mark.parametrize("kind", ["llama", "qwen3_5_moe_text"])
def test_a_folder_with_something_missing_or_broken_is_refused_in_one_line(tmp_path, kind):
    folder = write_random(tmp_path / "whole")
    config = json.loads((folder / "config.json").read_text())
    broken = {
        "config.json": (f'{{"model_type": "{kind}"}}', "[]", "{"),
        "tokenizer.json": ("{", "[]"),
        "model.safetensors.index.json": ("{}", "[]", "{"),
    }
    for file, texts in broken.items():
        for text in texts:
            before = (folder / file).read_bytes() if (folder / file).exists() else None
            (folder / file).write_text(text)
            with pytest.raises(ValueError, match=r"."):
                open_model(str(folder), "fp32")
            (folder / file).unlink() if before is None else (folder / file).write_bytes(before)
    assert json.loads((folder / "config.json").read_text()) == config
    (folder / "tokenizer.json").unlink()
    with pytest.raises(ValueError, match=r"tokenizer\.json cannot be read"):
        open_model(str(folder), "fp32")
