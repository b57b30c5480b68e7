"""Code actions: a failing test repaired on the buffers as they are, a stub written."""

from __future__ import annotations

import asyncio
import threading
import time
from dataclasses import replace
from functools import partial

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcRequestCancelled

from lsp.actions import COMPLETE, FIX, make_engine
from lsp.positions import split_lines
from tests.coder.cli.harness import FakeSandbox, FakeTester, fake_search, report
from tests.lsp import client
from tests.lsp.client import editing

run = partial(client.run, seconds=60)
CODE = "def clamp(x):\n    return x < 3\n"
TEST = "from a import clamp\n\n\ndef test_one():\n    assert clamp(3)\n"
EDITS = types.WorkspaceClientCapabilities(
    configuration=True,
    workspace_edit=types.WorkspaceEditClientCapabilities(
        document_changes=True, change_annotation_support=types.ChangeAnnotationsSupportOptions()
    ),
)


def engines(meanwhile=lambda cancel: None):
    """Engines whose search finds `<` → `<=` in what they were given; `meanwhile` happens during it, and is given what
    ends the search."""

    def make(repository, environment, listener):
        def search(context, listen):
            meanwhile(context.cancel)
            return fake_search(("<", "<="))(context, listen)

        environment = replace(environment, parts={
            "find_sandbox": lambda sandboxed: FakeSandbox(),
            "make_tester": lambda *_: FakeTester([report("test_a.py::test_one")]),
            "search": search,
        })  # fmt: skip
        return make_engine(repository, environment, listener)

    return make


def applied(edit: types.TextDocumentEdit, text: str) -> str:
    lines = split_lines(text)
    for one in reversed(edit.edits):
        assert isinstance(one, types.AnnotatedTextEdit)
        assert one.range.start.character == 0
        lines[one.range.start.line : one.range.end.line] = [one.new_text]
    return "".join(lines)


def project(tmp_path):
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "a.py").write_text(CODE)
    (tmp_path / "project" / "test_a.py").write_text(TEST)


async def offered(editor, uri, place):
    """The actions, as the server has them: lsprotocol's client reads every action with a command as a command."""
    params = types.CodeActionParams(types.TextDocumentIdentifier(uri), place, types.CodeActionContext([]))
    answered = await editor.text_document_code_action_async(params)
    actions = editor.server.actions.offered(params)
    assert [one.title for one in answered] == [one.title for one in actions]
    return actions


async def execute(editor, command, *arguments):
    return await editor.workspace_execute_command_async(types.ExecuteCommandParams(command, list(arguments)))


def test_a_test_is_offered_to_be_fixed_and_the_unsaved_buffer_is_what_is_repaired(tmp_path):
    project(tmp_path)

    async def scenario():
        async with editing(tmp_path, "", more=EDITS, engines=engines()) as editor:
            await editor.ready()
            test = editor.open("test_a.py", TEST)
            unsaved = "# not on disk\n" + CODE
            code = editor.open("a.py", unsaved)
            place = types.Range(types.Position(4, 0), types.Position(4, 0))
            actions = await offered(editor, test, place)
            assert [action.title for action in actions] == ["Fix failing test with coder"]
            assert list(actions[0].command.arguments) == [test, "test_a.py::test_one"]
            assert await execute(editor, FIX, *actions[0].command.arguments)
            (edit,) = editor.edits[0].edit.document_changes
            assert (edit.text_document.uri, edit.text_document.version) == (code, 1)
            assert applied(edit, unsaved) == unsaved.replace("<", "<=")
            assert editor.edits[0].edit.change_annotations["coder"].needs_confirmation
            assert (tmp_path / "project" / "a.py").read_text() == CODE
            assert any("now passes" in message for message in editor.messages)
            assert "fixing" in {status["state"] for status in editor.statuses}

    run(scenario())


