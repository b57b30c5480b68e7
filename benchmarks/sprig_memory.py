"""What reading the repository is worth in bits: `python -m benchmarks.sprig_memory`.

For packages that training never saw, texts of 512 tokens are predicted with the 512 tokens before each in view, after
0 to 200,000 tokens of the same repository were read. Bits on all text are per byte; bits on identifiers are means over
the tokens of names that the repository defines before (def, class, assignment) and the text in view does not contain.
Ways to remember:

- the trunk alone;
- an n-gram cache of what was read, mixed into the trunk's distribution (`model.repository_cache`);
- spliced chunks: keys and values of the chunks most like the last 64 tokens, turned to the places before the view;
  looked up anew every 64 tokens;
- chunks and cache together;
- block rows (drafts of 8 behind the true past) with the history slots closed and open (`--blocks`; at most 20,000
  tokens, since all of them pass through the trunk).

`--fit` prints how much each kind of cache match should be believed, from the validation packages; those numbers
stand in `model/repository_cache.py`. What was done is kept in `--store` and not done again.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.spliced import Chunks
from benchmarks.tables import save
from model.repository_cache import ORDERS, RepositoryCache, mix

VIEW, TEXT, BLOCK, SEGMENT = 512, 512, 8, 64
AMOUNTS = (0, 2_000, 20_000, 200_000)
BLOCKS_UP_TO = 20_000
DEFINED = re.compile(r"(?:\bdef|\bclass)\s+(\w{3,})|^\s*(?:self\.)?(\w{3,})\s*(?::[^=\n]+)?=[^=]", re.M)
TRUNK, CACHE, SPLICED, BOTH = "trunk", "trunk + n-gram cache", "trunk + spliced chunks", "trunk + chunks + cache"
CLOSED, OPEN = "block rows, history closed", "block rows, history open"
COLUMNS = (
    "tokens read", "predicted by", "texts", "bits per byte", "against nothing read",
    "bits per token of names defined elsewhere", "against nothing read", "ms a token",
)  # fmt: skip


class Text:
    """One text to predict: ids, what is in view before it, and all that the repository says before that."""

    def __init__(self, tokenizer: Any, ids: np.ndarray, place: int) -> None:
        self.before = ids[: place - VIEW]
        self.view, self.ids = ids[place - VIEW : place].tolist(), ids[place : place + TEXT].tolist()
        self.size = sum(len(tokenizer.token_bytes(token)) for token in self.ids)
        self.named_T = named_tokens(tokenizer, self.before.tolist(), self.view, self.ids)

    def read(self, amount: int) -> np.ndarray | None:
        """The last `amount` tokens before the view; None where there are not even a quarter as many."""
        return None if amount and len(self.before) < amount // 4 else self.before[len(self.before) - amount :][:amount]


def places(ids: np.ndarray, count: int) -> Iterator[int]:
    """Where the predicted texts start: evenly over the second half of the package."""
    first, last = max(len(ids) // 2, VIEW), len(ids) - TEXT - 1
    yield from (int(place) for place in np.linspace(first, last, count)) if last > first else ()


def named_tokens(tokenizer: Any, read: Sequence[int], view: Sequence[int], text: Sequence[int]) -> np.ndarray:
    """Which tokens of `text` belong to names that `read` defines and `view` does not show."""
    defined = {name for match in DEFINED.finditer(tokenizer.decode(read)) for name in match.groups() if name}
    defined -= set(re.findall(r"\w+", tokenizer.decode(view)))
    pieces = [tokenizer.token_bytes(int(token)) for token in text]
    ends = np.cumsum([len(piece) for piece in pieces])
    whole = b"".join(pieces).decode("latin-1")
    marked = np.zeros(len(text), bool)
    for match in re.finditer(r"\w{3,}", whole):
        if match.group() in defined:
            marked |= (ends > match.start()) & (ends - [len(piece) for piece in pieces] < match.end())
    return marked


def nats_of(logits_TV: torch.Tensor, ids: Sequence[int]) -> np.ndarray:
    return -logits_TV.log_softmax(-1)[torch.arange(len(ids)), torch.tensor(ids)].numpy()


def trunk_logits(model: Any, text: Text) -> torch.Tensor:
    """Rows [T, V] that predict the text, behind the view."""
    _, state = model.commit(text.view[:-1], model.start(), rows=slice(0, 0))
    return model.commit([text.view[-1], *text.ids[:-1]], state)[0]


def spliced_logits(trunk: Any, text: Text, chunks: Chunks) -> torch.Tensor:
    """As `trunk_logits`, with the most similar chunks before the view, chosen anew for each segment."""
    _, state = trunk.commit(text.view[:-1], trunk.start(), rows=slice(0, 0))
    whole, found = [*text.view, *text.ids], []
    for at in range(VIEW - 1, VIEW + TEXT - 1, SEGMENT):
        segment = whole[at : at + SEGMENT]
        logits_TV, _ = trunk.commit(segment, chunks.before(state, whole[at + 1 - SEGMENT : at + 1]))
        found.append(logits_TV)
        _, state = trunk.commit(segment, state, rows=slice(0, 0))
    return torch.cat(found)[:TEXT]


def cached_nats(logits_TV: torch.Tensor, text: Text, cache: RepositoryCache, cells: Cells | None) -> np.ndarray:
    whole, nats_T = text.view + text.ids, np.empty(TEXT)
    for row, token in enumerate(text.ids):
        match = cache.find(whole[VIEW + row - ORDERS[0] : VIEW + row])
        nats_T[row] = -float(mix(logits_TV[row], match)[token])
        if cells is not None and match is not None:
            share = float(match.shares[match.tokens == token].sum())
            kind = match.order, min(match.seen, 3) if len(match.tokens) == 1 else 0
            cells.setdefault(kind, []).append((float(logits_TV[row].softmax(-1)[token]), share))
    return nats_T


Cells = dict[tuple[int, int], list[tuple[float, float]]]  # trunk's and cache's probability of the true token, by match


def best_beliefs(cells: Cells) -> dict[tuple[int, int], float]:
    grid, found = np.linspace(0.02, 0.98, 49), {}
    for cell, pairs in sorted(cells.items(), reverse=True):
        own, cache = np.array(pairs).T
        gain = [np.log((1 - share) * own + share * cache + 1e-12).sum() for share in grid]
        found[cell] = round(float(grid[int(np.argmax(gain))]), 2)
    return found


def memory_of(model: Any, read: Sequence[int]) -> dict[int, torch.Tensor]:
    """The memory of a model that has read these tokens and nothing else."""
    return model.read(list(read), model.start())[1].memory


def block_nats(model: Any, text: Text, memory: dict[int, torch.Tensor]) -> np.ndarray:
    """Nats of the text's tokens as drafted in blocks, each behind its true past, with this memory in the slots."""
    from model.protocol import Block
    from model.sprig import SprigState

    _, state = model.commit(text.view, model.start(), rows=slice(0, 0))
    nats, masked = [], torch.ones(BLOCK, dtype=torch.bool)
    for start in range(0, TEXT, BLOCK):
        target = torch.tensor(text.ids[start : start + BLOCK])
        remembering = SprigState(state.trunk, memory, state.unwritten, state.last)
        nats.append(nats_of(model.preview(Block(target, masked), remembering), target.tolist()))
        _, state = model.commit(target, state, rows=slice(0, 0))
    return np.concatenate(nats)


