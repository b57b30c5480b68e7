"""The server's state and what it does with it; which message leads to what stands in `lsp.features`."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Collection
from importlib.metadata import version
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from coder.environment import Environment
from lsp.actions import Actions, MakeEngine
from lsp.completion import Completions
from lsp.documents import Document, Documents
from lsp.knowledge import Knowledge
from lsp.protocol import Protocol
from lsp.reading import Reading
from lsp.settings import Settings
from lsp.status import Progress, Status
from lsp.tokens_kept import TokensKept
from lsp.worker import Urgency, Worker
from lsp.workspace import Workspace
from lsp.writer import Writer

LoadModel = Callable[[str, str], tuple[Any, Any]]
_log = logging.getLogger("lsp")
_RULES = (".gitignore", ".coderignore")
_LARGEST = 400_000  # characters of an open file that are learned
_REFRESH = 25  # changes after which an open file's words are learned again


class CoderServer(LanguageServer):
    """State of one editor's session. Everything but the model, the reading and the searches lives on the event loop."""

    def __init__(self, load_model: LoadModel, environment: Environment, engines: MakeEngine, kept: Path | None) -> None:
        self.documents = Documents()  # before pygls' own set-up, which makes the protocol
        super().__init__("coder", version("coder"), notebook_document_sync=_notebooks(), protocol_cls=Protocol)
        self.folders = Workspace()
        self.settings = Settings()
        self.knowledge = Knowledge()
        self.worker = Worker()
        self.status = Status(self)
        self.reading: Reading | None = None
        self.completions = Completions(self.documents, self.folders, self.worker, lambda: self.settings, self.modules)
        self.actions = Actions(self, environment, engines)
        self._load_model = load_model
        self._kept = kept
        self._tokenizer: Any = None
        self._changes: dict[str, int] = {}
        self._task: asyncio.Future[None] | None = None
        self._told_outside = False

    def modules(self) -> Collection[str]:
        return self.reading.modules if self.reading is not None else ()

    # -- documents -------------------------------------------------------------------------------------------------

    def opened(self, document: Document) -> None:
        if self.knowledge.leave_out(self.folders.name_of(document.uri)):
            self._build_again()
        self._learn(document)
        self._resume(document)

    def _resume(self, document: Document) -> None:
        """What `coder fix` or another command has read of the file is not read again."""
        found, writer = self.folders.place(document.uri), self.completions.writer
        if found is None or writer is None or not self.folders.admits(document.uri):
            return
        from coder.reading import open_store

        store, (repository, path) = open_store(self.actions.environment.state_dir), found
        text = document.text.replace("\r\n", "\n")
        self.worker.submit(lambda cancel: writer.resume(store, repository.root, path, text), Urgency.IDLE)

    def _build_again(self) -> None:
        threading.Thread(target=self.knowledge.build, name="index", daemon=True).start()

    def changed(self, document: Document) -> None:
        count = self._changes.get(document.uri, 0) + 1
        self._changes[document.uri] = count % _REFRESH
        if count >= _REFRESH:
            self._learn(document)

    def closed(self, uri: str) -> None:
        self.documents.close(uri)
        self._changes.pop(uri, None)
        self.knowledge.close(self.folders.name_of(uri))

    def saved(self, uri: str) -> None:
        found, document = self.folders.place(uri), self.documents.get(uri)
        if found is not None and found[1].rpartition("/")[2] in _RULES:
            self.folders.forget()
        elif found is not None and self.reading is not None and self.folders.admits(uri):
            reading = self.reading
            self.worker.submit(lambda cancel: reading.again(*found), Urgency.IDLE)
        if document is not None:
            self._learn(document)

    def _learn(self, document: Document) -> None:
        """The words of an open file become drafts, once the model has nothing else to do."""
        notebook = self.documents.notebook_of(document.uri)
        if self._tokenizer is None or not self.folders.admits(document.uri, notebook):
            return
        text = document.text.replace("\r\n", "\n")[:_LARGEST]
        name, tokenizer, knowledge = self.folders.name_of(document.uri), self._tokenizer, self.knowledge
        self.worker.submit(lambda cancel: knowledge.open(name, tokenizer.encode(text)), Urgency.IDLE)

    def tell_outside(self, uri: str) -> None:
        """Says once why a file of no open folder gets no completions."""
        if not self._told_outside and self.folders.outside(uri):
            self._told_outside = True
            self.status.tell("idle", "only files of the open folders are completed")

    # -- start and settings ----------------------------------------------------------------------------------------

    async def begin(self) -> None:
        """After the client's `initialized`: settings, then the model, then the workspace."""
        workspace = self.client_capabilities.workspace
        if workspace is not None and workspace.configuration:
            await self.ask_settings()
        self.load()

    async def ask_settings(self) -> None:
        items = [types.ConfigurationItem(section="coder")]
        try:
            answers = await self.workspace_configuration_async(types.ConfigurationParams(items))
        except Exception as error:
            _log.warning("the editor did not tell its settings: %s", type(error).__name__)
            return
        self.set_settings(answers[0] if answers else None)

    def set_settings(self, values: Any) -> None:
        """Takes settings over; a new model is loaded, a switched reading begun or ended."""
        old = self.settings
        self.settings, complaints = old.updated(values if isinstance(values, dict) else None)
        for complaint in complaints:
            _log.warning("%s", complaint)
        if self._tokenizer is None:
            return
        if (old.model, old.precision) != (self.settings.model, self.settings.precision):
            self.load()
        elif old.read_repository != self.settings.read_repository:
            self.read_workspace()
        elif old != self.settings:
            self.completions.forget_answers()

    def load(self) -> None:
        """Loads the model in its thread; until it is there, completions are silent."""
        settings = self.settings
        self.completions.writer, self._tokenizer = None, None
        self.completions.forget_answers()
        self.knowledge.clear()
        self.status.tell("reading", f"loading {settings.model}")

        def work(cancel: Any) -> None:
            try:
                model, tokenizer = self._load_model(settings.model, settings.precision)
                writer = Writer(model, tokenizer, self.knowledge)
            except Exception as error:
                _log.error("the model %s cannot be used: %s", settings.model, error)
                self.status.tell("error", f"the model {settings.model} cannot be used: see the log")
                return
            self.status.soon(self._loaded, writer, settings)

        self.worker.submit(work, Urgency.NOW)

    def _loaded(self, writer: Writer, settings: Settings) -> None:
        if (settings.model, settings.precision) != (self.settings.model, self.settings.precision):
            return  # another one was asked for meanwhile
        self._tokenizer, self.completions.writer = writer.tokenizer, writer
        self.status.tell("idle", settings.model)
        _log.info("%s is ready", settings.model)
        for document in self.documents.all():
            self.knowledge.leave_out(self.folders.name_of(document.uri))
            self._learn(document)
            self._resume(document)
        self.read_workspace()

    # -- the workspace ---------------------------------------------------------------------------------------------

    def take_folders(self) -> None:
        """The workspace's folders as the client has them now."""
        uris = [folder.uri for folder in self.workspace.folders.values()]
        if not uris and self.workspace.root_uri:
            uris = [self.workspace.root_uri]
        for complaint in self.folders.set_folders(uris):
            _log.warning("%s", complaint)

    def read_workspace(self) -> None:
        """Begins to read all folders in the background, or ends it where the user does not want it."""
        if self.reading is not None:
            self.reading.stop()
            self.reading = None
        if self._tokenizer is None or not self.settings.read_repository or not self.folders.repositories:
            return
        self._task = asyncio.ensure_future(self._read_workspace())

    async def _read_workspace(self) -> None:
        bar = Progress(self, "coder: reading the workspace")
        await bar.begin()
        name = "|".join([self.settings.model, *(str(one.root) for one in self.folders.repositories)])

        def progress(done: int, total: int) -> None:
            share = done / max(total, 1)
            self.status.soon(bar.report, share, f"{done} of {total} files")
            self.status.tell("reading", f"{done} of {total} files", share)

        def finished(files: int | None) -> None:
            if files is None:
                self.status.soon(bar.end, "ended early")
                self.status.tell("error", "reading the workspace ended early: see the log")
                return
            self.status.soon(bar.end, f"{files} files")
            self.status.tell("idle", f"{files} files read")
            _log.info("read %d files, %d tokens", files, len(self.knowledge))

        kept = TokensKept(self._kept, name) if self._kept is not None else None
        self.reading = Reading(self.knowledge, self._tokenizer, lambda: self.worker.busy, kept, progress)
        places = [self.folders.place(document.uri) for document in self.documents.all()]
        near = [place[1] for place in places if place is not None]
        self.reading.start(self.folders.repositories, near, finished)

    def clear(self) -> None:
        """Forgets completions and what was read, and reads again."""
        self.completions.forget()
        self.knowledge.clear()
        self.read_workspace()

    def end(self) -> None:
        self.worker.close()
        if self.reading is not None:
            self.reading.stop()


def _notebooks() -> types.NotebookDocumentSyncOptions:
    cells = [types.NotebookCellLanguage("python")]
    return types.NotebookDocumentSyncOptions([types.NotebookDocumentFilterWithNotebook(notebook="*", cells=cells)])
