"""A client for the tests: pygls' own, with what it heard, and a server process or a folder of its own."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from lsprotocol import types
from pygls.io_ import StdoutWriter, run_async
from pygls.lsp.client import LanguageClient

from coder.environment import Environment
from lsp.actions import MakeEngine, make_engine
from lsp.features import build
from lsp.server import CoderServer, LoadModel
from tests.lsp.parrot import Parrot
from tests.model.toy import ByteTokenizer

T = TypeVar("T")
AUTOMATIC, INVOKED = types.InlineCompletionTriggerKind.Automatic, types.InlineCompletionTriggerKind.Invoked


class Editor(LanguageClient):
    """Remembers statuses, log lines, messages, progress with its bars, and what the server registered for; applies
    every edit."""

    def __init__(self) -> None:
        super().__init__("editor", "1")
        self.statuses: list[dict[str, Any]] = []
        self.logs: list[str] = []
        self.messages: list[str] = []
        self.progress: list[Any] = []
        self.bars: dict[Any, None] = {}
        self.registered: list[str] = []
        self.edits: list[types.ApplyWorkspaceEditParams] = []
        self.configuration: dict[str, Any] = {}
        self.root = Path()
        self.model: Any = None
        self.server: Any = None
        self.ended = False

        @self.feature("coder/status")
        def status(params: Any) -> None:
            self.statuses.append(params._asdict())

        @self.feature(types.WINDOW_LOG_MESSAGE)
        def log(params: types.LogMessageParams) -> None:
            self.logs.append(params.message)

        @self.feature(types.WINDOW_SHOW_MESSAGE)
        def message(params: types.ShowMessageParams) -> None:
            self.messages.append(params.message)

        @self.feature(types.PROGRESS)
        def progress(params: types.ProgressParams) -> None:
            self.progress.append(params.value)
            self.bars[params.token] = None

        @self.feature(types.WINDOW_WORK_DONE_PROGRESS_CREATE)
        def create(params: types.WorkDoneProgressCreateParams) -> None:
            return None

        @self.feature(types.CLIENT_REGISTER_CAPABILITY)
        def register(params: types.RegistrationParams) -> None:
            self.registered += [one.method for one in params.registrations]

        @self.feature(types.WORKSPACE_CONFIGURATION)
        def configuration(params: types.ConfigurationParams) -> list[Any]:
            return [self.configuration]

        @self.feature(types.WORKSPACE_APPLY_EDIT)
        def apply(params: types.ApplyWorkspaceEditParams) -> types.ApplyWorkspaceEditResult:
            self.edits.append(params)
            return types.ApplyWorkspaceEditResult(True)

    def uri(self, name: str) -> str:
        return (self.root / name).as_uri()

    def open(self, name: str, text: str, language: str = "python") -> str:
        uri = self.uri(name) if "://" not in name and ":" not in name else name
        self.text_document_did_open(types.DidOpenTextDocumentParams(types.TextDocumentItem(uri, language, 1, text)))
        return uri

    def insert(self, uri: str, version: int, line: int, character: int, text: str) -> None:
        place = types.Position(line, character)
        change = types.TextDocumentContentChangePartial(types.Range(place, place), text)
        identifier = types.VersionedTextDocumentIdentifier(version, uri)
        self.text_document_did_change(types.DidChangeTextDocumentParams(identifier, [change]))

    def request(
        self,
        uri: str,
        line: int,
        character: int,
        kind: types.InlineCompletionTriggerKind = AUTOMATIC,
        selected: types.SelectedCompletionInfo | None = None,
    ) -> Any:
        """The request's future. Its message id is in `protocol`'s book until it is answered."""
        params = types.InlineCompletionParams(
            types.InlineCompletionContext(kind, selected),
            types.TextDocumentIdentifier(uri),
            types.Position(line, character),
        )
        return asyncio.ensure_future(self.text_document_inline_completion_async(params))

    async def connect(self, server: CoderServer) -> threading.Thread:
        """Joins this client to a server that runs in a thread of its own, by two pipes."""
        from_client, to_server = os.pipe()
        from_server, to_client = os.pipe()
        incoming, outgoing = os.fdopen(from_client, "rb"), os.fdopen(to_client, "wb")
        thread = threading.Thread(target=server.start_io, args=(incoming, outgoing), daemon=True)
        thread.start()
        reader = asyncio.StreamReader(limit=1 << 26)
        loop = asyncio.get_running_loop()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(from_server, "rb"))
        self.protocol.set_writer(StdoutWriter(os.fdopen(to_server, "wb")))
        self._async_tasks.append(asyncio.create_task(run_async(self._stop_event, reader, self.protocol)))
        return thread

    def configure(self, **settings: Any) -> None:
        self.configuration = settings
        self.workspace_did_change_configuration(types.DidChangeConfigurationParams({}))

    def close(self, uri: str) -> None:
        self.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))

    def save(self, uri: str) -> None:
        self.text_document_did_save(types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(uri)))

    async def texts(self, uri: str, line: int, character: int, **more: Any) -> list[str]:
        found = await self.request(uri, line, character, **more)
        return [item.insert_text for item in found.items] if found is not None else []

    async def ready(self) -> None:
        """Until the model is loaded and the workspace is read."""
        await self.until(lambda: any("is ready" in line for line in self.logs))

    async def until(self, true: Any, seconds: float = 30) -> None:
        for _ in range(int(seconds / 0.01)):
            if true():
                return
            await asyncio.sleep(0.01)
        raise AssertionError(f"never so; logs: {self.logs}, statuses: {self.statuses}, messages: {self.messages}")


def run(coroutine: Coroutine[Any, Any, T], seconds: float = 40) -> T:
    """What a scenario comes to. Raises TimeoutError after so many seconds."""
    return asyncio.run(asyncio.wait_for(coroutine, seconds))


@asynccontextmanager
async def editing(
    folder: Path,
    knows: str,
    *,
    pause: float = 0.0,
    encodings: Sequence[str] = ("utf-16",),
    configuration: dict[str, Any] | None = None,
    folders: Sequence[str] = ("project",),
    more: types.WorkspaceClientCapabilities | None = None,
    engines: MakeEngine = make_engine,
    load: LoadModel | None = None,
) -> AsyncIterator[Editor]:
    """An initialized editor on `folder`/project, with a server whose model knows one text, or is loaded by `load`."""
    for name in folders:
        (folder / name).mkdir(exist_ok=True)
    editor = Editor()
    editor.root = folder / folders[0]
    editor.configuration = configuration or {}
    model = Parrot(knows, pause)
    editor.model = model
    environment = Environment(config=folder / "home" / "config", state=folder / "home" / "state")
    load = load or (lambda name, precision: (model, ByteTokenizer()))
    server = build(load, environment, engines, folder / "kept")
    editor.server = server
    thread = await editor.connect(server)
    capabilities = types.ClientCapabilities(
        general=types.GeneralClientCapabilities(position_encodings=[types.PositionEncodingKind(e) for e in encodings]),
        workspace=more or types.WorkspaceClientCapabilities(configuration=True),
        window=types.WindowClientCapabilities(work_done_progress=True),
        notebook_document=types.NotebookDocumentClientCapabilities(types.NotebookDocumentSyncClientCapabilities()),
    )
    places = [types.WorkspaceFolder((folder / name).as_uri(), name) for name in folders]
    await editor.initialize_async(types.InitializeParams(capabilities=capabilities, workspace_folders=places))
    editor.initialized(types.InitializedParams())
    try:
        yield editor
    finally:
        if not editor.ended:
            await asyncio.wait_for(editor.shutdown_async(None), 10)
        editor.exit(None)
        await asyncio.to_thread(thread.join, 10)
        assert not thread.is_alive()
        await editor.stop()
