"""The server as an editor meets it: a process, a protocol, and a model that knows one text."""

from __future__ import annotations

import asyncio
import time

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcRequestCancelled

from lsp import completion
from tests.lsp.client import INVOKED, editing, run

KNOWS = """import os


def add(first, second):
    return 1234 + 5678


def size_of(text):
    total = len((7, 8))
    return total
"""
BEFORE = "import os\n\n\ndef add(first, second):\n    return"


pytestmark = pytest.mark.usefixtures("patience")


def test_a_completion_comes_and_follows_what_is_typed(tmp_path):
    async def scenario():
        async with editing(tmp_path, KNOWS) as editor:
            uri = editor.open("a.py", BEFORE)
            await editor.ready()
            found = await editor.request(uri, 4, 10)
            assert [item.insert_text for item in found.items] == [" 1234 + 5678"]
            place = types.Position(4, 10)
            assert found.items[0].range == types.Range(place, place)
            editor.insert(uri, 2, 4, 10, " 123")
            assert await editor.texts(uri, 4, 14) == ["4 + 5678"]
            editor.insert(uri, 3, 4, 14, "9")
            assert await editor.texts(uri, 4, 15) == []
            await editor.until(lambda: sum("completion" in line for line in editor.logs) >= 3)
            outcomes = [line.split()[1].strip(",") for line in editor.logs if line.startswith("completion")]
            assert outcomes == ["miss", "hit", "miss"]

    run(scenario())


def test_what_takes_long_is_answered_in_part_and_goes_on(tmp_path, monkeypatch):
    monkeypatch.setattr(completion, "SOON", 0.05)
    monkeypatch.setattr(completion, "LATE", 0.1)

    async def scenario():
        async with editing(tmp_path, KNOWS, pause=0.05) as editor:
            uri = editor.open("a.py", BEFORE)
            await editor.ready()
            (part,) = await editor.texts(uri, 4, 10)
            assert " 1234 + 5678".startswith(part) and part != " 1234 + 5678"
            assert not part[-1].isdigit() or part == " 1234"
            await editor.until(lambda: editor.server.completions._running is None)
            editor.insert(uri, 2, 4, 10, part)
            assert await editor.texts(uri, 4, 10 + len(part)) == [" 1234 + 5678"[len(part) :]]
            await editor.until(lambda: any("completion hit" in line for line in editor.logs))

    run(scenario())


def test_files_outside_are_told_of_once(tmp_path):
    async def scenario():
        async with editing(tmp_path, KNOWS) as editor:
            await editor.ready()
            for name in ("../one.py", "../two.py"):
                await editor.texts(editor.open(name, BEFORE), 4, 10)
            told = [one for one in editor.statuses if "open folders" in one["message"]]
            assert len(told) == 1 and told[0]["state"] == "idle"

    run(scenario())


def test_no_answer_before_the_model_and_none_outside_or_hidden(tmp_path):
    async def scenario():
        (tmp_path / "project").mkdir()
        (tmp_path / "project" / ".gitignore").write_text("built/\n")
        async with editing(tmp_path, KNOWS) as editor:
            await editor.ready()
            for name in ("../outside.py", "built/a.py", ".env", "id_rsa"):
                uri = editor.open(name, BEFORE)
                assert await editor.texts(uri, 4, 10) == [], name
            assert await editor.texts("file:///never/opened.py", 0, 0) == []
            assert await editor.texts(editor.open("untitled:Untitled-1", BEFORE), 4, 10) == [" 1234 + 5678"]

    run(scenario())


def test_cancelling_reaches_the_decoder(tmp_path):
    async def scenario():
        async with editing(tmp_path, KNOWS, pause=0.15) as editor:
            uri = editor.open("a.py", BEFORE)
            await editor.ready()
            cancelled = editor.request(uri, 4, 10)
            await asyncio.sleep(0.2)
            (number,) = [key for key, future in editor.protocol._request_futures.items() if not future.done()]
            editor.protocol.notify(types.CANCEL_REQUEST, types.CancelParams(number))
            begun = time.monotonic()
            try:
                await cancelled
                raise AssertionError("it was answered all the same")
            except JsonRpcRequestCancelled:
                pass
            editor.insert(uri, 2, 4, 10, " 12")
            assert await editor.texts(uri, 4, 13) == ["34 + 5678"]
            assert time.monotonic() - begun < 20

    run(scenario())


def test_a_newer_text_drops_the_answer(tmp_path):
    async def scenario():
        async with editing(tmp_path, KNOWS, pause=0.1) as editor:
            uri = editor.open("a.py", BEFORE)
            await editor.ready()
            first = editor.request(uri, 4, 10)
            await asyncio.sleep(0.1)
            editor.insert(uri, 2, 0, 0, "# moved\n")
            assert await first is None
            assert await editor.texts(uri, 5, 10) == [" 1234 + 5678"]

    run(scenario())


def test_a_running_generation_is_gone_on_with_when_the_typed_text_agrees(tmp_path):
    async def scenario():
        async with editing(tmp_path, KNOWS, pause=0.1) as editor:
            uri = editor.open("a.py", BEFORE)
            await editor.ready()
            first = editor.request(uri, 4, 10)
            await asyncio.sleep(0.3)
            editor.insert(uri, 2, 4, 10, " ")
            second = editor.request(uri, 4, 11)
            assert await first is None
            found = await second
            assert [item.insert_text for item in found.items] == ["1234 + 5678"]
            await editor.until(lambda: any("completion joined" in line for line in editor.logs))

    run(scenario())


