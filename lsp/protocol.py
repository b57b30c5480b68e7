"""pygls' protocol with our own documents in place of its own, and commands that can be cancelled."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.protocol import LanguageServerProtocol, lsp_method

if TYPE_CHECKING:
    from lsp.server import CoderServer


class Protocol(LanguageServerProtocol):
    """Hands every change of a document to the server, in the order in which they come. Runs each command as the task of
    its request."""

    _server: CoderServer

    @lsp_method(types.WORKSPACE_EXECUTE_COMMAND)
    async def lsp_workspace__execute_command(self, params: types.ExecuteCommandParams) -> Any:  # type: ignore[override]
        """As pygls does, but in one task, the request's own. pygls begins another one for the command, which goes on
        when the request is cancelled; and its `shutdown` fails while there are two."""
        command, arguments, named = next(super().lsp_workspace__execute_command(params))
        answer = command(*arguments, **named)
        return await answer if inspect.isawaitable(answer) else answer

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: types.DidOpenTextDocumentParams) -> None:
        self._server.opened(self._server.documents.open(params.text_document))

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> None:
        document = self._server.documents.change(params.text_document, list(params.content_changes))
        if document is not None:
            self._server.changed(document)

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        self._server.closed(params.text_document.uri)

    @lsp_method(types.NOTEBOOK_DOCUMENT_DID_OPEN)
    def lsp_notebook_document__did_open(self, params: types.DidOpenNotebookDocumentParams) -> None:
        self._server.documents.open_notebook(params)

    @lsp_method(types.NOTEBOOK_DOCUMENT_DID_CHANGE)
    def lsp_notebook_document__did_change(self, params: types.DidChangeNotebookDocumentParams) -> None:
        self._server.documents.change_notebook(params)

    @lsp_method(types.NOTEBOOK_DOCUMENT_DID_CLOSE)
    def lsp_notebook_document__did_close(self, params: types.DidCloseNotebookDocumentParams) -> None:
        self._server.documents.close_notebook(params)
