"""`python -m model.training.loop`: trains Sprig's block side; resumable, checkpointed, stoppable at any moment.

A run goes on from the last checkpoint of its folder; without one, from the block side that ships. Runs on a CPU, on a
CUDA device, and under torchrun on several (gradients are averaged by all_reduce). The learning rate warms up, stays,
and falls to nothing over the last part of the planned minutes; a run that is resumed with more minutes goes on from
there. The successor is trained apart (`model.training.successor`).
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist

from model.block_side import TRAINED_ROWS, BlockSide, BlockSideConfig
from model.llama import LlamaModel
from model.training import corpus
from model.training.noise import sample_blocks
from model.training.step import StepResult, block_context, block_loss, clean_pass, open_slots, written_memory
from model.training.streams import Streams
from model.weights import block_side_files
from model.weights.catalogue import load

BLOCK_SIZES = (4, 6, 8, 8, 12, TRAINED_ROWS)
WINDOWS = (64, 192, 4096)
DENSE = ("sampler_in", "sampler_out", "memory")  # full matrices take a smaller rate than low-rank ones
DENSE_RATE = 0.3
SCALARS = ("bias", "slope", "output")  # of a history slot: few, and far from where they should be, so faster
SCALAR_RATE = 4.0
VALIDATED = 8  # segments of a validation
MEMORY_OFF = 0.15  # share of steps without a history, so that the adapters also work alone


@dataclass(frozen=True)
class Plan:
    """How a run goes. Lengths and rows count tokens, times are minutes."""

    folder: Path
    corpus: Path
    minutes: float
    seed: int = 1
    length: int = 512
    rows: int = 512
    rate: float = 1.5e-3
    decay_share: float = 0.2
    checkpoint_minutes: float = 6.0
    trunk: str = "smollm2"
    device: str = "cpu"


class Trainer:
    """The trunk, the block side in training, its optimizer, and the data."""

    def __init__(self, plan: Plan, trunk: LlamaModel, side: BlockSide) -> None:
        self.plan, self.trunk, self.side = plan, trunk, side.to(plan.device)
        self.rank = dist.get_rank() if dist.is_initialized() else 0
        self.world = dist.get_world_size() if dist.is_initialized() else 1
        shares: dict[float, list[torch.nn.Parameter]] = {}
        for name, parameter in trained(side).items():
            shares.setdefault(rate_share(name), []).append(parameter)
        groups = [{"params": parameters, "share": share} for share, parameters in shares.items()]
        self.optimizer = torch.optim.AdamW(groups, lr=plan.rate, betas=(0.9, 0.98), weight_decay=0.01)
        self.random = torch.Generator().manual_seed(plan.seed * 1000 + self.rank)
        split = {package.name: package.split for package in corpus.packages()}
        arrays = {path.stem: np.load(path) for path in sorted(plan.corpus.glob("*.npy"))}
        train = [ids for name, ids in arrays.items() if split.get(name) == "train"]
        held_out = [ids for name, ids in arrays.items() if split.get(name) == "validation"]
        self.packages = sorted(name for name in arrays if split.get(name) == "train")
        self.streams = Streams(train, plan.length, plan.seed * 1000 + self.rank)
        self.held_out = held_out
        frequent_F = frequent_tokens(train, trunk.vocabulary)[: len(side.shortlist_F)]
        self.side.shortlist_F.copy_(frequent_F.sort().values)
        self.minutes = 0.0
        self.step = self.warm_at = 0
        self.best = float("inf")

    def run_step(self, streams: Streams, generator: torch.Generator) -> StepResult:
        """The loss of one segment: its block size, its window, and whether it has a history, are drawn."""
        ids_T, stream = streams.next()
        clean = clean_pass(self.trunk, ids_T.to(self.plan.device))
        pick = torch.rand(3, generator=generator).tolist()
        rows = BLOCK_SIZES[int(pick[0] * len(BLOCK_SIZES))]
        window = WINDOWS[int(pick[1] * len(WINDOWS))]
        batch = sample_blocks(self.plan.length, rows, self.plan.rows // rows, generator)
        states = written_memory(self.trunk, self.side, clean, stream)
        if pick[2] < MEMORY_OFF:
            states = {}
        context = block_context(clean, states, batch, window, self.side.config.chunk)
        return block_loss(self.trunk, self.side, clean, context, batch, generator)

    def learn(self) -> StepResult:
        """One step of the optimizer."""
        for group in self.optimizer.param_groups:
            share = learning_share(self.step - self.warm_at, self.minutes, self.plan.minutes, self.plan.decay_share)
            group["lr"] = self.plan.rate * group["share"] * share
        result = self.run_step(self.streams, self.random)
        self.optimizer.zero_grad(set_to_none=True)
        result.loss.total.backward()
        if self.world > 1:
            for parameter in trained(self.side).values():
                if parameter.grad is None:
                    parameter.grad = torch.zeros_like(parameter)
                dist.all_reduce(parameter.grad)
                parameter.grad /= self.world
        torch.nn.utils.clip_grad_norm_(self.side.parameters(), 1.0)
        self.optimizer.step()
        self.step += 1
        return result

    @torch.no_grad()
    def validate(self) -> dict[str, float]:
        """Mean loss and acceptance over VALIDATED fixed segments and fixed noise of the validation packages."""
        generator = torch.Generator().manual_seed(7)
        streams = Streams(self.held_out, self.plan.length, seed=7)
        results = [self.run_step(streams, generator) for _ in range(VALIDATED)]
        weight = sum(r.loss.weight.item() for r in results)
        return {
            "blind": sum(r.loss.blind.item() for r in results) / weight,
            "conditioned": sum(r.loss.conditioned.item() for r in results) / weight,
            "accepted": float(np.nanmean([r.accepted for r in results])),
            "first": float(np.nanmean([r.first for r in results])),
        }

    def save(self, name: str) -> None:
        if self.rank:
            return
        path = self.plan.folder / f"{name}.pt"
        torch.save(
            {
                "side": self.side.state_dict(), "config": self.side.config.as_json(), "step": self.step,
                "optimizer": named_state(self.optimizer, trained(self.side)), "minutes": self.minutes,
                "best": self.best, "packages": self.packages,
            },
            path.with_suffix(".tmp"),
        )  # fmt: skip
        path.with_suffix(".tmp").replace(path)

    def resume(self) -> None:
        """Goes on from the folder's last checkpoint, else from the shipped block side where its sizes are these. What a
        run before has read is not read again."""
        path = self.plan.folder / "last.pt"
        if path.exists():
            saved = torch.load(path, weights_only=True)
            self.side.load_state_dict(saved["side"])
            restore_state(self.optimizer, trained(self.side), saved["optimizer"])
            self.step, self.minutes, self.best = saved["step"], saved["minutes"], saved["best"]
        elif self._ships():
            shipped = block_side_files.facts(block_side_files.SHIPPED)
            loaded = block_side_files.load(self.trunk.config, block_side_files.SHIPPED)
            self.side.load_state_dict(loaded.state_dict())
            self.step, self.minutes = shipped["steps"], shipped["minutes"]
        self.warm_at = self.step if not self.optimizer.state else 0
        seed = self.plan.seed * 1000 + self.rank + self.step * 1_000_003
        self.streams = Streams(self.streams.packages, self.plan.length, seed)
        self.random.manual_seed(seed)
        self._open_slots()

    def _ships(self) -> bool:
        """Whether a block side of these sizes ships."""
        sizes = block_side_files.facts(block_side_files.SHIPPED)["block_side"]
        return sizes == json.loads(json.dumps(self.side.config.as_json()))

    def _open_slots(self) -> None:
        """The same segment in every process, so that all open alike."""
        streams, generator = Streams(self.streams.packages, self.plan.length, seed=7), torch.Generator().manual_seed(7)
        ids_T, stream = streams.next()
        clean = clean_pass(self.trunk, ids_T.to(self.plan.device))
        with torch.no_grad():
            states = written_memory(self.trunk, self.side, clean, stream)
        batch = sample_blocks(self.plan.length, 8, self.plan.rows // 8, generator)
        context = block_context(clean, states, batch, WINDOWS[-1], self.side.config.chunk)
        shares = open_slots(self.trunk, self.side, clean, context, batch)
        print("share of the history slots:", {layer: f"{share:.1e}" for layer, share in shares.items()}, flush=True)


def trained(side: BlockSide) -> dict[str, torch.nn.Parameter]:
    """All but the successor, which stands on the trunk alone."""
    return {name: value for name, value in side.named_parameters() if not name.startswith("successor.")}


def rate_share(name: str) -> float:
    """The parameter's share in the learning rate."""
    parts = name.split(".")
    if parts[0] == "memory" and parts[-1] in SCALARS and len(parts) == 3:
        return SCALAR_RATE
    return DENSE_RATE if parts[0] in DENSE else 1.0