def measure(
    model: Any, text: Text, amounts: Sequence[int], blocks: bool, cells: Cells | None
) -> dict[str, list[float]]:
    """By "amount|way": bits, bytes, bits on names, their tokens, milliseconds a token."""
    found: dict[str, list[float]] = {}

    def add(amount: int, way: str, nats_T: np.ndarray, seconds: float) -> None:
        bits_T = nats_T / math.log(2)
        spent = 1000 * seconds / TEXT
        named = float(bits_T[text.named_T].sum())
        found[f"{amount}|{way}"] = [float(bits_T.sum()), text.size, named, int(text.named_T.sum()), spent]

    logits_TV = trunk_logits(model, text)
    for amount in amounts:
        read = text.read(amount)
        if read is None:
            continue
        if blocks:
            memory = memory_of(model, [*read, *text.view]) if amount <= BLOCKS_UP_TO else None
            for way, held in ((CLOSED, {}), (OPEN, memory)):
                began = time.perf_counter()
                if held is not None:
                    add(amount, way, block_nats(model, text, held), time.perf_counter() - began)
            continue
        cache = RepositoryCache()
        cache.add("read", read)
        cache.add("view", text.view)
        cache.find(text.view)  # builds the index
        add(amount, TRUNK, nats_of(logits_TV, text.ids), 0.0)
        began = time.perf_counter()
        nats_T = cached_nats(logits_TV, text, cache, cells)
        cached = time.perf_counter() - began
        add(amount, CACHE, nats_T, cached)
        if cells is None and amount:
            chunks = Chunks(model.trunk, read)
            spliced_TV = spliced_logits(model.trunk, text, chunks)
            add(amount, SPLICED, nats_of(spliced_TV, text.ids), chunks.seconds)
            add(amount, BOTH, cached_nats(spliced_TV, text, cache, None), chunks.seconds + cached)
    return found


