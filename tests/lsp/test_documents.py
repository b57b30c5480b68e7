from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lsprotocol import types

from lsp.documents import Document, Documents
from lsp.positions import content, index_of, split_lines, units

TEXTS = st.text(st.sampled_from("ab \t\n\r\f\x1c\u2028π😀"), max_size=30)


def test_only_the_protocol_s_line_ends_end_lines():
    assert split_lines("a\x0cb\u2028c\r\nd\re\n") == ["a\x0cb\u2028c\r\n", "d\r", "e\n", ""]


@given(TEXTS)
def test_lines_join_to_the_text(text):
    assert "".join(split_lines(text)) == text


@pytest.mark.parametrize(("encoding", "column"), [("utf-8", 6), ("utf-16", 3), ("utf-32", 2)])
def test_a_column_counts_code_units(encoding, column):
    assert index_of("π😀x\n", column, encoding) == 2
    assert units("π😀", encoding) == column
    assert index_of("π😀x\n", 99, encoding) == 3


def offset_of(text: str, position: types.Position, encoding: str) -> int:
    """Written another way than the server's: walks the text letter by letter."""
    at = line = 0
    while line < position.line and at < len(text):
        if text[at] == "\r" and text[at + 1 : at + 2] == "\n":
            at += 1
        line += text[at] in "\r\n"
        at += 1
    if line < position.line:
        return len(text)
    counted = 0
    while at < len(text) and text[at] not in "\r\n":
        counted += len(text[at].encode(encoding + "-le" if encoding != "utf-8" else encoding)) // {
            "utf-8": 1, "utf-16": 2, "utf-32": 4}[encoding]  # fmt: skip
        if counted > position.character:
            break
        at += 1
    return at


@given(TEXTS, st.lists(st.tuples(st.integers(0, 6), st.integers(0, 8), st.integers(0, 6), st.integers(0, 8), TEXTS)),
       st.sampled_from(["utf-8", "utf-16", "utf-32"]))  # fmt: skip
@settings(max_examples=300, deadline=None)
def test_incremental_changes_keep_step_with_the_true_text(text, changes, encoding):
    document = Document("untitled:1", "python", 1, split_lines(text), encoding)
    for first, start, last, end, new in changes:
        if (last, end) < (first, start):
            first, start, last, end = last, end, first, start
        place = types.Range(types.Position(first, start), types.Position(last, end))
        a, b = offset_of(text, place.start, encoding), offset_of(text, place.end, encoding)
        text = text[:a] + new + text[max(a, b) :]
        document.apply(types.TextDocumentContentChangePartial(place, new))
        assert document.text == text
        assert document.lines == split_lines(text)


def test_before_and_after_are_whole_lines_within_a_limit():
    document = Document("u", "python", 1, split_lines("one\ntwo\nthree\nfour\n"))
    assert document.before(2, 2, 7) == "two\nth"
    assert document.after(2, 2, 9) == "ree\nfour\n"
    assert document.before(2, 2, 99) + document.after(2, 2, 99) == document.text
    assert document.outside((2, 2), (2, 2), 7, 9) == ["one\n"]
    assert document.outside((1, 0), (2, 0), 0, 6) == ["one\n", "four\n", ""]
    assert document.outside((2, 2), (2, 2), 99, 99) == []


def test_of_a_long_line_only_what_is_near_the_place_is_looked_at():
    text = "".join(f"{number:04}," for number in range(10_000))
    document = Document("u", "json", 1, split_lines("[\n" + text + "\n]\n"))
    before, later = document.before(1, 39_000, 16_000), document.before(1, 39_500, 16_000)
    assert before == text[24_000:39_000] and later == text[24_000:39_500]
    assert document.after(1, 39_000, 4_000) == text[39_000:43_000]


def test_a_long_file_is_changed_where_it_is_changed():
    document = Document("u", "python", 1, [f"line {n}\n" for n in range(50_000)])
    middle = document.lines[10]
    place = types.Range(types.Position(25_000, 0), types.Position(25_001, 0))
    document.apply(types.TextDocumentContentChangePartial(place, "new\nlines\n"))
    assert document.lines[24_999:25_003] == ["line 24999\n", "new\n", "lines\n", "line 25001\n"]
    assert document.lines[10] is middle
    assert content(document.lines[-1]) == "line 49999"


def test_the_order_of_cells_is_kept():
    documents = Documents()
    cells = [types.NotebookCell(types.NotebookCellKind.Code, f"cell:{n}") for n in (1, 2)]
    items = [types.TextDocumentItem(f"cell:{n}", "python", 1, f"x = {n}") for n in (1, 2)]
    documents.open_notebook(types.DidOpenNotebookDocumentParams(types.NotebookDocument("n", "j", 1, cells), items))
    assert [cell.text for cell in documents.earlier_cells("cell:2")] == ["x = 1"]
    assert [cell.text for cell in documents.other_cells("cell:1")] == ["x = 2"]
    fresh = types.NotebookCell(types.NotebookCellKind.Code, "cell:3")
    structure = types.NotebookDocumentCellChangeStructure(
        types.NotebookCellArrayChange(0, 1, [fresh]),
        [types.TextDocumentItem("cell:3", "python", 1, "x = 3")],
        [types.TextDocumentIdentifier("cell:1")],
    )
    change = types.NotebookDocumentChangeEvent(cells=types.NotebookDocumentCellChanges(structure))
    identifier = types.VersionedNotebookDocumentIdentifier(2, "n")
    documents.change_notebook(types.DidChangeNotebookDocumentParams(identifier, change))
    assert [cell.text for cell in documents.earlier_cells("cell:2")] == ["x = 3"]
    assert documents.get("cell:1") is None
