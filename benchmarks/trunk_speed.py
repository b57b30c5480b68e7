"""Speed of the trunk: reading, writing, milliseconds by width, drafts on code edits; llama.cpp beside it, if there.

    python -m benchmarks.trunk_speed --node FOLDER --python build/llama_cpp/bin/python

`--node` names a folder in which `npm install --ignore-scripts node-llama-cpp@3.21.1` was run, `--python` an interpreter
that has `llama-cpp-python`, built from source for this processor. Both read the same GGUF on the same number of
threads: Q4_1 as shipped and, made from it, Q8_0. Rounds alternate between the engines; medians. An edit is a file of
the standard library in which the commonest name is changed throughout: the file and the first third of the edited one
are the prompt, and may be copied from.
"""

from __future__ import annotations

import argparse
import keyword
import re
import statistics
import sysconfig
import tempfile
import time
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path

import torch

from benchmarks import llama_cpp_speed
from benchmarks.llama_cpp_speed import Engine
from benchmarks.tables import save
from model.decoding import autoregressive, draft_verify
from model.decoding.draft_verify import Drafting
from model.decoding.request import Event, Finished, Generation, Settled
from model.llama import LlamaModel
from model.tokenizer import BytePairTokenizer
from model.weights import catalogue

PREFILL, DECODE, BEHIND, EDITED = 1000, 64, 300, 160
WIDTHS = (1, 4, 8, 16)
COMMAND = "python -m benchmarks.trunk_speed --node FOLDER --python INTERPRETER"


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


@dataclass(frozen=True)
class Edit:
    """A text and the same with one name changed, of which the model is shown the beginning."""

    text: str
    prompt: str


def edits(count: int) -> list[Edit]:
    """Of files of the standard library at even distances; about 700 tokens each."""
    paths = [path for path in sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py")) if path.stat().st_size > 6000]
    found = []
    for path in paths[:: len(paths) // count][:count]:
        text = path.read_text("utf-8")[3000:5400]
        names = Counter(name for name in re.findall(r"\b[a-z_]{4,}\b", text) if not keyword.iskeyword(name))
        name = names.most_common(1)[0][0]
        edited = re.sub(rf"\b{name}\b", f"{name}_new", text)
        found.append(Edit(text, f"{text}\n# ---- the same with {name}_new for {name}\n{edited[: len(edited) // 3]}"))
    return found


def copying(model: LlamaModel, tokenizer: BytePairTokenizer, edit: Edit, rounds: int) -> tuple[float, float, float]:
    """Tokens per second by one token per pass and by draft-verify from n-grams (the same tokens), without the reading
    of the prompt, and tokens per pass of the latter."""
    prompt = tokenizer.encode(edit.prompt)
    _, before = model.commit(prompt[:-1], model.start(), rows=slice(0, 0))
    sources = (tokenizer.encode(edit.text),)
    request = Generation(prompt[-1:], max_tokens=EDITED, sources=sources, start=before, behind=prompt[:-1])
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


def _absolute(path: str) -> Path:
    """Not resolved: an environment's interpreter is a link."""
    return Path(path).absolute()


def _text(events: list[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, Settled))


def against(found: dict[str, tuple[float, float]], drafted: float) -> list[tuple[str, ...]]:
    """Ours in int8 beside the fastest llama.cpp in each discipline."""
    others = {name: speeds for name, speeds in found.items() if name.startswith("llama.cpp")}
    read, wrote = found["ours, int8"]
    rows = []
    for what, mine, which, goal in (
        ("reading", read, 0, "2.5×"),
        ("writing one by one", wrote, 1, "1.2×"),
        ("writing code edits, n-gram drafts", drafted, 1, "3×"),
    ):
        best = max(others, key=lambda name: others[name][which])
        theirs = others[best][which]
        rows.append((what, f"{mine:.0f}", f"{theirs:.0f}", best, f"{mine / theirs:.2f}×", goal))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--edits", type=int, default=12)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--node", type=_absolute, help="a folder with node_modules/node-llama-cpp")
    parser.add_argument("--python", type=_absolute, help="an interpreter that has llama-cpp-python")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    loaded = {name: catalogue.load("smollm2", name) for name in ("fp32", "int8")}
    tokenizer = loaded["int8"][1]
    source = Path(torch.nn.modules.linear.__file__).read_text()
    ids = tokenizer.encode(source)[:PREFILL]
    gguf = catalogue.fetch("smollm2")
    with tempfile.TemporaryDirectory() as scratch:
        engines: dict[str, Engine] = {f"ours, {name}": ours(model) for name, (model, _) in loaded.items()}
        engines |= llama_cpp_speed.engines(gguf, Path(scratch), options.threads, options.node, options.python, DECODE)
        runs: dict[str, list[tuple[float, float]]] = defaultdict(list)
        for _ in range(options.rounds):
            for name, engine in engines.items():
                runs[name].append(engine(ids))
    speeds = {name: tuple(map(statistics.median, zip(*pairs))) for name, pairs in runs.items()}
    rows = [(name, f"{read:.0f}", f"{wrote:.0f}") for name, (read, wrote) in speeds.items()]
    conditions = f"{options.threads} threads, medians of {options.rounds} rounds"
    note = f"{PREFILL} tokens of Python, then {DECODE} written; {conditions}."
    save("trunk-speed", ("engine", "reading, tokens/s", "writing, tokens/s"), rows, note, COMMAND)
    widths = [
        (name, *(f"{value:.1f}" for value in by_width(model, ids, options.rounds)))
        for name, (model, _) in loaded.items()
    ]
    note = f"Milliseconds of one pass behind {BEHIND} tokens, all rows' logits; {conditions}."
    save("trunk-widths", ("precision", *(f"width {width}" for width in WIDTHS)), widths, note, COMMAND)
    copied = [copying(loaded["int8"][0], tokenizer, edit, 3) for edit in edits(options.edits)]
    plain, drafted, passes, ratio = map(statistics.median, zip(*((*row, row[1] / row[0]) for row in copied)))
    drafts = [(f"{plain:.0f}", f"{drafted:.0f}", f"{ratio:.1f}×", f"{passes:.1f}")]
    note = (
        f"int8, up to {EDITED} tokens of {len(copied)} edits (a name changed throughout); {options.threads} threads; "
    )
    note += "medians over the edits. The same text both ways."
    columns = ("one by one, tokens/s", "draft-verify, tokens/s", "ratio", "tokens per pass")
    save("trunk-drafts", columns, drafts, note, COMMAND)
    beside = []
    if len(speeds) > len(loaded):
        beside = against(speeds, drafted)
        columns = ("", "ours in int8, tokens/s", "llama.cpp's best, tokens/s", "which", "ratio", "goal")
        save("trunk-against-llama-cpp", columns, beside, f"As above; {conditions}.", COMMAND)
    for row in [*rows, *widths, *drafts, *beside]:
        print("  ".join(row))


if __name__ == "__main__":
    main()
