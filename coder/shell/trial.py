"""What commands do, seen by running them in the jail on copies of the tree: what they print and what they change.

Inside, the tree lies elsewhere than where the user sees it; commands and outputs are translated, so that absolute paths
into the tree work and none other does.
"""

from __future__ import annotations

import base64
import json
import os
import re
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from coder.shell.tree import Tree
    from sandbox.jail import Sandbox

_OBSERVER = Path(__file__).with_name("observer.py")
_TASK = ".coder-trial.json"
_OUTPUT = 200_000  # bytes kept of each stream and each changed file
_MANY = 12


@dataclass(frozen=True)
class Change:
    """A path after the command. `mode` as in `os.stat`, 0 where it is gone; `content` None for what is no regular
    file, or too large to show; `link`: the target of a symbolic link."""

    path: str
    mode: int
    link: str | None
    content: bytes | None

    @property
    def gone(self) -> bool:
        return self.mode == 0


@dataclass(frozen=True)
class Outcome:
    """`returncode` None: it ran out of time. `changes` by path; `complete` is False where there were too many."""

    returncode: int | None
    stdout: str
    stderr: str
    changes: tuple[Change, ...]
    complete: bool

    @property
    def acted(self) -> bool:
        """It printed or changed something."""
        return bool(self.stdout.strip() or self.changes)

    def effect(self, keep_order: bool = True) -> tuple[object, ...]:
        """Equal for commands that printed and changed the same, up to white space."""
        lines = [" ".join(line.split()) for line in self.stdout.splitlines() if line.strip()]
        changed = tuple(
            (one.path, stat.S_IFMT(one.mode), _permissions(one), one.link, one.content) for one in self.changes
        )
        return tuple(lines if keep_order else sorted(lines)), changed


def _permissions(change: Change) -> int:
    return 0 if change.link is not None else stat.S_IMODE(change.mode)


class Trials:
    """Runs commands on copies of one tree. `place`: where the user sees the root of that tree."""

    def __init__(self, sandbox: Sandbox, tree: Tree, place: Path | None = None, seconds: float = 5.0) -> None:
        from sandbox.working_copy import INSIDE

        self._sandbox, self.tree, self._seconds = sandbox, tree, seconds
        self._outside, self._inside = str(place or tree.root), str(INSIDE)
        self._copy = tree.copy()

    def close(self) -> None:
        self._copy.close()

    def __enter__(self) -> Trials:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def run(self, commands: Sequence[str]) -> list[Outcome | None]:
        """One outcome a command; None for one after a command that broke the trial. Raises SandboxUnavailable."""
        outcomes: list[Outcome | None] = []
        for start in range(0, len(commands), _MANY):
            outcomes += self._batch(commands[start : start + _MANY])
        return outcomes

    def _batch(self, commands: Sequence[str]) -> list[Outcome | None]:
        from sandbox.contract import Limits
        from sandbox.job import interpreter

        copy = self._copy.fork()
        with copy:
            task = {
                "commands": [self._enter(one) for one in commands],
                "modes": self.tree.modes,
                "seconds": self._seconds,
                "bytes": _OUTPUT,
            }
            copy.write(_TASK, json.dumps(task))
            limits = Limits(wall_s=(self._seconds + 5) * len(commands) + 20, output=32 << 20, processes=256)
            argv = [interpreter(), "-I", "-S", str(_OBSERVER), _TASK]
            done = self._sandbox.run(argv, copy, limits, read_only=(_OBSERVER,))
        outcomes: list[Outcome | None] = []
        for line in done.stdout.splitlines()[: len(commands)]:
            try:
                outcomes.append(self._read(json.loads(line)))
            except (ValueError, TypeError):
                break
        return outcomes + [None] * (len(commands) - len(outcomes))

    def _enter(self, command: str) -> str:
        if self._outside == "/":
            return command
        return re.sub(rf"(?<![\w/.-]){re.escape(self._outside)}(?![\w.-])", self._inside, command)

    def _leave(self, text: str) -> str:
        return text.replace(self._inside, self._outside)

    def _content(self, encoded: str | None) -> bytes | None:
        """Of a file, with the paths that a command wrote into it as the user knows them. An archive stays as it is."""
        data = None if encoded is None else base64.b64decode(encoded)
        if data is None or b"\0" in data:
            return data
        return data.replace(os.fsencode(self._inside), os.fsencode(self._outside))

    def _read(self, line: list[Any]) -> Outcome:
        code, out, err, files, count = line
        changes = tuple(
            Change(path, mode, link and self._leave(link), self._content(data))
            for path, (mode, link, data) in sorted(files.items())
        )
        return Outcome(code, self._leave(out), self._leave(err), changes, count == len(changes))
