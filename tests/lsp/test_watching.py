"""What a client tells of files on disk, sorted."""

from __future__ import annotations

import time

import pytest
from lsprotocol import types

from lsp import soon
from lsp.watching import Watching, can_watch
from lsp.workspace import Workspace

CREATED, CHANGED, DELETED = types.FileChangeType.Created, types.FileChangeType.Changed, types.FileChangeType.Deleted


class Heard:
    """A watching of one project, and what it came to."""

    def __init__(self, project) -> None:
        project.mkdir()
        self.project = project
        self.taken: list[tuple[list[str], set[str]]] = []
        self.rules = 0
        folders = Workspace()
        folders.set_folders([project.as_uri()])
        self.watching = Watching(folders, lambda: False, self.take, self.changed_rules)

    def take(self, changed, gone) -> None:
        self.taken.append(([path for _, path in changed], gone))

    def changed_rules(self) -> None:
        self.rules += 1


@pytest.fixture
def heard(tmp_path, monkeypatch):
    monkeypatch.setattr(soon, "DELAY", 0.3)
    return Heard(tmp_path / "project")


def hear(heard, *changes):
    heard.watching.heard(types.FileEvent((heard.project / path).as_uri(), kind) for path, kind in changes)


def until(true):
    end = time.monotonic() + 10
    while not true():
        assert time.monotonic() < end
        time.sleep(0.005)


def test_changes_are_taken_over_together_and_what_is_never_read_is_left_out(heard):
    hear(heard, ("a.py", CREATED), ("picture.png", CHANGED), ("node_modules/x/y.js", CREATED), (".git/index", CHANGED))
    hear(heard, ("a.py", CHANGED), ("../outside.py", CHANGED), ("old.py", CHANGED))
    hear(heard, ("old.py", DELETED), ("pkg", DELETED))
    until(lambda: heard.taken)
    root = heard.project.resolve()
    assert heard.taken == [(["a.py"], {f"{root}/old.py", f"{root}/pkg"})]


def test_changed_rules_stand_for_all_that_changed(heard):
    hear(heard, ("a.py", CHANGED), ("pkg/.gitignore", DELETED))
    until(lambda: heard.rules)
    hear(heard, ("node_modules/x/.gitignore", CREATED), ("b.py", CHANGED))
    until(lambda: heard.taken)
    assert heard.rules == 1 and heard.taken == [(["b.py"], set())]


def test_only_clients_that_can_be_asked_are():
    assert not can_watch(types.ClientCapabilities())
    for known, answer in ((None, False), (False, False), (True, True)):
        watched = types.DidChangeWatchedFilesClientCapabilities(dynamic_registration=known)
        workspace = types.WorkspaceClientCapabilities(did_change_watched_files=watched)
        assert can_watch(types.ClientCapabilities(workspace=workspace)) is answer