def rows_of(kept: Sequence[dict[str, list[float]]]) -> list[tuple[str, ...]]:
    """The table; every way is held against the trunk, or closed slots, on the same texts."""
    rows = []
    ways = dict.fromkeys(key for one in kept for key in one)
    order = (TRUNK, CACHE, SPLICED, BOTH, CLOSED, OPEN)
    for amount, way in sorted((key.split("|") for key in ways), key=lambda key: (order.index(key[1]), int(key[0]))):
        key, base = f"{amount}|{way}", f"0|{CLOSED if way in (CLOSED, OPEN) else TRUNK}"
        ours = [one for one in kept if key in one]
        bits, size, named, names, spent = np.sum([one[key] for one in ours], 0)
        base_bits, _, base_named, *_ = np.sum([one[base] for one in ours], 0)
        row = (f"{int(amount):,}", way, str(len(ours)), f"{bits / size:.3f}", f"{bits / base_bits - 1:+.1%}")
        per_name = f"{named / max(names, 1):.2f}", f"{named / max(base_named, 1e-9) - 1:+.1%}"
        rows.append((*row, *per_name, f"{spent / len(ours):.2f}"))
    return rows


def main() -> None:
    from benchmarks.encoded import packages
    from model.sprig import Sprig
    from model.weights import block_side_files
    from model.weights.catalogue import load

    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--corpus", type=Path, default=Path("runs/corpus"))
    parser.add_argument("--places", type=int, default=4, help="texts of each package")
    parser.add_argument("--amounts", type=int, nargs="+", default=list(AMOUNTS))
    parser.add_argument(
        "--blocks", action="store_true", help="block rows instead (reads every amount through the trunk)"
    )
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--seconds", type=float, default=240, help="begin no further text after so long")
    parser.add_argument("--store", type=Path)
    arguments = parser.parse_args()
    began = time.monotonic()
    arrays = packages(arguments.corpus, "validation" if arguments.fit else "test")
    trunk, tokenizer = load("smollm2", "int8")
    model = Sprig(trunk, block_side_files.load(trunk.config))
    cells: Cells | None = {} if arguments.fit else None
    store = arguments.store or Path(f"runs/memory{'_blocks' if arguments.blocks else ''}.jsonl")
    lines = store.read_text().splitlines() if store.exists() and not arguments.fit else []
    kept = {(row["package"], row["place"]): row["found"] for row in map(json.loads, lines)}
    texts = [(name, place) for name, ids in arrays.items() for place in places(ids, arguments.places)]
    for name, place in sorted(texts, key=lambda entry: hash(entry[1])):
        if (name, place) in kept or time.monotonic() - began > arguments.seconds:
            continue
        text = Text(tokenizer, arrays[name], place)
        kept[name, place] = measure(model, text, arguments.amounts, arguments.blocks, cells)
        print(name, place, round(time.monotonic() - began), flush=True)
        if cells is None:
            with store.open("a") as log:
                log.write(json.dumps({"package": name, "place": place, "found": kept[name, place]}) + "\n")
    if cells is not None:
        print(best_beliefs(cells))
        return
    rows = rows_of(list(kept.values()))
    for row in rows:
        print(row)
    measured = ", ".join(sorted({name for name, _ in kept}))
    save(
        "sprig-memory-blocks" if arguments.blocks else "sprig-memory",
        COLUMNS,
        rows,
        f"int8; texts of {TEXT} tokens from packages kept from training ({measured}), {VIEW} tokens in view; "
        "milliseconds on top of the trunk's pass (block rows: with it), on a machine with other work.",
        "python -m benchmarks.sprig_memory" + (" --blocks" if arguments.blocks else ""),
    )


if __name__ == "__main__":
    main()
