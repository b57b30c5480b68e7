"""`python -m model.training.export`: a run's best checkpoint becomes the block side that ships, with its curves."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import torch

from model.block_side import BlockSide, BlockSideConfig
from model.training import corpus
from model.weights import block_side_files
from model.weights.catalogue import load


def read_log(path: Path) -> tuple[list[dict], list[dict]]:
    """Training lines and validation lines of a run's log."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return [line for line in lines if "blind" in line], [line for line in lines if "validation" in line]


def validated(validation: list[dict], step: int) -> dict | None:
    """What was found at the step of the weights that ship, which is seldom the last; None where it was not logged."""
    return next((line["validation"] for line in reversed(validation) if line["step"] == step), None)


def plot(log: Path, picture: Path) -> None:
    """Loss and accepted drafts against minutes, training and validation."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    training, validation = read_log(log)
    figure, (loss, accepted) = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
    for name in ("blind", "conditioned"):
        loss.plot([line["minutes"] for line in training], [line[name] for line in training], label=name)
        points = [line["validation"][name] for line in validation]
        loss.plot([line["minutes"] for line in validation], points, "o", label=f"{name}, validation")
    accepted.plot([line["minutes"] for line in training], [line["accepted"] for line in training], label="training")
    points = [line["validation"]["accepted"] for line in validation]
    accepted.plot([line["minutes"] for line in validation], points, "o", label="validation")
    loss.set(xlabel="minutes", ylabel="nats per row")
    accepted.set(xlabel="minutes", ylabel="drafts accepted after the trunk's own token")
    loss.legend(frameon=False)
    accepted.legend(frameon=False)
    figure.savefig(picture, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("runs/sprig"))
    parser.add_argument("--corpus", type=Path, default=Path("runs/corpus"))
    parser.add_argument("--to", type=Path, default=block_side_files.SHIPPED)
    arguments = parser.parse_args()
    saved = torch.load(arguments.folder / "best.pt", weights_only=True)
    sizes = saved["config"]
    trunk, _ = load("smollm2", "fp32")
    side = BlockSide(trunk.config, BlockSideConfig(**{**sizes, "memory_layers": tuple(sizes["memory_layers"])}))
    side.load_state_dict(saved["side"])
    apart = arguments.folder / "successor.pt"
    successor = torch.load(apart, weights_only=True) if apart.exists() else None
    if successor is not None:
        side.successor.load_state_dict(successor["successor"])
    summary = json.loads((arguments.corpus / "summary.json").read_text())
    listed = corpus.packages()
    used = [p for p in listed if p.name in saved["packages"] or (p.split != "train" and p.name in summary)]
    _, validation = read_log(arguments.folder / "log.jsonl")
    facts = {
        "trunk": "smollm2",
        "steps": saved["step"],
        "minutes": round(saved["minutes"], 1),
        "validation": validated(validation, saved["step"]),
        "successor": successor and {name: successor.get(name) for name in ("step", "minutes", "validation")},
        "command": "make corpus train export",
        "seed": 1,
        "packages": {
            split: sorted(f"{p.name}=={p.version}" for p in used if p.split == split)
            for split in ("train", "validation", "test")
        },
        "overlapping_files_dropped": sum(summary[p.name]["overlapping_files_dropped"] for p in used),
    }
    block_side_files.save(side, arguments.to, facts)
    plot(arguments.folder / "log.jsonl", arguments.to / "curves.png")


if __name__ == "__main__":
    main()
