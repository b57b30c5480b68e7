"""How fast a model is on this machine: reading, one pass by its width, writing."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from model.decoding.names import DECODERS
from model.decoding.request import Decoder, Generation, text_of
from model.protocol import BlockModel, Tokenizer

WIDTHS = (1, 4, 8, 16)
_TEXT = "def area(width, height):\n    return width * height\n\n"


def measure(model: BlockModel[Any], tokenizer: Tokenizer, tokens: int = 128, repeats: int = 3) -> dict[str, float]:
    """Medians of `repeats` runs after one to warm up: `read_tokens_s`, `pass_ms_<width>` behind `tokens` read ones, and
    `ar_tokens_s` and `draft_verify_tokens_s` without the reading. The text repeats itself, which favours drafts."""
    ids = (tokenizer.encode(_TEXT) * tokens)[:tokens]
    read_s = _median_s(lambda: model.commit(ids, model.start(), rows=slice(-1, None)), repeats)
    figures = {"read_tokens_s": tokens / read_s}
    _, state = model.commit(ids, model.start(), rows=slice(0, 0))
    for width in WIDTHS:
        rows = (ids * width)[:width]
        figures[f"pass_ms_{width}"] = 1000 * _median_s(partial(model.commit, rows, state), repeats)
    _, before = model.commit(ids[:-1], model.start(), rows=slice(0, 0))
    request = Generation(prompt=ids[-1:], max_tokens=tokens, start=before, sources=(ids,))
    for name in ("ar", "draft_verify"):
        written = _write(DECODERS[name], model, tokenizer, request)
        seconds = _median_s(partial(_write, DECODERS[name], model, tokenizer, request), repeats)
        figures[f"{name}_tokens_s"] = written / seconds
    return figures


def _write(decoder: Decoder, model: BlockModel[Any], tokenizer: Tokenizer, request: Generation) -> int:
    return text_of(decoder(model, tokenizer, request))[1].tokens


def _median_s(action: Callable[[], Any], repeats: int) -> float:
    times = []
    for _ in range(repeats + 1):
        begun = time.perf_counter()
        action()
        times.append(time.perf_counter() - begun)
    return statistics.median(times[1:])
