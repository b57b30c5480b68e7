"""Speed of the trunk: prefill, decoding, milliseconds by width; beside llama.cpp where it is there.

`python -m benchmarks.trunk_speed`. With `--node FOLDER`, a folder in which `npm install node-llama-cpp@3.21.1` was run,
and with `llama-cpp-python` installed (built from source for this processor), llama.cpp is measured on the same GGUF and
threads, on Q4_1 as shipped and, through llama-cpp-python, on Q8_0 made from it. Rounds alternate; medians.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import torch

from benchmarks import llama_cpp_speed
from benchmarks.tables import save
from model.decoding import autoregressive, draft_verify
from model.decoding.draft_verify import Drafting
from model.decoding.request import Event, Finished, Generation, Settled
from model.llama import LlamaModel
from model.tokenizer import BytePairTokenizer
from model.weights import catalogue

PREFILL, DECODE, BEHIND = 1000, 64, 300
WIDTHS = (1, 4, 8, 16)
COMMAND = "python -m benchmarks.trunk_speed"
Engine = Callable[[list[int]], tuple[float, float]]
"""Takes a prompt of PREFILL ids; gives tokens per second of reading it and of writing DECODE more."""


def ours(model: LlamaModel) -> Engine:
    def run(ids: list[int]) -> tuple[float, float]:
        start = model.start()
        begin = time.perf_counter()
        logits, state = model.commit(ids, start, rows=slice(-1, None))
        read = time.perf_counter() - begin
        begin = time.perf_counter()
        for _ in range(DECODE):
            logits, state = model.commit([int(logits[-1].argmax())], state)
        return len(ids) / read, DECODE / (time.perf_counter() - begin)

    return run


def by_width(model: LlamaModel, ids: list[int], rounds: int) -> list[float]:
    """Median milliseconds of a pass of each width behind BEHIND tokens, logits of all rows."""
    _, state = model.commit(ids[:BEHIND], model.start(), rows=slice(0, 0))
    times: dict[int, list[float]] = defaultdict(list)
    for _ in range(rounds * 4 + 1):
        for width in WIDTHS:
            begin = time.perf_counter()
            model.commit(ids[BEHIND : BEHIND + width], state)
            times[width].append(1e3 * (time.perf_counter() - begin))
    return [statistics.median(times[width][1:]) for width in WIDTHS]


def copying(model: LlamaModel, tokenizer: BytePairTokenizer, text: str, rounds: int) -> tuple[float, float, float]:
    """A code edit: the text again with a name changed, whose first lines are given. Tokens per second by one token per
    pass and by draft-verify from n-grams (the same tokens), and tokens per pass of the latter."""
    edited = text.replace("start", "begin")
    prompt = tokenizer.encode(f"{text}\n# ---- the same with `begin` for `start`\n{edited[: len(edited) // 3]}")
    request = Generation(prompt, max_tokens=160, sources=(tokenizer.encode(text),))
    plain, drafted = [], []
    for _ in range(rounds):
        begin = time.perf_counter()
        one = list(autoregressive.generate(model, tokenizer, request))
        plain.append(time.perf_counter() - begin)
        begin = time.perf_counter()
        two = list(draft_verify.generate(model, tokenizer, request, Drafting(preview=False)))
        drafted.append(time.perf_counter() - begin)
    if _text(one) != _text(two):
        raise AssertionError("draft-verify wrote another text than plain decoding")
    end = two[-1]
    assert isinstance(end, Finished)
    return end.tokens / statistics.median(plain), end.tokens / statistics.median(drafted), end.tokens / end.passes


def _text(events: list[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, Settled))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--node", type=Path, help="a folder with node_modules/node-llama-cpp")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    loaded = {name: catalogue.load("smollm2", name) for name in ("fp32", "int8")}
    tokenizer = loaded["int8"][1]
    source = Path(torch.nn.modules.linear.__file__).read_text()
    ids = tokenizer.encode(source)[:PREFILL]
    gguf = catalogue.fetch("smollm2")
    with tempfile.TemporaryDirectory() as scratch:
        engines: dict[str, Engine] = {f"ours, {name}": ours(model) for name, (model, _) in loaded.items()}
        engines |= llama_cpp_speed.engines(gguf, Path(scratch), options.threads, options.node, DECODE)
        found: dict[str, list[tuple[float, float]]] = defaultdict(list)
        for _ in range(options.rounds):
            for name, engine in engines.items():
                found[name].append(engine(ids))
    rows = [
        (name, *(f"{statistics.median(speeds):.0f}" for speeds in zip(*found[name])))  # prefill, decode
        for name in engines
    ]
    note = f"{PREFILL} tokens of Python, then {DECODE} written; {options.threads} threads, {options.rounds} rounds."
    save("trunk-speed", ("engine", "prefill, tokens/s", "decode, tokens/s"), rows, note, COMMAND)
    widths = [
        (name, *(f"{value:.1f}" for value in by_width(model, ids, options.rounds)))
        for name, (model, _) in loaded.items()
    ]
    note = f"Milliseconds of one pass behind {BEHIND} tokens, all rows' logits; {options.threads} threads, medians."
    save("trunk-widths", ("precision", *(f"width {width}" for width in WIDTHS)), widths, note, COMMAND)
    plain, drafted, passes = copying(loaded["int8"][0], tokenizer, code(), options.rounds)
    copied = [(f"{plain:.0f}", f"{drafted:.0f}", f"{drafted / plain:.1f}×", f"{passes:.1f}")]
    note = f"int8, 160 tokens of one code edit (a name changed throughout); {options.threads} threads, medians."
    columns = ("one by one, tokens/s", "draft-verify, tokens/s", "ratio", "tokens per pass")
    save("trunk-drafts", columns, copied, note, COMMAND)
    for row in [*rows, *widths, *copied]:
        print("  ".join(row))


def code() -> str:
    """About 600 tokens of code with a name that is used throughout."""
    return Path(llama_cpp_speed.__file__).read_text()[:2400]


if __name__ == "__main__":
    main()