def test_several_items_when_invoked_and_the_selected_entry_is_extended(tmp_path):
    async def scenario():
        async with editing(tmp_path, KNOWS) as editor:
            uri = editor.open("a.py", KNOWS.replace("total = len((7, 8))", "total = le"))
            await editor.ready()
            place = types.Range(types.Position(8, 12), types.Position(8, 14))
            selected = types.SelectedCompletionInfo(place, "len")
            found = await editor.request(uri, 8, 14, selected=selected)
            assert [item.insert_text for item in found.items] == ["len((7, 8))"]
            assert found.items[0].range == place
            invoked = await editor.texts(uri, 8, 14, kind=INVOKED)
            assert invoked[0] == "n((7, 8))"

    run(scenario())


def test_every_encoding_and_line_ends(tmp_path):
    async def scenario(encoding, column):
        async with editing(tmp_path, "name = 'π😀' + 90210\n", encodings=[encoding]) as editor:
            uri = editor.open("a.py", "x = 1\r\nname = 'π😀'\r\ny = 2\r\n")
            await editor.ready()
            found = await editor.request(uri, 1, column)
            assert [item.insert_text for item in found.items] == [" + 90210"]
            assert found.items[0].range.start == types.Position(1, column)

    for encoding, column in (("utf-8", 15), ("utf-16", 12), ("utf-32", 11)):
        run(scenario(encoding, column))


@pytest.mark.parametrize(("written", "left"), [("print(twice", "(21))"), ("print(", "twice(21))")])
def test_the_cells_above_are_read(tmp_path, written, left):
    async def scenario():
        async with editing(tmp_path, "def twice(x):\n    return 2 * x\nprint(twice(21))\n") as editor:
            await editor.ready()
            book, one, two = (editor.uri(f"n.ipynb{part}") for part in ("", "#one", "#two"))
            one, two = ("vscode-notebook-cell:/n.ipynb#one", "vscode-notebook-cell:/n.ipynb#two")
            cells = [types.NotebookCell(types.NotebookCellKind.Code, uri) for uri in (one, two)]
            texts = [
                types.TextDocumentItem(one, "python", 1, "def twice(x):\n    return 2 * x"),
                types.TextDocumentItem(two, "python", 1, written),
            ]
            editor.notebook_document_did_open(
                types.DidOpenNotebookDocumentParams(types.NotebookDocument(book, "jupyter", 1, cells), texts)
            )
            assert await editor.texts(two, 0, len(written)) == [left]

    run(scenario())


def test_settings_are_asked_for_and_changed(tmp_path):
    async def scenario():
        configuration = {"threshold": 0.99, "maxTokens": -1}
        async with editing(tmp_path, KNOWS, configuration=configuration) as editor:
            uri = editor.open("a.py", BEFORE)
            await editor.ready()
            assert any("coder.maxTokens cannot be -1" in line for line in editor.logs)
            assert await editor.texts(uri, 4, 10) == []
            editor.configuration = {"threshold": 0.5}
            editor.workspace_did_change_configuration(types.DidChangeConfigurationParams({}))
            for _ in range(100):
                if await editor.texts(uri, 4, 10) == [" 1234 + 5678"]:
                    return
                await asyncio.sleep(0.02)
            raise AssertionError("the new threshold never counted")

    run(scenario())


def test_the_workspace_is_read_with_progress_and_its_words_complete(tmp_path):
    async def scenario():
        (tmp_path / "project").mkdir()
        (tmp_path / "project" / "words.py").write_text("first_of_many = words.unheard_of_name(1, 2)\n" * 3)
        (tmp_path / "project" / "secrets.toml").write_text("secret_of_many = 'hidden_value_here'\n" * 3)
        async with editing(tmp_path, "nothing") as editor:
            await editor.until(lambda: any(line.startswith("read ") for line in editor.logs))
            uri = editor.open("a.py", "import words\nfirst_of_many = words.unh")
            (text,) = await editor.texts(uri, 1, 25)
            assert text.split("\n")[0] == "eard_of_name(1, 2)"
            other = editor.open("b.toml", "secret_of_many = 'hid", "toml")
            assert await editor.texts(other, 0, 21) == []

            kinds = [getattr(value, "kind", None) or value["kind"] for value in editor.progress]
            assert kinds[0] == "begin" and kinds[-1] == "end"
            assert {"reading", "idle"} <= {status["state"] for status in editor.statuses}
            assert not any("unheard_of_name" in line for line in editor.logs)

    run(scenario())


def test_shutdown_comes_at_once_in_the_midst_of_work(tmp_path):
    async def scenario():
        async with editing(tmp_path, KNOWS * 50, pause=0.5) as editor:
            uri = editor.open("a.py", BEFORE)
            await editor.ready()
            waiting = editor.request(uri, 4, 10)
            await asyncio.sleep(0.1)
            await asyncio.wait_for(editor.shutdown_async(None), 5)
            editor.ended = True
            try:
                assert await waiting is None
            except JsonRpcRequestCancelled:
                pass

    run(scenario())
