"""Completions as the repository grows from 10 to 10,000 files, all read: `python -m benchmarks.lsp_growth`.

Lines of the test packages are completed as in `benchmarks.next_line`, with nine other files of their package in the
n-gram knowledge and files of the training packages beside them, up to 10, 1,000 and 10,000 in all. The sizes take turns
at each place, so that what else the machine does falls on all of them. The prompt is read before the clock starts.
"""

from __future__ import annotations

import argparse
import random
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.next_line import Place, Score, places, situated, sources
from benchmarks.tables import save

SIZES = (10, 1_000, 10_000)
OWN = 9
SMALLEST, LARGEST = 200, 6_000  # characters of the other packages' files: 10,000 of them are six million tokens


def others(folder: Path, count: int) -> Iterator[tuple[str, str]]:
    """Python files of the training packages, by name."""
    from model.training import corpus

    for package in [one for one in corpus.packages() if one.split == "train"]:
        for path, text in corpus.source_files(corpus.fetch(package, folder)):
            if path.endswith(".py") and SMALLEST <= len(text) <= LARGEST:
                yield f"{package.name}/{path}", text
                count -= 1
                if count == 0:
                    return


def knowledge_of(texts: dict[str, list[int]]) -> Any:
    from coder.completion.knowledge import Knowledge

    knowledge = Knowledge()
    for name, tokens in texts.items():
        knowledge.add(name, tokens)
    knowledge.build()
    return knowledge


def measure(folder: Path, runs: int, end: float) -> tuple[dict[int, Score], dict[int, int]]:
    """Scores and tokens by size, of all places that were done before `end` (monotonic seconds)."""
    from coder.completion.gates import judge
    from coder.completion.prompt import prompt_of
    from coder.completion.situation import Lines
    from coder.completion.stopping import extent_of
    from coder.completion.writer import Writer
    from lsp.settings import Settings
    from model.weights.catalogue import load

    model, tokenizer = load("smollm2", "int8")
    packages = sources(folder, "test")
    todo: list[list[Place]] = list(places(packages, runs))
    measured = {(run[0].package, run[0].path) for run in todo}
    own: dict[str, dict[str, list[int]]] = {}
    for name, files in packages.items():
        candidates = [path for path in sorted(files) if (name, path) not in measured]
        chosen = random.Random(name).sample(candidates, min(OWN, len(candidates)))
        own[name] = {f"{name}/{path}": tokenizer.encode(files[path]) for path in chosen}
    filler = list(others(folder, max(SIZES)))
    encoded = dict(zip((name for name, _ in filler), tokenizer.encode_batch([text for _, text in filler])))
    together = {name: tokens for texts in own.values() for name, tokens in texts.items()}
    large = {}
    for size in SIZES[1:]:
        more = list(encoded.items())[: size - len(together)]
        large[size] = knowledge_of(together | dict(more))
    small = {name: knowledge_of(texts | dict(list(encoded.items())[: SIZES[0] - OWN])) for name, texts in own.items()}
    writer = Writer(model, tokenizer, large[SIZES[-1]])
    scores = {size: Score() for size in SIZES}
    threshold = Settings().threshold
    draw = random.Random(0)
    for place in (place for run in todo for place in run):
        if time.monotonic() > end:
            break
        situation, lines, truth = situated(place, packages[place.package])
        prompt, extent = prompt_of(situation, lines, place.number), extent_of(situation, Lines.ONE)
        writer.read(prompt, threading.Event())
        for size in draw.sample(SIZES, len(SIZES)):
            writer.knowledge = small[place.package] if size == SIZES[0] else large[size]
            begun = time.perf_counter()
            draft = writer.write(prompt, situation, extent, 64, threading.Event())
            shown = judge(draft, situation, threshold).text if draft is not None else ""
            scores[size].add(shown, truth, len(draft.pieces) if draft else 0, time.perf_counter() - begun)
    return scores, {SIZES[0]: len(next(iter(small.values()))), **{size: len(large[size]) for size in large}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--archives", type=Path, default=Path("runs/corpus/archives"), help="where packages are kept")
    parser.add_argument("--runs", type=int, default=2, help="of up to 8 lines, in each package")
    parser.add_argument("--seconds", type=float, default=270, help="until it stops with the places done so far")
    options = parser.parse_args()
    scores, tokens = measure(options.archives, options.runs, time.monotonic() + options.seconds)
    rows = [(f"{size:,}", f"{tokens[size]:,}", *score.row("")[1:]) for size, score in scores.items()]
    for row in rows:
        print("  ".join(row))
    columns = ("files", "tokens", "places", "shown", "exact line", "first identifier", "characters kept", "in vain",
               "median tokens", "p50 ms")  # fmt: skip
    note = "Line starts in the test packages, with gates, int8; nine other files of the package are among those read."
    save("lsp-growth", columns, rows, note, "python -m benchmarks.lsp_growth")


if __name__ == "__main__":
    main()
