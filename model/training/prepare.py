"""`python -m model.training.prepare`: fetches the packages of packages.toml and turns each into token ids.

Writes `<package>.npy` and `summary.json` (tokens, files kept and dropped for overlap with the evaluation data) into
`--folder`.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import track

from model.training import corpus
from model.weights.catalogue import load

LARGEST_PACKAGE = 600_000  # tokens; one huge package must not crowd out the others


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("runs/corpus"))
    parser.add_argument("--split", choices=("train", "validation", "test"), help="only the packages of this one")
    parser.add_argument("--exclude", type=Path, required=True, help="folder of evaluation data, for the 13-gram check")
    arguments = parser.parse_args()
    archives = arguments.folder / "archives"
    archives.mkdir(parents=True, exist_ok=True)
    model, tokenizer = load("smollm2", "fp32")
    forbidden = corpus.evaluation_ngrams(arguments.exclude)
    summary_path = arguments.folder / "summary.json"
    summary = json.loads(summary_path.read_text()) if summary_path.exists() else {}
    wanted = [package for package in corpus.packages() if arguments.split in (None, package.split)]
    for package in track(wanted, "packages", console=Console(stderr=True)):
        target = arguments.folder / f"{package.name}.npy"
        if target.exists() and package.name in summary:
            continue
        archive = corpus.fetch(package, archives)
        ids, dropped, kept = corpus.encode_package(archive, tokenizer, model.config.begin_id or 0, forbidden)
        np.save(target, ids[:LARGEST_PACKAGE])
        summary[package.name] = {
            "version": package.version, "split": package.split,
            "tokens": min(len(ids), LARGEST_PACKAGE), "files": kept, "overlapping_files_dropped": dropped,
        }  # fmt: skip
        summary_path.write_text(json.dumps(summary, indent=1))


if __name__ == "__main__":
    main()
