"""Completions as the repository grows from 10 to 10,000 files, all read: `python -m benchmarks.lsp_growth`.

Lines of the test packages are completed as in `benchmarks.next_line`, with all that the server shows: in a folder of
ten files of their package, and in folders where these are among 1,000 and 10,000, the others from the training
packages. The files with the lines are open, so they are in no index. The sizes take turns at each place, so that what
else the machine does falls on all of them. The prompt is read before the clock starts.

What was written is kept in `--store`, and the tokens of the files beside it: a run that ends at `--seconds` is gone on
with by the next, and the table is made of all that is there. The first run fetches the packages.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.held_out import COLUMNS, Desk, Place, Score, Store, Written, answered, lay_out, places, sources, timed
from benchmarks.next_line import scores
from benchmarks.tables import save

SIZES = (10, 1_000, 10_000)
SMALLEST, LARGEST = 200, 6_000  # characters of the other packages' files: 10,000 of them are seven million tokens

Files = dict[str, str]
"""Texts by path, the package's name first in it."""


def others(archives: Path, scratch: Path, count: int) -> Iterator[tuple[str, str]]:
    """Up to `count` files of the training packages that the server would read, by path. They are laid out in
    `scratch`."""
    from coder.reading_plan import is_source, readable
    from coder.repository import Repository
    from model.training import corpus

    for package in [one for one in corpus.packages() if one.split == "train"]:
        found = corpus.source_files(corpus.fetch(package, archives))
        texts = {path: text for path, text in found if SMALLEST <= len(text) <= LARGEST}
        folder = scratch / package.name
        folder.mkdir(parents=True)
        lay_out(folder, texts.items())
        repository = Repository.open(folder)
        for path in repository.files:
            if is_source(path) and readable(repository, path) is not None:
                yield f"{package.name}/{path}", texts[path]
                count -= 1
                if count == 0:
                    return


def own_files(packages: dict[str, Files], measured: set[tuple[str, str]]) -> dict[str, Files]:
    """The files of each package that are in every folder: those with the lines, and others up to the smallest size."""
    chosen = {}
    for name, files in packages.items():
        opened = sorted(path for path in files if (name, path) in measured)
        rest = sorted(set(files) - set(opened))
        draw = random.Random(name)
        paths = [*opened, *draw.sample(rest, min(max(SIZES[0] - len(opened), 0), len(rest)))]
        chosen[name] = {f"{name}/{path}": files[path] for path in paths}
    return chosen


class Growth:
    """One small folder for each package, and a large one for each further size, all read. `filler`: files to fill them
    up with. `kept`: a folder for the tokens of the large ones."""

    def __init__(self, scratch: Path, tokenizer: Any, own: dict[str, Files], opened: list[str], filler: Files,
                 kept: Path) -> None:  # fmt: skip
        from lsp.tokens_kept import TokensKept

        def desk(name: str, size: int, files: Files, tokens: TokensKept | None) -> Desk:
            more = dict(list(filler.items())[: max(size - len(files), 0)])
            lay_out(scratch / name, (files | more).items())
            return Desk(scratch / name, tokenizer, [path for path in opened if path in files], tokens)

        self._small = {name: desk(f"small-{name}", SIZES[0], files, None) for name, files in own.items()}
        together = {path: text for files in own.values() for path, text in files.items()}
        self._large = {size: desk(f"{size}", size, together, TokensKept(kept, str(size))) for size in SIZES[1:]}

    def desks(self, package: str) -> dict[int, Desk]:
        """By size, where a package's lines are asked for."""
        return {SIZES[0]: self._small[package], **self._large}


def write(writer: Any, growth: Growth, packages: dict[str, Files], todo: list[Place], end: float,
          draw: random.Random) -> Iterator[tuple[Place, dict[str, Written]]]:  # fmt: skip
    """What is shown at the places, by size, until `end` (monotonic seconds)."""
    for place in todo:
        if time.monotonic() > end:
            return
        desks = growth.desks(place.package)
        for desk in desks.values():
            desk.cut(f"{place.package}/{place.path}", place.number, packages[place.package][place.path])
        writer.read(desks[SIZES[0]].ask()[1], threading.Event())
        written = {}
        for size in draw.sample(SIZES, len(SIZES)):
            writer.knowledge = desks[size].knowledge
            written[str(size)] = timed(lambda desk=desks[size]: answered(writer, desk, "auto"), writer)
        yield place, written


def main() -> None:
    from coder.completion.knowledge import Knowledge
    from coder.completion.writer import Writer
    from model.weights.catalogue import load

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--archives", type=Path, default=Path("runs/corpus/archives"), help="where packages are kept")
    parser.add_argument("--runs", type=int, default=3, help="of up to 8 lines, in each package")
    parser.add_argument("--seconds", type=float, default=900, help="until this run ends; the next goes on")
    parser.add_argument("--store", type=Path, default=Path("runs/lsp_growth.jsonl"))
    options = parser.parse_args()
    end = time.monotonic() + options.seconds
    options.archives.mkdir(parents=True, exist_ok=True)
    packages, store = sources(options.archives, "test"), Store(options.store)
    planned = [place for run in places(packages, options.runs) for place in run]
    opened = sorted({(place.package, place.path) for place in planned})
    model, tokenizer = load("smollm2", "int8")
    with tempfile.TemporaryDirectory() as scratch:
        filler = dict(others(options.archives, Path(scratch) / "others", max(SIZES)))
        own = own_files(packages, set(opened))
        paths = [f"{name}/{path}" for name, path in opened]
        growth = Growth(Path(scratch), tokenizer, own, paths, filler, options.store.with_suffix(""))
        todo = [place for place in planned if place not in store.written]
        writer = Writer(model, tokenizer, Knowledge())
        for place, written in write(writer, growth, packages, todo, end, random.Random(len(store.written))):
            store.put(place, written)
        desks = growth.desks(next(iter(packages)))
        table: dict[str, Score] = scores(store.written, packages)
        rows = [table[str(size)].row(f"{desk.files:,}", f"{len(desk.knowledge):,}") for size, desk in desks.items()]
    for row in rows:
        print("  ".join(row))
    note = (
        f"Line starts in {len(packages)} test packages, all that the server shows, int8; the prompt was read before. "
        "Files and tokens: of all that was read."
    )
    save("lsp-growth", ("files", "tokens", *COLUMNS), rows, note, "python -m benchmarks.lsp_growth")


if __name__ == "__main__":
    main()
