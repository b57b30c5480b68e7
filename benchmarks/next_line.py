"""Exact next lines and first identifiers on packages that were held out: `python -m benchmarks.next_line`.

In files of the test packages (training never saw them) the text is cut at the start of a line, behind its indentation,
and the line is to be completed: by the trunk alone; with the rest of the package in the n-gram knowledge (its own file
only above and below the line, as in an editor); with the gates before it. Places come in runs of neighbouring lines.
A line counts as exact when it equals the true one but for spaces at its end. Kept characters are those up to the
first wrong one, the others of a shown completion were shown in vain. The prompt is read before the clock starts.

What was written is kept in `--store`: a run that ends at `--seconds` is gone on with by the next, and the table is made
of all that is there. `--split validation` is for tuning; its table is printed, not saved.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import statistics
import threading
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from benchmarks.tables import save

WORD = re.compile(r"[A-Za-z_]\w*")
RUN = 24  # lines of the file that the places of one run lie in
TOGETHER = 8  # places of one run
WAYS = ("trunk alone", "+ repository cache")


@dataclass(frozen=True)
class Place:
    """The start of a line (from 0) of a package's file."""

    package: str
    path: str
    number: int


@dataclass
class Score:
    """Sums over places; `tokens` and `seconds` of one completion each."""

    asked: int = 0
    shown: int = 0
    exact: int = 0
    first: int = 0
    kept: int = 0
    wrong: int = 0
    tokens: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def add(self, text: str, truth: str, tokens: int, seconds: float) -> None:
        self.asked += 1
        self.seconds.append(seconds)
        if not text:
            return
        self.shown += 1
        self.tokens.append(tokens)
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

        size = f"{statistics.median(self.tokens):.0f}" if self.tokens else ""
        median = f"{1e3 * statistics.median(self.seconds):.0f}"
        counts = (share(self.shown), share(self.exact), share(self.first), str(self.kept), str(self.wrong))
        return (name, str(self.asked), *counts, size, median)


def sources(folder: Path, split: str) -> dict[str, dict[str, str]]:
    """Python files of each package of a split: name → path → text."""
    from model.training import corpus

    found = {}
    for package in [one for one in corpus.packages() if one.split == split]:
        texts = corpus.source_files(corpus.fetch(package, folder))
        files = {path: text for path, text in texts if path.endswith(".py")}
        if len(files) >= 5:
            found[package.name] = files
    return found


def places(packages: dict[str, dict[str, str]], runs: int) -> Iterator[list[Place]]:
    """Runs of places, the packages in turn."""
    draws = {name: random.Random(name) for name in packages}
    for _ in range(runs):
        for name, files in packages.items():
            draw = draws[name]
            path = draw.choice(sorted(path for path, text in files.items() if text.count("\n") > RUN + 25))
            lines = files[path].split("\n")
            start = draw.randrange(20, len(lines) - RUN)
            real = [at for at in range(start, start + RUN) if _is_worth(lines[at])]
            yield [Place(name, path, at) for at in sorted(draw.sample(real, min(TOGETHER, len(real))))]


def _is_worth(line: str) -> bool:
    return len(line.strip()) >= 4 and not line.strip().startswith("#")


def situated(place: Place, files: dict[str, str]) -> tuple[Any, list[str], str]:
    """The situation behind the line's indentation, the file's lines, and what is to be completed."""
    from coder.completion.situation import Situation
    from lsp.completion import AFTER, BEFORE

    lines = [line + "\n" for line in files[place.path].split("\n")]
    line = lines[place.number].rstrip("\n")
    indentation = line[: len(line) - len(line.lstrip())]
    before = "".join(lines[: place.number]) + indentation
    after = "\n" + "".join(lines[place.number + 1 :])
    situation = Situation(place.path, place.path, "python", before[-BEFORE:], after[:AFTER], place.path)
    return situation, lines, line[len(indentation) :]


