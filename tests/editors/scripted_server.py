"""A language server whose completions are written beforehand: what the editors' tests talk to.

Run as `python scripted_server.py script.json`. The script: `completions`, a list of entries: `before` ends what stands
left of the cursor, `texts` are the completions, `delay` is in seconds, `whole` and `rest` tell that the item takes what
stands left or right of the cursor with it. `fix`, `{"find", "replace"}`: what the command `coder.fixTest` proposes, for
the version before when the test's name ends in `late`. `scripted/log` answers what was asked so far, `scripted/text`
what the server holds of a document.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.workspace import TextDocument

server = LanguageServer("coder-scripted", "1")
script: dict[str, Any] = json.loads(Path(sys.argv[1]).read_text())
log: list[list[Any]] = []


def proposed(document: TextDocument, position: types.Position, entry: dict[str, Any], text: str) -> Any:
    """An item at the cursor; with `whole` it replaces what stands left of the cursor by itself, with `rest` what stands
    right of it."""
    lines = document.lines or [""]
    line = lines[position.line].rstrip("\r\n") if position.line < len(lines) else ""
    codec = document.position_codec
    cursor = codec.position_from_client_units(lines, position).character
    start = 0 if entry.get("whole") else cursor
    end = len(line) if entry.get("rest") else cursor
    extent = types.Range(types.Position(position.line, start), types.Position(position.line, end))
    return types.InlineCompletionItem(
        insert_text=line[start:cursor] + text + line[cursor:end],
        range=codec.range_to_client_units(lines, extent),
    )


@server.feature(types.TEXT_DOCUMENT_INLINE_COMPLETION, types.InlineCompletionOptions())
async def complete(params: types.InlineCompletionParams) -> list[types.InlineCompletionItem]:
    document = server.workspace.get_text_document(params.text_document.uri)
    before = document.source[: document.offset_at_position(params.position)]
    log.append(["asked", before.rpartition("\n")[2]])
    for entry in script["completions"]:
        if before.endswith(entry["before"]):
            try:
                await asyncio.sleep(entry.get("delay", 0))
            except asyncio.CancelledError:
                log.append(["cancelled", before.rpartition("\n")[2]])
                raise
            log.append(["answered", before.rpartition("\n")[2]])
            automatic = params.context.trigger_kind == types.InlineCompletionTriggerKind.Automatic
            texts = entry["texts"][:1] if automatic else entry["texts"]
            return [proposed(document, params.position, entry, text) for text in texts]
    return []


@server.command("coder.fixTest")
async def fix_test(uri: str, node: str) -> None:
    log.append(["fix", node])
    server.protocol.notify("coder/status", {"state": "fixing", "message": f"fixing {node}", "progress": 0.25})
    document = server.workspace.get_text_document(uri)
    fix = script["fix"]
    start = document.source.index(fix["find"])
    line = document.source[:start].count("\n")
    column = start - (document.source.rfind("\n", 0, start) + 1)
    extent = types.Range(types.Position(line, column), types.Position(line, column + len(fix["find"])))
    place = document.position_codec.range_to_client_units(document.lines, extent)
    version = (document.version or 0) - int(node.endswith("late"))
    change = types.TextDocumentEdit(
        types.OptionalVersionedTextDocumentIdentifier(uri, version),
        [types.AnnotatedTextEdit("proved", place, fix["replace"])],
    )
    proof = types.ChangeAnnotation(f"Fix {node}", needs_confirmation=True, description="passes 1 test")
    edit = types.WorkspaceEdit(document_changes=[change], change_annotations={"proved": proof})
    result = await server.workspace_apply_edit_async(types.ApplyWorkspaceEditParams(edit))
    log.append(["applied", result.applied, result.failure_reason])
    server.protocol.notify("coder/status", {"state": "idle", "message": ""})


@server.command("coder.completeFunction")
def complete_function(uri: str, position: Any) -> None:
    log.append(["complete function", position])


@server.command("coder.clearCache")
def clear_cache() -> None:
    log.append(["clear cache"])


@server.feature("scripted/log")
def everything_asked(*_: Any) -> list[list[Any]]:
    return log


@server.feature("scripted/text")
def text(params: Any) -> str:
    return server.workspace.get_text_document(params.uri).source


server.start_io()
