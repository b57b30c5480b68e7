"""The one reader: files in an order become a model's memory, and what some run has read no other reads again.

States are stored at ends of files under the hashes of all that was read before (`model.memory_store`). A file that
changed has another hash: the reading resumes in front of it.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from coder.exit_status import ExitStatus
from coder.failure import Failure
from coder.reading_plan import readable
from coder.repository import Repository

if TYPE_CHECKING:
    from model.memory import MemoryState
    from model.memory_store import MemoryStore

BUDGET = 2 << 30
"""Bytes that all stored memories may take."""
WINDOW = 1024
"""Tokens of keys and values that a state keeps at the end of each file, where the model has a memory for the rest."""
FIX = "fix"
"""The purpose of a reading for a repair."""
_STEP = 256  # tokens between two looks at the cancel flag
_BETWEEN = 8192  # tokens, at least, between two states stored on the way
_ON_THE_WAY = 8  # states, about, that a long reading stores on the way
_ROWS = 64  # norms that are noted of each file, at most
_SLASHES = frozenset((".js", ".mjs", ".cjs", ".jsx", ".ts", ".tsx", ".go", ".rs", ".c", ".h", ".cc", ".cpp", ".java"))


@dataclass(frozen=True)
class Piece:
    """One file as it is read: a line with its path, then its text."""

    path: str
    text: str

    @classmethod
    def of(cls, path: str, text: str) -> Piece:
        return cls(path, heading(path) + text + ("" if text.endswith("\n") else "\n"))

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()


def heading(path: str) -> str:
    """The line with its path that stands before a file."""
    suffix = PurePosixPath(path).suffix
    return f"// {path}\n" if suffix in _SLASHES else f"<!-- {path} -->\n" if suffix == ".md" else f"# {path}\n"


@dataclass(frozen=True)
class FileRead:
    """What is noted of a file that a memory has read: its hash, its tokens, and after it the norm of each head."""

    path: str
    digest: str
    tokens: int
    norms: tuple[float, ...] = ()


@dataclass(frozen=True)
class Progress:
    """How far a reading is; the tokens of resumed files count as read."""

    path: str
    files: int
    tokens: int
    all_tokens: int


@dataclass(frozen=True)
class Read:
    """What a reading came to. `state` is the model's own. `resumed` files and `resumed_tokens` came from the store.
    Where it was interrupted, `complete` is False and the state ends with the last whole file. `last` are the ids of
    the last file, and `before` the state in front of it where it was read now."""

    state: Any
    files: tuple[FileRead, ...]
    resumed: int
    complete: bool
    last: tuple[int, ...] = ()
    before: Any = None

    @property
    def tokens(self) -> int:
        return sum(file.tokens for file in self.files)

    @property
    def resumed_tokens(self) -> int:
        return sum(file.tokens for file in self.files[: self.resumed])


@dataclass(frozen=True)
class Reading:
    """A reading order whose files were looked up: what a model of this id will read of the repository as it is now."""

    root: Path
    model_id: str
    pieces: tuple[Piece, ...]
    purpose: str = ""

    @classmethod
    def of(cls, repository: Repository, model_id: str, order: Sequence[str], purpose: str = "") -> Reading:
        """Files that may not be read, or cannot, are left out. A path may stand in the order more than once. `purpose`
        is noted beside what is stored."""
        texts = {path: readable(repository, path) for path in dict.fromkeys(order)}
        pieces = (Piece.of(path, text) for path in order if (text := texts[path]) is not None)
        return cls(repository.root, model_id, tuple(pieces), purpose)

    @property
    def hashes(self) -> list[str]:
        return [piece.digest for piece in self.pieces]

    def stored(self, store: MemoryStore) -> int:
        """How many of the files a stored memory has read already."""
        return store.holds(self.model_id, self.hashes)

    def read(
        self,
        model: Any,
        tokenizer: Any,
        store: MemoryStore,
        *,
        progress: Callable[[Progress], None] = lambda progress: None,
        cancel: threading.Event | None = None,
        keep: Sequence[int] = (),
    ) -> Read:
        """All of `steps`. `progress` is told after each."""
        steps = self.steps(model, tokenizer, store, cancel=cancel, keep=keep)
        while True:
            try:
                progress(next(steps))
            except StopIteration as end:
                read: Read = end.value
                return read

    def steps(
        self,
        model: Any,
        tokenizer: Any,
        store: MemoryStore,
        *,
        cancel: threading.Event | None = None,
        keep: Sequence[int] = (),
        window: int | None = None,
    ) -> Generator[Progress, None, Read]:
        """Goes on from the longest stored beginning, a short pass at a time; stores on the way, at `keep` (counts of
        files) and at the end. Closed early, it stores no more. `window`: of the state that is returned, else WINDOW.

        Raises Failure with MODEL_FAILED for a model that keeps no memory, or not of this reading's id.
        """
        from model.partial import piece_of, whole, with_piece

        form = state_format(model)
        if form.model_id != self.model_id:
            raise Failure(ExitStatus.MODEL_FAILED, f"the reading is for {self.model_id}, the model is {form.model_id}")
        hashes = self.hashes
        memory, resumed = store.longest_prefix(self.model_id, hashes, getattr(model, "device", "cpu"))
        known = files_of(store.notes(self.model_id, hashes[:resumed])) if resumed else []
        if memory is None or len(known) != resumed:  # a memory whose notes another process just deleted is none
            memory, resumed, known = None, 0, []
        state = model.start() if memory is None else form.unpack(whole(memory))
        ids = (
            tokenizer.encode_batch if hasattr(tokenizer, "encode_batch") else lambda texts: map(tokenizer.encode, texts)
        )
        waiting = list(ids([piece.text for piece in self.pieces[resumed:]]))
        done = sum(file.tokens for file in known)
        total = done + sum(map(len, waiting))
        between, unsaved = max(_BETWEEN, total // _ON_THE_WAY), 0
        read = Read(state, tuple(known), resumed, True, () if memory is None else tuple(piece_of(memory)))
        packed = form.pack(state)
        for number, (piece, tokens) in enumerate(zip(self.pieces[resumed:], waiting, strict=True), resumed):
            yield Progress(piece.path, number, done, total)
            before = state
            for start in range(0, len(tokens), _STEP):
                if cancel is not None and cancel.is_set():
                    self._store(store, packed, read, unsaved)
                    return replace(read, complete=False)
                part = tokens[start : start + _STEP]
                _, state = model.commit(part, state, rows=slice(0, 0))
                done += len(part)
                yield Progress(piece.path, number, done, total)
            state = form.settle(state, WINDOW if window is None else window)
            packed = with_piece(form.pack(form.settle(state, WINDOW)), tokens, form.pack(before))
            file = FileRead(piece.path, piece.digest, len(tokens), norms(whole(packed)))
            read = replace(read, state=state, files=(*read.files, file), last=tuple(tokens), before=before)
            unsaved += len(tokens)
            if unsaved >= between or number + 1 in keep:
                self._store(store, packed, read, unsaved)
                unsaved = 0
        self._store(store, packed, read, unsaved)
        if self.pieces:
            yield Progress(self.pieces[-1].path, len(self.pieces), done, total)
        return read

    def _store(self, store: MemoryStore, packed: MemoryState, read: Read, unsaved: int) -> None:
        if not unsaved:
            return
        files = json.dumps([_line(file) for file in read.files])
        notes = {"root": str(self.root), "purpose": self.purpose, "files": files}
        store.put([file.digest for file in read.files], packed, notes)


def state_format(model: Any) -> Any:
    """How the model's states are stored. Raises Failure with MODEL_FAILED where they cannot be."""
    from model.sprig_memory import format_of

    try:
        return format_of(model)
    except ValueError as error:
        raise Failure(ExitStatus.MODEL_FAILED, str(error), "Choose a local model: see `coder model list`.") from None


