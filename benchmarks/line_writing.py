"""How often the right line is among those that the model writes where one is wrong, by way of writing, and its cost.

    python -m benchmarks.line_writing --half test

For each injected bug that no single tree edit undoes, every line that the repair changes or puts in is one place, given
to each way alone: the place is known here, finding it is the search's affair, and nothing is run. Right is the original
line by its syntax tree. "near" lists lines near to the old one (`model.decoding.near`), "drawn" samples lines from the
left (`model.decoding.rewrite`), "blocks" fills masks with both sides in view (`model.decoding.blockwise`). Resumable: a
place that has a row in the file of rows is not written again.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import json
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks import tables
from benchmarks.injected import bugs as listing
from benchmarks.injected.bugs import Bug
from coder.repair.job import JUDGES
from coder.repair.writing import CONTEXT, KEPT, LENGTHS, SAMPLES, WARM

ROWS = tables.RESULTS / "line-writing.jsonl"


@dataclass(frozen=True)
class Place:
    """A line to write: the text before it (with its indentation), behind it, what stands there and what should."""

    key: str
    family: str
    before: str
    behind: str
    old: str | None
    right: str
    file: str


@dataclass(frozen=True)
class Row:
    """`rank` of the right line among those of `way`, None where it is not among them."""

    key: str
    family: str
    way: str
    rank: int | None
    seconds: float


def places(bug: Bug) -> Iterator[Place]:
    new, old = bug.original().splitlines(True), bug.buggy().splitlines(True)
    for tag, a, b, c, d in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal" or d - c != 1 or b - a > 1:
            continue
        right, before = new[c], "".join(old[:a])
        indent = right[: len(right) - len(right.lstrip())]
        stands = old[a].strip() if b > a and old[a].strip() != "pass" else None
        behind = "\n" + "".join(old[b : b + JUDGES])
        text = "".join(old)
        yield Place(f"{bug.id}:{a + 1}", bug.family, before[-CONTEXT:] + indent, behind, stands, right.strip(), text)


def same_line(one: str, other: str) -> bool:
    """Whether two lines, or beginnings of statements, have one syntax tree."""

    def tree(line: str) -> str:
        for text in (line, f"{line}\n    pass", f"if 1:\n    pass\n{line}\n    pass", f"({line}", f"{line})"):
            try:
                return ast.dump(ast.parse(text))
            except SyntaxError:
                continue
        return line

    return tree(one.strip()) == tree(other.strip())


def near(model: Any, tokenizer: Any, place: Place) -> list[str]:
    from model.decoding.near import near
    from model.repository_cache import RepositoryCache

    cache = RepositoryCache()
    cache.add("", tokenizer.encode(place.file))
    found = near(model.trunk, tokenizer, place.before, place.old, cache=cache)
    return [written.text for written in found]


def drawn(model: Any, tokenizer: Any, place: Place) -> list[str]:
    from model.decoding.rewrite import rewrite

    return [one.text for one in rewrite(model.trunk, tokenizer, place.before, place.behind, KEPT, 48)]


def blocks(model: Any, tokenizer: Any, place: Place) -> list[str]:
    from model.decoding.blockwise import Filling, generate, written_text
    from model.decoding.request import Generation

    length = len(tokenizer.encode(place.old or place.behind.strip().partition("\n")[0]))
    lengths = tuple(n for n in LENGTHS if n <= max(8, 2 * length))
    texts = []
    for sample in range(SAMPLES):
        prompt = tokenizer.encode(place.before)
        request = Generation(prompt, 48, stop=("\n",), temperature=WARM if sample else 0.0, seed=sample)
        suffix = tokenizer.encode(place.behind)
        events = generate(model, tokenizer, request, suffix, lambda text: True, Filling(lengths))
        texts.append(written_text(events) or "")
    return texts


WAYS: dict[str, Callable[[Any, Any, Place], list[str]]] = {"near": near, "drawn": drawn, "blocks": blocks}


def load() -> list[Row]:
    return [Row(**json.loads(line)) for line in ROWS.read_text().splitlines()] if ROWS.exists() else []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--half", choices=("tune", "test"), default="test")
    parser.add_argument("--seconds", type=float, default=240.0, help="begin no further place after so many")
    parser.add_argument("--ways", nargs="*", choices=tuple(WAYS), default=tuple(WAYS))
    arguments = parser.parse_args()
    import torch

    from model.library import open_model

    torch.set_num_threads(1)
    model, tokenizer = open_model()
    began = time.monotonic()
    wanted = [bug for bug in listing.load() if bug.half == arguments.half and not bug.single_edit]
    todo = [place for bug in wanted for place in places(bug)]
    done = {(row.key, row.way) for row in load()}
    left = [place for place in todo if any((place.key, way) not in done for way in arguments.ways)]
    for place in left:
        if time.monotonic() - began > arguments.seconds:
            break
        for way in arguments.ways:
            started = time.monotonic()
            texts = WAYS[way](model, tokenizer, place)[:KEPT]
            seconds = time.monotonic() - started
            rank = next((at for at, text in enumerate(texts) if same_line(text, place.right)), None)
            with ROWS.open("a") as file:
                file.write(json.dumps(asdict(Row(place.key, place.family, way, rank, round(seconds, 2)))) + "\n")
    report(load(), arguments.half, len(todo))


def report(rows: list[Row], half: str, of: int) -> None:
    rows = [row for row in rows if row.key.startswith(half)]
    table: list[tuple[Any, ...]] = []
    for way in WAYS:
        mine = [row for row in rows if row.way == way]
        if not mine:
            continue
        right = sum(row.rank is not None for row in mine)
        first = sum(row.rank == 0 for row in mine)
        table.append((way, len(mine), right, first, f"{statistics.median(row.seconds for row in mine):.1f} s"))
    columns = ("way", "places", "right line among them", "right line first", "median seconds a place")
    note = (
        f"Injected bugs beyond single tree edits, {half} half: {of} lines that a repair changes or puts in. The place "
        f"is given, nothing is run, at most {KEPT} texts a place; one thread. Families: "
        + ", ".join(f"{name} {_hits(rows, name)}" for name in sorted({row.family for row in rows}))
    )
    if half == "test":
        tables.save("line-writing", columns, table, note, "python -m benchmarks.line_writing")
    print(columns, *table, note, sep="\n")


def _hits(rows: list[Row], family: str) -> str:
    mine = [row for row in rows if row.family == family and row.way == "near"]
    return f"{sum(row.rank is not None for row in mine)} of {len(mine)}"


if __name__ == "__main__":
    main()
