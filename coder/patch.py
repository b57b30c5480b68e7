"""What a change is: spans, edits, proposals; and what it comes to in files: versions, changes, a diff.

Offsets count characters of the file's decoded text with its line endings as they are on disk; a byte order mark is not
part of the text.
"""

from __future__ import annotations

import difflib
import hashlib
import io
import tokenize
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from coder.failure import Conflict

_MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))


@dataclass(frozen=True, order=True)
class Span:
    """Half-open range [start, end) of characters in the file at `path` (posix, relative to the repository root)."""

    path: str
    start: int
    end: int


@dataclass(frozen=True)
class Edit:
    """Replace what stands in `span` with `replacement`."""

    span: Span
    replacement: str


@dataclass(frozen=True)
class Proposal:
    """Edits against known versions of files.

    `hashes` maps each edited path to the sha256 of the file's bytes that the spans refer to.
    `origin` says who wrote it ("operator", "name", "rewrite", ...); `prior` is the log-prior of that origin;
    `note` is one plain line for people ("`<` → `<=` in clamp").
    """

    edits: tuple[Edit, ...]
    hashes: Mapping[str, str] = field(default_factory=dict)
    origin: str = ""
    prior: float = 0.0
    note: str = ""

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(sorted({edit.span.path for edit in self.edits}))


@dataclass(frozen=True)
class Version:
    """A file's bytes and its permission bits."""

    data: bytes
    mode: int = 0o644

    @property
    def hash(self) -> str:
        return sha256(self.data)


@dataclass(frozen=True)
class Change:
    """One file before and after; None where it does not exist. Both None is no change and never made."""

    path: str
    before: Version | None
    after: Version | None

    @property
    def reversed(self) -> Change:
        return Change(self.path, self.after, self.before)


@dataclass(frozen=True)
class Document:
    """A file's text and all that is needed to write it back as it was: encoding, byte order mark, line ending."""

    text: str
    encoding: str = "utf-8"
    mark: bytes = b""

    @property
    def newline(self) -> str:
        """The line ending that every line has, or "\\n" where they are mixed."""
        lines = self.text.count("\n")
        return "\r\n" if lines and self.text.count("\r\n") == lines else "\n"

    def encode(self, text: str) -> bytes:
        """Raises UnicodeEncodeError when `text` holds what the file's encoding cannot."""
        return self.mark + text.encode(self.encoding)


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def decode(data: bytes) -> Document:
    """The text of a file: by its byte order mark, else by a Python coding line, else as UTF-8.

    Raises UnicodeDecodeError when it is not text in that encoding, SyntaxError when the coding line names none.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return Document(data[len(mark) :].decode(encoding), encoding, mark)
    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    return Document(data.decode(encoding), encoding)


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """`text` with the edits done; all of them must belong to this one file.

    Raises ValueError when spans overlap or lie outside the text.
    """
    result: list[str] = []
    cursor = 0
    for edit in sorted(edits, key=lambda edit: edit.span):
        if not cursor <= edit.span.start <= edit.span.end <= len(text):
            raise ValueError(f"edit {edit.span} overlaps another or lies outside the file")
        result += [text[cursor : edit.span.start], edit.replacement]
        cursor = edit.span.end
    return "".join(result) + text[cursor:]


def edited(document: Document, edits: Iterable[Edit]) -> str:
    """The document's text with the edits done, their new lines ended as the document ends its own."""
    if document.newline == "\n":
        return apply_edits(document.text, edits)
    fitted = (Edit(e.span, e.replacement.replace("\r\n", "\n").replace("\n", document.newline)) for e in edits)
    return apply_edits(document.text, fitted)


def plan(proposal: Proposal, read: Callable[[str], Version]) -> list[Change]:
    """What the proposal comes to in files, against what `read` returns now.

    Raises Conflict when a file is not the version that the proposal was made for.
    """
    changes = []
    for path in proposal.paths:
        before = read(path)
        if before.hash != proposal.hashes.get(path):
            raise Conflict(f"{path} has changed since the proposal was made", "Run the command again.")
        document = decode(before.data)
        text = edited(document, [edit for edit in proposal.edits if edit.span.path == path])
        after = Version(document.encode(text), before.mode)
        if after != before:
            changes.append(Change(path, before, after))
    return changes


def unified_diff(changes: Iterable[Change], context: int = 3) -> str:
    """The changes as a unified diff that `git apply` and `patch -p1` take. Files that are not text get one line."""
    return "".join(_file_diff(change, context) for change in sorted(changes, key=lambda change: change.path))


def _file_diff(change: Change, context: int) -> str:
    try:
        before, after = (decode(side.data).text if side else "" for side in (change.before, change.after))
    except (UnicodeDecodeError, SyntaxError):
        return f"Binary files a/{change.path} and b/{change.path} differ\n"
    old = f"a/{change.path}" if change.before else "/dev/null"
    new = f"b/{change.path}" if change.after else "/dev/null"
    lines = list(difflib.unified_diff(_lines(before), _lines(after), old, new, n=context))
    body = "".join(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n" for line in lines)
    return _mode_lines(change, empty=not lines) + body


def _mode_lines(change: Change, empty: bool) -> str:
    """Git's header where the lines do not tell all: a right to execute, a file without lines that comes or goes."""
    before, after = (side and (0o100755 if side.mode & 0o111 else 0o100644) for side in (change.before, change.after))
    if before and after:
        told = f"old mode {before:o}\nnew mode {after:o}\n" if before != after else ""
    else:
        mode = before or after or 0
        told = f"{'deleted' if before else 'new'} file mode {mode:o}\n" if empty or mode == 0o100755 else ""
    return told and f"diff --git a/{change.path} b/{change.path}\n{told}"


def _lines(text: str) -> list[str]:
    """Lines with their "\\n"; unlike str.splitlines, nothing else ends one."""
    lines = text.split("\n")
    return [line + "\n" for line in lines[:-1]] + lines[-1:] if lines[-1] else [line + "\n" for line in lines[:-1]]
