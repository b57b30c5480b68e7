from __future__ import annotations

import json
from pathlib import Path

import pytest
import tokenizers
from tokenizers import processors

from model.weights.bounds import begin_id, end_ids
from model.weights.synthetic import write_byte_tokenizer


@pytest.mark.parametrize(
    ("config", "generation", "expected"),
    [
        ({"eos_token_id": 2}, None, (2,)),
        ({"eos_token_id": [5, 2]}, {"eos_token_id": 7}, (5, 2, 7)),
        ({"text_config": {"eos_token_id": 44}, "eos_token_id": 46}, {"eos_token_id": [46, 44]}, (44, 46)),
        ({"text_config": None, "eos_token_id": None}, {"eos_token_id": [46, 44]}, (46, 44)),
        ({}, None, ()),
    ],
)
def test_all_ends_are_found_the_language_models_own_first(tmp_path: Path, config, generation, expected) -> None:
    (tmp_path / "config.json").write_text(json.dumps(config))
    if generation is not None:
        (tmp_path / "generation_config.json").write_text(json.dumps(generation))
    assert end_ids(tmp_path) == expected


def tokenizer(folder: Path, begin: str | None) -> None:
    """A byte-level `tokenizer.json` that puts `begin` before a text."""
    write_byte_tokenizer(folder, 260)
    backend = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    if begin is not None:
        added = [(begin, backend.token_to_id(begin))]
        template = processors.TemplateProcessing(single=f"{begin} $A", special_tokens=added)
        backend.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=False), template])
    backend.save(str(folder / "tokenizer.json"))


@pytest.mark.parametrize(
    ("config", "asked", "begin", "expected"),
    [
        ({"bos_token_id": 256}, None, "<|endoftext|>", 256),
        ({"bos_token_id": 256}, None, "<|im_start|>", None),
        ({"bos_token_id": 256}, None, None, None),
        ({"bos_token_id": 256}, True, None, 256),
        ({"bos_token_id": 256}, False, None, None),
        ({}, True, "<|endoftext|>", None),
    ],
)
def test_a_text_begins_as_the_tokenizer_begins_it(tmp_path: Path, config, asked, begin, expected) -> None:
    tokenizer(tmp_path, begin)
    (tmp_path / "config.json").write_text(json.dumps(config))
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({} if asked is None else {"add_bos_token": asked}))
    assert begin_id(tmp_path) == expected
    (tmp_path / "tokenizer.json").unlink()
    assert begin_id(tmp_path) == (expected if asked else None)