def named_state(optimizer: torch.optim.Optimizer, parameters: dict[str, torch.nn.Parameter]) -> dict[str, dict]:
    """What the optimizer keeps for each parameter, by its name: groups may change between runs."""
    return {name: optimizer.state[value] for name, value in parameters.items() if value in optimizer.state}


def restore_state(
    optimizer: torch.optim.Optimizer, parameters: dict[str, torch.nn.Parameter], saved: dict[str, dict]
) -> None:
    for name, state in saved.items():
        if name in parameters:
            optimizer.state[parameters[name]] = state


def learning_share(step: int, minutes: float, planned: float, decay_share: float, warm_up: int = 60) -> float:
    """1 after the warm-up, falling linearly to 0 over the last `decay_share` of the planned minutes."""
    left = (planned - minutes) / max(planned * decay_share, 1e-9)
    return min(1.0, (step + 1) / warm_up, max(left, 0.02))


def frequent_tokens(arrays: list[np.ndarray], vocabulary: int) -> torch.Tensor:
    """All ids, the most frequent first."""
    counts = np.bincount(np.concatenate([ids[:50_000] for ids in arrays]), minlength=vocabulary)
    return torch.from_numpy(np.argsort(-counts, kind="stable"))


def train(trainer: Trainer) -> None:
    """Until the planned minutes are over or the process is told to stop; the log is a JSON line every few steps."""
    plan = trainer.plan
    plan.folder.mkdir(parents=True, exist_ok=True)
    stopping = [False]
    signal.signal(signal.SIGTERM, lambda *_: stopping.__setitem__(0, True))
    log = (plan.folder / "log.jsonl").open("a", buffering=1)
    begun = saved_at = time.monotonic()
    minutes_before = trainer.minutes
    recent: list[StepResult] = []
    while trainer.minutes < plan.minutes and not stopping[0]:
        recent.append(trainer.learn())
        trainer.minutes = minutes_before + (time.monotonic() - begun) / 60
        if trainer.step % 20 == 0 and not trainer.rank:
            weight = sum(r.loss.weight.item() for r in recent)
            line = {
                "step": trainer.step, "minutes": round(trainer.minutes, 2),
                "blind": sum(r.loss.blind.item() for r in recent) / weight,
                "conditioned": sum(r.loss.conditioned.item() for r in recent) / weight,
                "accepted": float(np.nanmean([r.accepted for r in recent])),
            }  # fmt: skip
            log.write(json.dumps(line) + "\n")
            print(line, flush=True)
            recent = []
        if time.monotonic() - saved_at > 60 * plan.checkpoint_minutes:
            _checkpoint(trainer, log)
            saved_at = time.monotonic()
    _checkpoint(trainer, log)


