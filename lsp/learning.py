"""What the completions know beside the model: the workspace, read in the background, and the open documents.

All of it is in one `Knowledge`. When another model is loaded, and whenever something may no longer be known, a new one
takes its place, so whatever is still at work on the old one works for nobody.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from coder.completion.knowledge import Knowledge
from lsp.documents import Document
from lsp.reading import Reading
from lsp.relevance import Place
from lsp.soon import Soon
from lsp.status import Progress
from lsp.tokens_kept import TokensKept
from lsp.watching import Watching
from lsp.worker import Urgency
from lsp.workspace import RULES

if TYPE_CHECKING:
    from lsp.server import CoderServer

_log = logging.getLogger("lsp")
_LARGEST = 400_000  # characters of an open file that are learned


class Learning:
    """Keeps the knowledge in step with the workspace and the open documents. Lives on the event loop. `kept`: the
    folder for tokens on disk, None for none."""

    def __init__(self, server: CoderServer, kept: Path | None) -> None:
        self._server = server
        self._kept = kept
        self._knowledge = Knowledge()
        self._reading: Reading | None = None
        self._task: asyncio.Future[None] | None = None
        self._focus: Document | None = None
        self._stale: set[str] = set()  # uris of documents that changed since they were learned
        self._index = Soon(lambda: self._knowledge.build(), self._busy, "index")
        self.watching = Watching(server.folders, self._busy, self._take_over, self._rules_changed)

    @property
    def modules(self) -> Collection[str]:
        """Those that imports may name, as far as they are known."""
        return self._reading.modules if self._reading is not None else ()

    def again(self) -> None:
        """Forgets everything and begins anew with the model that is there now; without one, only forgets."""
        self._knowledge = Knowledge()
        if self._server.completions.writer is not None:
            self._server.completions.writer.knowledge = self._knowledge
            for document in self._server.documents.all():
                self._knowledge.leave_out(self._server.folders.name_of(document.uri))
                self._learn(document)
        self.read_workspace()

    def stop(self) -> None:
        self._stop_reading()
        self._index.stop()
        self.watching.stop()

    # -- documents -------------------------------------------------------------------------------------------------

    def opened(self, document: Document) -> None:
        if self._knowledge.leave_out(self._server.folders.name_of(document.uri)):
            self._index.ask()
        self._learn(document)

    def changed(self, document: Document) -> None:
        self._stale.add(document.uri)
        self.focus(document.uri)

    def focus(self, uri: str) -> None:
        """The document that is worked in. Of it only the lines around the cursor count (see `Knowledge`), so it is not
        learned before another one takes its place."""
        document, before = self._server.documents.get(uri), self._focus
        if document is not None and document is not before:
            self._focus = document
            if before is not None and before.uri in self._stale:
                self._learn(before)

    def closed(self, document: Document) -> None:
        self._stale.discard(document.uri)
        if document is self._focus:
            self._focus = None
        if self._knowledge.close(self._server.folders.name_of(document.uri)):
            self._index.ask()

    def saved(self, uri: str) -> None:
        found, reading = self._server.folders.place(uri), self._reading
        if found is None:
            return
        repository, path = found
        if path.rpartition("/")[2] in RULES:
            self._server.read_anew()
        elif reading is not None and self._server.folders.admits(uri):

            def work(cancel: Any) -> None:
                if reading.again(repository, path):
                    self._index.ask()

            self._server.worker.submit(work, Urgency.IDLE)

    def _learn(self, document: Document) -> None:
        """The words of an open file become drafts, once the model has nothing else to do."""
        folders, writer = self._server.folders, self._server.completions.writer
        notebook = self._server.documents.notebook_of(document.uri)
        if writer is None or not folders.admits(document.uri, notebook):
            return
        if document is self._focus:
            self._stale.add(document.uri)
            return
        self._stale.discard(document.uri)
        text = document.text.replace("\r\n", "\n")[:_LARGEST]
        name, tokenizer, knowledge = folders.name_of(document.uri), writer.tokenizer, self._knowledge
        self._server.worker.submit(lambda cancel: knowledge.open(name, tokenizer.encode(text)), Urgency.IDLE)

    # -- the workspace ---------------------------------------------------------------------------------------------

    def read_workspace(self) -> None:
        """Begins to read all folders in the background, or ends it where nobody wants it or there is no model."""
        was_reading = self._stop_reading()
        server, writer = self._server, self._server.completions.writer
        if writer is None or not server.settings.read_repository or not server.folders.repositories:
            if was_reading:
                server.status.tell("idle")
            return
        name = "|".join([server.settings.model, *(str(one.root) for one in server.folders.repositories)])
        kept = TokensKept(self._kept, name) if self._kept is not None else None
        self._reading = Reading(self._knowledge, writer.tokenizer, self._busy, kept)
        self._task = asyncio.ensure_future(self._begin(self._reading, Progress(server, "coder: reading the workspace")))

    async def _begin(self, reading: Reading, bar: Progress) -> None:
        await bar.begin()
        folders = self._server.folders
        if reading is not self._reading:  # stopped while the client made the bar
            bar.end()
            return
        opened = [document.uri for document in self._server.documents.all() if folders.admits(document.uri)]
        near = [place for place in map(folders.place, opened) if place is not None]
        soon = self._server.status.soon
        reading.start(
            folders.repositories,
            near,
            lambda files: soon(self._finished, reading, bar, files),
            lambda done, total: soon(self._progressed, reading, bar, done, total),
        )

    def _progressed(self, reading: Reading, bar: Progress, done: int, total: int) -> None:
        if reading is self._reading:
            share = done / max(total, 1)
            bar.report(share, f"{done} of {total} files")
            self._server.status.tell("reading", f"{done} of {total} files", share)

    def _finished(self, reading: Reading, bar: Progress, files: int | None) -> None:
        status = self._server.status
        if reading is not self._reading:  # stopped: what it came to says nothing
            bar.end()
            return
        for failure in reading.complaints:
            status.message(types.MessageType.Warning, f"coder: {failure.message}. {failure.hint}".strip())
        if files is None:
            bar.end("ended early")
            status.tell("error", "reading the workspace ended early: see the log")
            return
        bar.end(f"{files} files")
        if reading.complaints:
            status.tell("error", reading.complaints[0].message)
        else:
            status.tell("idle", f"{files} files read")
        _log.info("read %d files, %d tokens", files, len(self._knowledge))

    def _stop_reading(self) -> bool:
        """Nothing more is told of it. Whether there was one."""
        reading, self._reading = self._reading, None
        if reading is not None:
            reading.stop()
        return reading is not None

    def _take_over(self, changed: list[Place], gone: set[str]) -> None:
        """In a thread of its own."""
        reading = self._reading
        if reading is not None and reading.take_over(changed, gone):
            self._index.ask()

    def _rules_changed(self) -> None:
        """In a thread of its own."""
        self._server.status.soon(self._server.read_anew)

    def _busy(self) -> bool:
        return self._server.worker.busy
