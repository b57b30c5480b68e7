"""The ids that begin and end a text, from wherever a checkpoint's files name them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import tokenizers


def end_ids(folder: Path) -> tuple[int, ...]:
    """Every `eos_token_id` of a model folder, the language model's own first: those of `text_config` and of the top of
    config.json, then those of generation_config.json. Published checkpoints name the end of a document in one place
    and the end of a turn in another. Raises ValueError where a file is no JSON."""
    config = read_object(folder / "config.json")
    found: dict[int, None] = {}
    for part in (config.get("text_config") or {}, config, read_object(folder / "generation_config.json")):
        named = part.get("eos_token_id")
        for one in named if isinstance(named, list) else [named]:
            if isinstance(one, int):
                found[one] = None
    return tuple(found)


def begin_id(folder: Path) -> int | None:
    """The `bos_token_id` of config.json where the tokenizer puts it before every text, as tokenizer_config.json asks
    for (`add_bos_token`) or as tokenizer.json does by itself. None where texts begin without: a model that never saw
    the token there would read it as a part of the text. Raises ValueError where a file cannot be read."""
    begin = read_object(folder / "config.json").get("bos_token_id")
    if not isinstance(begin, int):
        return None
    if read_object(folder / "tokenizer_config.json").get("add_bos_token"):
        return begin
    file = folder / "tokenizer.json"
    added = read_tokenizer(file).encode("").ids[:1] if file.is_file() else []
    return begin if added == [begin] else None


def read_tokenizer(path: Path) -> tokenizers.Tokenizer:
    """What a `tokenizer.json` describes. Raises ValueError where there is none, or it cannot be read."""
    try:
        return tokenizers.Tokenizer.from_file(str(path))
    except Exception as error:  # the library has no type of its own for it
        raise ValueError(f"{path} cannot be read as a tokenizer: {error}") from error


def read_object(path: Path) -> dict[str, Any]:
    """The object in a JSON file; an empty one where there is no file. Raises ValueError where it holds none."""
    found = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    if not isinstance(found, dict):
        raise ValueError(f"{path} holds no JSON object")
    return found
