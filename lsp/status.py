"""What the server tells an editor about itself: a state for the status bar, progress, and log lines without source
text."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from coder.repository.secrets import redact

if TYPE_CHECKING:
    from pygls.lsp.server import LanguageServer

_log = logging.getLogger(__name__)
STATUS = "coder/status"
_KINDS = ((logging.ERROR, types.MessageType.Error), (logging.WARNING, types.MessageType.Warning),
          (logging.INFO, types.MessageType.Info))  # fmt: skip


class Status:
    """Tells from any thread; before `loop` is known, and for clients that are gone, says nothing."""

    def __init__(self, server: LanguageServer) -> None:
        self._server = server
        self._last: dict[str, Any] = {}
        self.loop: asyncio.AbstractEventLoop | None = None

    def tell(self, state: str, message: str = "", progress: float | None = None) -> None:
        """`state`: idle, reading, thinking, fixing or error. `progress`: a share from 0 to 1."""
        news: dict[str, Any] = {"state": state, "message": message}
        if progress is not None:
            news["progress"] = round(progress, 2)
        if news != self._last:
            self._last = news
            self.soon(self._server.protocol.notify, STATUS, news)

    def message(self, kind: types.MessageType, text: str) -> None:
        """A line that the user sees."""
        self.soon(self._server.window_show_message, types.ShowMessageParams(kind, redact(text)))

    def soon(self, function: Any, *arguments: Any) -> None:
        """Calls a function on the event loop."""
        if self.loop is not None and not self.loop.is_closed():
            self.loop.call_soon_threadsafe(function, *arguments)


class Progress:
    """One bar of `$/progress`, where the client shows such bars."""

    def __init__(self, server: LanguageServer, title: str) -> None:
        window = server.client_capabilities.window
        self._shown = bool(window and window.work_done_progress)
        self._server = server
        self._title = title
        self._token = str(uuid.uuid4())
        self._begun = False

    async def begin(self, cancel: Callable[[], None] | None = None) -> None:
        """Returns once the client has made the bar. `cancel` is called where the user wants the work to end; without
        it, the bar offers no such thing."""
        bars = self._server.work_done_progress
        if not self._shown:
            return
        try:
            await bars.create_async(self._token)
        except JsonRpcException as error:
            _log.info("the editor shows no progress: %s", error)
            return
        if cancel is not None:
            bars.tokens[self._token].add_done_callback(lambda cancelled: cancel())
        begin = types.WorkDoneProgressBegin(title=self._title, cancellable=cancel is not None, percentage=0)
        bars.begin(self._token, begin)
        self._begun = True

    def report(self, share: float, message: str = "") -> None:
        if self._begun:
            percentage = max(0, min(100, int(100 * share)))
            self._server.work_done_progress.report(
                self._token, types.WorkDoneProgressReport(message=message, percentage=percentage)
            )

    def end(self, message: str = "") -> None:
        if self._begun:
            self._begun = False
            self._server.work_done_progress.tokens.pop(self._token, None)  # nobody else takes it out
            self._server.work_done_progress.end(self._token, types.WorkDoneProgressEnd(message=message))


class LogHandler(logging.Handler):
    """The program's own log lines as `window/logMessage`; tokens that look like secrets are taken out."""

    def __init__(self, server: LanguageServer, status: Status) -> None:
        super().__init__()
        self._server = server
        self._status = status

    def emit(self, record: logging.LogRecord) -> None:
        kind = next((kind for level, kind in _KINDS if record.levelno >= level), types.MessageType.Debug)
        params = types.LogMessageParams(kind, redact(record.getMessage()))
        self._status.soon(self._server.window_log_message, params)