@pytest.mark.parametrize("how", ["typed", "opened again", "opened", "saved"])
def test_a_file_that_changed_meanwhile_is_left_alone(tmp_path, how):
    project(tmp_path)
    other = CODE + "# other\n"

    async def scenario():
        loop = asyncio.get_running_loop()

        def change():
            if how == "typed":
                return editor.insert(code, 2, 0, 0, "# other\n")
            if how == "opened again":
                editor.close(code)
            editor.open("a.py", other)

        def meanwhile(cancel):
            if how == "saved":
                (tmp_path / "project" / "a.py").write_text(other)
                return
            loop.call_soon_threadsafe(change)
            while (document := editor.server.documents.get(code)) is None or "other" not in document.text:
                time.sleep(0.01)

        async with editing(tmp_path, "", more=EDITS, engines=engines(meanwhile)) as editor:
            code = editor.uri("a.py")
            await editor.ready()
            test = editor.open("test_a.py", TEST)
            if how in ("typed", "opened again"):
                editor.open("a.py", CODE)
            assert not await execute(editor, FIX, test, "test_a.py::test_one")
            assert editor.edits == []
            await editor.until(lambda: any("changed" in message for message in editor.messages))

    run(scenario())


@pytest.mark.parametrize("how", ["request", "bar", "shutdown"])
def test_a_fix_can_be_ended_and_changes_nothing_then(tmp_path, how):
    project(tmp_path)
    begun, ended = threading.Event(), threading.Event()

    def meanwhile(cancel):
        begun.set()
        assert cancel.wait(20)
        ended.set()  # and a patch is found all the same

    async def scenario():
        one_bar = {"readRepository": False}
        async with editing(tmp_path, "", more=EDITS, engines=engines(meanwhile), configuration=one_bar) as editor:
            await editor.ready()
            test = editor.open("test_a.py", TEST)
            fixing = asyncio.ensure_future(execute(editor, FIX, test, "test_a.py::test_one"))
            await editor.until(lambda: begun.is_set() and editor.bars)
            if how == "request":
                (number,) = [key for key, future in editor.protocol._request_futures.items() if not future.done()]
                editor.protocol.notify(types.CANCEL_REQUEST, types.CancelParams(number))
            elif how == "bar":
                (bar,) = editor.bars
                editor.window_work_done_progress_cancel(types.WorkDoneProgressCancelParams(bar))
            else:
                await asyncio.wait_for(editor.shutdown_async(None), 5)
                editor.ended = True
            if how == "bar":
                assert await fixing is False
            else:
                with pytest.raises(JsonRpcRequestCancelled):
                    await fixing
            await editor.until(ended.is_set)
            assert editor.edits == []
            assert not any("no patch" in message or "failed" in message for message in editor.messages)

    run(scenario())


def test_why_nothing_was_done_is_said(tmp_path):
    project(tmp_path)

    async def scenario():
        async with editing(tmp_path, "", more=EDITS, engines=engines()) as editor:
            await editor.ready()
            test = editor.open("test_a.py", TEST)
            assert not await execute(editor, FIX, test, "test_a.py::test_other")
            await editor.until(lambda: any("no test is named" in message for message in editor.messages))
            assert not await execute(editor, FIX, "file:///elsewhere/test_b.py", "test_b.py::test_b")
            await editor.until(lambda: any("open folders" in message for message in editor.messages))

    run(scenario())


def test_a_stub_is_written(tmp_path):
    knows = "def twice(x):\n    doubled = x + x\n    return doubled\n\n\n"

    async def scenario():
        async with editing(tmp_path, knows, more=EDITS) as editor:
            await editor.ready()
            uri = editor.open("b.py", 'def twice(x):\n    pass\n\n\nprint("π")\n')
            place = types.Range(types.Position(0, 5), types.Position(0, 5))
            actions = await offered(editor, uri, place)
            assert [action.title for action in actions] == ["Complete this function"]
            assert await execute(editor, COMPLETE, uri, {"line": 0, "character": 5})
            (change,) = editor.edits[0].edit.document_changes
            assert [edit.new_text for edit in change.edits] == ["doubled = x + x\n    return doubled"]
            assert change.edits[0].range == types.Range(types.Position(1, 4), types.Position(1, 8))
            assert not await execute(editor, COMPLETE, uri, {"line": 4, "character": 0})

    run(scenario())
