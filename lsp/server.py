"""The server's state and what it does with it; which message leads to what stands in `lsp.features`."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from importlib.metadata import version
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

from coder.completion.knowledge import Knowledge
from coder.completion.writer import Writer
from coder.environment import Environment
from lsp.actions import Actions, MakeEngine
from lsp.completion import Completions
from lsp.documents import Document, Documents
from lsp.learning import Learning
from lsp.protocol import Protocol
from lsp.settings import Settings
from lsp.status import Status
from lsp.watching import REGISTRATION, can_watch
from lsp.worker import Urgency, Worker
from lsp.workspace import Workspace

LoadModel = Callable[[str, str], tuple[Any, Any]]
_log = logging.getLogger("lsp")


class CoderServer(LanguageServer):
    """State of one editor's session. Everything but the model, the reading and the searches lives on the event loop."""

    def __init__(self, load_model: LoadModel, environment: Environment, engines: MakeEngine, kept: Path | None) -> None:
        self.documents = Documents()  # before pygls' own set-up, which makes the protocol
        super().__init__("coder", version("coder"), notebook_document_sync=_notebooks(), protocol_cls=Protocol)
        self.folders = Workspace()
        self.settings = Settings()
        self.worker = Worker()
        self.status = Status(self)
        self.completions = Completions(self.documents, self.folders, self.worker, lambda: self.settings, self.modules)
        self.actions = Actions(self, environment, engines)
        self.learning = Learning(self, kept)
        self._load_model = load_model
        self._begun = False
        self._loads = 0
        self._told_outside = False

    def modules(self) -> Collection[str]:
        return self.learning.modules

    # -- documents -------------------------------------------------------------------------------------------------

    def opened(self, document: Document) -> None:
        self.learning.opened(document)
        self._resume(document)

    def changed(self, document: Document) -> None:
        self.learning.changed(document)

    def closed(self, uri: str) -> None:
        document = self.documents.get(uri)
        self.documents.close(uri)
        if document is not None:
            self.learning.closed(document)

    def _resume(self, document: Document) -> None:
        """What `coder fix` or another command has read of the file is not read again."""
        found, writer = self.folders.place(document.uri), self.completions.writer
        if found is None or writer is None or not self.folders.admits(document.uri):
            return
        from coder.reading import open_store

        store, (repository, path) = open_store(self.actions.environment.state_dir), found
        text = document.text.replace("\r\n", "\n")
        self.worker.submit(lambda cancel: writer.resume(store, repository.root, path, text), Urgency.IDLE)

    def asked(self, uri: str) -> None:
        """Before a completion. Says once why a file of no open folder gets none."""
        self.learning.focus(uri)
        if not self._told_outside and self.folders.outside(uri):
            self._told_outside = True
            self.status.tell("idle", "only files of the open folders are completed")

    # -- start and settings ----------------------------------------------------------------------------------------

    async def begin(self) -> None:
        """After the client's `initialized`: settings, then the model, then the workspace."""
        workspace = self.client_capabilities.workspace
        if workspace is not None and workspace.configuration:
            await self.ask_settings()
        self._begun = True
        self.load()
        if can_watch(self.client_capabilities):
            try:
                await self.client_register_capability_async(types.RegistrationParams([REGISTRATION]))
            except JsonRpcException as error:
                _log.warning("the editor does not tell of files that change on disk: %s", error)

    async def ask_settings(self) -> None:
        items = [types.ConfigurationItem(section="coder")]
        try:
            answers = await self.workspace_configuration_async(types.ConfigurationParams(items))
        except Exception as error:
            _log.warning("the editor did not tell its settings: %s", type(error).__name__)
            return
        self.set_settings(answers[0] if answers else None)

    def set_settings(self, values: Any) -> None:
        """Takes settings over; once the server has begun, a new model is loaded, a switched reading begun or ended."""
        old = self.settings
        self.settings, complaints = old.updated(values if isinstance(values, dict) else None)
        for complaint in complaints:
            _log.warning("%s", complaint)
        if not self._begun:
            return
        if (old.model, old.precision) != (self.settings.model, self.settings.precision):
            self.load()
        elif old.read_repository != self.settings.read_repository:
            self.learning.read_workspace()
        elif old != self.settings:
            self.completions.forget_answers()

    def load(self) -> None:
        """Loads the model in its thread; until it is there, completions are silent. The last one asked for counts."""
        settings = self.settings
        self._loads = number = self._loads + 1
        self.completions.writer = None
        self.completions.forget_answers()
        self.learning.again()
        self.status.tell("reading", f"loading {settings.model}")

        def work(cancel: Any) -> None:
            if number != self._loads:
                return
            try:
                model, tokenizer = self._load_model(settings.model, settings.precision)
                writer = Writer(model, tokenizer, Knowledge())
            except Exception as error:
                _log.error("the model %s cannot be used: %s", settings.model, error)
                if number == self._loads:
                    self.status.tell("error", f"the model {settings.model} cannot be used: see the log")
                return
            self.status.soon(self._loaded, writer, settings, number)

        self.worker.submit(work, Urgency.NOW)

    def _loaded(self, writer: Writer, settings: Settings, number: int) -> None:
        if number != self._loads:
            return  # another one was asked for meanwhile
        self.completions.writer = writer
        self.status.tell("idle", settings.model)
        _log.info("%s is ready", settings.model)
        self.learning.again()
        for document in self.documents.all():
            self._resume(document)

    # -- the workspace ---------------------------------------------------------------------------------------------

    def take_folders(self) -> None:
        """The workspace's folders as the client has them now."""
        uris = [folder.uri for folder in self.workspace.folders.values()]
        if not uris and self.workspace.root_uri:
            uris = [self.workspace.root_uri]
        for complaint in self.folders.set_folders(uris):
            _log.warning("%s", complaint)

    def read_anew(self) -> None:
        """Other folders or other rules: what may be known is decided again, and read again from the beginning."""
        self.folders.forget()
        self.completions.forget_answers()
        self.learning.again()

    def clear(self) -> None:
        """Forgets completions and what was read, and reads again."""
        self.completions.forget()
        self.read_anew()

    def end(self) -> None:
        self.actions.stop()
        self.worker.close()
        self.learning.stop()


def _notebooks() -> types.NotebookDocumentSyncOptions:
    cells = [types.NotebookCellLanguage("python")]
    return types.NotebookDocumentSyncOptions([types.NotebookDocumentFilterWithNotebook(notebook="*", cells=cells)])
