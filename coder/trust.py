"""Whether a project may set anything. A cloned folder's files say what they like; until the user has looked at them
and said so (`coder trust`), they choose no command, model, endpoint or interpreter.

Trust is kept in the user's state folder, by the project's real path and the hash of each file that it covers. Any
change of one of these files, or a new one among them, ends it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from enum import Enum
from pathlib import Path

from coder.atomic import System, replace_file
from coder.exit_status import ExitStatus
from coder.failure import Conflict, Failure
from coder.ledger import private_folder
from coder.patch import Version
from coder.repository.gate import PathGate

COVERED = ("coder.toml", "AGENTS.md")
"""Files of a project that steer the program: settings, and instructions to the agent."""


class Standing(Enum):
    """What is known of a project."""

    EMPTY = "it has no files that could set anything"
    TRUSTED = "trusted"
    UNKNOWN = "not trusted yet"
    CHANGED = "changed since it was trusted"


class Trust:
    """The user's decisions. Raises OSError, or Failure, when they cannot be read or stored."""

    def __init__(self, state: Path) -> None:
        self.path = state / "trust.json"

    def standing(self, root: Path, files: Mapping[str, Version] | None = None) -> Standing:
        """How things stand with the files of the project at `root` that trust is asked for: with `files` as the caller
        has read them, else as they are now. Whoever goes on to use one of them hands in what was read: by the time that
        it is used, the file may be another one."""
        present = _hashes(covered_files(root) if files is None else files)
        if not present:
            return Standing.EMPTY
        known = self._load().get(str(PathGate(root).root))
        if known is None:
            return Standing.UNKNOWN
        return Standing.TRUSTED if known == present else Standing.CHANGED

    def grant(self, root: Path, files: Mapping[str, Version] | None = None) -> dict[str, str]:
        """Trusts the project's files: `files` as somebody was shown them, else as they are now. Returns them with their
        hashes."""
        present = _hashes(covered_files(root) if files is None else files)
        self._store({**self._load(), str(PathGate(root).root): present})
        return present

    def revoke(self, root: Path) -> bool:
        """Whether there was anything to take back."""
        decisions = self._load()
        had = decisions.pop(str(PathGate(root).root), None) is not None
        self._store(decisions)
        return had

    def _load(self) -> dict[str, dict[str, str]]:
        try:
            decisions: dict[str, dict[str, str]] = json.loads(self.path.read_text("utf-8"))
            return decisions
        except FileNotFoundError:
            return {}
        except ValueError:
            hint = "Delete it; then trust your projects again."
            raise Failure(ExitStatus.INTERNAL_ERROR, f"{self.path} is damaged", hint) from None

    def _store(self, decisions: dict[str, dict[str, str]]) -> None:
        private_folder(self.path.parent)
        replace_file(System(), self.path, json.dumps(decisions, indent=1).encode())


def covered_files(root: Path) -> dict[str, Version]:
    """The files that trust is about, as they are now. One that may not be read counts as absent: nobody reads it."""
    gate, present = PathGate(root), {}
    for name in COVERED:
        with suppress(FileNotFoundError, Conflict):
            present[name] = gate.read(name)
    return present


def _hashes(files: Mapping[str, Version]) -> dict[str, str]:
    return {name: version.hash for name, version in files.items()}