def write(model: Any, tokenizer: Any, packages: dict[str, dict[str, str]], runs: int, end: float,
          store: dict[Place, dict[str, Any]]) -> Iterator[tuple[Place, dict[str, Any]]]:  # fmt: skip
    """What is written at the places that the store has nothing for, until `end` (monotonic seconds)."""
    from coder.completion.knowledge import Knowledge
    from coder.completion.prompt import prompt_of
    from coder.completion.situation import Lines
    from coder.completion.stopping import extent_of
    from coder.completion.writer import Writer

    silent = Silent()
    writer = Writer(model, tokenizer, silent)
    encoded: dict[str, dict[str, list[int]]] = {}
    for run in places(packages, runs):
        run = [place for place in run if place not in store]
        if not run:
            continue
        name, path = run[0].package, run[0].path
        if name not in encoded:
            encoded[name] = {other: tokenizer.encode(text) for other, text in packages[name].items()}
        knowledge = Knowledge()
        knowledge.leave_out(path)
        for other, tokens in encoded[name].items():
            knowledge.add(other, tokens)
        knowledge.build()
        for place in run:
            if time.monotonic() > end:
                return
            situation, lines, _ = situated(place, packages[name])
            prompt, extent = prompt_of(situation, lines, place.number), extent_of(situation, Lines.ONE)
            writer.read(prompt, threading.Event())
            entry = {}
            for way, known in zip(WAYS, (silent, knowledge)):
                writer.knowledge = known
                begun = time.perf_counter()
                draft = writer.write(prompt, situation, extent, 64, threading.Event())
                entry[way] = {**asdict(draft), "seconds": time.perf_counter() - begun} if draft is not None else None
            yield place, entry


class Silent:
    """Knowledge of nothing."""

    def focus(self, name: str, around: Any, encode: Any) -> None:
        """Nothing is near."""

    def find(self, context: Any) -> None:
        """Nothing is found."""


def scores(
    store: dict[Place, dict[str, Any]], packages: dict[str, dict[str, str]], threshold: float
) -> dict[str, Score]:
    from coder.completion.gates import judge
    from coder.completion.writer import Draft, Piece
    from lsp.completion import FLOOR

    table = {name: Score() for name in (*WAYS, "+ gates")}
    for place, entry in store.items():
        situation, _, truth = situated(place, packages[place.package])
        for way in WAYS:
            kept = entry[way]
            draft = (
                Draft(kept["text"], tuple(Piece(**piece) for piece in kept["pieces"]), kept["whole"]) if kept else None
            )
            spent = kept["seconds"] if kept else 0.0
            text = draft.text if draft else ""
            table[way].add(text, truth, len(draft.pieces) if draft else 0, spent)
            if way != WAYS[-1]:
                continue
            begun = time.perf_counter()
            shown = judge(stopped(draft, FLOOR * threshold), situation, threshold).text if draft else ""
            size = sum(piece.start < len(shown) for piece in draft.pieces) if draft else 0
            table["+ gates"].add(shown, truth, size, spent + time.perf_counter() - begun)
    return table


def stopped(draft: Any, floor: float) -> Any:
    """The draft as it is where writing ends before a token less likely than `floor`."""
    unsure = next((piece.start for piece in draft.pieces if piece.probability < floor), None)
    if unsure is None:
        return draft
    left = replace(
        draft, text=draft.text[:unsure], pieces=tuple(p for p in draft.pieces if p.start < unsure), whole=False
    )
    return left.closed() if re.match(r"\w", draft.text[unsure:]) else left


def load_store(path: Path) -> dict[Place, dict[str, Any]]:
    lines = path.read_text().splitlines() if path.exists() else []
    return {Place(**row["place"]): row["written"] for row in map(json.loads, lines)}


def main() -> None:
    from lsp.settings import Settings
    from model.weights.catalogue import load

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--archives", type=Path, default=Path("runs/corpus/archives"), help="where packages are kept")
    parser.add_argument("--split", choices=("test", "validation"), default="test")
    parser.add_argument("--runs", type=int, default=9, help=f"of up to {TOGETHER} lines, in each package")
    parser.add_argument("--seconds", type=float, default=270, help="until this run ends; the next goes on")
    parser.add_argument("--store", type=Path, default=None, help="default: runs/next_line-SPLIT.jsonl")
    options = parser.parse_args()
    end = time.monotonic() + options.seconds
    path = options.store or Path(f"runs/next_line-{options.split}.jsonl")
    path.parent.mkdir(parents=True, exist_ok=True)
    options.archives.mkdir(parents=True, exist_ok=True)
    packages, store = sources(options.archives, options.split), load_store(path)
    if options.seconds > 0:
        with path.open("a") as file:
            for place, entry in write(*load("smollm2", "int8"), packages, options.runs, end, store):
                store[place] = entry
                file.write(json.dumps({"place": asdict(place), "written": entry}) + "\n")
    rows = [score.row(name) for name, score in scores(store, packages, Settings().threshold).items()]
    for row in rows:
        print("  ".join(row))
    if options.split == "test":
        columns = ("by", "places", "shown", "exact line", "first identifier", "characters kept", "in vain",
                   "median tokens", "p50 ms")  # fmt: skip
        note = (
            f"Line starts in {len(packages)} test packages ({', '.join(packages)}), int8; the prompt was read before."
        )
        save("next-line", columns, rows, note, "python -m benchmarks.next_line")


if __name__ == "__main__":
    main()
