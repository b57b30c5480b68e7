"""The situation and the prompt at a place of an open document: what an editor's request is made into."""

from __future__ import annotations

from lsprotocol import types

from coder.completion.prompt import Prompt, prompt_of
from coder.completion.situation import Situation
from lsp.documents import Document, Documents
from lsp.workspace import Workspace

BEFORE, AFTER = 16_000, 4_000  # characters around the cursor that anything looks at


def situate(
    documents: Documents,
    workspace: Workspace,
    document: Document,
    place: tuple[int, int],
    selected: types.SelectedCompletionInfo | None = None,
) -> Situation:
    """The situation at a place; with an entry selected in the suggestion list, as if it had been accepted."""
    start, end, chosen = place, place, ""
    if selected is not None:
        start, end = document.place(selected.range.start), document.place(selected.range.end)
        chosen = selected.text
    before, after = document.before(*start, BEFORE) + chosen, document.after(*end, AFTER)
    elsewhere = document.outside(start, end, BEFORE, AFTER)
    for cell in documents.other_cells(document.uri):
        elsewhere += cell.lines
    uri, language = document.uri, document.language
    path, name = workspace.path_of(uri), workspace.name_of(uri)
    return Situation(uri, path, language, _plain(before), _plain(after), name, elsewhere)


def prompt_at(documents: Documents, document: Document, situation: Situation, line: int) -> Prompt:
    """The prompt for a situation in a line (from 0) of its document."""
    earlier = documents.earlier_cells(document.uri)
    return prompt_of(situation, document.lines, line, [cell.text for cell in earlier])


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")
