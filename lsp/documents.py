"""The open documents as the editor has them, kept in step by the changes that it sends.

pygls keeps documents too, but it ends lines at more characters than the protocol does and joins the whole text at every
change; these replace them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import unquote

from lsprotocol import types

from coder.completion.situation import end_of
from lsp.positions import UTF16, place_of, position_of, split_lines


@dataclass
class Document:
    """One open text, as lines with their ends. `version` is None for what never had one."""

    uri: str
    language: str
    version: int | None
    lines: list[str] = field(default_factory=lambda: [""])
    encoding: str = UTF16

    @property
    def text(self) -> str:
        return "".join(self.lines)

    def apply(self, change: types.TextDocumentContentChangeEvent) -> None:
        """Does one change: a range replaced, or everything."""
        if isinstance(change, types.TextDocumentContentChangeWholeDocument):
            self.lines = split_lines(change.text)
            return
        (first, start), (last, end) = (
            place_of(self.lines, change.range.start, self.encoding),
            place_of(self.lines, change.range.end, self.encoding),
        )
        if (last, end) < (first, start):
            last, end = first, start
        # A "\r" and a "\n" that a change brings together are one end of line, so the neighbours are split again too.
        begin, stop = max(first - 1, 0), min(last + 2, len(self.lines))
        head = "".join(self.lines[begin:first]) + self.lines[first][:start]
        tail = self.lines[last][end:] + "".join(self.lines[last + 1 : stop])
        fresh = split_lines(head + change.text + tail)
        if stop < len(self.lines):
            fresh.pop()  # the part ends with a line's end, behind which the rest goes on
        self.lines[begin:stop] = fresh

    def place(self, position: types.Position) -> tuple[int, int]:
        """Line and index of a position."""
        return place_of(self.lines, position, self.encoding)

    def position(self, line: int, index: int) -> types.Position:
        return position_of(self.lines, line, index, self.encoding)

    def before(self, line: int, index: int, limit: int) -> str:
        """Whole lines up to a place, from the last ones on, up to `limit` characters; of a longer line its end."""
        first = self._first(line, limit - index)
        return "".join(self.lines[first:line]) + end_of(self.lines[line][:index], limit)

    def after(self, line: int, index: int, limit: int) -> str:
        """What stands behind a place: the rest of its line, and whole lines, up to `limit` characters."""
        rest = self.lines[line][index:]
        return rest[:limit] + "".join(self.lines[line + 1 : self._end(line, limit - len(rest))])

    def outside(self, start: tuple[int, int], end: tuple[int, int], above: int, below: int) -> list[str]:
        """The lines that are left out by `before` at `start` with the limit `above` and by `after` at `end` with the
        limit `below`."""
        first = self._first(start[0], above - start[1])
        return self.lines[:first] + self.lines[self._end(end[0], below - len(self.lines[end[0]]) + end[1]) :]

    def _first(self, line: int, room: int) -> int:
        """The first of the lines above `line` that fit into `room` characters; `line` where none does."""
        while line > 0 and len(self.lines[line - 1]) <= room:
            line -= 1
            room -= len(self.lines[line])
        return line

    def _end(self, line: int, room: int) -> int:
        """The line behind the last of those below `line` that fit into `room` characters."""
        end = line + 1
        while end < len(self.lines) and len(self.lines[end]) <= room:
            room -= len(self.lines[end])
            end += 1
        return end


class Documents:
    """All open documents by uri; a notebook's cells are documents that know their neighbours."""

    def __init__(self) -> None:
        self.encoding = UTF16
        self._open: dict[str, Document] = {}
        self._cells: dict[str, list[str]] = {}

    def __len__(self) -> int:
        return len(self._open)

    def get(self, uri: str) -> Document | None:
        return self._open.get(unquote(uri))

    def all(self) -> list[Document]:
        return list(self._open.values())

    def open(self, item: types.TextDocumentItem) -> Document:
        document = Document(item.uri, item.language_id, item.version, split_lines(item.text), self.encoding)
        self._open[unquote(item.uri)] = document
        return document

    def change(
        self, identifier: types.VersionedTextDocumentIdentifier, changes: list[types.TextDocumentContentChangeEvent]
    ) -> Document | None:
        """None where the document was never opened."""
        document = self.get(identifier.uri)
        if document is not None:
            for change in changes:
                document.apply(change)
            document.version = identifier.version
        return document

    def close(self, uri: str) -> None:
        self._open.pop(unquote(uri), None)

    # -- notebooks -------------------------------------------------------------------------------------------------

    def open_notebook(self, params: types.DidOpenNotebookDocumentParams) -> None:
        for cell in params.cell_text_documents:
            self.open(cell)
        self._cells[unquote(params.notebook_document.uri)] = _uris(params.notebook_document.cells)

    def change_notebook(self, params: types.DidChangeNotebookDocumentParams) -> None:
        cells = params.change.cells
        if cells is None:
            return
        if cells.structure is not None:
            array = cells.structure.array
            for opened in cells.structure.did_open or []:
                self.open(opened)
            for closed in cells.structure.did_close or []:
                self.close(closed.uri)
            known = self._cells.setdefault(unquote(params.notebook_document.uri), [])
            known[array.start : array.start + array.delete_count] = _uris(array.cells or [])
        for content in cells.text_content or []:
            self.change(content.document, list(content.changes))

    def close_notebook(self, params: types.DidCloseNotebookDocumentParams) -> None:
        for cell in params.cell_text_documents:
            self.close(cell.uri)
        self._cells.pop(unquote(params.notebook_document.uri), None)

    def notebook_of(self, uri: str) -> str | None:
        """The notebook that a cell belongs to."""
        cell = unquote(uri)
        return next((notebook for notebook, cells in self._cells.items() if cell in cells), None)

    def earlier_cells(self, uri: str) -> list[Document]:
        """The cells of the same language above a cell."""
        return self._beside(uri)[0]

    def other_cells(self, uri: str) -> list[Document]:
        """The cells of the same language in a cell's notebook, without the cell."""
        above, below = self._beside(uri)
        return above + below

    def _beside(self, uri: str) -> tuple[list[Document], list[Document]]:
        """The cells of the same language above and below a cell."""
        notebook, document = self.notebook_of(uri), self.get(uri)
        if notebook is None or document is None:
            return [], []
        cells = self._cells[notebook]
        at, language = cells.index(unquote(uri)), document.language
        return self._open_in(cells[:at], language), self._open_in(cells[at + 1 :], language)

    def _open_in(self, cells: Sequence[str], language: str) -> list[Document]:
        found = (self._open.get(cell) for cell in cells)
        return [cell for cell in found if cell is not None and cell.language == language]


def _uris(cells: Sequence[types.NotebookCell]) -> list[str]:
    """Uris of all cells in order: an array change counts the prose ones too."""
    return [unquote(cell.document) for cell in cells]
