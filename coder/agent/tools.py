"""The tools as a model sees them: one dataclass each. What they do is in `toolbox`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

Path = Annotated[str, "Path relative to the project, such as src/app.py."]


@dataclass(frozen=True)
class Read:
    """Show a file's lines, numbered from 1."""

    path: Path
    first: Annotated[int, "First line."] = 1
    last: Annotated[int, "Last line; 0 for as many as fit."] = 0


@dataclass(frozen=True)
class Search:
    """Find lines that contain a text, in all files or in those that a glob names."""

    text: Annotated[str, "Looked for as it stands; no regular expression."]
    files: Annotated[str, "Glob such as **/*.py."] = "**"


@dataclass(frozen=True)
class List:
    """List files and folders."""

    folder: Annotated[str, "Empty for the whole project."] = ""


@dataclass(frozen=True)
class Edit:
    """Put `text` in place of the lines `first` to `last`; with `last` = `first` - 1 it is put in before `first`. Read
    the file before."""

    path: Path
    first: Annotated[int, "First line that is replaced, from 1."]
    last: Annotated[int, "Last line that is replaced."]
    text: Annotated[str, "The new lines; empty to delete."]


@dataclass(frozen=True)
class Replace:
    """Put `new` in place of `old`, which must stand in the file exactly once. Read the file before."""

    path: Path
    old: str
    new: str


@dataclass(frozen=True)
class Write:
    """Write a whole file: a new one, or one that was read before."""

    path: Path
    text: str


@dataclass(frozen=True)
class Run:
    """Run a program in a sandbox on the working copy; what it changes there is kept. No network, no shell: for pipes
    say ["sh", "-c", "..."]."""

    argv: Annotated[tuple[str, ...], "The program and its arguments."]
    seconds: Annotated[int, "Time limit."] = 60


@dataclass(frozen=True)
class Test:
    """Run the project's tests, or some of them."""

    __test__ = False

    nodes: Annotated[tuple[str, ...], "Test files or node ids; none for the whole suite."] = ()


@dataclass(frozen=True)
class Finish:
    """End the task. The user then sees the diff and decides."""

    summary: Annotated[str, "What was done, or why it could not be, in a few sentences."]
    done: Annotated[bool, "False when the task could not be carried out."] = True


TOOLS: dict[str, type] = {
    "read": Read,
    "search": Search,
    "list": List,
    "edit": Edit,
    "replace": Replace,
    "write": Write,
    "run": Run,
    "test": Test,
    "finish": Finish,
}
