"""What a search is given and what it gives back."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from coder.patch import Edit, Proposal, Span, apply_edits, sha256

if TYPE_CHECKING:
    from coder.repair.describer import Chat
    from coder.repair.recall import Steps
    from sandbox.testing.report import Baseline, Tester, Verdict


@dataclass(frozen=True)
class Strategy:
    """Which parts of the search run; the benchmarks switch them off one by one. `memory`: read before writing."""

    tree_edits: bool = True
    rewriting: bool = True
    ranking: bool = True
    memory: bool = True


@dataclass
class RepairContext:
    """A repository with failing tests, and the bounds of the search.

    `files` maps the path of each file of the repository that can be repaired, tests too, to its decoded text (it may
    read lazily); `hashes` maps it to the sha256 of its bytes (that of the UTF-8 text where absent); `targets` are the
    failing tests to repair.
    `load_model` returns (model, tokenizer), or is None for a search without one; `read` reads what such a model needs
    before it writes, in steps; `load_chat` gives a model that is asked for described patches; with `watched` blocks are
    told while they fill. `timeout_s` bounds the whole search,
    `max_candidates` the trials. `cancel` stops it at any moment.
    """

    tester: Tester
    baseline: Baseline
    files: Mapping[str, str]
    targets: tuple[str, ...]
    hashes: Mapping[str, str] = field(default_factory=dict)
    load_model: Callable[[], tuple[Any, Any]] | None = None
    read: Steps | None = None
    load_chat: Callable[[], Chat] | None = None
    watched: bool = False
    timeout_s: float = 120.0
    max_candidates: int = 20_000
    find_all: bool = False
    repeats: int = 2
    allow_tests: bool = False
    seed: int = 0
    strategy: Strategy = field(default_factory=Strategy)
    cancel: threading.Event = field(default_factory=threading.Event)

    def hash_of(self, path: str) -> str:
        return self.hashes.get(path) or sha256(self.files[path].encode("utf-8", "surrogateescape"))


@dataclass(frozen=True)
class Proved:
    """A patch that was proved: the proposal against the files as they are, the texts it makes, and its proof.

    `tried` counts the candidates that were run up to this one; `seconds` is the time since the search began.
    """

    proposal: Proposal
    files: Mapping[str, str]
    verdict: Verdict
    score: float
    tried: int
    seconds: float


def changed_files(files: Mapping[str, str], proposal: Proposal) -> dict[str, str]:
    """The new texts of the files that a proposal edits."""
    return {
        path: apply_edits(files[path], tuple(e for e in proposal.edits if e.span.path == path))
        for path in proposal.paths
    }


def edits_between(path: str, before: str, after: str) -> tuple[Edit, ...]:
    """Edits that turn one text into the other: whole lines where many changed, else the least part of each run."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    return tuple(_runs(path, old, new))


def _runs(path: str, old: list[str], new: list[str]) -> Iterator[Edit]:
    import difflib

    starts = [0]
    for line in old:
        starts.append(starts[-1] + len(line))
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            yield Edit(Span(path, starts[i1], starts[i2]), "".join(new[j1:j2]))
