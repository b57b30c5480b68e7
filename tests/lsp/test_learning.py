"""What is known beside the model keeps in step with rules, folders, files and the open documents."""

from __future__ import annotations

import pytest
from lsprotocol import types

from coder.completion.knowledge import Knowledge
from lsp import soon
from lsp.actions import CLEAR
from tests.lsp.client import editing, run

WATCHES = types.WorkspaceClientCapabilities(
    configuration=True,
    did_change_watched_files=types.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True),
)


@pytest.fixture(autouse=True)
def hurry(monkeypatch):
    monkeypatch.setattr(soon, "DELAY", 0.2)


def write(tmp_path, **texts):
    """Files by folder: {"project": {"a.py": "x"}}."""
    for folder, files in texts.items():
        for name, text in files.items():
            path = tmp_path / folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)


def known(editor):
    """The files that the knowledge has, without the way to them."""
    return sorted(name.rpartition("/")[2] for name in editor.server.learning._knowledge._texts)


def learned(editor, uri):
    """The text of an open document as the knowledge has it."""
    name = editor.server.folders.name_of(uri)
    cache = editor.server.learning._knowledge._open.get(name)
    return bytes(cache._texts[name].tolist()).decode() if cache is not None else None


async def read(editor):
    await editor.until(lambda: any(line.startswith("read ") for line in editor.logs))


def test_what_a_rule_hides_from_now_on_is_forgotten(tmp_path):
    write(tmp_path, project={"a.py": "x = 1\n", "hidden.py": "y = 1\n"})

    async def scenario():
        async with editing(tmp_path, "") as editor:
            await read(editor)
            assert known(editor) == ["a.py", "hidden.py"]
            before = editor.server.learning._knowledge
            (tmp_path / "project" / ".gitignore").write_text("hidden.py\n")
            editor.save(editor.uri(".gitignore"))
            await editor.until(lambda: known(editor) == ["a.py"])
            assert editor.server.completions.writer.knowledge is not before

    run(scenario())


def test_what_is_in_no_folder_any_more_is_forgotten(tmp_path):
    write(tmp_path, project={"a.py": "x = 1\n"}, other={"b.py": "y = 1\n"})

    async def scenario():
        async with editing(tmp_path, "", folders=("project", "other")) as editor:
            await read(editor)
            assert known(editor) == ["a.py", "b.py"]
            gone = types.WorkspaceFolder((tmp_path / "other").as_uri(), "other")
            event = types.WorkspaceFoldersChangeEvent([], [gone])
            editor.workspace_did_change_workspace_folders(types.DidChangeWorkspaceFoldersParams(event))
            await editor.until(lambda: known(editor) == ["a.py"])

    run(scenario())


def test_the_open_documents_are_still_known_after_the_cache_was_cleared(tmp_path):
    write(tmp_path, project={"a.py": "x = 1\n", "b.py": "y = 1\n"})

    async def scenario():
        async with editing(tmp_path, "") as editor:
            await read(editor)
            uri = editor.open("b.py", "unsaved = 2\n")
            await editor.until(lambda: learned(editor, uri) == "unsaved = 2\n")
            before = editor.server.learning._knowledge
            await editor.workspace_execute_command_async(types.ExecuteCommandParams(CLEAR))
            assert editor.server.learning._knowledge is not before
            await editor.until(lambda: learned(editor, uri) == "unsaved = 2\n")
            assert editor.server.folders.name_of(uri) in editor.server.learning._knowledge._left_out
            await editor.until(lambda: known(editor) == ["a.py", "b.py"])

    run(scenario())


def test_files_that_change_on_disk_are_read_again_or_forgotten(tmp_path):
    write(tmp_path, project={"a.py": "x = 1\n", "pkg/b.py": "y = 1\n"})
    created, changed, deleted = types.FileChangeType.Created, types.FileChangeType.Changed, types.FileChangeType.Deleted

    async def scenario():
        async with editing(tmp_path, "", more=WATCHES) as editor:

            def tell(name, kind):
                event = types.FileEvent(editor.uri(name), kind)
                editor.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))

            await read(editor)
            await editor.until(lambda: editor.registered == [types.WORKSPACE_DID_CHANGE_WATCHED_FILES])
            write(tmp_path, project={"c.py": "z = 1\n", "a.py": "x = 100\n"})
            tell("c.py", created)
            tell("a.py", changed)
            await editor.until(lambda: known(editor) == ["a.py", "b.py", "c.py"])
            await editor.until(lambda: len(editor.server.learning._knowledge) == len("x = 100\ny = 1\nz = 1\n"))
            (tmp_path / "project" / "pkg" / "b.py").unlink()
            tell("pkg", deleted)
            await editor.until(lambda: known(editor) == ["a.py", "c.py"])
            (tmp_path / "project" / ".coderignore").write_text("c.py\n")
            tell(".coderignore", created)
            await editor.until(lambda: known(editor) == ["a.py"])

    run(scenario())


def test_a_document_is_learned_when_another_one_is_worked_in(tmp_path):
    async def scenario():
        async with editing(tmp_path, "") as editor:
            await editor.ready()
            one, two = editor.open("a.py", "first\n"), editor.open("b.py", "second\n")
            await editor.until(lambda: learned(editor, one) == "first\n" and learned(editor, two) == "second\n")
            for version in range(2, 62):
                editor.insert(one, version, 0, 0, "x")
            await editor.texts(one, 0, 0)
            assert learned(editor, one) == "first\n"
            await editor.texts(two, 0, 0)
            await editor.until(lambda: learned(editor, one) == "x" * 60 + "first\n")
            editor.close(one)
            await editor.until(lambda: learned(editor, one) is None)

    run(scenario())


def test_many_files_opened_and_closed_build_the_index_once(tmp_path, monkeypatch):
    names = [f"{number}.py" for number in range(8)]
    write(tmp_path, project={name: "x = 1\n" for name in names})
    builds = []
    build = Knowledge.build
    monkeypatch.setattr(Knowledge, "build", lambda self: (builds.append(set(self._left_out)), build(self))[1])

    async def scenario():
        async with editing(tmp_path, "") as editor:
            await read(editor)
            before = len(builds)
            uris = [editor.open(name, "x = 1\n") for name in names]
            await editor.until(lambda: len(builds) > before and len(builds[-1]) == len(names))
            assert len(builds) - before <= 3
            before = len(builds)
            for uri in uris:
                editor.close(uri)
            await editor.until(lambda: len(builds) > before and not builds[-1])
            assert len(builds) - before <= 3

    run(scenario())


def test_why_a_folder_is_not_read_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr("coder.repository.repository.TOO_MANY_FILES", 1)
    write(tmp_path, project={"a.py": "x = 1\n", "b.py": "y = 1\n"})

    async def scenario():
        async with editing(tmp_path, "") as editor:
            await editor.until(lambda: any(".coderignore" in message for message in editor.messages))
            await editor.until(lambda: any(status["state"] == "error" for status in editor.statuses))

    run(scenario())
