"""Latency of completions over a typing trace: `python -m benchmarks.lsp_latency`.

A real server process (`coder lsp`) on a folder of at least 100,000 lines (the standard library's sources, copied, in
which no package of the reporting data is). The trace types lines of files that were taken out of the folder, at 60 to
180 ms a key with a fixed seed, asks at every key and cancels what is superseded, as VS Code does. In between the
cursor jumps: back into text that was read, and to another file that was not. Requests are timed from sending to the
answer. Whether the cache knew the answer is read from the server's log.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import shutil
import statistics
import sys
import sysconfig
import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.client import LanguageClient

from benchmarks.tables import save

LINES = 100_000
HELD_OUT = ("textwrap.py", "shlex.py", "sched.py", "csv.py", "queue.py", "bisect.py", "heapq.py", "fnmatch.py")


class Typist:
    """A client that types, asks, cancels and keeps times by kind of request."""

    def __init__(self, root: Path, seed: int) -> None:
        self.client = LanguageClient("typist", "1")
        self.root = root
        self.random = random.Random(seed)
        self.times: dict[tuple[str, str], list[float]] = defaultdict(list)
        self.outcomes: Counter[tuple[str, str]] = Counter()
        self.sizes: list[int] = []
        self.log: list[str] = []
        self.read = asyncio.Event()
        self.ready = asyncio.Event()
        self.versions: dict[str, int] = {}

        @self.client.feature(types.WINDOW_LOG_MESSAGE)
        def log(params: types.LogMessageParams) -> None:
            self.log.append(params.message)
            if "is ready" in params.message:
                self.ready.set()
            if params.message.startswith("read "):
                self.read.set()

        @self.client.feature("coder/status")
        def status(params: Any) -> None:
            pass

    def phase(self) -> str:
        return "after reading" if self.read.is_set() else "while reading"

    def open(self, name: str, text: str) -> str:
        uri = (self.root / name).as_uri()
        self.versions[uri] = 1
        item = types.TextDocumentItem(uri, "python", 1, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return uri

    def type(self, uri: str, line: int, column: int, text: str) -> None:
        self.versions[uri] += 1
        place = types.Position(line, column)
        change = types.TextDocumentContentChangePartial(types.Range(place, place), text)
        identifier = types.VersionedTextDocumentIdentifier(self.versions[uri], uri)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(identifier, [change]))

    async def ask(self, kind: str, uri: str, line: int, column: int) -> None:
        params = types.InlineCompletionParams(
            types.InlineCompletionContext(types.InlineCompletionTriggerKind.Automatic),
            types.TextDocumentIdentifier(uri),
            types.Position(line, column),
        )
        phase, begun, heard = self.phase(), time.perf_counter(), len(self.log)
        try:
            answer = await self.client.text_document_inline_completion_async(params)
        except (JsonRpcException, asyncio.CancelledError):
            self.outcomes[phase, "cancelled"] += 1
            return
        spent = time.perf_counter() - begun
        logged = [entry for entry in self.log[heard:] if entry.startswith("completion ")]
        outcome = logged[-1].split()[1].rstrip(",") if logged else "miss"
        self.times[phase, f"{kind}, {outcome}"].append(spent)
        self.outcomes[phase, "answered" if answer and answer.items else "silent"] += 1
        if answer and answer.items:
            self.sizes.append(len(answer.items[0].insert_text))

    async def type_line(self, uri: str, number: int, text: str) -> None:
        """Types a line and its end key by key; each key cancels the request before it."""
        running: asyncio.Task[None] | None = None
        for column, letter in enumerate(text):
            self.type(uri, number, column, letter)
            if running is not None and not running.done():
                self.cancel()
            running = asyncio.ensure_future(self.ask("typing on", uri, number, column + 1))
            await asyncio.sleep(self.random.uniform(0.06, 0.18))
        if running is not None:
            await running
        self.type(uri, number, len(text), "\n")

    def cancel(self) -> None:
        waiting = [key for key, future in self.client.protocol._request_futures.items() if not future.done()]
        for key in waiting:
            self.client.protocol.notify(types.CANCEL_REQUEST, types.CancelParams(key))


def project(folder: Path) -> dict[str, str]:
    """Copies sources into `folder` until they have enough lines; returns the held-out files' texts."""
    library = Path(sysconfig.get_paths()["stdlib"])
    lines = 0
    for path in sorted(library.rglob("*.py")):
        name = path.relative_to(library)
        if "site-packages" in name.parts or "test" in name.parts or path.name in HELD_OUT:
            continue
        text = path.read_text(errors="ignore")
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, folder / name)
        lines += text.count("\n")
        if lines > LINES:
            break
    return {name: (library / name).read_text() for name in HELD_OUT}


async def trace(typist: Typist, held_out: dict[str, str], requests: int) -> None:
    """At least `requests` requests, half of them while the folder is being read where it takes that long."""
    asked = 0
    names = list(held_out)
    while asked < requests:
        name = names[asked % len(names)]
        lines = held_out[name].split("\n")
        start = typist.random.randrange(20, max(21, len(lines) - 40))
        uri = typist.open(f"{asked}_{name}", "\n".join(lines[:start]) + "\n")
        await typist.ask("cold", uri, start, 0)
        for number in range(start, min(start + 6, len(lines) - 1)):
            if lines[number].strip():
                await typist.type_line(uri, number, lines[number])
                asked += len(lines[number])
            else:
                typist.type(uri, number, 0, "\n")
        back = max(1, start - 12)
        await typist.ask("jump into read text", uri, back, len(lines[back]))
        await typist.ask("jump into unread text", uri, 3, len(lines[3]))
        asked += 3


async def measure(requests: int, seed: int) -> list[tuple[str, ...]]:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "project"
        folder.mkdir()
        held_out = project(folder)
        typist = Typist(folder, seed)
        await typist.client.start_io(sys.executable, "-c", "from coder.cli.main import run; run()", "lsp")
        capabilities = types.ClientCapabilities()
        folders = [types.WorkspaceFolder(folder.as_uri(), "project")]
        await typist.client.initialize_async(
            types.InitializeParams(capabilities=capabilities, workspace_folders=folders)
        )
        typist.client.initialized(types.InitializedParams())
        await typist.ready.wait()
        await trace(typist, held_out, requests // 2)
        await typist.read.wait()
        await trace(typist, held_out, requests // 2)
        await typist.client.shutdown_async(None)
        typist.client.exit(None)
    rows = []
    for (phase, kind), times in sorted(typist.times.items()):
        ordered = sorted(times)
        late = ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
        rows.append((phase, kind, str(len(times)), f"{1e3 * statistics.median(times):.0f}", f"{1e3 * late:.0f}"))
    for (phase, outcome), count in sorted(typist.outcomes.items()):
        rows.append((phase, outcome, str(count), "", ""))
    if typist.sizes:
        rows.append(("both", "characters of an answer, median", f"{statistics.median(typist.sizes):.0f}", "", ""))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=600)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rows = asyncio.run(measure(options.requests, options.seed))
    for row in rows:
        print("  ".join(row))
    note = f"`coder lsp` on a folder of {LINES:,} lines; typing trace of at least {options.requests} requests."
    columns = ("when", "what", "n", "p50 ms", "p95 ms")
    save("lsp-latency", columns, rows, note, "python -m benchmarks.lsp_latency")


if __name__ == "__main__":
    main()
