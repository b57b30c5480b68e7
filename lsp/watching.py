"""Files of the workspace that changed on disk by other hands than the editor's, as clients tell of them: by the
thousand when a branch is checked out, so they are looked at in a thread of their own, a moment later."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable

from lsprotocol import types

from coder.reading_plan import is_source
from coder.repository.ignore import SKIPPED
from lsp.relevance import Place, name_of
from lsp.soon import Soon
from lsp.workspace import RULES, Workspace

TakeOver = Callable[[list[Place], set[str]], None]
REGISTRATION = types.Registration(
    "coder.files",
    types.WORKSPACE_DID_CHANGE_WATCHED_FILES,
    types.DidChangeWatchedFilesRegistrationOptions([types.FileSystemWatcher("**/*")]),
)
"""What a client is asked for: every change, since any file may have been read before."""


def can_watch(client: types.ClientCapabilities) -> bool:
    """Whether a client may be asked to tell of changes on disk."""
    known = client.workspace.did_change_watched_files if client.workspace is not None else None
    return known is not None and bool(known.dynamic_registration)


class Watching:
    """Sorts what a client tells. `take_over` gets the files that are to be read again, and the names of files and
    folders that are gone; `rules_changed` is called instead where ignore rules are among them."""

    def __init__(
        self, folders: Workspace, busy: Callable[[], bool], take_over: TakeOver, rules_changed: Callable[[], None]
    ) -> None:
        self._folders = folders
        self._take_over = take_over
        self._rules_changed = rules_changed
        self._changing = threading.Lock()
        self._there: dict[str, bool] = {}  # by uri
        self._soon = Soon(self._sort, busy, "watching")

    def heard(self, changes: Iterable[types.FileEvent]) -> None:
        """From the editor's thread."""
        with self._changing:
            self._there |= {change.uri: change.type is not types.FileChangeType.Deleted for change in changes}
        self._soon.ask()

    def stop(self) -> None:
        self._soon.stop()

    def _sort(self) -> None:
        with self._changing:
            there, self._there = self._there, {}
        changed: list[Place] = []
        gone: set[str] = set()
        for uri, is_there in there.items():
            place = self._folders.place(uri)
            if place is None:
                continue
            *folders, file = place[1].split("/")
            if not SKIPPED.isdisjoint(folders):
                continue
            if file in RULES and not (folders and place[0].rules.hidden("/".join([*folders, "_"]))):
                self._rules_changed()
                return
            if not is_there:
                gone.add(name_of(place))
            elif is_source(file):
                changed.append(place)
        self._take_over(changed, gone)
