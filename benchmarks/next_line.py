"""Exact next lines and first identifiers on packages that were held out: `python -m benchmarks.next_line`.

In files of the test packages (training never saw them) the text is cut at the start of a line, behind its indentation,
and the line is to be completed: by the trunk alone; with the rest of the package in the n-gram knowledge (its own file
only above and below the line, as in an editor); with the gates before it; and with further lines behind it as the
server writes them. Places come in runs of neighbouring lines. A line counts as exact when the first one that is shown
equals the true one but for spaces at its end. Kept characters are those up to the first wrong one, the others of a
shown completion were shown in vain. The prompt is read before the clock starts, and the server's patience (it answers
in part what takes long) is left out.

What was written is kept in `--store`: a run that ends at `--seconds` is gone on with by the next, and the table is made
of all that is there. `--split validation` is for tuning; its table is printed, not saved.
"""

from __future__ import annotations

import argparse
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.held_out import COLUMNS, Desk, Place, Score, Store, Written, answered, lay_out, places, sources, timed
from benchmarks.tables import save

WAYS = ("trunk alone", "+ repository memory", "+ gates", "+ further lines")


def write(model: Any, tokenizer: Any, packages: dict[str, dict[str, str]], runs: int, end: float,
          done: dict[Place, Any]) -> Iterator[tuple[Place, dict[str, Written]]]:  # fmt: skip
    """What is written at the places that are not done, by way, until `end` (monotonic seconds)."""
    from coder.completion.writer import Writer

    silent = Silent()
    writer = Writer(model, tokenizer, silent)
    desks: dict[str, Desk] = {}
    with tempfile.TemporaryDirectory() as scratch:
        for run in places(packages, runs):
            left = [place for place in run if place not in done]
            if not left:
                continue
            name, path = left[0].package, left[0].path
            if name not in desks:
                lay_out(Path(scratch) / name, packages[name].items())
                desks[name] = Desk(Path(scratch) / name, tokenizer)
            desk = desks[name]
            desk.open(path)
            for place in left:
                if time.monotonic() > end:
                    return
                desk.cut(path, place.number, packages[name][path])
                yield place, ways_of(writer, silent, desk)
            desk.close(path)


def ways_of(writer: Any, silent: Silent, desk: Desk) -> dict[str, Written]:
    """What each of WAYS writes at the place of the desk's last cut."""

    def line() -> str | None:
        draft = writer.write(prompt, situation, extent_of(situation, Lines.ONE), 64, threading.Event())
        return draft.text if draft is not None else None

    from coder.completion.situation import Lines
    from coder.completion.stopping import extent_of

    situation, prompt = desk.ask()
    writer.read(prompt, threading.Event())
    writer.knowledge = silent
    alone = timed(line, writer)
    writer.knowledge = desk.knowledge
    known = timed(line, writer)
    gated = timed(lambda: answered(writer, desk, "never"), writer)
    further = timed(lambda: answered(writer, desk, "auto"), writer)
    return dict(zip(WAYS, (alone, known, gated, further)))


class Silent:
    """Knowledge of nothing."""

    def focus(self, name: str, around: Any, encode: Any) -> None:
        """Nothing is near."""

    def find(self, context: Any) -> None:
        """Nothing is found."""


def scores(written: dict[Place, dict[str, Written]], packages: dict[str, dict[str, str]]) -> dict[str, Score]:
    """Of the places so far, by way; empty where there is none."""
    table: dict[str, Score] = {}
    for place, ways in written.items():
        line, *below = packages[place.package][place.path].split("\n")[place.number :]
        for way, one in ways.items():
            table.setdefault(way, Score()).add(one, line.lstrip(), "\n" + "\n".join(below))
    return table


def main() -> None:
    from model.weights.catalogue import load

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--archives", type=Path, default=Path("runs/corpus/archives"), help="where packages are kept")
    parser.add_argument("--split", choices=("test", "validation"), default="test")
    parser.add_argument("--runs", type=int, default=9, help="of up to 8 lines, in each package")
    parser.add_argument("--seconds", type=float, default=1200, help="until this run ends; the next goes on")
    parser.add_argument("--store", type=Path, default=None, help="default: runs/next_line-SPLIT.jsonl")
    options = parser.parse_args()
    end = time.monotonic() + options.seconds
    options.archives.mkdir(parents=True, exist_ok=True)
    packages = sources(options.archives, options.split)
    store = Store(options.store or Path(f"runs/next_line-{options.split}.jsonl"))
    if options.seconds > 0:
        for place, ways in write(*load("smollm2", "int8"), packages, options.runs, end, store.written):
            store.put(place, ways)
    rows = [score.row(way) for way, score in scores(store.written, packages).items()]
    for row in rows:
        print("  ".join(row))
    if options.split == "test":
        note = (
            f"Line starts in {len(packages)} test packages ({', '.join(packages)}), int8; the prompt was read before."
        )
        save("next-line", ("by", *COLUMNS), rows, note, "python -m benchmarks.next_line")


if __name__ == "__main__":
    main()
