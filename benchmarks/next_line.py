"""Exact next lines and first identifiers on packages that were held out: `python -m benchmarks.next_line`.

For places in the files of the test packages (training never saw them), the file is cut at the start of a line that has
text, behind its indentation, and the line is to be completed: by the trunk alone; with the rest of the package in the
n-gram knowledge (its own file only above and below the line, as in an editor); with the gates before it. A line counts
as exact when it equals the true one but for spaces at its end. Kept characters are those up to the first wrong one; of
shown completions, wrong ones cost as many characters as were shown in vain.
"""

from __future__ import annotations

import argparse
import random
import re
import statistics
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.tables import save

WORD = re.compile(r"[A-Za-z_]\w*")


@dataclass
class Score:
    """Sums over places; `seconds` of one completion each."""

    asked: int = 0
    shown: int = 0
    exact: int = 0
    first: int = 0
    kept: int = 0
    wrong: int = 0
    seconds: list[float] = field(default_factory=list)

    def add(self, text: str, truth: str, seconds: float) -> None:
        self.asked += 1
        self.seconds.append(seconds)
        if not text:
            return
        self.shown += 1
        text, truth = text.rstrip(), truth.rstrip()
        self.exact += text == truth
        one, other = WORD.search(text), WORD.search(truth)
        self.first += one is not None and other is not None and one.group() == other.group()
        agreed = next((at for at, (a, b) in enumerate(zip(text, truth)) if a != b), min(len(text), len(truth)))
        self.kept += agreed
        self.wrong += len(text) - agreed

    def row(self, name: str) -> tuple[str, ...]:
        def share(count: int) -> str:
            return f"{100 * count / self.asked:.1f} %"

        median = f"{1e3 * statistics.median(self.seconds):.0f}"
        counts = (share(self.shown), share(self.exact), share(self.first), str(self.kept), str(self.wrong), median)
        return (name, str(self.asked), *counts)


def sources(folder: Path, limit: int) -> dict[str, dict[str, str]]:
    """Python files of each test package: name → path → text."""
    from model.training import corpus

    found = {}
    for package in [one for one in corpus.packages() if one.split == "test"][:limit]:
        files = {
            path: text for path, text in corpus.source_files(corpus.fetch(package, folder)) if path.endswith(".py")
        }
        if len(files) >= 5:
            found[package.name] = files
    return found


def places(files: dict[str, str], count: int, draw: random.Random) -> list[tuple[str, int]]:
    """Files and line numbers, at least twenty lines into the file."""
    possible = [
        (path, number)
        for path, text in files.items()
        for number, line in enumerate(text.split("\n"))
        if number >= 20 and len(line.strip()) >= 4 and not line.strip().startswith("#")
    ]
    return draw.sample(possible, min(count, len(possible)))


def measure(model: Any, tokenizer: Any, packages: dict[str, dict[str, str]], count: int) -> dict[str, Score]:
    from lsp.gates import judge
    from lsp.knowledge import Knowledge
    from lsp.prompt import prompt_of
    from lsp.situation import Situation
    from lsp.stopping import extent_of
    from lsp.writer import Writer

    scores = {name: Score() for name in ("trunk alone", "+ repository cache", "+ gates")}
    silent = Silent()
    for name, files in packages.items():
        encoded = {path: tokenizer.encode(text) for path, text in files.items()}
        bare = Writer(model, tokenizer, silent)
        for path, number in places(files, count, random.Random(name)):
            knowledge = Knowledge()
            for other, tokens in encoded.items():
                if other != path:
                    knowledge.add(other, tokens)
            knowledge.build()
            full = Writer(model, tokenizer, knowledge)
            lines = [line + "\n" for line in files[path].split("\n")]
            line = lines[number].rstrip("\n")
            indentation = line[: len(line) - len(line.lstrip())]
            before, after = "".join(lines[:number]) + indentation, "\n" + "".join(lines[number + 1 :])
            situation = Situation(path, path, "python", before[-16_000:], after[:4_000], path)
            truth = line[len(indentation) :]
            prompt, extent = prompt_of(situation, lines, number), extent_of(situation, False)
            for label, writer in (("trunk alone", bare), ("+ repository cache", full)):
                begun = time.perf_counter()
                draft = writer.write(prompt, situation, extent, 64, threading.Event())
                spent = time.perf_counter() - begun
                scores[label].add(draft.text if draft else "", truth, spent)
                if label != "trunk alone" and draft is not None:
                    shown = judge(draft, situation, 0.45)
                    scores["+ gates"].add(shown.text, truth, time.perf_counter() - begun)
        print(name, {label: (score.asked, score.exact) for label, score in scores.items()}, flush=True)
    return scores


class Silent:
    """Knowledge of nothing."""

    def focus(self, name: str, around: Any, encode: Any) -> None:
        """Nothing is near."""

    def find(self, context: Any) -> None:
        """Nothing is found."""


def main() -> None:
    from model.weights.catalogue import load

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--archives", type=Path, default=Path("runs/archives"), help="where packages are kept")
    parser.add_argument("--packages", type=int, default=20)
    parser.add_argument("--places", type=int, default=30, help="in each package")
    options = parser.parse_args()
    options.archives.mkdir(parents=True, exist_ok=True)
    packages = sources(options.archives, options.packages)
    scores = measure(*load("smollm2", "int8"), packages, options.places)
    rows = [score.row(name) for name, score in scores.items()]
    for row in rows:
        print("  ".join(row))
    columns = ("by", "places", "shown", "exact line", "first identifier", "characters kept", "in vain", "p50 ms")
    note = f"{options.places} lines of each of {len(packages)} test packages ({', '.join(packages)})."
    save("next-line", columns, rows, note, "python -m benchmarks.next_line")


if __name__ == "__main__":
    main()
