"""The committed list of injected bugs."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.injected.code import Change, apply_changes
from benchmarks.injected.packages import Package, fresh_copy, packages, pristine

LIST = Path(__file__).with_name("bugs.jsonl")


@dataclass(frozen=True)
class Edit:
    """Characters [start, end) of the original file, `before`, were replaced by `after`."""

    start: int
    end: int
    before: str
    after: str


@dataclass(frozen=True)
class Bug:
    """`failing` of the package's `tests` passing tests fail with the bug; `single_edit`: one tree edit undoes it."""

    id: str
    half: str
    package: str
    version: str
    path: str
    line: int
    function: str
    family: str
    single_edit: bool
    edits: tuple[Edit, ...]
    failing: int
    tests: int

    @property
    def owner(self) -> Package:
        return packages()[self.package]

    def original(self) -> str:
        return read(pristine(self.owner) / self.path)

    def buggy(self) -> str:
        return apply_changes(self.original(), tuple(Change(edit.start, edit.end, edit.after) for edit in self.edits))

    def lay(self, folder: Path) -> Path:
        """A copy of the package with the bug, at `folder` (must not exist)."""
        root = fresh_copy(self.owner, folder)
        write(root / self.path, self.buggy())
        return root


def read(path: Path) -> str:
    """The text with its line endings as they are on disk: spans count these characters."""
    return path.read_bytes().decode()


def write(path: Path, text: str) -> None:
    path.write_bytes(text.encode())


def load(path: Path = LIST) -> list[Bug]:
    bugs = []
    for line in path.read_text().splitlines():
        row = json.loads(line)
        bugs.append(Bug(**{**row, "edits": tuple(Edit(**edit) for edit in row["edits"])}))
    return bugs


def dump(bugs: Iterable[Bug]) -> str:
    return "".join(json.dumps(asdict(bug), ensure_ascii=False) + "\n" for bug in bugs)


def ablation_forty(bugs: Iterable[Bug]) -> list[Bug]:
    """The fixed forty of the test half on which single parts are switched off: every third by id."""
    return sorted((bug for bug in bugs if bug.half == "test"), key=lambda bug: bug.id)[::3][:40]