def _checkpoint(trainer: Trainer, log) -> None:
    """Saves before it validates: a process that is told to stop may have little time left."""
    trainer.save("last")
    found = trainer.validate()
    if found["conditioned"] < trainer.best:
        trainer.best = found["conditioned"]
        trainer.save("best")
        trainer.save("last")
    line = {"validation": found, "step": trainer.step, "minutes": round(trainer.minutes, 2)}
    log.write(json.dumps(line) + "\n")
    print(line, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("runs/sprig"))
    parser.add_argument("--corpus", type=Path, default=Path("runs/corpus"))
    parser.add_argument("--minutes", type=float, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rank", type=int, default=32, help="rank of the adapters")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    if "WORLD_SIZE" in os.environ:
        dist.init_process_group("nccl" if arguments.device == "cuda" else "gloo")
    plan = Plan(
        arguments.folder, arguments.corpus, arguments.minutes, seed=arguments.seed, device=arguments.device,
    )  # fmt: skip
    trunk, _ = load(plan.trunk, "fp32")
    torch.manual_seed(plan.seed)
    side = BlockSide(trunk.config, BlockSideConfig(rank=arguments.rank))
    trainer = Trainer(plan, trunk, side)
    trainer.resume()
    train(trainer)


if __name__ == "__main__":
    main()
