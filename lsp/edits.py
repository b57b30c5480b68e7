"""A proved patch or a written function as an edit of the workspace: for exactly the versions that it was made for."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from lsprotocol import types

from coder.patch import Change, decode
from lsp.positions import split_lines, units

ANNOTATION = "coder"


@dataclass(frozen=True)
class FileEdit:
    """Edits of one document. `version` is that of the buffer; None for a file that is not open."""

    uri: str
    version: int | None
    edits: tuple[types.TextEdit, ...]


def of_change(change: Change, uri: str, version: int | None, encoding: str) -> FileEdit:
    """A file's change as edits of whole lines. Raises UnicodeDecodeError or SyntaxError for what is not text."""
    before, after = (decode(side.data).text if side else "" for side in (change.before, change.after))
    old, new = split_lines(before), split_lines(after)
    edits = []
    for kind, a, b, c, d in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind != "equal":
            place = types.Range(_start(old, a, encoding), _start(old, b, encoding))
            edits.append(types.TextEdit(place, "".join(new[c:d])))
    return FileEdit(uri, version, tuple(edits))


def workspace_edit(
    files: Iterable[FileEdit], label: str, description: str, client: types.ClientCapabilities
) -> types.WorkspaceEdit:
    """With versions and a wish to be confirmed, where the client knows these."""
    known = client.workspace.workspace_edit if client.workspace else None
    if known is None or not known.document_changes:
        changes: Mapping[str, Any] = {file.uri: list(file.edits) for file in files}
        return types.WorkspaceEdit(changes=dict(changes))
    annotated = known.change_annotation_support is not None
    documents: list[Any] = []
    for file in files:
        edits: list[Any] = list(file.edits)
        if annotated:
            edits = [types.AnnotatedTextEdit(ANNOTATION, edit.range, edit.new_text) for edit in edits]
        identifier = types.OptionalVersionedTextDocumentIdentifier(file.uri, file.version)
        documents.append(types.TextDocumentEdit(identifier, edits))
    annotations = {ANNOTATION: types.ChangeAnnotation(label, needs_confirmation=True, description=description)}
    return types.WorkspaceEdit(document_changes=documents, change_annotations=annotations if annotated else None)


def _start(lines: list[str], line: int, encoding: str) -> types.Position:
    """The beginning of a line; behind the last one, the text's end."""
    if line < len(lines):
        return types.Position(line, 0)
    return types.Position(len(lines) - 1, units(lines[-1], encoding))
