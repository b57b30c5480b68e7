"""Which message of an editor leads to what: a server put together, with its features and commands."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

from lsprotocol import types

from coder.environment import Environment
from lsp import models
from lsp.actions import CLEAR, COMPLETE, FIX, MakeEngine, make_engine
from lsp.server import CoderServer, LoadModel
from lsp.status import LogHandler

_log = logging.getLogger("lsp")


def build(
    load_model: LoadModel = models.load,
    environment: Environment | None = None,
    engines: MakeEngine = make_engine,
    kept: Path | None = None,
) -> CoderServer:
    """A server that is ready to start. `kept`: the folder for tokens on disk, None for none."""
    server = CoderServer(load_model, environment or Environment(), engines, kept)

    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        encodings = params.capabilities.general.position_encodings if params.capabilities.general else None
        known = [one for one in encodings or () if one in ("utf-8", "utf-16", "utf-32")]
        server.documents.encoding = str(getattr(known[0], "value", known[0])) if known else "utf-16"
        options = params.initialization_options
        server.set_settings(options)
        server.take_folders()

    @server.feature(types.INITIALIZED)
    async def initialized(params: types.InitializedParams) -> None:
        server.status.loop = asyncio.get_running_loop()
        handler = LogHandler(server, server.status)
        _log.addHandler(handler)
        _log.setLevel(logging.DEBUG)
        _log.propagate = False
        await server.begin()

    @server.feature(types.SHUTDOWN)
    def shutdown(params: None) -> None:
        server.end()

    @server.feature(types.TEXT_DOCUMENT_INLINE_COMPLETION, types.InlineCompletionOptions())
    async def inline_completion(params: types.InlineCompletionParams) -> types.InlineCompletionList | None:
        server.asked(params.text_document.uri)
        return await server.completions.complete(params)

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CodeActionOptions([types.CodeActionKind.QuickFix, types.CodeActionKind.RefactorRewrite]),
    )
    def code_action(params: types.CodeActionParams) -> list[types.CodeAction]:
        return server.actions.offered(params)

    @server.command(FIX)
    async def fix_test(uri: str, node: str) -> bool:
        return await server.actions.fix_test(uri, node)

    @server.command(COMPLETE)
    async def complete_function(uri: str, position: types.Position) -> bool:
        return await server.actions.complete_function(uri, position)

    @server.command(CLEAR)
    def clear_cache() -> None:
        server.clear()

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def did_save(params: types.DidSaveTextDocumentParams) -> None:
        server.learning.saved(params.text_document.uri)

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def did_change_configuration(params: types.DidChangeConfigurationParams) -> None:
        workspace = server.client_capabilities.workspace
        if workspace is not None and workspace.configuration:
            await server.ask_settings()
        elif isinstance(params.settings, dict):
            server.set_settings(params.settings.get("coder", params.settings))

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def did_change_folders(params: types.DidChangeWorkspaceFoldersParams) -> None:
        server.take_folders()
        server.read_anew()

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def did_change_watched_files(params: types.DidChangeWatchedFilesParams) -> None:
        server.learning.watching.heard(params.changes)

    return server
