"""Makes the data files of this package from NL2Bash: `python -m coder.shell.build pairs.jsonl`.

Each line of the input is {"nl": sentence, "command": command}. Takes about five minutes on two cores.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from coder.shell import affinity, examples
from coder.shell.features import features
from coder.shell.literals import literals

_TERMS = 4000  # most frequent terms and pairs of terms
_NAMES = 400
_EPOCHS = 12
_DECAY = 2e-6


def build(pairs: Path) -> None:
    rows = [json.loads(line) for line in pairs.read_text().splitlines()]
    kept = {(" ".join(row["nl"].split()), row["command"].strip()): None for row in rows}
    lines = []
    learned = []
    for sentence, command in kept:
        if command and "\n" not in command and "\t" not in command:
            terms = examples.terms(sentence, literals(sentence))
            lines.append("\t".join((sentence, command, " ".join(terms))) + "\n")
            learned.append((list(examples.combined(terms)), features(command)))
    examples.DATA.parent.mkdir(exist_ok=True)
    examples.DATA.write_bytes(gzip.compress("".join(lines).encode(), 9, mtime=0))
    _learn([row for row in learned if row[1]])


def _learn(rows: Sequence[tuple[list[str], frozenset[str]]]) -> None:
    import torch

    torch.manual_seed(0)
    torch.set_num_threads(1)
    terms = [term for term, _ in Counter(term for said, _ in rows for term in set(said)).most_common(_TERMS)]
    names = [name for name, _ in Counter(name for _, done in rows for name in done).most_common(_NAMES)]
    place = {term: at for at, term in enumerate(terms)}
    column = {name: at for at, name in enumerate(names)}
    said = [torch.tensor(sorted({place[term] for term in one if term in place}), dtype=torch.long) for one, _ in rows]
    done_NF = torch.zeros(len(rows), len(names))
    for at, (_, done) in enumerate(rows):
        done_NF[at, [column[name] for name in done if name in column]] = 1
    weights = torch.nn.EmbeddingBag(len(terms), len(names), mode="sum")
    torch.nn.init.zeros_(weights.weight)
    rate_F = done_NF.mean(0).clamp(1e-4, 1 - 1e-4)
    bias_F = torch.nn.Parameter(torch.log(rate_F / (1 - rate_F)))
    optimizer = torch.optim.Adam([*weights.parameters(), bias_F], lr=0.02)
    for epoch in range(_EPOCHS):
        total = 0.0
        for batch in torch.randperm(len(rows)).split(256):
            chosen = [said[at] for at in batch.tolist()]
            starts = torch.tensor([0, *np.cumsum([len(one) for one in chosen])[:-1]])
            logits_BF = weights(torch.cat(chosen), starts) + bias_F
            loss = torch.nn.functional.binary_cross_entropy_with_logits(logits_BF, done_NF[batch], reduction="none")
            loss = loss.sum(1).mean()
            penalty = _DECAY * weights.weight.square().sum()
            optimizer.zero_grad()
            (loss + penalty).backward()
            optimizer.step()
            total += loss.item() * len(batch)
        for group in optimizer.param_groups:
            group["lr"] *= 0.8
        print(f"epoch {epoch + 1}: {total / len(rows):.3f} nats a command", flush=True)
    weights_VF = weights.weight.detach().numpy()
    scale_F = np.abs(weights_VF).max(0) / 127 + 1e-9
    np.savez_compressed(
        affinity.DATA,
        terms=np.array(terms),
        names=np.array(names),
        weights=np.round(weights_VF / scale_F).astype(np.int8),
        scale=scale_F.astype(np.float32),
        bias=bias_F.detach().numpy(),
    )


if __name__ == "__main__":
    build(Path(sys.argv[1]))