def open_store(state: Path, budget: int = BUDGET) -> MemoryStore:
    """The one store that the command line, the language server and the agent share, in the user's `state` folder."""
    from model.memory_store import MemoryStore

    return MemoryStore(state / "memory", budget)


def files_of(notes: dict[str, str]) -> list[FileRead]:
    """The files that a stored memory has read, from what was noted beside it."""
    lines = json.loads(notes.get("files", "[]"))
    return [FileRead(path, digest, tokens, tuple(norms)) for path, digest, tokens, norms in lines]


def stale(repository: Repository, files: Sequence[FileRead]) -> list[str]:
    """The paths of files that are no longer as they were read."""
    now: dict[str, str | None] = {}
    for path in {file.path for file in files}:
        text = readable(repository, path)
        now[path] = None if text is None else Piece.of(path, text).digest
    return sorted({file.path for file in files if now[file.path] != file.digest})


def norms(memory: MemoryState) -> tuple[float, ...]:
    """The Frobenius norm of each gated-delta head, layer by layer; of each layer where there are many heads."""
    layers = sorted((int(name.removesuffix(".delta")), name) for name in memory.tensors if name.endswith(".delta"))
    rows = [memory.tensors[name].float().flatten(1).norm(dim=1) for _, name in layers]
    if sum(map(len, rows)) > _ROWS:
        rows = [row.mean()[None] for row in rows]
    return tuple(float(f"{value:.3g}") for row in rows for value in row.tolist())


def _line(file: FileRead) -> list[Any]:
    return [file.path, file.digest, file.tokens, list(file.norms)]
