"""The log of a task, saved after every step: what was said and done, and what the copy then looked like.

<state>/tasks/<number>/
    task.json       what was asked, where, of which model, how it stands; replaced in one rename
    lock            held while somebody works on it
    log.jsonl       one line a step; a line that was cut off by a crash does not count
    files/          contents of changed files, by their hash

A step is one line, so that the conversation and the files always belong together: whatever ends the program, the task
goes on from the last whole step.
"""

from __future__ import annotations

import json
import os
import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coder.atomic import System, replace_file
from coder.exit_status import ExitStatus
from coder.failure import Conflict, Failure
from coder.ledger import locked, private_folder
from coder.patch import Version, sha256

if TYPE_CHECKING:
    from model.chat import Message

RUNNING, FINISHED, APPLIED, DROPPED = "running", "finished", "applied", "dropped"


@dataclass(frozen=True)
class Head:
    """What is known of a task besides its steps. `mark` divides data from the rest of its conversation."""

    id: str
    request: str
    root: str
    model: str
    time: float = field(default_factory=time.time)
    mark: str = field(default_factory=lambda: secrets.token_hex(6))
    status: str = RUNNING
    message: str = ""


@dataclass(frozen=True)
class Saved:
    """A changed file as it was after a step; `data` None where it was gone. `base` is the hash of what the task found
    there, "" for nothing."""

    data: bytes | None
    executable: bool
    base: str


@dataclass(frozen=True)
class Step:
    """One line of the log. `notes` say what became of each call."""

    messages: tuple[Message, ...]
    files: Mapping[str, Mapping[str, Any]]
    notes: tuple[Mapping[str, Any], ...] = ()
    commands: tuple[Mapping[str, Any], ...] = ()
    tokens: int = 0


class Trajectory:
    """The log of one task. Raises OSError, or Failure when there is none or it cannot be read."""

    def __init__(self, folder: Path, head: Head) -> None:
        self.folder, self.head = folder, head

    @classmethod
    def create(cls, state: Path, request: str, root: Path, model: str) -> Trajectory:
        """A new task, under the next free number. Raises OSError."""
        place = state / "tasks"
        private_folder(state)
        private_folder(place)
        number = 1 + max((int(name) for name in os.listdir(place) if name.isdigit()), default=0)
        while True:
            folder = place / f"{number:06d}"
            with suppress(FileExistsError):
                folder.mkdir(mode=0o700)
                break
            number += 1
        (folder / "files").mkdir(mode=0o700)
        trajectory = cls(folder, Head(folder.name, request, str(root), model))
        trajectory._store()
        return trajectory

    @classmethod
    def open(cls, state: Path, task: str) -> Trajectory:
        """The task of that number. Raises Failure where there is none, or where it is damaged."""
        folder = state / "tasks" / (f"{int(task):06d}" if task.isdecimal() else "none")
        try:
            return cls(folder, Head(**json.loads((folder / "task.json").read_text("utf-8"))))
        except FileNotFoundError:
            raise Failure(ExitStatus.USAGE, f"there is no task {task}", "`coder tasks list` shows them.") from None
        except (ValueError, TypeError):
            hint = "Delete this folder to forget the task."
            raise Failure(ExitStatus.INTERNAL_ERROR, f"{folder} is damaged", hint) from None

    @classmethod
    def all(cls, state: Path) -> Iterator[Trajectory]:
        """Every readable task, oldest first."""
        with suppress(FileNotFoundError):
            for name in sorted(os.listdir(state / "tasks")):
                with suppress(Failure):
                    yield cls.open(state, name)

    @contextmanager
    def held(self) -> Iterator[None]:
        """The task for this process alone. Raises Conflict where another works on it."""
        with ExitStack() as stack:
            try:
                stack.enter_context(locked(self.folder / "lock"))
            except BlockingIOError:
                what = f"another `coder` works on task {int(self.head.id)}"
                raise Conflict(what, "Wait for it to end.") from None
            yield

    def mark(self, status: str, message: str = "") -> None:
        self.head = replace(self.head, status=status, message=message)
        self._store()

    def append(
        self,
        messages: Sequence[Message],
        files: Mapping[str, Saved],
        notes: Sequence[Mapping[str, Any]] = (),
        commands: Sequence[Mapping[str, Any]] = (),
        tokens: int = 0,
    ) -> None:
        """Saves a step; it is on the disk when this returns."""
        manifest = {}
        for path, saved in files.items():
            stored = None if saved.data is None else self._keep(saved.data)
            manifest[path] = {"hash": stored, "executable": saved.executable, "base": saved.base}
        step = {
            "messages": [asdict(message) for message in messages],
            "files": manifest,
            "notes": list(notes),
            "commands": list(commands),
            "tokens": tokens,
            "time": round(time.time(), 3),
        }
        with open(self.folder / "log.jsonl", "ab") as log:
            if log.tell() and not self._whole():
                log.write(b"\n")
            log.write(json.dumps(step).encode() + b"\n")
            log.flush()
            os.fsync(log.fileno())

    def steps(self) -> list[Step]:
        """All whole steps in order; a line that was torn by a crash is none."""
        from model.chat import Message, ToolCall

        found = []
        with suppress(FileNotFoundError):
            for line in (self.folder / "log.jsonl").read_bytes().split(b"\n"):
                with suppress(ValueError, KeyError, TypeError):
                    fields = json.loads(line)
                    messages = [
                        Message(**{**one, "tool_calls": tuple(ToolCall(**call) for call in one["tool_calls"])})
                        for one in fields["messages"]
                    ]
                    rest = tuple(fields["notes"]), tuple(fields["commands"]), fields["tokens"]
                    found.append(Step(tuple(messages), fields["files"], *rest))
        return found

    def files(self) -> dict[str, Saved]:
        """The changed files after the last step."""
        steps = self.steps()
        saved = {}
        for path, entry in (steps[-1].files if steps else {}).items():
            data = (self.folder / "files" / entry["hash"]).read_bytes() if entry["hash"] else None
            saved[path] = Saved(data, bool(entry["executable"]), str(entry["base"]))
        return saved

    def _whole(self) -> bool:
        with open(self.folder / "log.jsonl", "rb") as log:
            log.seek(-1, os.SEEK_END)
            return log.read(1) == b"\n"

    def _keep(self, data: bytes) -> str:
        name = sha256(data)
        path = self.folder / "files" / name
        if not path.exists():
            replace_file(System(), path, data)
        return name

    def _store(self) -> None:
        replace_file(System(), self.folder / "task.json", json.dumps(asdict(self.head), indent=1).encode())


def saved(changed: Mapping[str, Version | None], base: Mapping[str, Version | None]) -> dict[str, Saved]:
    """What a workspace's changes are as files of a step."""
    found = {}
    for path, version in changed.items():
        before = base[path]
        data, executable = (None, False) if version is None else (version.data, bool(version.mode & 0o111))
        found[path] = Saved(data, executable, before.hash if before else "")
    return found
