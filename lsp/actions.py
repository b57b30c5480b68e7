"""Code actions and commands: repair a failing test in the sandbox, write a function's body."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lsprotocol import types

from coder import config, events
from coder.completion.body import parted, write_body
from coder.completion.functions import stub_at, test_at
from coder.completion.situation import Situation
from coder.engine import Engine, FixRequest
from coder.environment import Environment
from coder.exit_status import ExitStatus
from coder.failure import Failure
from coder.patch import Version, decode
from coder.repository import Repository
from coder.trust import Trust
from lsp import edits
from lsp.documents import Document
from lsp.status import Progress
from lsp.worker import Urgency

if TYPE_CHECKING:
    from coder.engine import Patch
    from lsp.server import CoderServer

FIX, COMPLETE, CLEAR = "coder.fixTest", "coder.completeFunction", "coder.clearCache"
_log = logging.getLogger(__name__)

MakeEngine = Callable[[Repository, Environment, events.Listener], Engine]


def make_engine(repository: Repository, environment: Environment, listener: events.Listener) -> Engine:
    """The engine for a folder, by the user's settings and the folder's own where it is trusted. Raises Failure."""
    settings = config.load(environment.config_dir, Trust(environment.state_dir), repository.root)
    return Engine.of(Repository(repository.root), settings, environment, listener)


@dataclass
class Actions:
    """What the server offers beside completions."""

    server: CoderServer
    environment: Environment
    make_engine: MakeEngine = make_engine
    _searches: set[threading.Event] = field(default_factory=set)
    """What ends each search that is under way."""

    def offered(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        """The actions at a cursor or a diagnostic."""
        document = self.server.documents.get(params.text_document.uri)
        if document is None or document.language != "python" or not self.server.folders.admits(document.uri):
            return []
        actions = []
        text, position = document.text, params.range.start
        found = self.server.folders.place(document.uri)
        node = test_at(found[1], text, position.line) if found is not None else None
        if node is not None:
            command = types.Command("Fix failing test with coder", FIX, arguments=[document.uri, node])
            diagnostics = list(params.context.diagnostics) or None
            actions.append(types.CodeAction(command.title, types.CodeActionKind.QuickFix, diagnostics, command=command))
        if stub_at(text, _offset(document, position)) is not None:
            command = types.Command("Complete this function", COMPLETE, arguments=[document.uri, position])
            actions.append(types.CodeAction(command.title, types.CodeActionKind.RefactorRewrite, command=command))
        return actions

    # -- fix -------------------------------------------------------------------------------------------------------

    async def fix_test(self, uri: str, node: str) -> bool:
        """Searches a patch for one failing test, on the buffers as they are, and offers it as an edit. Whether it was
        applied."""
        status = self.server.status
        found = self.server.folders.place(uri)
        if found is None or not self.server.folders.admits(uri):
            status.message(types.MessageType.Warning, "coder repairs only tests of the open folders.")
            return False
        repository = found[0]
        progress = Progress(self.server, f"coder: fixing {node}")
        status.tell("fixing", node)
        try:
            engine = self.make_engine(repository, self.environment, self._listener(progress))
            engine.unsaved = self._unsaved(repository)
            patches = await self._search(engine, FixRequest((node,)), progress)
        except Failure as failure:
            if failure.status is not ExitStatus.INTERRUPTED:
                status.message(types.MessageType.Warning, f"coder: {failure.message}. {failure.hint}".strip())
            return False
        finally:
            progress.end()
            status.tell("idle")
        if engine.cancel.is_set():
            return False  # whoever stopped it knows
        if not patches:
            status.message(types.MessageType.Info, f"coder found no patch that makes {node} pass within its limits.")
            return False
        return await self._offer(repository, patches[0], node)

    def stop(self) -> None:
        """Ends the searches that are under way."""
        for cancel in self._searches:
            cancel.set()

    async def _search(self, engine: Engine, request: FixRequest, progress: Progress) -> list[Patch]:
        """The search, in a thread. It ends early with the request, with the server, and where the user ends it at its
        bar."""
        self._searches.add(engine.cancel)
        try:
            await progress.begin(engine.cancel.set)
            return await asyncio.shield(asyncio.get_running_loop().run_in_executor(None, engine.fix, request))
        except asyncio.CancelledError:
            engine.cancel.set()
            raise
        finally:
            self._searches.discard(engine.cancel)

    def _unsaved(self, repository: Repository) -> dict[str, bytes]:
        """The bytes of the folder's open files that differ from the disk, by path."""
        unsaved: dict[str, bytes] = {}
        for document in self.server.documents.all():
            found = self.server.folders.place(document.uri)
            if found is None or found[0] is not repository or repository.rules.hidden(found[1]):
                continue
            path = found[1]
            try:
                disk = repository.document(path)
                if disk.text != document.text:
                    unsaved[path] = disk.encode(document.text)
            except (Failure, OSError, UnicodeError, SyntaxError):
                unsaved[path] = document.text.encode("utf-8", "replace")
        return unsaved

    def _listener(self, progress: Progress) -> events.Listener:
        def listener(event: events.Event) -> None:
            if isinstance(event, events.Tested) and event.total:
                self.server.status.soon(progress.report, 0.5 * event.done / event.total, "running the tests")
            elif isinstance(event, events.Candidate):
                self.server.status.soon(progress.report, 0.5, f"{event.number} candidates tried")
            elif isinstance(event, events.Notice):
                _log.info("%s", event.message)

        return listener

    async def _offer(self, repository: Repository, patch: Patch, node: str) -> bool:
        files = []
        for change in patch.changes:
            document = self._open_at(repository, change.path)
            if document is not None:
                same = _holds(document, change.before)
            else:
                same = change.before == repository.gate.current(change.path)
            if not same:
                text = f"{change.path} changed while coder was searching: nothing was done. Ask again."
                self.server.status.message(types.MessageType.Warning, text)
                return False
            uri = document.uri if document is not None else (repository.root / change.path).as_uri()
            version = document.version if document is not None else None
            files.append(edits.of_change(change, uri, version, self.server.documents.encoding))
        proof = patch.verdict.summary()
        return await self._apply(files, f"Fix {node}", f"{patch.proposal.note}: {proof}")

    def _open_at(self, repository: Repository, path: str) -> Document | None:
        """The document that is open for a file. Folders are told apart by their place: changed rules make new ones."""
        for document in self.server.documents.all():
            found = self.server.folders.place(document.uri)
            if found is not None and found[0].root == repository.root and found[1] == path:
                return document
        return None

    async def _apply(self, files: list[edits.FileEdit], label: str, description: str) -> bool:
        edit = edits.workspace_edit(files, label, description, self.server.client_capabilities)
        answer = await self.server.workspace_apply_edit_async(types.ApplyWorkspaceEditParams(edit, label))
        if answer.applied:
            self.server.status.message(types.MessageType.Info, f"coder: {description}")
        elif answer.failure_reason:
            _log.info("the editor did not apply the edit")
        return bool(answer.applied)

    # -- complete a function ---------------------------------------------------------------------------------------

    async def complete_function(self, uri: str, position: types.Position) -> bool:
        """Writes the body of the stub at a position, and offers it as an edit. Whether it was applied."""
        status, writer = self.server.status, self.server.completions.writer
        document = self.server.documents.get(uri)
        if document is None or not self.server.folders.admits(uri, self.server.documents.notebook_of(uri)):
            return False
        if writer is None:
            status.message(types.MessageType.Info, "coder is still loading its model.")
            return False
        text, version = document.text, document.version
        stub = stub_at(text, _offset(document, position)) if document.language == "python" else None
        if stub is None:
            status.message(types.MessageType.Info, "coder: no function without a body is here.")
            return False
        folders = self.server.folders
        path, name = folders.path_of(uri), folders.name_of(uri)
        situation = Situation(uri, path, document.language, *parted(text, stub), name)
        modules = self.server.modules()
        status.tell("thinking", stub.name)
        job = self.server.worker.submit(
            lambda cancel: write_body(writer, situation, stub, modules, cancel), Urgency.NOW
        )
        try:
            body = await asyncio.shield(asyncio.wrap_future(job.future))
        except asyncio.CancelledError:
            job.cancel.set()
            raise
        finally:
            status.tell("idle")
        same = self.server.documents.get(uri) is document and document.version == version
        if not body or not same:
            reason = "the text has changed meanwhile" if body else "nothing that would parse and resolve was found"
            status.message(types.MessageType.Info, f"coder: {stub.name} is as it was: {reason}.")
            return False
        edit = types.TextEdit(types.Range(_place(document, stub.start), _place(document, stub.end)), body)
        file = edits.FileEdit(document.uri, version, (edit,))
        return await self._apply([file], f"Complete {stub.name}", "written by the model, not tested")


def _holds(document: Document, before: Version | None) -> bool:
    """Whether the text of an open document is the one that a change was made for. Its version alone does not say so: a
    document that was closed and opened again counts from the beginning."""
    try:
        return before is not None and decode(before.data).text == document.text
    except (UnicodeError, SyntaxError):
        return False


def _offset(document: Document, position: types.Position) -> int:
    line, index = document.place(position)
    return sum(map(len, document.lines[:line])) + index


def _place(document: Document, offset: int) -> types.Position:
    for number, line in enumerate(document.lines):
        if offset < len(line) or number == len(document.lines) - 1:
            return document.position(number, offset)
        offset -= len(line)
    return types.Position(0, 0)
