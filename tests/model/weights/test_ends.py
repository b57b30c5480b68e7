from __future__ import annotations

import json
from pathlib import Path

import pytest

from model.weights.ends import end_ids


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
