"""Which files of a project count: `.gitignore`, `.coderignore` and secrets, for every reader alike.

Nested rule files as in gitignore(5): the last pattern that decides wins, deeper files come later, and nothing below an
ignored folder can be taken back in.
"""

from __future__ import annotations

import os
from contextlib import suppress
from functools import cached_property, lru_cache
from pathlib import Path

from pathspec import GitIgnoreSpec

from coder.failure import Conflict
from coder.repository.gate import PathGate
from coder.repository.git import Git, work_tree
from coder.repository.secrets import is_secret

SKIPPED = frozenset(
    (".git", ".hg", ".svn", ".bzr", "__pycache__", ".venv", "venv", ".tox", ".nox", "node_modules", ".mypy_cache",
     ".pytest_cache", ".ruff_cache", ".hypothesis", ".ipynb_checkpoints", ".eggs", "site-packages")
)  # fmt: skip
"""Folders that are never looked into: they hold no source of the project."""


class IgnoreRules:
    """The rules of one project. `root` may lie inside a larger git repository: its rules from above hold too."""

    def __init__(self, gate: PathGate) -> None:
        self.gate = gate
        self._rules = lru_cache(maxsize=None)(self._load)

    @cached_property
    def _above(self) -> list[tuple[str, GitIgnoreSpec]]:
        return _rules_above(self.gate.root)

    def ignored(self, path: str, folder: bool = False) -> bool:
        """Whether git would ignore `path`, for its own sake; see `hidden` for the whole way down."""
        return self._decide(".gitignore", path, folder)

    def concealed(self, path: str, folder: bool = False) -> bool:
        """Whether `path` is a secret or named by a `.coderignore`: then nothing of the program may see it."""
        return (not folder and is_secret(path)) or self._decide(".coderignore", path, folder)

    def hidden(self, path: str) -> bool:
        """Whether the file at `path`, or a folder on the way to it, is skipped, ignored or concealed."""
        components = path.split("/")
        for depth in range(1, len(components)):
            folder = "/".join(components[:depth])
            if components[depth - 1] in SKIPPED or self.ignored(folder, True) or self.concealed(folder, True):
                return True
        return self.ignored(path) or self.concealed(path)

    def _decide(self, kind: str, path: str, folder: bool) -> bool:
        decision = False
        subject = path + "/" if folder else path
        if kind == ".gitignore":
            for prefix, spec in self._above:
                decision = _matched(spec, prefix + subject, decision)
        components = path.split("/")
        for depth in range(len(components)):
            rules = self._rules("/".join(components[:depth]), kind)
            if rules is not None:
                decision = _matched(rules, "/".join(components[depth:]) + ("/" if folder else ""), decision)
        return decision

    def _load(self, folder: str, kind: str) -> GitIgnoreSpec | None:
        with suppress(OSError, Conflict):
            data = self.gate.read(f"{folder}/{kind}" if folder else kind).data
            return GitIgnoreSpec.from_lines(data.decode("utf-8", "replace").splitlines())
        return None


def _matched(spec: GitIgnoreSpec, path: str, decision: bool) -> bool:
    # The regular expressions of the rules take a line break for the end.
    include = spec.check_file(path.replace("\n", " ")).include
    return decision if include is None else include


def _rules_above(root: Path) -> list[tuple[str, GitIgnoreSpec]]:
    """The user's own rules, then those of the enclosing git repository: (what to put before a path of ours, the rules),
    outermost first."""
    top = work_tree(root)
    if top is None:
        return []
    git = Git.open(root)
    places = [(git.excludes(), top)] if git else []
    places += [(top / ".git" / "info" / "exclude", top)]
    folders = [root, *root.parents]
    places += [(folder / ".gitignore", folder) for folder in reversed(folders[1 : folders.index(top) + 1])]
    rules = []
    for file, base in places:
        with suppress(OSError):
            prefix = os.path.relpath(root, base)
            lines = file.read_bytes().decode("utf-8", "replace").splitlines()
            rules.append(("" if prefix == "." else prefix + "/", GitIgnoreSpec.from_lines(lines)))
    return rules
