"""Line starts in packages that were held out, asked for as an editor asks the language server.

A `Desk` is a folder as the server has it: `lsp.reading` reads it, the documents are open in `lsp.documents`, and what
is asked at a place comes from `lsp.situating`. Only the protocol and the thread of the model are left out.
"""

from __future__ import annotations

import json
import random
import re
import statistics
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

WORD = re.compile(r"[A-Za-z_]\w*")
RUN = 24  # lines of the file that the places of one run lie in
TOGETHER = 8  # places of one run
COLUMNS = (
    "places", "shown", "exact line", "first identifier", "characters kept", "in vain", "median tokens", "p50 ms",
)  # fmt: skip


@dataclass(frozen=True)
class Place:
    """The start of a line (from 0) of a package's file."""

    package: str
    path: str
    number: int


@dataclass(frozen=True)
class Written:
    """What was shown at a place, its tokens, and the seconds it took from the request on."""

    text: str
    tokens: int
    seconds: float


@dataclass
class Score:
    """Sums over places; `tokens` of each shown text, `seconds` of each place."""

    shown: int = 0
    exact: int = 0
    first: int = 0
    kept: int = 0
    vain: int = 0
    tokens: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def add(self, written: Written, truth: str, below: str) -> None:
        """`truth`: the rest of the line; `below`: the text behind it, which further lines are held against."""
        self.seconds.append(written.seconds)
        if not written.text:
            return
        self.shown += 1
        self.tokens.append(written.tokens)
        text, truth = written.text.rstrip(), truth.rstrip()
        self.exact += text.partition("\n")[0].rstrip() == truth
        one, other = WORD.search(text), WORD.search(truth)
        self.first += one is not None and other is not None and one.group() == other.group()
        right = truth + below
        agreed = next((at for at, (a, b) in enumerate(zip(text, right)) if a != b), min(len(text), len(right)))
        self.kept += agreed
        self.vain += len(text) - agreed

    def row(self, *names: str) -> tuple[str, ...]:
        """The names, then what COLUMNS say; shares are of all places. At least one place."""
        asked = len(self.seconds)
        shares = (f"{100 * count / asked:.1f} %" for count in (self.shown, self.exact, self.first))
        size = f"{statistics.median(self.tokens):.0f}" if self.tokens else ""
        median = f"{1e3 * statistics.median(self.seconds):.0f}"
        return (*names, str(asked), *shares, str(self.kept), str(self.vain), size, median)


class Desk:
    """A folder that is open in an editor, and what the server knows of it. `opened`: paths of files that are not read,
    because they are open from the start. `kept`: as for `lsp.reading.Reading`."""

    def __init__(self, folder: Path, tokenizer: Any, opened: Iterable[str] = (), kept: Any = None) -> None:
        from coder.completion.knowledge import Knowledge
        from lsp.documents import Documents
        from lsp.reading import Reading
        from lsp.workspace import Workspace

        self._folder = folder
        self._documents, self._workspace = Documents(), Workspace()
        for complaint in self._workspace.set_folders([folder.as_uri()]):
            raise ValueError(complaint)
        self._asked: tuple[str, tuple[int, int]] = "", (0, 0)
        self.knowledge = Knowledge()
        uris = [self._uri(path) for path in opened]
        for uri in uris:
            self.knowledge.leave_out(self._workspace.name_of(uri))
        reading = Reading(self.knowledge, tokenizer, lambda: False, kept)
        done: list[int | None] = []
        finished = threading.Event()

        def end(files: int | None) -> None:
            done.append(files)
            finished.set()

        near = [place for place in map(self._workspace.place, uris) if place is not None]
        reading.start(self._workspace.repositories, near, end)
        finished.wait()
        if done[0] is None:
            raise RuntimeError(f"{folder} could not be read")
        self.files = done[0]
        self.modules: Collection[str] = reading.modules

    def open(self, path: str) -> None:
        """From now on the file counts as open: the index is made without it."""
        if self.knowledge.leave_out(self._workspace.name_of(self._uri(path))):
            self.knowledge.build()

    def close(self, path: str) -> None:
        """The next index has the file again."""
        self.knowledge.close(self._workspace.name_of(self._uri(path)))

    def cut(self, path: str, number: int, text: str) -> tuple[str, str]:
        """Opens a file's text without its line `number` (from 0) behind the indentation, where `ask` asks from now on.
        Returns the rest of the line, and the text below with the line's end."""
        from lsprotocol import types

        lines = text.split("\n")
        line = lines[number]
        indentation = line[: len(line) - len(line.lstrip())]
        opened = "\n".join([*lines[:number], indentation, *lines[number + 1 :]])
        self._documents.open(types.TextDocumentItem(self._uri(path), "python", 1, opened))
        self._asked = self._uri(path), (number, len(indentation))
        return line[len(indentation) :], "\n" + "\n".join(lines[number + 1 :])

    def ask(self) -> tuple[Any, Any]:
        """The situation and the prompt at the place of the last `cut`."""
        from lsp.situating import prompt_at, situate

        uri, place = self._asked
        document = self._documents.get(uri)
        assert document is not None, "nothing was cut"
        situation = situate(self._documents, self._workspace, document, place)
        return situation, prompt_at(self._documents, document, situation, place[0])

    def _uri(self, path: str) -> str:
        return (self._folder / path).as_uri()


def timed(text_of: Callable[[], str | None], writer: Any) -> Written:
    """What a way of completing comes to. Nothing that is known of the place's surroundings remains from before."""
    writer.knowledge.focus("", (), writer.tokenizer.encode)
    begun = time.perf_counter()
    text = text_of() or ""
    seconds = time.perf_counter() - begun
    return Written(text, len(writer.tokenizer.encode(text)), seconds)


def answered(writer: Any, desk: Desk, multiline: str) -> str:
    """The text that the server shows at the place of the desk's last `cut`, however long it takes; `multiline` as in
    the settings."""
    from coder.completion.situation import lines_wanted
    from coder.completion.stopping import extent_of
    from lsp.answer import answer
    from lsp.settings import Settings

    situation, prompt = desk.ask()
    extent = extent_of(situation, lines_wanted(situation, multiline))
    shown = answer(writer, prompt, situation, extent, Settings(), desk.modules, threading.Event())
    return shown.text if shown is not None else ""


def sources(folder: Path, split: str) -> dict[str, dict[str, str]]:
    """Python files of each package of a split: name → path → text. `folder` holds the archives."""
    from model.training import corpus

    found = {}
    for package in [one for one in corpus.packages() if one.split == split]:
        texts = corpus.source_files(corpus.fetch(package, folder))
        files = {path: text for path, text in texts if path.endswith(".py")}
        if len(files) >= 5:
            found[package.name] = files
    return found


def lay_out(folder: Path, files: Iterable[tuple[str, str]]) -> None:
    """Writes texts by path into a folder."""
    for path, text in files:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


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


class Store:
    """What was written at places, by way; one JSON line each, kept in a file so that a run goes on with the last one's
    work. A line that is torn counts as absent."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.written: dict[Place, dict[str, Written]] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        for line in path.read_text().splitlines() if path.exists() else ():
            try:
                row = json.loads(line)
            except json.JSONDecodeError:
                continue
            self.written[Place(**row["place"])] = {way: Written(**one) for way, one in row["written"].items()}

    def put(self, place: Place, written: dict[str, Written]) -> None:
        self.written[place] = written
        with self._path.open("a") as file:
            row = {"place": asdict(place), "written": {way: asdict(one) for way, one in written.items()}}
            file.write(json.dumps(row) + "\n")
