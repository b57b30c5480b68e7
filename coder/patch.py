"""What a change is: spans, edits, proposals; and a patch, which is a proposal that was proved.

Offsets count characters of the file's decoded text with its line endings as they are on disk.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field


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


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def apply_edits(text: str, edits: tuple[Edit, ...]) -> str:
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
