"""Packages that training never saw, as token ids: what Sprig's benchmarks measure on."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from model.training import corpus


def packages(folder: Path, split: str = "test") -> dict[str, np.ndarray]:
    """By name, in the order of `model/training/packages.toml`. Ends the program, and says what to do, where there are
    none."""
    names = [package.name for package in corpus.packages() if package.split == split]
    found = {name: np.load(path) for name in names if (path := folder / f"{name}.npy").exists()}
    if not found:
        command = f"python -m model.training.prepare --split {split} --folder {folder} --exclude DATA"
        raise SystemExit(f"no package of the {split} split in {folder}: run {command}")
    return found
