"""What reading the repository is worth in bits: `python -m benchmarks.sprig_memory`.

For packages that training never saw, text is predicted with the 512 tokens before it in view, after 0 to 200,000
tokens of the same repository were read: by the trunk alone, by the trunk with the repository's n-gram cache mixed
in, and by block rows (drafts of 8) with the history slot closed and open. Bits on all text are per byte; bits on
identifiers are sums over the tokens of names that the part that was read defines (def, class, assignment) and the
text in view does not contain.

`--fit` prints how much each kind of cache match should be believed, from the validation packages; those numbers
stand in `model/repository_cache.py`.
"""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.tables import save

VIEW, TEXT, BLOCK = 512, 512, 8
AMOUNTS = (0, 2_000, 20_000, 200_000)
DEFINED = re.compile(r"(?:\bdef|\bclass)\s+(\w{3,})|^\s*(?:self\.)?(\w{3,})\s*(?::[^=\n]+)?=[^=]", re.M)


@dataclass
class Bits:
    """Sums of bits, bytes of text, and bits on identifiers defined elsewhere."""

    bits: float = 0.0
    size: int = 0
    named: float = 0.0
    names: int = 0

    def add(self, nats_T: np.ndarray, size: int, named_T: np.ndarray) -> None:
        self.bits += float(nats_T.sum()) / math.log(2)
        self.size += size
        self.named += float(nats_T[named_T].sum()) / math.log(2)
        self.names += int(named_T.sum())


@dataclass
class Cells:
    """For the fit: (trunk's probability, cache's probability) of the true token, by kind of match."""

    pairs: dict[tuple[int, int], list[tuple[float, float]]] = field(default_factory=dict)

    def best(self) -> dict[tuple[int, int], float]:
        grid = np.linspace(0.02, 0.98, 49)
        found = {}
        for cell, pairs in sorted(self.pairs.items(), reverse=True):
            own, cache = np.array(pairs).T
            gain = [np.log((1 - share) * own + share * cache + 1e-12).sum() for share in grid]
            found[cell] = round(float(grid[int(np.argmax(gain))]), 2)
        return found


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


class Reader:
    """A package's memory states, read once from its start and kept at the places that are asked for."""

    def __init__(self, model: Any, ids: np.ndarray) -> None:
        self.model, self.ids = model, ids

    def memory(self, start: int, end: int) -> dict[int, Any]:
        state = self.model.start()
        if end > start:
            _, state = self.model.read([int(i) for i in self.ids[start:end]], state)
        return state.memory


def block_nats(model: Any, view_state: Any, memory: dict[int, Any], text: Sequence[int]) -> np.ndarray:
    """Nats of the text's tokens as drafted in blocks (each behind its true past), the memory replaced by `memory`."""
    import torch

    from model.protocol import Block
    from model.sprig import SprigState

    nats = []
    state = view_state
    masked = torch.ones(BLOCK, dtype=torch.bool)
    for start in range(0, len(text) - BLOCK + 1, BLOCK):
        target = torch.tensor(text[start : start + BLOCK])
        with_memory = SprigState(state.trunk, memory, state.unwritten, state.last)
        logits_TV = model.preview(Block(target, masked), with_memory)
        nats.append(-logits_TV.log_softmax(-1)[torch.arange(BLOCK), target].numpy())
        _, state = model.commit(target, state, rows=slice(0, 0))
    return np.concatenate(nats)


