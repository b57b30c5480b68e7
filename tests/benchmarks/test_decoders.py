"""How decoders are compared."""

from __future__ import annotations

from benchmarks.decoders import Run, compare, decoders, write
from model.decoding.request import Generation
from tests.model.toy import ByteTokenizer, RewindableToy


def test_ratios_are_of_one_task_each_and_their_median_counts() -> None:
    base = [Run((1,) * 10, 1.0, 10), Run((1,) * 10, 2.0, 10), Run((1,) * 10, 4.0, 10)]
    fast = [Run((1,) * 10, 0.5, 5), Run((1,) * 10, 0.5, 5), Run((2,) * 10, 4.0, 5)]
    rows = compare({"base": base, "fast": fast})
    assert rows[0][1:] == ["5.0", "1.00", "1.00", "3/3"]
    assert rows[1][1:] == ["20.0", "2.00", "2.00", "2/3"]


def test_exact_decoders_write_the_same() -> None:
    model, tokenizer = RewindableToy(seed=2), ByteTokenizer()
    request = Generation(prompt=[1, 2, 3], max_tokens=30, sources=([1, 2, 3, 4, 5],))
    texts = {name: write(generate, model, tokenizer, request).tokens for name, generate in decoders(4).items()}
    assert len({texts[name] for name in texts if name != "diffusion"}) == 1
    assert all(len(text) == 30 for text in texts.values())
