"""From a text to what an editor inserts: the range that is replaced, the line ends, the list entry it must extend."""

from __future__ import annotations

from lsprotocol import types

from lsp.documents import Document


def item(
    document: Document,
    place: tuple[int, int],
    text: str,
    selected: types.SelectedCompletionInfo | None = None,
) -> types.InlineCompletionItem:
    """The completion `text` at a line and index as an item.

    Its range lies on one line. A text of several lines takes the rest of the cursor's line with it (Monaco shows it
    only then), and the entry selected in the suggestion list is part of the text and its range is the item's.
    """
    line, index = place
    text = text.replace("\n", newline_of(document))
    start = end = document.position(line, index)
    rest = document.lines[line][index:].rstrip("\r\n")
    if selected is not None:
        start, end = selected.range.start, selected.range.end
        text = selected.text + text
        rest = document.lines[line][document.place(end)[1] :].rstrip("\r\n")
    if "\n" in text and rest.strip():
        text += rest
        end = document.position(line, len(document.lines[line].rstrip("\r\n")))
    return types.InlineCompletionItem(insert_text=text, range=types.Range(start, end))


def newline_of(document: Document) -> str:
    """The line end that the document's first line has."""
    first = document.lines[0]
    return "\r\n" if first.endswith("\r\n") else "\r" if first.endswith("\r") else "\n"
