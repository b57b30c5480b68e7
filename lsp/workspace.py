"""Which files belong to the workspace and may be read: its folders, and the ignore and secret rules of each."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from urllib.parse import urlsplit

from pygls.uris import to_fs_path

from coder.failure import Failure
from coder.repository import Repository
from coder.repository.secrets import is_secret

_FREE = ("untitled", "inmemory", "vscode-notebook-cell", "buffer")
"""Schemes of texts that are in no file of their own."""
RULES = (".gitignore", ".coderignore")


class Workspace:
    """The folders that are open in the editor."""

    def __init__(self) -> None:
        self._repositories: dict[str, Repository] = {}
        self._admitted: dict[str, bool] = {}

    @property
    def repositories(self) -> list[Repository]:
        return list(self._repositories.values())

    def set_folders(self, uris: Iterable[str]) -> list[str]:
        """Takes these folders as the workspace. Returns what is wrong with those that cannot be used."""
        complaints = []
        fresh: dict[str, Repository] = {}
        for uri in uris:
            path = to_fs_path(uri)
            if path is None:
                continue
            try:
                fresh[uri] = self._repositories.get(uri) or Repository.open(Path(path))
            except Failure as failure:
                complaints.append(failure.message)
        self._repositories = fresh
        self._admitted.clear()
        return complaints

    def place(self, uri: str) -> tuple[Repository, str] | None:
        """The folder that holds a file, and its path in it; the innermost of several. None where none does."""
        path = to_fs_path(uri) if urlsplit(uri).scheme == "file" else None
        if path is None:
            return None
        real = Path(path).resolve()
        holding = [one for one in self._repositories.values() if real.is_relative_to(one.root)]
        if not holding:
            return None
        repository = max(holding, key=lambda one: len(one.root.parts))
        return repository, real.relative_to(repository.root).as_posix()

    def admits(self, uri: str, notebook: str | None = None) -> bool:
        """Whether a document may be completed: an untitled one or a cell, or a file of the workspace that no ignore or
        secret rule hides."""
        if notebook is not None and urlsplit(notebook).scheme == "file":
            uri = notebook
        if uri not in self._admitted:
            self._admitted[uri] = self._admit(uri)
        return self._admitted[uri]

    def outside(self, uri: str) -> bool:
        """Whether a document is a file of none of the folders."""
        return urlsplit(uri).scheme == "file" and self.place(uri) is None

    def forget(self) -> None:
        """Rule files changed: decide again."""
        self._admitted.clear()
        self._repositories = {uri: Repository(old.root) for uri, old in self._repositories.items()}

    def _admit(self, uri: str) -> bool:
        parts = urlsplit(uri)
        if parts.scheme in _FREE:
            return not is_secret(parts.path.lstrip("/") or "untitled")
        found = self.place(uri)
        if found is None:
            return False
        repository, path = found
        return not repository.rules.hidden(path)

    def name_of(self, uri: str) -> str:
        """One name for a file, however it is spelled: its real path, else the uri."""
        found = self.place(uri)
        return f"{found[0].root}/{found[1]}" if found is not None else uri

    def path_of(self, uri: str) -> str:
        """The document's name for the model: its path in the workspace, else its last part."""
        found = self.place(uri)
        return found[1] if found is not None else urlsplit(uri).path.rpartition("/")[2]