def measure(model: Any, tokenizer: Any, ids: np.ndarray, count: int, amounts: Sequence[int], blocks: bool,
            table: dict[tuple[int, str], Bits], cells: Cells | None) -> None:  # fmt: skip
    import torch

    from model.repository_cache import ORDERS, RepositoryCache, mix

    for place in places(ids, count):
        view, text = ids[place - VIEW : place].tolist(), ids[place : place + TEXT].tolist()
        _, view_state = model.commit(view[:-1], model.start(), rows=slice(0, 0))
        logits_TV, _ = model.commit([view[-1], *text[:-1]], view_state)
        _, view_state = model.commit(view[-1:], view_state, rows=slice(0, 0))
        size = sum(len(tokenizer.token_bytes(token)) for token in text)
        own_T = -logits_TV.log_softmax(-1)[torch.arange(TEXT), torch.tensor(text)].numpy()
        for amount in amounts:
            start = max(0, place - VIEW - amount)
            if amount and place - VIEW - start < amount // 4:
                continue
            read = ids[start : place - VIEW].tolist()
            named_T = named_tokens(tokenizer, ids[: place - VIEW].tolist(), view, text)
            cache = RepositoryCache()
            cache.add("read", read)
            cache.add("view", view)
            whole = view + text
            mixed_T = np.empty(TEXT)
            for row in range(TEXT):
                match = cache.find(whole[VIEW + row - ORDERS[0] : VIEW + row])
                mixed_T[row] = -float(mix(logits_TV[row], match)[text[row]])
                if cells is not None and match is not None:
                    share = float(match.shares[match.tokens == text[row]].sum())
                    kind = match.order, min(match.seen, 3) if len(match.tokens) == 1 else 0
                    cells.pairs.setdefault(kind, []).append((math.exp(-own_T[row]), share))
            table.setdefault((amount, "trunk"), Bits()).add(own_T, size, named_T)
            table.setdefault((amount, "trunk + n-gram cache"), Bits()).add(mixed_T, size, named_T)
            if blocks:
                closed = block_nats(model, view_state, {}, text)
                memory = Reader(model, ids).memory(start, place)
                opened = block_nats(model, view_state, memory, text)
                table.setdefault((amount, "block rows, history closed"), Bits()).add(closed, size, named_T)
                table.setdefault((amount, "block rows, history open"), Bits()).add(opened, size, named_T)


def main() -> None:
    from model.sprig import Sprig
    from model.training import corpus
    from model.weights import block_side_files
    from model.weights.catalogue import load

    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--corpus", type=Path, default=Path("runs/corpus"))
    parser.add_argument("--places", type=int, default=4, help="texts of each package")
    parser.add_argument("--amounts", type=int, nargs="+", default=list(AMOUNTS))
    parser.add_argument("--blocks", action="store_true", help="block rows too (reads every amount through the trunk)")
    parser.add_argument("--fit", action="store_true")
    arguments = parser.parse_args()
    split = "validation" if arguments.fit else "test"
    names = [package.name for package in corpus.packages() if package.split == split]
    found = [path for name in names if (path := arguments.corpus / f"{name}.npy").exists()]
    trunk, tokenizer = load("smollm2", "int8")
    model = Sprig(trunk, block_side_files.load(trunk.config))
    table: dict[tuple[int, str], Bits] = {}
    cells = Cells() if arguments.fit else None
    for path in found:
        measure(model, tokenizer, np.load(path), arguments.places, arguments.amounts, arguments.blocks, table, cells)
        print(path.stem, flush=True)
    if cells is not None:
        print(cells.best())
        return
    rows = [
        (f"{amount:,}", way, f"{bits.bits / bits.size:.3f}", f"{bits.named / max(bits.names, 1):.2f}", bits.names)
        for (amount, way), bits in sorted(table.items(), key=lambda entry: (entry[0][1], entry[0][0]))
    ]
    for row in rows:
        print(row)
    save(
        "sprig-memory",
        ("tokens read", "predicted by", "bits per byte", "bits per token of names defined elsewhere", "such tokens"),
        rows,
        f"int8, {arguments.places} texts of {TEXT} tokens of each test package "
        f"({', '.join(path.stem for path in found)}), {VIEW} tokens in view.",
        "python -m benchmarks.sprig_memory" + (" --blocks" if arguments.blocks else ""),
    )


if __name__ == "__main__":
    main()
