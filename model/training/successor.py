"""`python -m model.training.successor`: trains the successor, which drafts from the trunk's own rows.

It needs nothing of the block side, so it is trained apart, on every row of a segment at once; resumable and stoppable
as `model.training.loop` is, from `successor.pt` in the run's folder. Shape letters: T tokens of a segment, V a part of
the shortlist, E width.
"""

from __future__ import annotations

import argparse
import json
import signal
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

from model.layers.linear import int8_supported
from model.layers.successor import Successor
from model.llama import LlamaModel
from model.training import corpus
from model.training.loop import learning_share
from model.training.streams import Streams
from model.weights import block_side_files
from model.weights.catalogue import load

AHEAD, DECAY = 3, 0.6  # tokens that it goes on for in training; each weighs less than the one before
PART = 3  # a step's softmax holds one in so many tokens of the shortlist, and all that the trunk would choose
LENGTH = 512


@dataclass(frozen=True)
class Found:
    """`loss` in nats per row; `accepted` how many drafts in a row are the trunk's own choice, the text's tokens given;
    `first` the share of right first drafts."""

    loss: torch.Tensor
    accepted: float
    first: float


def go_on(trunk: LlamaModel, successor: Successor, short_VE: torch.Tensor, ids_T: torch.Tensor) -> Found:
    """The successor goes on from every row of a segment; the trunk's own rows further on are its teachers."""
    rows = len(ids_T) - AHEAD
    with torch.no_grad():
        hidden_TE = trunk.read(ids_T, trunk.start())[0].float().clone()
        embedded_TE = trunk.embedding_VE[ids_T].float()
        if successor.training:
            chosen_T = F.linear(hidden_TE, short_VE).argmax(-1)
            some = torch.randint(0, len(short_VE), (len(short_VE) // PART,)).to(chosen_T.device)
            short_VE = short_VE[torch.unique(torch.cat([chosen_T, some]))]
        target_TV = F.linear(hidden_TE, short_VE).softmax(-1)
        right_T = target_TV.argmax(-1)
    row_TE, loss, hits = hidden_TE[:rows], hidden_TE.new_zeros(()), []
    for ahead in range(1, AHEAD + 1):
        there = slice(ahead, ahead + rows)
        row_TE = successor(row_TE, embedded_TE[there])
        logits_TV = F.linear(row_TE, short_VE)
        loss = loss + DECAY ** (ahead - 1) * F.cross_entropy(logits_TV, target_TV[there])
        hits.append((logits_TV.detach().argmax(-1) == right_T[there]).float())
    right_TS = torch.stack(hits, -1)
    return Found(loss, right_TS.cumprod(-1).sum(-1).mean().item(), right_TS[:, 0].mean().item())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("runs/sprig"))
    parser.add_argument("--corpus", type=Path, default=Path("runs/corpus"))
    parser.add_argument("--minutes", type=float, default=40)
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    arguments = parser.parse_args()
    quick = arguments.device == "cpu" and int8_supported()
    trunk, _ = load("smollm2", "int8" if quick else "fp32")
    trunk = trunk if quick else trunk.to(arguments.device)
    side = block_side_files.load(trunk.config)
    successor = side.successor.to(arguments.device)
    short_VE = trunk.embedding_VE[side.shortlist_F].float()
    optimizer = torch.optim.AdamW(successor.parameters(), betas=(0.9, 0.98), weight_decay=0.01)
    step, minutes = 0, 0.0
    path = arguments.folder / "successor.pt"
    if path.exists():
        saved = torch.load(path, map_location="cpu", weights_only=True)
        successor.load_state_dict(saved["successor"])
        optimizer.load_state_dict(saved["optimizer"])
        step, minutes = saved["step"], saved["minutes"]
    split = {package.name: package.split for package in corpus.packages()}
    arrays = {name: np.load(one) for name in split if (one := arguments.corpus / f"{name}.npy").exists()}
    torch.manual_seed(arguments.seed + step)
    streams = Streams([ids for name, ids in arrays.items() if split[name] == "train"], LENGTH, arguments.seed + step)
    held_out = [ids for name, ids in arrays.items() if split[name] == "validation"]

    def validate() -> dict[str, float]:
        fixed = Streams(held_out, LENGTH, seed=7)
        with torch.no_grad():
            found = [go_on(trunk, successor.eval(), short_VE, fixed.next()[0].to(trunk.device)) for _ in range(8)]
        successor.train()
        return {
            "loss": float(np.mean([one.loss.item() for one in found])),
            "accepted": float(np.mean([one.accepted for one in found])),
            "first": float(np.mean([one.first for one in found])),
        }

    def checkpoint() -> None:
        """Saves before it validates: a process that is told to stop may have little time left."""
        kept = {
            "successor": successor.state_dict(), "optimizer": optimizer.state_dict(), "step": step, "minutes": minutes,
        }  # fmt: skip
        _write(kept, path)
        kept["validation"] = validate()
        _write(kept, path)
        line = json.dumps({"step": step, "minutes": round(minutes, 2), "validation": kept["validation"]})
        with (arguments.folder / "successor.jsonl").open("a") as log:
            log.write(line + "\n")
        print(line, flush=True)

    stopping = [False]
    signal.signal(signal.SIGTERM, lambda *_: stopping.__setitem__(0, True))
    arguments.folder.mkdir(parents=True, exist_ok=True)
    successor.train().requires_grad_(True)
    begun, before, saved_at = time.monotonic(), minutes, time.monotonic()
    while minutes < arguments.minutes and not stopping[0]:
        share = learning_share(step, minutes, arguments.minutes, 0.3, warm_up=20)
        for group in optimizer.param_groups:
            group["lr"] = arguments.rate * share
        found = go_on(trunk, successor, short_VE, streams.next()[0].to(trunk.device))
        optimizer.zero_grad(set_to_none=True)
        found.loss.backward()
        torch.nn.utils.clip_grad_norm_(successor.parameters(), 1.0)
        optimizer.step()
        step += 1
        minutes = before + (time.monotonic() - begun) / 60
        if step % 20 == 0:
            print(
                f"step {step}, {minutes:.1f} min: loss {found.loss.item():.3f}, accepted {found.accepted:.2f}",
                flush=True,
            )
        if time.monotonic() - saved_at > 120:
            checkpoint()
            saved_at = time.monotonic()
    checkpoint()


def _write(kept: dict, path: Path) -> None:
    torch.save(kept, path.with_suffix(".tmp"))
    path.with_suffix(".tmp").replace(path)


if __name__ == "__main__":
    main()
